//! Queue debt: work accepted and unfinished, over time and at its worst.

use super::report::{Debt, MixRate, SeriesPoint};
use crate::sim::{Sample, Saturation, SimRun};
use crate::slo::{Contract, RequestStamps};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// Turns tokens of backlog into seconds of fleet work.
///
/// A saturated fleet does `prefill_tps` and `decode_tps` at once and spends a known share of its
/// time on each, so a backlog of R requests of the mix is R ÷ rps seconds, and a backlog of pure
/// decode takes only decode's share of them.
#[derive(Debug, Clone, Copy)]
pub struct WorkRate {
    prefill_s_per_token: f64,
    decode_s_per_token: f64,
}

impl WorkRate {
    /// The rate of `replicas` replicas that each sustain `saturation`.
    pub fn new(saturation: &Saturation, replicas: u32) -> Self {
        let n = f64::from(replicas);
        let share = saturation.prefill_time_share;
        Self {
            prefill_s_per_token: share / (saturation.prefill_tps * n),
            decode_s_per_token: (1.0 - share) / (saturation.decode_tps * n),
        }
    }

    /// Seconds of fleet work.
    pub fn seconds(&self, prefill_tokens: u64, decode_tokens: u64) -> f64 {
        prefill_tokens as f64 * self.prefill_s_per_token
            + decode_tokens as f64 * self.decode_s_per_token
    }
}

/// The fleet over time.
pub fn series(
    run: &SimRun,
    (requests, contracts): (&[OfferedRequest], &[Contract]),
    work: &WorkRate,
    replicas: u32,
) -> Vec<SeriesPoint> {
    let useless = PastLimit::of(requests, &run.stamps, contracts);
    let mut points = Vec::with_capacity(run.samples.len());
    let mut before = Sample::default();
    let mut due = Due::default();
    for sample in &run.samples {
        let seconds = (sample.at - before.at).as_secs();
        let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        let offered = due.until(sample.at, requests);
        points.push(SeriesPoint {
            t_s: sample.at.as_secs(),
            offered: sample.offered,
            completed: sample.completed,
            waiting: sample.waiting,
            waiting_past_limit: useless.at(sample.at),
            running: sample.running,
            kv_used_tokens: sample.kv_used_tokens,
            oldest_age_s: sample.oldest_age.as_secs(),
            backlog_tokens: sample.backlog_prefill_tokens + sample.backlog_decode_tokens,
            backlog_work_s: work
                .seconds(sample.backlog_prefill_tokens, sample.backlog_decode_tokens),
            waiting_work_s: work
                .seconds(sample.waiting_prefill_tokens, sample.waiting_decode_tokens),
            replicas,
            offered_rps: per_second(offered.requests),
            required_prefill_tps: per_second(offered.input_tokens),
            required_decode_tps: per_second(offered.output_tokens),
            prefill_tps: per_second(sample.prefill_tokens - before.prefill_tokens),
            decode_tps: per_second(sample.decode_tokens - before.decode_tokens),
            deferred: sample.deferred,
        });
        before = *sample;
    }
    points
}

/// Requests due between two samples.
#[derive(Debug, Clone, Copy, Default)]
struct Due {
    next: usize,
    requests: u64,
    input_tokens: u64,
    output_tokens: u64,
}

impl Due {
    fn until(&mut self, at: Picos, requests: &[OfferedRequest]) -> Self {
        *self = Self { next: self.next, ..Self::default() };
        while let Some(request) = requests.get(self.next).filter(|request| request.due <= at) {
            self.next += 1;
            self.requests += 1;
            self.input_tokens += u64::from(request.input_tokens);
            self.output_tokens += u64::from(request.output_tokens);
        }
        *self
    }
}

/// Requests that wait in a queue, never scheduled, past a limit on first token or completion; of
/// clients who try again, the wait of the last attempt.
struct PastLimit {
    /// When each became one, ascending.
    from: Vec<Picos>,
    /// When each ceased to be one, ascending.
    to: Vec<Picos>,
}

impl PastLimit {
    fn of(requests: &[OfferedRequest], stamps: &[RequestStamps], contracts: &[Contract]) -> Self {
        let spans = requests.iter().zip(stamps).filter_map(|(request, stamps)| {
            let contract = &contracts[request.class as usize];
            let limit = [contract.ttft, contract.e2e].into_iter().flatten().min()?;
            let from = stamps.queued?.max(request.due + limit);
            let to = stamps.scheduled.or(stamps.ended)?;
            (from < to).then_some((from, to))
        });
        let (mut from, mut to): (Vec<_>, Vec<_>) = spans.unzip();
        from.sort_unstable();
        to.sort_unstable();
        Self { from, to }
    }

    /// How many there are at `moment`; a limit is inclusive, so they begin after it.
    fn at(&self, moment: Picos) -> u64 {
        let begun = self.from.partition_point(|from| *from < moment);
        let ended = self.to.partition_point(|to| *to <= moment);
        // Whoever has ended has begun.
        begun.saturating_sub(ended) as u64
    }
}

/// Debt at its worst, when the horizon ends, and how it grows.
pub fn debt(
    series: &[SeriesPoint],
    run: &SimRun,
    horizon: Picos,
    ((required, required_peak), sustainable): (&(MixRate, MixRate), &MixRate),
) -> Debt {
    let horizon_s = horizon.as_secs();
    let utilization = required.rps / sustainable.rps;
    let useless = series.iter().max_by_key(|point| point.waiting_past_limit);
    let useless = useless.copied().unwrap_or_default();
    let by_work =
        |a: &&SeriesPoint, b: &&SeriesPoint| a.backlog_work_s.total_cmp(&b.backlog_work_s);
    let peak = series.iter().max_by(by_work).copied().unwrap_or_default();
    let end = series.iter().rev().find(|point| point.t_s <= horizon_s).copied().unwrap_or_default();
    Debt {
        peak_waiting: series.iter().map(|point| point.waiting).max().unwrap_or(0),
        peak_work_s: peak.backlog_work_s,
        peak_at_s: peak.t_s,
        peak_tokens: peak.backlog_tokens,
        oldest_age_s: series.iter().map(|point| point.oldest_age_s).fold(0.0, f64::max),
        peak_deferred: series.iter().map(|point| point.deferred).max().unwrap_or(0),
        waiting_at_end: end.waiting,
        work_at_end_s: end.backlog_work_s,
        growth_rps: (required_peak.rps - sustainable.rps).max(0.0),
        growth_decode_tps: (required_peak.decode_tps - sustainable.decode_tps).max(0.0),
        drain_s: (run.ended.as_secs() - horizon_s).max(0.0),
        drain_while_serving_s: (utilization < 1.0)
            .then(|| peak.backlog_work_s / (1.0 - utilization)),
        peak_past_limit: useless.waiting_past_limit,
        share_past_limit_at_peak: useless.waiting_past_limit as f64 / useless.waiting.max(1) as f64,
        past_limit_at_end: end.waiting_past_limit,
    }
}
