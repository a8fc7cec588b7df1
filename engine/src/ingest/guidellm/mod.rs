//! Reports of GuideLLM.
//!
//! Documented at <https://github.com/vllm-project/guidellm/blob/main/docs/guides/outputs.md>; keys
//! read in reports of 0.2 and 0.8.0.dev18 and in the source of 0.5 and 0.7. One report holds a list
//! of benchmarks, each a load point; it is written as JSON or YAML, and as a CSV with one header
//! row (0.2, 0.3) or three (from 0.4).
//!
//! What it calls inter-token latency is (Tn − T1) ÷ (n − 1), TPOT here. Its
//! `time_per_output_token_ms` holds the first token from 0.4 on (NTPOT here) and before divides the
//! time after it by n. Means of both weigh a request by its tokens. Rates are distributions of
//! instantaneous rates, so tokens over the duration are used instead; only what succeeded counts.

mod csv;
mod report;
mod requests;

use super::csv_table::{self, Delimiter};
use super::registry::{FormatDescription, Head};

const DOCS: &str = "https://github.com/vllm-project/guidellm/blob/main/docs/guides/outputs.md";

/// A report as JSON or YAML.
pub(super) const REPORT: FormatDescription = FormatDescription {
    id: "guidellm",
    title: "GuideLLM report (JSON or YAML)",
    looks_for: "benchmarks with type_ generative_benchmark",
    docs: DOCS,
    sniff: |head| {
        let json = head.json.as_ref().is_some_and(|keys| keys.has("benchmarks"));
        let yaml = head.json.is_none() && head.text.lines().any(|line| line == "benchmarks:");
        (json || yaml) && head.text.contains("generative_benchmark")
    },
    parse: report::parse,
};

/// A report as CSV.
pub(super) const CSV: FormatDescription = FormatDescription {
    id: "guidellm_csv",
    title: "GuideLLM CSV",
    looks_for: "a CSV whose header begins with Run Info (three header rows) or has \
                Successful Requests per second mean (one)",
    docs: DOCS,
    sniff: is_csv,
    parse: csv::parse,
};

fn is_csv(head: &Head) -> bool {
    let cells = csv_table::header_cells(head.first_line, Delimiter::Comma);
    cells.first().is_some_and(|first| first == "Run Info")
        || cells.iter().any(|cell| cell.eq_ignore_ascii_case(csv::ONE_ROW_MARK))
}
