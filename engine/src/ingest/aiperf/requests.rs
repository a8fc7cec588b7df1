//! A line per request: records, and one point over those of the profiling phase.

use super::summary::CANCELLED;
use super::unit_ms;
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
    let mut starts_ns = Vec::new();
    json::for_each_value(&text, |line, request: Node| {
        gathered.make_room(1)?;
        let phase = request.first(&["metadata/benchmark_phase", "metadata/credit_phase"]);
        let phase = phase.and_then(Node::text).unwrap_or("profiling");
        if phase != "profiling" {
            gathered.exclude(1, format!("of the phase \"{phase}\", not of profiling"));
            return Ok(());
        }
        if request.get("metrics").is_none() {
            return Err(Refusal::broken(
                format!("line {line} has no metrics"),
                "export the requests again",
            )
            .at_line(line));
        }
        let start = request.first(&["metadata/request_start_ns", "metadata/timestamp_ns"]);
        starts_ns.push(start.and_then(Node::number).filter(|ns| ns.is_finite()));
        gathered.records.push(record(&request));
        Ok(())
    })?;
    let origin = starts_ns.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    for (record, start) in gathered.records.iter_mut().zip(&starts_ns) {
        record.start_s = start.and_then(|ns| quantity((ns - origin) / 1e9).ok());
    }
    let mut point = BenchmarkPoint { row: Some(1), ..BenchmarkPoint::default() };
    from_records::complete(&mut point, &gathered.records);
    point.list_missing();
    gathered.points.push(point);
    gathered.remarks.add(1, "counts, rates and latencies were computed from the requests");
    Ok(gathered.finish("requests"))
}

fn record(request: &Node) -> RequestRecord {
    let metric = |names: &[&str]| {
        names.iter().find_map(|name| request.get("metrics")?.get(name)?.get("value"))
    };
    let time_s = |names: &[&str]| {
        names.iter().find_map(|name| {
            let metric = request.get("metrics")?.get(name)?;
            let unit = unit_ms(metric.get("unit")?.text()?)?;
            quantity(metric.get("value")?.number()? * unit / 1e3).ok()
        })
    };
    let count = |name: &str| metric(&[name])?.number().and_then(|n| tokens(n).ok());
    let output_tokens = count("output_sequence_length");
    let outcome = outcome(request, output_tokens);
    let answered = outcome == RecordOutcome::Ok;
    RequestRecord {
        point: 0,
        start_s: None,
        input_tokens: count("input_sequence_length"),
        cached_tokens: None,
        output_tokens,
        ttft_s: time_s(&["time_to_first_token", "ttft"]).filter(|_| answered),
        ttfvt_s: time_s(&["time_to_first_output_token"]).filter(|_| answered),
        e2e_s: time_s(&["request_latency"]).filter(|_| answered),
        client_queue_s: None,
        queue_wait_s: None,
        gaps: gaps(request).filter(|_| answered),
        outcome,
        quality: None,
        class: None,
    }
}

fn outcome(request: &Node, output_tokens: Option<u32>) -> RecordOutcome {
    let cancelled = request.at("metadata/was_cancelled") == Some(&Node::Bool(true))
        || request.at("error/code").and_then(Node::number) == Some(CANCELLED);
    if cancelled {
        RecordOutcome::Cancelled
    } else if request.get("error").is_some() {
        RecordOutcome::Error
    } else if output_tokens == Some(0) {
        RecordOutcome::EmptySuccess
    } else {
        RecordOutcome::Ok
    }
}

fn gaps(request: &Node) -> Option<GapSummary> {
    let metric = request.at("metrics/inter_chunk_latency")?;
    let unit = unit_ms(metric.get("unit")?.text()?)?;
    let gaps = metric.get("value")?.items().iter();
    let gaps = gaps.map(|gap| quantity(gap.number()? * unit / 1e3).ok());
    GapSummary::of(&mut gaps.collect::<Option<Vec<f64>>>()?)
}
