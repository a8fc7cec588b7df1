//! Token demand against what the fleet sustains for this mix.

use super::report::{MixRate, SaturatedBy, Supply};
use crate::sim::{Refusals, Saturation, SimRun};
use crate::slo::Fate;
use crate::units::Picos;
use crate::workload::{Demand, OfferedRequest};

/// Demand is averaged over windows no shorter than this to find its peak, seconds.
const SHORTEST_PEAK_WINDOW_S: f64 = 10.0;
/// And over no more windows than this.
const MOST_PEAK_WINDOWS: f64 = 60.0;

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

/// Expected demand in its busiest window: the rates of the arrival processes, so that chance
/// does not make a peak of a constant rate. Of a trace it is what was recorded.
pub fn required_peak(demand: &Demand) -> MixRate {
    let rates = demand.bins.iter().map(|bin| {
        let seconds = (bin.to - bin.from).as_secs();
        MixRate {
            rps: bin.expected_requests / seconds,
            prefill_tps: bin.expected_input_tokens / seconds,
            decode_tps: bin.expected_output_tokens / seconds,
        }
    });
    rates.max_by(|a, b| a.decode_tps.total_cmp(&b.decode_tps)).unwrap_or_default()
}

/// What `replicas` replicas sustain together.
pub fn sustainable(saturation: &Saturation, replicas: u32) -> MixRate {
    let n = f64::from(replicas);
    MixRate {
        rps: n * saturation.rps,
        prefill_tps: n * saturation.prefill_tps,
        decode_tps: n * saturation.decode_tps,
    }
}

/// What was completed within the horizon.
fn completed(requests: &[OfferedRequest], run: &SimRun, horizon: Picos) -> MixRate {
    let in_time = requests.iter().zip(&run.stamps).filter(|(_, stamps)| {
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
    requests: &[OfferedRequest],
    demand: &Demand,
    run: &SimRun,
    (saturation, replicas): (&Saturation, u32),
    horizon: Picos,
) -> Supply {
    Supply {
        required: required(demand, horizon),
        required_peak: required_peak(demand),
        peak_window_s: horizon.as_secs() / f64::from(peak_windows(horizon)),
        sustainable: sustainable(saturation, replicas),
        sustainable_relative_error: Some(saturation.relative_error).filter(|e| e.is_finite()),
        completed: completed(requests, run, horizon),
        saturated_batch: saturation.mean_batch,
        saturated_by: saturated_by(&saturation.refusals),
        prefill_time_share: saturation.prefill_time_share,
        simplified: false,
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
