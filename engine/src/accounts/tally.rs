//! Counting: one outcome for every request, and what follows from the counts.

use std::collections::BTreeMap;

use super::latency;
use super::report::{Attempts, Histogram, MissedCounts, Percentiles};
use super::words::{percent, span_ms, three_digits};
use crate::slo::{self, Contract, Fate, Measures, Outcome, RequestStamps, Tpot};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// One offered request, what happened to it and what that counts as.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// What its user asked.
    pub request: &'a OfferedRequest,
    /// What happened.
    pub stamps: &'a RequestStamps,
    /// What it counts as.
    pub outcome: Outcome,
}

/// Classifies every request under the contract of its class.
pub fn rows<'a>(
    requests: &'a [OfferedRequest],
    stamps: &'a [RequestStamps],
    contracts: &[Contract],
) -> Vec<Row<'a>> {
    let classify = |(request, stamps): (&'a OfferedRequest, &'a RequestStamps)| {
        let contract = &contracts[request.class as usize];
        Row { request, stamps, outcome: slo::classify(contract, request, stamps) }
    };
    requests.iter().zip(stamps).map(classify).collect()
}

/// The rows of the measurement window, of `rows` in order of due: what the warm-up sent is left out.
pub fn window<'a, 'b>(rows: &'b [Row<'a>], warmup: Picos) -> &'b [Row<'a>] {
    &rows[rows.partition_point(|row| row.request.due < warmup)..]
}

/// Percentile targets that are not met, each as a clause.
pub fn missed_targets(rows: &[Row], contracts: &[Contract]) -> Vec<String> {
    let mut missed = Vec::new();
    for (class, contract) in (0_u32..).zip(contracts) {
        for target in &contract.percentile_targets {
            let of_class = rows.iter().filter(|row| row.request.class == class);
            let ranked =
                target.rank(of_class.map(|row| Measures::to_rank(row.request, row.stamps)));
            if !target.is_met(ranked) {
                missed.push(format!(
                    "{} of offered requests are above {} of {} or never got it, where the target \
                     on p{} allows {}",
                    percent(ranked.beyond as f64 / ranked.population.max(1) as f64),
                    span_ms(target.limit.as_millis()),
                    target.of.name(),
                    three_digits(100.0 * target.share),
                    percent(1.0 - target.share)
                ));
            }
        }
    }
    missed
}

/// Every outcome with its count, zeros included, so that a reader can sum them.
pub fn outcomes(rows: &[Row]) -> BTreeMap<Outcome, u64> {
    let mut counts: BTreeMap<Outcome, u64> = Outcome::ALL.map(|outcome| (outcome, 0)).into();
    for row in rows {
        *counts.entry(row.outcome).or_default() += 1;
    }
    counts
}

/// What clients sent for these requests.
pub fn attempts(rows: &[Row]) -> Attempts {
    let sent: u64 = rows.iter().map(|row| u64::from(row.stamps.attempts)).sum();
    Attempts {
        sent,
        per_request: sent as f64 / rows.len().max(1) as f64,
        retried: rows.iter().filter(|row| row.stamps.attempts > 1).count() as u64,
    }
}

/// good ÷ offered; zero of nobody.
pub fn attainment(rows: &[Row]) -> f64 {
    let good = rows.iter().filter(|row| row.outcome == Outcome::Good).count();
    good as f64 / rows.len().max(1) as f64
}

/// Whether every class of whom somebody asked attains its target.
pub fn attained(rows: &[Row], contracts: &[Contract]) -> bool {
    let mut counts = vec![(0_u64, 0_u64); contracts.len()];
    for row in rows {
        let (good, offered) = &mut counts[row.request.class as usize];
        *good += u64::from(row.outcome == Outcome::Good);
        *offered += 1;
    }
    let attains = |((good, offered), contract): (&(u64, u64), &Contract)| {
        *offered == 0 || *good as f64 / *offered as f64 >= contract.attainment_target
    };
    counts.iter().zip(contracts).all(attains)
}

/// How many missed each limit, whatever else happened to them.
pub fn missed(rows: &[Row], contracts: &[Contract]) -> MissedCounts {
    let mut counts = MissedCounts::default();
    for row in rows {
        let contract = &contracts[row.request.class as usize];
        let missed = slo::missed_limits(contract, row.request, row.stamps);
        counts.ttft += u64::from(missed.ttft);
        counts.ttfvt += u64::from(missed.ttfvt);
        counts.tpot += u64::from(missed.tpot);
        counts.stall += u64::from(missed.stall);
        counts.itl += u64::from(missed.itl);
        counts.e2e += u64::from(missed.e2e);
        if row.stamps.fate == Fate::Completed && !row.request.acceptable {
            counts.quality += 1;
            counts.quality_and_latency += u64::from(missed.any());
        }
    }
    counts
}

#[expect(clippy::struct_field_names, reason = "the unit belongs into the name")]
/// Latencies of requests in milliseconds; `+∞` where a value never came.
pub struct Latencies {
    /// From due to first token.
    pub ttft_ms: Vec<f64>,
    /// From due to the first token that is shown.
    pub ttfvt_ms: Vec<f64>,
    /// Per output token after the first, of requests with two or more tokens.
    pub tpot_ms: Vec<f64>,
    /// From due to completion.
    pub e2e_ms: Vec<f64>,
    /// Longest gap, of requests with two or more tokens.
    pub longest_stall_ms: Vec<f64>,
    /// From due to first scheduled.
    pub queue_wait_ms: Vec<f64>,
}

impl Latencies {
    /// The latencies of `rows`.
    pub fn of(rows: &[Row]) -> Self {
        let ms = |span: Option<Picos>| span.map_or(f64::INFINITY, Picos::as_millis);
        let each = |value: fn(&Row) -> Option<Picos>| rows.iter().map(|r| ms(value(r))).collect();
        let streams = || rows.iter().filter(|row| row.request.output_tokens > 1);
        let completed = |row: &Row| row.stamps.fate == Fate::Completed;
        Self {
            ttft_ms: each(|row| slo::ttft(row.request, row.stamps)),
            ttfvt_ms: each(|row| slo::ttfvt(row.request, row.stamps)),
            tpot_ms: streams()
                .map(|row| slo::tpot(row.stamps).map_or(f64::INFINITY, Tpot::as_millis))
                .collect(),
            e2e_ms: each(|row| slo::e2e(row.request, row.stamps)),
            longest_stall_ms: streams()
                .map(|row| ms(completed(row).then_some(row.stamps.longest_stall)))
                .collect(),
            queue_wait_ms: each(|row| slo::queue_wait(row.request, row.stamps)),
        }
    }

    /// Histograms of TTFT, TTFVT, TPOT, E2E and longest stall.
    pub fn histograms(&self) -> [Histogram; 5] {
        [&self.ttft_ms, &self.ttfvt_ms, &self.tpot_ms, &self.e2e_ms, &self.longest_stall_ms]
            .map(|values_ms| latency::histogram(values_ms))
    }

    /// Percentiles of TTFT, TTFVT, TPOT, E2E, longest stall and queue wait.
    pub fn percentiles(self) -> [Percentiles; 6] {
        let Self { ttft_ms, ttfvt_ms, tpot_ms, e2e_ms, longest_stall_ms, queue_wait_ms } = self;
        [ttft_ms, ttfvt_ms, tpot_ms, e2e_ms, longest_stall_ms, queue_wait_ms]
            .map(latency::percentiles)
    }
}
