//! Reports of kubernetes-sigs/inference-perf.
//!
//! Documented at <https://github.com/kubernetes-sigs/inference-perf/blob/main/docs/reports.md>;
//! keys read in reports of 2025 and in the source of 0.5 and 0.6. A run is a folder: a summary over
//! all stages and one report per stage (`lifecycle`), one list of requests (`requests`), and what
//! Prometheus said about the server (`server`), which has the same outline and another source and
//! is never merged with the others. All times are seconds.
//!
//! Before 24 April 2026 the tool divided by stream events where it meant tokens; the version is not
//! in the file, so TPOT is called per event where the file's own E2E, TTFT and lengths say so.

mod lifecycle;
mod requests;
mod server;

use super::gathered::Gathered;
use super::reading::Reading;
use super::registry::{Body, FormatDescription, Head};
use super::tree::Node;
use super::{BenchmarkPoint, Refusal, json};

const DOCS: &str = "https://github.com/kubernetes-sigs/inference-perf/blob/main/docs/reports.md";

/// Summary and stage reports.
pub(super) const LIFECYCLE: FormatDescription = FormatDescription {
    id: "inference_perf",
    title: "inference-perf lifecycle report",
    looks_for: "a JSON object with load_summary, successes and failures",
    docs: DOCS,
    sniff: is_report,
    parse: lifecycle::parse,
};

/// The list of requests.
pub(super) const REQUESTS: FormatDescription = FormatDescription {
    id: "inference_perf_requests",
    title: "inference-perf per-request report",
    looks_for: "a JSON list of objects with start_time, end_time and info",
    docs: DOCS,
    sniff: |head| {
        head.json
            .as_ref()
            .is_some_and(|keys| ["start_time", "end_time", "info"].iter().all(|key| keys.has(key)))
    },
    parse: requests::parse,
};

/// The server's side, from Prometheus.
pub(super) const SERVER: FormatDescription = FormatDescription {
    id: "inference_perf_prometheus",
    title: "inference-perf Prometheus report",
    looks_for: "a JSON object with load_summary, successes and failures, and successes.queue_len",
    docs: DOCS,
    sniff: |head| is_report(head) && head.text.contains("\"queue_len\""),
    parse: server::parse,
};

fn is_report(head: &Head) -> bool {
    head.json.as_ref().is_some_and(|keys| {
        ["load_summary", "successes", "failures"].iter().all(|key| keys.has(key))
    })
}

/// Reports one after the other, a point each.
fn reports(
    text: &str,
    point: fn(&Node, u64, &mut Reading) -> BenchmarkPoint,
) -> Result<Body, Refusal> {
    let text = json::quote_not_finite(text);
    let mut gathered = Gathered::default();
    json::for_each_value(&text, |line, report: Node| {
        gathered.make_room(1)?;
        let row = gathered.next_row();
        let mut reading = Reading { line, remarks: &mut gathered.remarks };
        gathered.points.push(point(&report, row, &mut reading));
        Ok(())
    })?;
    Ok(gathered.finish("reports"))
}
