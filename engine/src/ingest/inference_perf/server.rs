//! What Prometheus said about the server during the run: another clock and another window than the
//! client's report, so a point of its own.

use crate::ingest::reading::Reading;
use crate::ingest::registry::Body;
use crate::ingest::tree::Node;
use crate::ingest::{
    BenchmarkPoint, Definition, EngineGauges, Latency, Length, LengthSource, Refusal, TokenKind,
    TokenRate, Weighting,
};

pub(super) fn parse(text: &str) -> Result<Body, Refusal> {
    super::reports(text, point)
}

fn point(report: &Node, row: u64, reading: &mut Reading) -> BenchmarkPoint {
    reading.remark(
        "this is the server's side, over Prometheus' own window: its counts and latencies are not \
         those of the client's report of the same name, and are not merged with it",
    );
    let completed_rps = reading.quantity(report, &["successes/rate"]);
    let mut rate = |name: &str| reading.quantity(report, &[&format!("successes/{name}/rate")]);
    let (input_tps, output_tps) = (rate("prompt_len"), rate("output_len"));
    // `prompt_len.mean` is no mean length (it is above any prompt); the two rates give one.
    let length = |tps: Option<f64>| {
        let mean_tokens = tps? / completed_rps.filter(|&rps| rps > 0.0)?;
        Some(Length { mean_tokens, source: LengthSource::Measured })
    };
    let mut point = BenchmarkPoint {
        row: Some(row),
        completed_rps,
        input: length(input_tps),
        output: length(output_tps),
        completed: reading.count(report, &["successes/count"]),
        token_rates: [(TokenKind::Input, input_tps), (TokenKind::Output, output_tps)]
            .into_iter()
            .filter_map(|(kind, tps)| Some(TokenRate { kind, tps: tps? }))
            .collect(),
        engine: gauges(report, reading),
        ..BenchmarkPoint::default()
    };
    for (latency, name, tags) in [
        (
            Latency::Ttft,
            "time_to_first_token",
            (Definition::ArrivalToFirstToken, Weighting::PerRequest),
        ),
        // vLLM's histogram of this name times the steps of the engine.
        (
            Latency::Itl,
            "time_per_output_token",
            (Definition::GapBetweenEvents, Weighting::PerEvent),
        ),
        (Latency::E2e, "request_latency", (Definition::ArrivalToLastToken, Weighting::PerRequest)),
    ] {
        let path = format!("successes/{name}");
        *point.latency_mut(latency) = reading.stats(report, &path, 1e3, tags);
    }
    point.drop_zeros_without_data();
    point.list_missing();
    point
}

fn gauges(report: &Node, reading: &mut Reading) -> EngineGauges {
    let mut mean = |name: &str| reading.quantity(report, &[&format!("successes/{name}/mean")]);
    EngineGauges {
        kv_usage: mean("kv_cache_usage_percentage"),
        kv_usage_peak: None,
        preemptions: mean("num_preemptions_total"),
        waiting: mean("queue_len"),
        prefix_hit_share: mean("prefix_cache_hit_percent").map(|percent| percent / 100.0),
    }
}
