//! A closed loop in numbers: users are not requests in flight.

use super::report::ClosedLoopReport;
use super::supply::peak_windows;
use super::tally::Row;
use crate::scenario::Scenario;
use crate::units::Picos;
use crate::workload::{ClosedLoop, Demand, OfferedRequest, demand};

/// What came of the users of a class in `[from, to)`, from all its `rows`.
pub fn closed_loop(crowd: &ClosedLoop, rows: &[Row], from: Picos, to: Picos) -> ClosedLoopReport {
    let seconds = (to - from).as_secs();
    let within = |at: Picos| at.max(from).min(to);
    let (mut due, mut response_s, mut asking_s) = (0_u64, 0.0, 0.0);
    for row in rows {
        let asked = row.request.due;
        let Some(ended) = row.stamps.ended else { continue };
        asking_s += (within(ended) - within(asked)).as_secs();
        if (from..to).contains(&asked) {
            due += 1;
            response_s += (ended - asked).as_secs();
        }
    }
    ClosedLoopReport {
        users: crowd.users,
        mean_think_time_s: crowd.think.mean_s(),
        rate_rps: due as f64 / seconds,
        mean_response_s: (due > 0).then(|| response_s / due as f64),
        mean_in_flight: asking_s / seconds,
    }
}

/// Demand that comes however late it is served; `None` where all does. Users in a closed loop ask
/// less the longer they wait, so theirs never outgrows what is sustained.
pub fn unyielding(scenario: &Scenario, requests: &[OfferedRequest]) -> Option<Demand> {
    if !scenario.has_closed_loop() {
        return None;
    }
    let Scenario { horizon, classes, .. } = scenario;
    let comes_anyhow = |request: &&OfferedRequest| {
        classes[request.class as usize].arrivals.closed_loop().is_none()
    };
    let open: Vec<OfferedRequest> = requests.iter().filter(comes_anyhow).copied().collect();
    Some(demand(classes, &open, *horizon, peak_windows(*horizon)))
}
