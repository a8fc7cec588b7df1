//! Token demand against what the fleet sustains for this mix.

use super::report::{MixRate, SaturatedBy, Supply, TokenKind};
use crate::sim::{Refusals, ReplicaSpec, Saturation, saturate_one_of};
use crate::slo::{Fate, RequestStamps};
use crate::units::Picos;
use crate::workload::{Demand, DemandBin, OfferedRequest, TrafficClass, demand};

/// Demand is averaged over windows no shorter than this to find its peak, seconds.
const SHORTEST_PEAK_WINDOW_S: f64 = 10.0;
/// And over no more windows than this.
const MOST_PEAK_WINDOWS: f64 = 60.0;
/// Below this share of what is sustained it is less: both are measured to 1 %.
const LESS: f64 = 0.95;
/// Classes whose shares differ by no more are the same mix: what is sustained of it is measured to
/// 1 %.
const SAME_SHARE: f64 = 0.005;

/// Number of windows in which the peak of a horizon is sought.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 60")]
pub fn peak_windows(horizon: Picos) -> u32 {
    (horizon.as_secs() / SHORTEST_PEAK_WINDOW_S).floor().clamp(1.0, MOST_PEAK_WINDOWS) as u32
}

/// Mean demand: what the list of requests asks for over the horizon.
pub fn required(demand: &Demand, horizon: Picos) -> MixRate {
    let rps = demand.mix.requests as f64 / horizon.as_secs();
    MixRate {
        rps,
        prefill_tps: rps * demand.mix.mean_input_tokens,
        decode_tps: rps * demand.mix.mean_output_tokens,
    }
}

/// Expected demand in every window: the rates of the arrival processes, so that chance does not
/// make a peak of a constant rate. Of a trace it is what was recorded.
pub fn windows(demand: &Demand) -> Vec<MixRate> {
    let rate = |bin: &DemandBin| {
        let seconds = (bin.to - bin.from).as_secs();
        MixRate {
            rps: bin.expected_requests / seconds,
            prefill_tps: bin.expected_input_tokens / seconds,
            decode_tps: bin.expected_output_tokens / seconds,
        }
    };
    demand.bins.iter().map(rate).collect()
}

impl Supply {
    /// Replicas that work off so much per second, where `most` of them sustain `sustainable`: at the
    /// peak by what was measured of its mix, else by the part of the time that each kind of token
    /// takes.
    pub(super) fn replicas_for(&self, rate: &MixRate, most: u32) -> f64 {
        let part = |share: f64, tps: f64, of: f64| if tps > 0.0 { share * tps / of } else { 0.0 };
        let share = if *rate == self.required_peak && self.sustainable_at_peak.rps > 0.0 {
            rate.rps / self.sustainable_at_peak.rps
        } else {
            part(self.prefill_time_share, rate.prefill_tps, self.sustainable.prefill_tps)
                + part(1.0 - self.prefill_time_share, rate.decode_tps, self.sustainable.decode_tps)
        };
        share * f64::from(most)
    }
}

/// The first window that is not all warm-up: what is due before is not counted, so its peak is none of
/// what is.
fn counted(demand: &Demand, warmup: Picos) -> usize {
    demand.bins.iter().position(|bin| bin.to > warmup).unwrap_or(0)
}

/// The first counted window with the most work per second for what sustains `sustained` of the mean
/// mix and then spends the share `prefill_time` on prompts.
fn busiest(
    (windows, counted): (&[MixRate], usize),
    sustained: &MixRate,
    prefill_time: f64,
) -> usize {
    let work = |window: &MixRate| {
        prefill_time * window.prefill_tps / sustained.prefill_tps
            + (1.0 - prefill_time) * window.decode_tps / sustained.decode_tps
    };
    let mut best = (counted, 0.0);
    for (index, window) in windows.iter().enumerate().skip(counted) {
        // Of windows equal but for rounding, the first.
        if work(window) > best.1 * (1.0 + 1e-9) {
            best = (index, work(window));
        }
    }
    best.0
}

/// Demand in the busiest window of a part of what `supply` is for.
pub fn required_peak(part: &Demand, supply: &Supply, warmup: Picos) -> MixRate {
    let windows = windows(part);
    let counted = (windows.as_slice(), counted(part, warmup));
    let busiest = busiest(counted, &supply.sustainable, supply.prefill_time_share);
    windows.get(busiest).copied().unwrap_or_default()
}

/// What one saturated replica does of the mix of the horizon, and of the mix at the peak.
///
/// Where classes have profiles of their own, the busiest window is not the mean made larger: what
/// is sustained of the one is no measure of the other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturations {
    /// Of the whole horizon.
    pub mean: Saturation,
    /// Of the busiest window.
    pub at_peak: Saturation,
}

impl Saturations {
    /// Measures one of so many replicas on what `classes` offer in `[0, horizon)`, whose peak is looked
    /// for from the warm-up on. `None` when no request fits.
    pub fn of(
        classes: &[TrafficClass],
        requests: &[OfferedRequest],
        (warmup, horizon): (Picos, Picos),
        replicas: (&ReplicaSpec, u32),
    ) -> Option<Self> {
        let mean = saturate_one_of(requests, replicas)?;
        let demand = demand(classes, requests, horizon, peak_windows(horizon));
        let sustained = sustainable(&mean, 1);
        let windows = windows(&demand);
        let counted = (windows.as_slice(), counted(&demand, warmup));
        let busiest = busiest(counted, &sustained, mean.prefill_time_share);
        let peak = demand.bins.get(busiest);
        let at_peak = peak
            .and_then(|peak| mix_between(classes, requests, horizon, (peak.from, peak.to)))
            // Where nothing of another mix fits, it adds no work.
            .and_then(|requests| saturate_one_of(&requests, replicas));
        Some(Self { mean, at_peak: at_peak.unwrap_or(mean) })
    }
}

/// As many requests as there are, but of the classes as they are expected in a window: an even
/// sample of each by what it holds in KV memory. `None` where that is the mix they are, and where
/// nobody knows.
fn mix_between(
    classes: &[TrafficClass],
    requests: &[OfferedRequest],
    horizon: Picos,
    (from, to): (Picos, Picos),
) -> Option<Vec<OfferedRequest>> {
    let decided_by_the_fleet =
        |class: &TrafficClass| class.arrivals.closed_loop().is_some() || class.session.is_some();
    if classes.iter().any(decided_by_the_fleet) {
        return None; // when their users ask
    }
    let shares = |from, to| {
        let expected: Vec<f64> = classes.iter().map(|c| c.expected(from, to)).collect();
        let all: f64 = expected.iter().sum();
        expected.into_iter().map(move |one| one / all).collect::<Vec<f64>>()
    };
    let (mean, peak) = (shares(Picos::ZERO, horizon), shares(from, to));
    if mean.iter().zip(&peak).all(|(mean, peak)| (mean - peak).abs() <= SAME_SHARE) {
        return None;
    }
    let mut mix = Vec::with_capacity(requests.len());
    for (index, share) in (0_u32..).zip(peak) {
        let mut own: Vec<_> = requests.iter().filter(|r| r.class == index).copied().collect();
        own.sort_by_key(|r| {
            let (input, output) = (u64::from(r.input_tokens), u64::from(r.output_tokens));
            output * (2 * input + output)
        });
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
        let wanted = (share * requests.len() as f64).round() as usize;
        let wanted = if own.is_empty() { 0 } else { wanted };
        mix.extend((0..wanted).map(|i| own[(2 * i + 1) * own.len() / (2 * wanted)]));
    }
    Some(mix)
}

/// What `replicas` replicas sustain together.
pub fn sustainable(saturation: &Saturation, replicas: u32) -> MixRate {
    let one = MixRate {
        rps: saturation.rps,
        prefill_tps: saturation.prefill_tps,
        decode_tps: saturation.decode_tps,
    };
    one.times(f64::from(replicas))
}

/// The same, its tokens those of requests as they are at `peak`.
fn sustainable_at(peak: &MixRate, saturations: &Saturations, replicas: u32) -> MixRate {
    let Saturations { mean, at_peak } = saturations;
    if at_peak == mean || peak.rps <= 0.0 {
        return sustainable(mean, replicas);
    }
    peak.times(f64::from(replicas) * at_peak.rps / peak.rps)
}

/// What was completed within the horizon.
fn completed((requests, stamps): (&[OfferedRequest], &[RequestStamps]), horizon: Picos) -> MixRate {
    let in_time = requests.iter().zip(stamps).filter(|(_, stamps)| {
        stamps.fate == Fate::Completed && stamps.ended.is_some_and(|ended| ended <= horizon)
    });
    let (mut n, mut input, mut output) = (0_u64, 0_u64, 0_u64);
    for (request, _) in in_time {
        n += 1;
        input += u64::from(request.input_tokens);
        output += u64::from(request.output_tokens);
    }
    let per_second = |count: u64| count as f64 / horizon.as_secs();
    MixRate { rps: per_second(n), prefill_tps: per_second(input), decode_tps: per_second(output) }
}

/// The supply part of a report.
pub fn supply(
    rows: (&[OfferedRequest], &[RequestStamps]),
    demand: &Demand,
    (saturations, replicas): (&Saturations, u32),
    (warmup, horizon): (Picos, Picos),
) -> Supply {
    let saturation = &saturations.mean;
    let windows = windows(demand);
    let sustained = sustainable(saturation, replicas);
    let counted = (windows.as_slice(), counted(demand, warmup));
    let peak = busiest(counted, &sustained, saturation.prefill_time_share);
    let required_peak = windows.get(peak).copied().unwrap_or_default();
    let prefill_binds = saturations.at_peak.prefill_time_share > 0.5;
    Supply {
        required: required(demand, horizon),
        demand: windows,
        required_peak,
        peak_from_s: demand.bins.get(peak).map_or(0.0, |bin| bin.from.as_secs()),
        peak_window_s: horizon.as_secs() / f64::from(peak_windows(horizon)),
        sustainable: sustained,
        sustainable_at_peak: sustainable_at(&required_peak, saturations, replicas),
        binds: if prefill_binds { TokenKind::Prefill } else { TokenKind::Decode },
        sustainable_relative_error: Some(saturation.relative_error).filter(|e| e.is_finite()),
        completed: completed(rows, horizon),
        saturated_batch: saturation.mean_batch,
        saturated_by: saturated_by(&saturation.refusals),
        sustainable_once_queued_rps: (saturation.queued_rps < LESS * saturation.rps)
            .then(|| f64::from(replicas) * saturation.queued_rps),
        saturated_hit_rate: saturation.hit_share,
        prefill_time_share: saturation.prefill_time_share,
        simplified: false,
        over_time: None,
    }
}

/// What refused most often.
fn saturated_by(refusals: &Refusals) -> SaturatedBy {
    let most = refusals.seats.max(refusals.kv_memory).max(refusals.token_budget);
    if most == refusals.kv_memory {
        SaturatedBy::KvMemory
    } else if most == refusals.seats {
        SaturatedBy::Seats
    } else {
        SaturatedBy::TokenBudget
    }
}
