//! The accounting of a simulated scenario: its requests become cases.

use super::accounting::{Accounting, BreakOut, Case, Causer, ClassLabel, Context, Dimension};
use super::accounting::{Labels, PoolLabel, Spans, break_out};
use super::peak_windows;
use super::provision::Provisioned;
use super::tally::{self, Row};
use crate::scenario::{Pool, Scenario};
use crate::sim::{FleetSpec, PoolRun, SimRun};
use crate::workload::OfferedRequest;

/// What no simulation says about causes yet.
const NOT_KNOWN: &[&str] = &[
    "KV transfer is not simulated, so it is never a cause",
    "a long step is others decoding or prompts beside them: one gap does not tell them apart",
];

/// The accounting of `window`, rows of requests that the `fleet` of the scenario served.
pub(super) fn account_for(
    scenario: &Scenario,
    fleet: (&FleetSpec, &[PoolRun]),
    window: &[Row],
) -> Accounting {
    let cases = cases(scenario, fleet, window);
    let due = window.iter().map(|row| row.request.due).min();
    let ended = window.iter().filter_map(|row| row.stamps.ended).max();
    let context = Context {
        contracts: &scenario.contracts,
        labels: &labels(scenario, window),
        spans: Spans {
            window_s: Some((scenario.horizon - scenario.warmup).as_secs()),
            run_s: due.zip(ended).map(|(due, ended)| (ended - due).as_secs()),
        },
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
    (requests, run): (&[OfferedRequest], &SimRun),
    by: &[Dimension],
) -> Result<BreakOut, super::Unanswerable> {
    let fleet = super::fleet_spec(scenario)?;
    let rows = tally::rows(requests, &run.stamps, &scenario.contracts);
    let window = tally::window(&rows, scenario.warmup);
    Ok(break_out(&cases(scenario, (&fleet, &run.pools), window), by, &labels(scenario, window)))
}

fn cases(scenario: &Scenario, (fleet, did): (&FleetSpec, &[PoolRun]), window: &[Row]) -> Vec<Case> {
    let pools = fleet.pools.iter().zip(did);
    let starting: Vec<_> = pools.map(|(of, did)| Provisioned::new(of, did).starting()).collect();
    let case = |row: &Row| {
        let contract = &scenario.contracts[row.request.class as usize];
        let pool = row.request.pool as usize;
        let replica = &fleet.pools[pool].replica;
        let causer = Causer {
            law: &replica.law,
            api_overhead: replica.api_overhead,
            starting: &starting[pool],
        };
        Case::of_row(row, contract, &causer)
    };
    window.iter().map(case).collect()
}

fn labels(scenario: &Scenario, window: &[Row]) -> Labels {
    let last = window.iter().map(|row| row.stamps.replica + 1).max().unwrap_or(0);
    let &Scenario { horizon, ref classes, .. } = scenario;
    let class = |class: &crate::workload::TrafficClass| ClassLabel {
        name: class.name.clone(),
        tenant: Some(class.tenant.clone()).filter(|tenant| !tenant.is_empty()),
        // Which model it is, its pool says.
        model: None,
    };
    let pool = |pool: &Pool| PoolLabel {
        name: if pool.name.is_empty() { "the only one".to_owned() } else { pool.name.clone() },
        model: pool.model.name.clone(),
    };
    Labels {
        classes: classes.iter().map(class).collect(),
        pools: scenario.pools().map(pool).collect(),
        replicas: scenario.pools().map(|pool| pool.replicas).sum::<u32>().max(last),
        horizon,
        windows: peak_windows(horizon),
        missing: "not available",
    }
}
