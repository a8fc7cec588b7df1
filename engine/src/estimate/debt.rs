//! Debt of a fluid queue over the arrival profile: work that arrives faster than the fleet does it
//! waits, whatever the chance of single arrivals.

use super::demand::IntervalDemand;
use super::report::FluidDebt;
use super::timeline::Timeline;

/// Points of the series, about.
const POINTS: usize = 240;

/// The debt at evenly spaced moments, from zero at the start. Work grows by utilization − 1 per
/// second while positive; the mix of what waits is the mean mix.
pub fn fluid(timeline: &Timeline, mean: &IntervalDemand) -> Vec<FluidDebt> {
    let every = timeline.intervals.len().div_ceil(POINTS);
    let mut work_s = 0.0_f64;
    let mut sustainable_rps = 0.0;
    let mut series = Vec::with_capacity(POINTS + 1);
    let point = |t_s: f64, interval: usize, work_s: f64, sustainable_rps: f64| {
        let offered = timeline.intervals[interval].offered;
        let debt_requests = work_s * sustainable_rps;
        FluidDebt {
            t_s,
            required_rps: offered.rps,
            required_decode_tps: offered.decode_tps,
            debt_requests,
            debt_decode_tokens: debt_requests * mean.served.output,
            debt_work_s: work_s,
        }
    };
    if !timeline.intervals.is_empty() {
        series.push(point(0.0, 0, 0.0, 0.0));
    }
    for (i, interval) in timeline.intervals.iter().enumerate() {
        work_s = (work_s + (interval.utilization - 1.0) * timeline.interval_s).max(0.0);
        if interval.sustainable_rps > 0.0 {
            sustainable_rps = interval.sustainable_rps;
        }
        if (i + 1) % every == 0 {
            let t_s = (i + 1) as f64 * timeline.interval_s;
            series.push(point(t_s, i, work_s, sustainable_rps));
        }
    }
    series
}
