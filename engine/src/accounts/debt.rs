//! Queue debt: work accepted and unfinished, over time and at its worst.

use super::parts::{PartSupply, Served};
use super::report::{Debt, MixRate, SeriesPoint, Supply};
use crate::sim::{Sample, SimRun};
use crate::slo::{Contract, Fate, RequestStamps};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// The fleet over time.
pub fn series(
    run: &SimRun,
    (requests, contracts): (&[OfferedRequest], &[Contract]),
) -> Vec<SeriesPoint> {
    let useless = PastLimit::of(requests, run, contracts);
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
            backlog_work_s: sample.backlog_work_s,
            waiting_work_s: sample.waiting_work_s,
            replicas: sample.replicas.ready + sample.replicas.draining,
            starting: sample.replicas.starting,
            draining: sample.replicas.draining,
            crashed: sample.replicas.crashed,
            offered_rps: per_second(offered.requests),
            required_prefill_tps: per_second(offered.input_tokens),
            required_decode_tps: per_second(offered.output_tokens),
            prefill_tps: per_second(sample.prefill_tokens - before.prefill_tokens),
            decode_tps: per_second(sample.decode_tokens - before.decode_tokens),
            deferred: sample.deferred,
            backlog_prefill_tokens: sample.backlog_prefill_tokens,
            preemptions: sample.preemptions,
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

/// Since when a request waits to be scheduled, in a queue or where no replica takes requests; of
/// clients who try again, since the last attempt.
fn waits_from(stamps: &RequestStamps) -> Option<Picos> {
    match stamps.queued {
        Some(queued) => Some(queued - stamps.held),
        None => Some(stamps.ended? - stamps.held).filter(|_| stamps.held > Picos::ZERO),
    }
}

/// Until when it does: whoever is never scheduled nor leaves, until the run is `over`.
fn waits_until(stamps: &RequestStamps, over: Picos) -> Option<Picos> {
    match (stamps.scheduled, stamps.fate) {
        (None, Fate::Unfinished) => Some(over),
        (scheduled, _) => scheduled.or(stamps.ended),
    }
}

/// Just after the last moment of a run that is looked at.
fn over(run: &SimRun) -> Picos {
    let last = run.samples.last().map_or(Picos::ZERO, |sample| sample.at);
    last.max(run.ended) + Picos(1)
}

/// Requests that wait to be scheduled, never yet, past a limit on first token or completion; of
/// clients who try again, the wait of the last attempt.
struct PastLimit {
    /// When each became one, ascending.
    from: Vec<Picos>,
    /// When each ceased to be one, ascending.
    to: Vec<Picos>,
}

impl PastLimit {
    fn of(requests: &[OfferedRequest], run: &SimRun, contracts: &[Contract]) -> Self {
        let over = over(run);
        let spans = requests.iter().zip(&run.stamps).filter_map(|(request, stamps)| {
            let contract = &contracts[request.class as usize];
            let limits = [contract.ttft, contract.ttfvt, contract.e2e];
            let limit = limits.into_iter().flatten().min()?;
            let to = waits_until(stamps, over)?;
            let from = waits_from(stamps)?.max(request.due + limit);
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

    /// The most there are at any moment, and their share of all that were never scheduled then. It
    /// is reached where one begins, and holds from just after.
    fn peak(&self, run: &SimRun) -> (u64, f64) {
        let just_after = |begin: &Picos| (self.at(*begin + Picos(1)), std::cmp::Reverse(*begin));
        let Some((most, std::cmp::Reverse(at))) = self.from.iter().map(just_after).max() else {
            return (0, 0.0);
        };
        let over = over(run);
        let waits = |stamps: &&RequestStamps| {
            waits_from(stamps).is_some_and(|from| from <= at)
                && waits_until(stamps, over).is_some_and(|until| until > at + Picos(1))
        };
        let waiting = run.stamps.iter().filter(waits).count();
        (most, most as f64 / waiting.max(1) as f64)
    }
}

/// Debt at its worst, when the horizon ends, and how it grows.
pub fn debt(
    series: &[SeriesPoint],
    (requests, contracts): (&[OfferedRequest], &[Contract]),
    run: &SimRun,
    horizon: Picos,
    served: &[Served],
) -> Debt {
    let horizon_s = horizon.as_secs();
    let parts = || served.iter().filter_map(|served| served.supply.as_ref());
    // Each pool's own: what one has to spare works off none of another's.
    let growth = |rate: fn(&MixRate) -> f64| {
        let of = |part: &PartSupply| {
            let (need, have) = part.tightest();
            (rate(&need) - rate(&have)).max(0.0)
        };
        parts().map(of).fold(0.0, |sum, one| sum + one)
    };
    // What is left of the largest fleet, at the end, beside the mean demand.
    let room = |part: &PartSupply| {
        let Supply { sustainable, over_time, .. } = &part.supply;
        let there = over_time.as_ref().map_or(1.0, |over_time| {
            let last = over_time.replicas.last().copied().unwrap_or(0.0);
            last / f64::from(over_time.most_replicas)
        });
        there - part.unyielding.0.rps / sustainable.rps
    };
    let room = parts().map(room).fold(1.0, f64::min);
    let is_served = |stamps: &RequestStamps| stamps.fate != Fate::Unfinished;
    let drains = run.cut_off.is_some() || run.stamps.iter().all(is_served);
    let (past_limit, share_past_limit) = PastLimit::of(requests, run, contracts).peak(run);
    let end = series.iter().rev().find(|point| point.t_s <= horizon_s).copied().unwrap_or_default();
    let peaks = &run.peaks;
    Debt {
        peak_waiting: peaks.waiting,
        peak_work_s: peaks.work_s,
        peak_at_s: peaks.work_at.as_secs(),
        peak_tokens: peaks.backlog_tokens,
        oldest_age_s: peaks.oldest_age.as_secs(),
        peak_deferred: series.iter().map(|point| point.deferred).max().unwrap_or(0),
        waiting_at_end: end.waiting,
        work_at_end_s: end.backlog_work_s,
        growth_rps: growth(|rate| rate.rps),
        growth_decode_tps: growth(|rate| rate.decode_tps),
        drain_s: drains.then(|| (run.ended.as_secs() - horizon_s).max(0.0)),
        drain_while_serving_s: (room > 0.0).then(|| peaks.work_s / room),
        peak_past_limit: past_limit,
        share_past_limit_at_peak: share_past_limit,
        past_limit_at_end: end.waiting_past_limit,
    }
}
