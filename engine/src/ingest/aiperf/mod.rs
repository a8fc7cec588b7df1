//! Results of AIPerf, and of genai-perf which it succeeded and whose keys it kept.
//!
//! Documented at <https://github.com/ai-dynamo/aiperf/tree/main/docs>; keys read in files of June
//! 2025 to August 2026 and in the documentation up to schema 1.5 (0.14). A run leaves a summary as
//! JSON (`summary`) and as CSV (`csv`), and a line per request (`requests`). Every metric has its
//! unit beside it. What both tools call inter-token latency is (E2E − TTFT) ÷ (n − 1) per request,
//! which is TPOT here; gaps between stream events are AIPerf's inter-chunk latency.

mod csv;
mod requests;
mod summary;

use super::Refusal;
use super::registry::{Body, FormatDescription, Head};

const DOCS: &str = "https://github.com/ai-dynamo/aiperf/tree/main/docs";

/// AIPerf's summary, of every schema.
pub(super) const SUMMARY: FormatDescription = FormatDescription {
    id: "aiperf",
    title: "AIPerf summary JSON",
    looks_for: "a JSON object with input_config and either request_latency with was_cancelled or \
                error_summary, or records with error_summary or errors_by_type",
    docs: DOCS,
    sniff: |head| {
        let keys = head.json.as_ref();
        keys.is_some_and(|keys| {
            let own = ["schema_version", "aiperf_version", "error_summary", "errors_by_type"]
                .iter()
                .chain(&["was_cancelled", "run_info"])
                .any(|key| keys.has(key));
            let flat = keys.has("request_latency") || keys.has("request_throughput");
            own && (flat || keys.has("records")) && !keys.has("completed")
        })
    },
    parse: parse_summary,
};

/// genai-perf's summary.
pub(super) const GENAI_PERF: FormatDescription = FormatDescription {
    id: "genai_perf",
    title: "genai-perf summary JSON",
    looks_for: "a JSON object with request_latency and input_config, without what AIPerf adds",
    docs: "https://github.com/triton-inference-server/perf_analyzer/tree/main/genai-perf/docs",
    sniff: |head| {
        head.json
            .as_ref()
            .is_some_and(|keys| keys.has("request_latency") && keys.has("input_config"))
    },
    parse: parse_summary,
};

/// The summary as a CSV of stacked tables.
pub(super) const CSV: FormatDescription = FormatDescription {
    id: "aiperf_csv",
    title: "AIPerf or genai-perf summary CSV",
    looks_for: "a CSV header that begins with Metric,avg",
    docs: DOCS,
    sniff: |head| csv::is_header(head.first_line),
    parse: csv::parse,
};

/// A line per request.
pub(super) const REQUESTS: FormatDescription = FormatDescription {
    id: "aiperf_requests",
    title: "AIPerf per-request JSON lines",
    looks_for: "JSON lines with metadata (x_request_id, benchmark_phase or credit_phase) and metrics",
    docs: DOCS,
    sniff: |head: &Head| {
        let phase = ["\"x_request_id\"", "\"benchmark_phase\"", "\"credit_phase\""]
            .iter()
            .any(|key| head.text.contains(key));
        head.json.as_ref().is_some_and(|keys| keys.has("metadata") && keys.has("metrics")) && phase
    },
    parse: requests::parse,
};

fn parse_summary(text: &str) -> Result<Body, Refusal> {
    summary::parse(text)
}

/// Milliseconds in a unit of time, as these tools spell it.
fn unit_ms(unit: &str) -> Option<f64> {
    match unit {
        "ms" | "milliseconds" => Some(1.0),
        "s" | "sec" | "seconds" => Some(1e3),
        "us" | "microseconds" => Some(1e-3),
        "ns" | "nanoseconds" => Some(1e-6),
        _ => None,
    }
}
