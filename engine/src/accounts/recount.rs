//! A run counted again under other contracts. Limits change no event of a run, so this is what
//! simulating the changed scenario would count, without simulating it: what a limit that is being
//! dragged needs, many times a second.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::tally::{self, Row};
use crate::scenario::Scenario;
use crate::slo::{Contract, Limit, Measures, Outcome, RequestStamps};
use crate::workload::OfferedRequest;

/// What limits decide of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recount {
    /// Requests due in the window: the denominator of every share.
    pub offered: u64,
    /// Good requests.
    pub good: u64,
    /// good ÷ offered.
    pub attainment: f64,
    /// Good requests per second of the window.
    pub good_rps: f64,
    /// Every outcome with its count; they sum to `offered`.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Whether every class meets its own attainment and percentile targets.
    pub contract_holds: bool,
    /// Requests within each limit alone.
    pub within: WithinLimits,
}

/// Requests within each limit alone, over those that its percentiles and its histogram rank; `null`
/// where some class has no such limit. Unlike `missed`, what never came is not within.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WithinLimits {
    /// First token in time.
    pub ttft: Option<u64>,
    /// Average time per token within its limit.
    pub tpot: Option<u64>,
    /// No gap above its limit.
    pub stall: Option<u64>,
    /// Completed in time.
    pub e2e: Option<u64>,
}

/// Counts a run of `scenario` under the contracts of its classes, which may be others than those it
/// was simulated with; all else of it has to be the same.
pub fn recount(
    scenario: &Scenario,
    (requests, stamps): (&[OfferedRequest], &[RequestStamps]),
) -> Recount {
    let contracts = &scenario.contracts;
    let rows = tally::rows(requests, stamps, contracts);
    let window = tally::window(&rows, scenario.warmup);
    let outcomes = tally::outcomes(window);
    let good = outcomes.get(&Outcome::Good).copied().unwrap_or(0);
    Recount {
        offered: window.len() as u64,
        good,
        attainment: tally::attainment(window),
        good_rps: good as f64 / (scenario.horizon - scenario.warmup).as_secs(),
        outcomes,
        contract_holds: !window.is_empty()
            && tally::attained(window, contracts)
            && tally::missed_targets(window, contracts).is_empty(),
        within: within(window, contracts),
    }
}

/// Requests within each limit alone, of those that the percentiles of that quantity rank.
pub(super) fn within(rows: &[Row], contracts: &[Contract]) -> WithinLimits {
    let count = |limit: Limit| {
        let all_have_it = contracts.iter().all(|contract| contract.limit(limit).is_some());
        let is_within = |row: &&Row| {
            let at = contracts[row.request.class as usize].limit(limit);
            let ranked = Measures::to_rank(row.request, row.stamps);
            at.and_then(|at| ranked.beyond(limit, at)) == Some(false)
        };
        all_have_it.then(|| rows.iter().filter(is_within).count() as u64)
    };
    WithinLimits {
        ttft: count(Limit::Ttft),
        tpot: count(Limit::Tpot),
        stall: count(Limit::Stall),
        e2e: count(Limit::E2e),
    }
}
