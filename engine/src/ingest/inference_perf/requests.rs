//! The list of requests: a record each, and one point over all of them.

use crate::ingest::gathered::Gathered;
use crate::ingest::quantity::{quantity, tokens};
use crate::ingest::registry::Body;
use crate::ingest::tree::Node;
use crate::ingest::{
    BenchmarkPoint, GapSummary, RecordOutcome, Refusal, RequestRecord, from_records, json,
};

pub(super) fn parse(text: &str) -> Result<Body, Refusal> {
    let text = json::quote_not_finite(text);
    let mut gathered = Gathered::default();
    let mut first_line = 1;
    json::for_each_value(&text, |line, list: Node| {
        first_line = line;
        gathered.make_room(list.items().len())?;
        let start = list.items().iter().filter_map(|request| seconds(request, "start_time"));
        let origin = start.fold(f64::INFINITY, f64::min);
        for request in list.items() {
            match record(request, origin) {
                Some(record) => gathered.records.push(record),
                None => gathered.exclude(1, "start_time or end_time is missing or no number"),
            }
        }
        Ok(())
    })?;
    if gathered.records.is_empty() {
        return Err(Refusal::broken(
            "none of the requests has a start_time and an end_time",
            "export the report again",
        ));
    }
    let mut point = BenchmarkPoint { row: Some(1), ..BenchmarkPoint::default() };
    from_records::complete(&mut point, &gathered.records);
    point.list_missing();
    gathered.points.push(point);
    gathered.remarks.add(
        first_line,
        "counts, rates and latencies were computed from the requests; stages are not told apart",
    );
    Ok(gathered.finish("requests"))
}

fn seconds(node: &Node, path: &str) -> Option<f64> {
    node.at(path)?.number().filter(|seconds| seconds.is_finite())
}

fn record(request: &Node, origin: f64) -> Option<RequestRecord> {
    let (start, end) = (seconds(request, "start_time")?, seconds(request, "end_time")?);
    let times = request
        .first(&[
            "info/response_metrics/chunk_times",
            "info/response_metrics/output_token_times",
            "info/output_token_times",
        ])
        .map(Node::items)
        .unwrap_or_default();
    let token_times = request
        .first(&[
            "info/response_metrics/output_token_times",
            "info/output_token_times",
            "info/response_metrics/chunk_times",
        ])
        .map(Node::items)
        .unwrap_or_default();
    let count = |paths: &[&str]| request.first(paths)?.number().and_then(|n| tokens(n).ok());
    let output_tokens = count(&["info/response_metrics/output_tokens", "info/output_tokens"]);
    let ttft_s =
        token_times.first().and_then(Node::number).and_then(|first| quantity(first - start).ok());
    let outcome = if request.get("error").is_some() {
        RecordOutcome::Error
    } else if output_tokens == Some(0) {
        RecordOutcome::EmptySuccess
    } else {
        RecordOutcome::Ok
    };
    let answered = outcome == RecordOutcome::Ok;
    Some(RequestRecord {
        point: 0,
        start_s: quantity(start - origin).ok(),
        input_tokens: count(&["info/input_tokens", "info/request_metrics/text/input_tokens"]),
        cached_tokens: None,
        output_tokens,
        ttft_s: ttft_s.filter(|_| answered),
        ttfvt_s: None,
        e2e_s: quantity(end - start).ok().filter(|_| answered),
        client_queue_s: None,
        queue_wait_s: None,
        gaps: gaps(times).filter(|_| answered),
        outcome,
        quality: None,
        class: None,
    })
}

/// Gaps between the times of stream events, which rise.
fn gaps(times: &[Node]) -> Option<GapSummary> {
    let times: Vec<f64> = times.iter().filter_map(Node::number).collect();
    let gaps = times.windows(2).map(|pair| quantity(pair[1] - pair[0]).ok());
    GapSummary::of(&mut gaps.collect::<Option<Vec<f64>>>()?)
}
