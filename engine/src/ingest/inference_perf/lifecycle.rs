//! Summary and stage reports: one point each.

use crate::ingest::parsed::RowRemarks;
use crate::ingest::reading::Reading;
use crate::ingest::registry::Body;
use crate::ingest::tree::Node;
use crate::ingest::{
    BenchmarkPoint, Definition, Latency, LatencyStats, Load, Refusal, TokenKind, TokenRate,
    Weighting,
};

/// (E2E − TTFT) ÷ (n − 1) over TPOT from which TPOT was divided by more than the tokens.
const PER_EVENT_RATIO: f64 = 1.5;

pub(super) fn parse(text: &str) -> Result<Body, Refusal> {
    super::reports(text, point)
}

fn point(report: &Node, row: u64, reading: &mut Reading) -> BenchmarkPoint {
    let mut point = BenchmarkPoint {
        row: Some(row),
        load: load(report, reading),
        sent_rps: reading.quantity(report, &["load_summary/achieved_rate"]),
        completed_rps: reading.quantity(report, &["successes/throughput/requests_per_sec"]),
        duration_s: reading.quantity(report, &["benchmark_time_seconds"]),
        input: reading
            .length(report, &["successes/prompt_tokens/mean", "successes/prompt_len/mean"]),
        output: reading
            .length(report, &["successes/output_tokens/mean", "successes/output_len/mean"]),
        num_prompts: reading.count(report, &["load_summary/count"]),
        completed: reading.count(report, &["successes/count"]),
        failed: reading.count(report, &["failures/count"]),
        token_rates: token_rates(report, reading),
        goodput_rps: reading.quantity(report, &["successes/goodput_metrics/request_goodput"]),
        client_queue: schedule_delay(report, reading),
        ..BenchmarkPoint::default()
    };
    point.engine.prefix_hit_share = cached_share(report, reading);
    latencies(&mut point, report, reading);
    if reading.count(report, &["successes/token_count_mismatches"]).is_some_and(|n| n > 0) {
        reading.remark(
            "successes/token_count_mismatches: client and server counted different \
                        numbers of tokens",
        );
    }
    point.drop_zeros_without_data();
    point.list_missing();
    point
}

/// A stage states its rate or its concurrency; a summary states neither.
fn load(report: &Node, reading: &mut Reading) -> Load {
    if let Some(requests) = reading.count(report, &["load_summary/concurrency"]) {
        return Load::Concurrency { requests };
    }
    let Some(requested) = report.at("load_summary/requested_rate") else {
        reading.remark("a summary over all stages: it has no load of its own; read the stages");
        return Load::Unstated;
    };
    let path = if requested.entries().is_empty() {
        "load_summary/requested_rate"
    } else {
        reading.remark("load_summary/requested_rate is a distribution: its mean was taken");
        "load_summary/requested_rate/mean"
    };
    match reading.quantity(report, &[path]).filter(|&rps| rps > 0.0) {
        Some(rps) => Load::RequestRate { rps },
        None => Load::Unstated,
    }
}

fn token_rates(report: &Node, reading: &mut Reading) -> Vec<TokenRate> {
    [(TokenKind::Input, "input"), (TokenKind::Output, "output"), (TokenKind::Total, "total")]
        .into_iter()
        .filter_map(|(kind, name)| {
            let path = format!("successes/throughput/{name}_tokens_per_sec");
            reading.quantity(report, &[&path]).map(|tps| TokenRate { kind, tps })
        })
        .collect()
}

/// Of the client: how late it sent. A client may be early by a fraction of a millisecond, which
/// is no wait.
fn schedule_delay(report: &Node, reading: &mut Reading) -> Option<LatencyStats> {
    let mut negative = RowRemarks::default();
    let tags = (Definition::DueToSend, Weighting::PerRequest);
    let mut quietly = Reading { line: reading.line, remarks: &mut negative };
    let stats = quietly.stats(report, "load_summary/schedule_delay", 1e3, tags);
    if !negative.is_empty() {
        reading.remark(
            "load_summary/schedule_delay holds values that are negative (requests sent early) or \
             not finite: they were left out",
        );
    }
    stats
}

fn cached_share(report: &Node, reading: &mut Reading) -> Option<f64> {
    let cached = reading.quantity(report, &["successes/prompt_tokens/cached"])?;
    let total = reading.quantity(report, &["successes/prompt_tokens/total"])?;
    // Zero is also what is written when the server does not say.
    (cached > 0.0 && total >= cached).then(|| cached / total)
}

fn latencies(point: &mut BenchmarkPoint, report: &Node, reading: &mut Reading) {
    let per_request = Weighting::PerRequest;
    for (latency, name, tags) in [
        (Latency::Ttft, "time_to_first_token", (Definition::SendToFirstToken, per_request)),
        (Latency::Tpot, "time_per_output_token", (Definition::Unstated, per_request)),
        (
            Latency::Ntpot,
            "normalized_time_per_output_token",
            (Definition::IncludesFirstToken, per_request),
        ),
        (Latency::Itl, "inter_token_latency", (Definition::GapBetweenEvents, Weighting::PerEvent)),
        (Latency::E2e, "request_latency", (Definition::SendToLastToken, per_request)),
    ] {
        let path = format!("successes/latency/{name}");
        *point.latency_mut(latency) = reading.stats(report, &path, 1e3, tags);
    }
    let Some(ratio) = recomputed_over_stated(point) else { return };
    let per_event = ratio > PER_EVENT_RATIO;
    if let Some(tpot) = &mut point.tpot {
        tpot.definition =
            if per_event { Definition::PerStreamEvent } else { Definition::ExcludesFirstToken };
    }
    if per_event {
        reading.remark(format!(
            "time_per_output_token is 1/{ratio:.2} of (E2E − TTFT) ÷ (n − 1): taken for a time per \
             stream event, as versions before 24 April 2026 wrote it"
        ));
    } else if let Some(itl) = &mut point.itl {
        (itl.definition, itl.weighting) = (Definition::GapBetweenTokens, Weighting::PerToken);
    }
}

/// How much longer a token takes by E2E, TTFT and length than by the stated TPOT.
fn recomputed_over_stated(point: &BenchmarkPoint) -> Option<f64> {
    let mean = |stats: &Option<LatencyStats>| stats.as_ref()?.mean_ms;
    let after_first = point.output?.mean_tokens - 1.0;
    let recomputed = (mean(&point.e2e)? - mean(&point.ttft)?) / after_first;
    let stated = mean(&point.tpot)?;
    (after_first > 0.0 && stated > 0.0 && recomputed > 0.0).then(|| recomputed / stated)
}
