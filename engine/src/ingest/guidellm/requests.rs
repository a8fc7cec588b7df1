//! The requests a report lists. They are all requests, or a sample, and need not be those the
//! statistics are over: warm-up and cool-down are only left out of the latter.

use crate::ingest::gathered::Gathered;
use crate::ingest::quantity::{quantity, tokens};
use crate::ingest::tree::Node;
use crate::ingest::{RecordOutcome, Refusal, RequestRecord};

/// The lists by status, and what a request in them came to.
const LISTS: [(&str, RecordOutcome); 3] = [
    ("successful", RecordOutcome::Ok),
    ("errored", RecordOutcome::Error),
    ("incomplete", RecordOutcome::Cancelled),
];

/// Adds the records of the benchmark whose point has this index; `measured` requests are in its
/// statistics.
pub(super) fn add(
    gathered: &mut Gathered,
    benchmark: &Node,
    index: u32,
    line: u64,
    measured: Option<u64>,
) -> Result<(), Refusal> {
    let mut listed = Vec::new();
    for (list, outcome) in LISTS {
        let requests = benchmark.at(&format!("requests/{list}")).map(Node::items);
        listed.extend(requests.unwrap_or_default().iter().map(|request| (request, outcome)));
    }
    gathered.make_room(listed.len())?;
    let origin =
        listed.iter().filter_map(|(request, _)| start(request)).fold(f64::INFINITY, f64::min);
    let successes =
        listed.iter().filter(|(_, outcome)| *outcome == RecordOutcome::Ok).count() as u64;
    if successes > 0 && measured.is_some_and(|measured| measured != successes) {
        gathered.remarks.add(
            line,
            format!(
                "{successes} successful requests are listed and {} are in the statistics: warm-up \
                 and cool-down are in the list, or it is a sample",
                measured.unwrap_or(0)
            ),
        );
    }
    for (request, outcome) in listed {
        gathered.records.push(record(request, outcome, index, origin));
    }
    Ok(())
}

fn start(request: &Node) -> Option<f64> {
    let paths = ["request_start_time", "start_time", "info/timings/request_start"];
    request.first(&paths)?.number().filter(|start| start.is_finite())
}

fn record(request: &Node, outcome: RecordOutcome, point: u32, origin: f64) -> RequestRecord {
    let count = |paths: &[&str]| request.first(paths)?.number().and_then(|n| tokens(n).ok());
    let output_tokens = count(&["output_tokens", "output_metrics/text_tokens"]);
    let outcome = match (outcome, output_tokens) {
        (RecordOutcome::Ok, Some(0)) => RecordOutcome::EmptySuccess,
        _ => outcome,
    };
    let answered = outcome == RecordOutcome::Ok;
    let time = |name: &str, unit_s: f64| {
        let value = request.get(name)?.number().filter(|_| answered)?;
        quantity(value * unit_s).ok()
    };
    RequestRecord {
        point,
        start_s: start(request).and_then(|start| quantity(start - origin).ok()),
        input_tokens: count(&["prompt_tokens", "input_metrics/text_tokens"]),
        cached_tokens: None,
        output_tokens,
        ttft_s: time("time_to_first_token_ms", 1e-3),
        ttfvt_s: None,
        e2e_s: time("request_latency", 1.0),
        client_queue_s: None,
        queue_wait_s: None,
        gaps: None,
        outcome,
        quality: None,
        class: None,
    }
}
