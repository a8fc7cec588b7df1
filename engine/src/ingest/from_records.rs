//! The statistics of a point whose file lists its requests and sums nothing up.

use super::{
    BenchmarkPoint, Definition, Latency, LatencyStats, Length, LengthSource, RecordOutcome,
    RequestRecord, TokenKind, TokenRate, Weighting,
};
use crate::stats::{mean, nearest_rank};

/// Shares at which percentiles are taken, where there are enough requests for the percentile to
/// be another than the slowest.
const SHARES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// Counts, lengths, rates and latencies of the requests, as far as `point` does not state them.
/// Latencies and lengths are over the requests that were answered.
pub(super) fn complete(point: &mut BenchmarkPoint, records: &[RequestRecord]) {
    let count = |outcome| records.iter().filter(|r| r.outcome == outcome).count() as u64;
    let answered: Vec<&RequestRecord> =
        records.iter().filter(|record| record.outcome == RecordOutcome::Ok).collect();
    point.num_prompts = point.num_prompts.or(Some(records.len() as u64));
    // Tools count what ended without an error, with a token or not.
    let completed = count(RecordOutcome::Ok) + count(RecordOutcome::EmptySuccess);
    point.completed = point.completed.or(Some(completed));
    point.failed = point.failed.or(Some(count(RecordOutcome::Error)));
    let cancelled = count(RecordOutcome::Cancelled);
    point.cancelled = point.cancelled.or_else(|| (cancelled > 0).then_some(cancelled));
    let mean_tokens = |of: fn(&RequestRecord) -> Option<u32>| {
        let tokens: Vec<f64> = answered.iter().filter_map(|r| of(r)).map(f64::from).collect();
        let mean_tokens = mean(&tokens)?;
        Some(Length { mean_tokens, source: LengthSource::Measured })
    };
    point.input = point.input.or_else(|| mean_tokens(|record| record.input_tokens));
    point.output = point.output.or_else(|| mean_tokens(|record| record.output_tokens));
    rates(point, records);
    for (latency, definition, of) in LATENCIES {
        let values = answered.iter().filter_map(|record| of(record)).collect();
        let stats = point.latency_mut(latency);
        if stats.is_none() {
            *stats = summary(values, definition);
        }
    }
}

type Of = fn(&RequestRecord) -> Option<f64>;

const LATENCIES: [(Latency, Definition, Of); 4] = [
    (Latency::Ttft, Definition::SendToFirstToken, |record| record.ttft_s),
    (Latency::Tpot, Definition::ExcludesFirstToken, RequestRecord::tpot_s),
    (Latency::E2e, Definition::SendToLastToken, |record| record.e2e_s),
    (Latency::ClientQueue, Definition::DueToSend, |record| record.client_queue_s),
];

/// From the first request sent to the last finished, and what was done in that time.
fn rates(point: &mut BenchmarkPoint, records: &[RequestRecord]) {
    let ends = records.iter().filter_map(|record| Some(record.start_s? + record.e2e_s?));
    let last = ends.fold(0.0, f64::max);
    if point.duration_s.is_none() && last > 0.0 {
        point.duration_s = Some(last);
    }
    let Some(duration_s) = point.duration_s.filter(|&duration| duration > 0.0) else { return };
    let completed = point.completed.unwrap_or(0) as f64;
    point.completed_rps = point.completed_rps.or(Some(completed / duration_s));
    if point.token_rates.is_empty() {
        let tokens = |of: fn(&RequestRecord) -> Option<u32>| {
            let answered = records.iter().filter(|r| r.outcome == RecordOutcome::Ok);
            let all: Option<Vec<f64>> = answered.map(|r| of(r).map(f64::from)).collect();
            all.filter(|all| !all.is_empty()).map(|all| all.iter().sum::<f64>())
        };
        let kinds = [
            (TokenKind::Input, tokens(|record| record.input_tokens)),
            (TokenKind::Output, tokens(|record| record.output_tokens)),
        ];
        point.token_rates = kinds
            .into_iter()
            .filter_map(|(kind, sum)| Some(TokenRate { kind, tps: sum? / duration_s }))
            .collect();
    }
}

/// Mean, extremes and percentiles of one value of each request, seconds; none of none.
pub(super) fn summary(mut values: Vec<f64>, definition: Definition) -> Option<LatencyStats> {
    values.sort_by(f64::total_cmp);
    let mut stats = LatencyStats::new(definition, Weighting::PerRequest);
    stats.mean_ms = Some(mean(&values)? * 1e3);
    stats.min_ms = values.first().map(|s| s * 1e3);
    stats.max_ms = values.last().map(|s| s * 1e3);
    for share in SHARES {
        let beyond = values.len() as f64 * (1.0 - share);
        if let Some(value) = nearest_rank(&values, share).filter(|_| beyond >= 1.0) {
            stats.set_percentile(share, value * 1e3);
        }
    }
    Some(stats)
}
