//! Supply floors for the busiest moments: a mean over hours hides what a minute asks.

use super::report::PeakFloor;
use crate::estimate::report::SupplyEstimate;
use crate::scenario::{MAX_REPLICAS, Scenario};
use crate::stats::peak_rate;

/// The widths of the windows, seconds: shorter than the first the queue of a fleet evens out.
const WINDOWS_S: [f64; 2] = [60.0, 10.0];

/// For every width that fits the horizon several times. None where users ask when they were
/// answered: how often then depends on the fleet.
pub fn floors(scenario: &Scenario, supply: &SupplyEstimate) -> Vec<PeakFloor> {
    if scenario.has_closed_loop() {
        return Vec::new();
    }
    let Ok(requests) = scenario.mix() else { return Vec::new() };
    let due_s: Vec<f64> = requests.iter().map(|request| request.due.as_secs()).collect();
    let of_one = supply.sustainable_rps / f64::from(scenario.pool.replicas);
    let fits = |window_s: &f64| scenario.horizon.as_secs() >= 2.0 * window_s;
    let floor = |window_s: f64| {
        let rps = peak_rate(&due_s, window_s);
        PeakFloor { window_s, rps, replicas: whole((rps / of_one).ceil()).min(MAX_REPLICAS) }
    };
    WINDOWS_S.into_iter().filter(fits).map(floor).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn whole(x: f64) -> u32 {
    x as u32
}
