//! The accounting of a simulated scenario: its requests become cases.

use super::accounting::{Accounting, BreakOut, Case, Causer, ClassLabel, Context, Dimension};
use super::accounting::{Labels, break_out};
use super::peak_windows;
use super::tally::{self, Row};
use crate::scenario::Scenario;
use crate::sim::ReplicaSpec;
use crate::slo::RequestStamps;
use crate::workload::OfferedRequest;

/// What no simulation says about causes yet.
const NOT_KNOWN: &[&str] = &[
    "start-up of replicas and KV transfer are not simulated, so neither is ever a cause",
    "a long step is others decoding or prompts beside them: one gap does not tell them apart",
];

/// The accounting of `window`, rows of requests that `replica`s of the scenario served.
pub(super) fn account_for(
    scenario: &Scenario,
    replica: &ReplicaSpec,
    window: &[Row],
) -> Accounting {
    let cases = cases(scenario, replica, window);
    let due = window.iter().map(|row| row.request.due).min();
    let ended = window.iter().filter_map(|row| row.stamps.ended).max();
    let context = Context {
        contracts: &scenario.contracts,
        labels: &labels(scenario),
        span_s: due.zip(ended).map(|(due, ended)| (ended - due).as_secs()),
        causes_not_known: NOT_KNOWN,
    };
    Accounting::of(&cases, &context)
}

/// Outcomes of the measurement window broken out by one dimension, or by several crossed: the heat
/// map that a report leaves out until it is asked for.
///
/// # Errors
/// See [`super::Unanswerable`]; a scenario that was simulated has none.
pub fn cross(
    scenario: &Scenario,
    (requests, stamps): (&[OfferedRequest], &[RequestStamps]),
    by: &[Dimension],
) -> Result<BreakOut, super::Unanswerable> {
    let fleet = super::fleet_spec(&scenario.pool)?;
    let rows = tally::rows(requests, stamps, &scenario.contracts);
    let window = tally::window(&rows, scenario.warmup);
    Ok(break_out(&cases(scenario, &fleet.replica, window), by, &labels(scenario)))
}

fn cases(scenario: &Scenario, replica: &ReplicaSpec, window: &[Row]) -> Vec<Case> {
    let causer = Causer { law: &replica.law, api_overhead: replica.api_overhead };
    let case = |row: &Row| {
        let contract = &scenario.contracts[row.request.class as usize];
        Case::of_row(row, contract, &causer)
    };
    window.iter().map(case).collect()
}

fn labels(scenario: &Scenario) -> Labels {
    let &Scenario { horizon, ref classes, ref pool, .. } = scenario;
    let class = |class: &crate::workload::TrafficClass| ClassLabel {
        name: class.name.clone(),
        tenant: Some(class.tenant.clone()).filter(|tenant| !tenant.is_empty()),
        model: Some(pool.model.name.clone()),
    };
    Labels {
        classes: classes.iter().map(class).collect(),
        replicas: pool.replicas,
        horizon,
        windows: peak_windows(horizon),
        missing: "not available",
    }
}
