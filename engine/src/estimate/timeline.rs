//! Demand and utilization over the horizon, and the busiest window.

use super::demand::{self, ClassDemand, IntervalDemand};
use super::service::ReplicaModel;
use crate::accounts::peak_windows;
use crate::accounts::report::MixRate;
use crate::scenario::Scenario;
use crate::units::Picos;

/// The fewest intervals of the horizon.
const FEWEST_INTERVALS: u32 = 240;

/// The horizon in even intervals.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// Length of an interval, seconds.
    pub interval_s: f64,
    /// In order of time.
    pub intervals: Vec<Interval>,
    /// Demand in each window, in order of time.
    pub windows: Vec<MixRate>,
    /// Length of a window, seconds.
    pub peak_window_s: f64,
    /// When the busiest one starts, seconds.
    pub peak_from_s: f64,
    /// Demand in it.
    pub peak: MixRate,
    /// Required ÷ sustainable in it.
    pub peak_utilization: f64,
    /// The mix in it.
    pub peak_demand: IntervalDemand,
}

/// One interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Offered rates.
    pub offered: MixRate,
    /// Fleet work that arrives per second: required ÷ sustainable, for the mix of this interval.
    pub utilization: f64,
    /// Requests per second the fleet sustains of this mix.
    pub sustainable_rps: f64,
}

impl Timeline {
    /// The timeline of `scenario`.
    pub fn of(scenario: &Scenario, classes: &[ClassDemand], model: &ReplicaModel) -> Self {
        // The same windows as in a simulation's report.
        let windows = peak_windows(scenario.horizon);
        let per_window = FEWEST_INTERVALS.div_ceil(windows);
        let count = windows * per_window;
        let interval_s = scenario.horizon.as_secs() / f64::from(count);
        let edge = |i: u32| Picos::from_secs(f64::from(i) * interval_s);
        let replicas = f64::from(scenario.pool.most_replicas());
        let intervals: Vec<Interval> = (0..count)
            .map(|i| {
                let demand = demand::between(classes, edge(i), edge(i + 1));
                let sustainable_rps = match demand.served_rps {
                    0.0 => 0.0,
                    _ => replicas * model.sustainable(&demand.served).0,
                };
                let utilization =
                    if sustainable_rps > 0.0 { demand.served_rps / sustainable_rps } else { 0.0 };
                Interval { offered: demand.offered, utilization, sustainable_rps }
            })
            .collect();
        // What is due before the warm-up ends is not counted, so its peak is none of what is.
        let counted = (0..windows).find(|window| edge((window + 1) * per_window) > scenario.warmup);
        let first = counted.unwrap_or(0);
        let (window, peak_utilization) = busiest(&intervals, per_window, first);
        let in_window = |window: u32| {
            let start = window * per_window;
            demand::between(classes, edge(start), edge(start + per_window))
        };
        let peak_demand = in_window(window);
        Self {
            interval_s,
            windows: (0..windows).map(|window| in_window(window).offered).collect(),
            peak_window_s: f64::from(per_window) * interval_s,
            peak_from_s: edge(window * per_window).as_secs(),
            peak: peak_demand.offered,
            peak_utilization,
            peak_demand,
            intervals,
        }
    }
}

/// The busiest window of `per_window` intervals from the `first` on, and its mean utilization.
fn busiest(intervals: &[Interval], per_window: u32, first: u32) -> (u32, f64) {
    let mut best = (first, 0.0);
    let windows = (0..).zip(intervals.chunks(per_window as usize));
    for (window, run) in windows.skip(first as usize) {
        let mean = run.iter().map(|i| i.utilization).sum::<f64>() / f64::from(per_window);
        // Of windows equal but for rounding, the first.
        if mean > best.1 * (1.0 + 1e-9) {
            best = (window, mean);
        }
    }
    best
}
