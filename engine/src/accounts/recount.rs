//! A run counted again under other contracts. Limits change no event of a run, so this is what
//! simulating the changed scenario would count, without simulating it: what a limit that is being
//! dragged needs, many times a second.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::tally::{self, Row};
use crate::problem::Problem;
use crate::scenario::Scenario;
use crate::slo::{Contract, Limit, Measures, Outcome, RequestStamps, gap_limits};
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
    /// First visible token in time.
    #[serde(default)]
    pub ttfvt: Option<u64>,
    /// Average time per token within its limit.
    pub tpot: Option<u64>,
    /// No gap above its limit.
    pub stall: Option<u64>,
    /// No more gaps above their limit than the percentile allows.
    #[serde(default)]
    pub itl: Option<u64>,
    /// Completed in time.
    pub e2e: Option<u64>,
}

/// Counts a run of `scenario` under other contracts of its classes.
///
/// # Errors
/// A contract limits a percentile of gaps at another moment than the run counted gaps above:
/// that takes a simulation. Another percentile at the same moment does not.
pub fn recount(
    scenario: &Scenario,
    contracts: &[Contract],
    (requests, stamps): (&[OfferedRequest], &[RequestStamps]),
) -> Result<Recount, Problem> {
    let counted = gap_limits(&scenario.contracts);
    for (class, (counted, wanted)) in counted.iter().zip(gap_limits(contracts)).enumerate() {
        if wanted.is_some_and(|wanted| *counted != Some(wanted)) {
            return Err(Problem::error(
                format!("workload.classes[{class}].slo.itl_percentile.ms"),
                "the run did not count the gaps above this limit, so it cannot be counted again",
                "simulate the changed scenario",
            ));
        }
    }
    let rows = tally::rows(requests, stamps, contracts);
    let window = tally::window(&rows, scenario.warmup);
    let outcomes = tally::outcomes(window);
    let good = outcomes.get(&Outcome::Good).copied().unwrap_or(0);
    Ok(Recount {
        offered: window.len() as u64,
        good,
        attainment: tally::attainment(window),
        good_rps: good as f64 / (scenario.horizon - scenario.warmup).as_secs(),
        outcomes,
        contract_holds: !window.is_empty()
            && tally::attained(window, contracts)
            && tally::missed_targets(window, contracts).is_empty(),
        within: within(window, contracts),
    })
}

/// Requests within each limit alone, of those that the percentiles of that quantity rank.
pub(super) fn within(rows: &[Row], contracts: &[Contract]) -> WithinLimits {
    let count = |limit: Limit| {
        let all_have_it = contracts.iter().all(|contract| contract.limit(limit).is_some());
        let is_within = |row: &&Row| {
            let contract = &contracts[row.request.class as usize];
            let ranked = Measures::to_rank(row.request, row.stamps);
            let beyond = match limit {
                Limit::Itl => contract.itl.and_then(|limit| ranked.itl_beyond(limit)),
                _ => contract.limit(limit).and_then(|at| ranked.beyond(limit, at)),
            };
            beyond == Some(false)
        };
        all_have_it.then(|| rows.iter().filter(is_within).count() as u64)
    };
    WithinLimits {
        ttft: count(Limit::Ttft),
        ttfvt: count(Limit::Ttfvt),
        tpot: count(Limit::Tpot),
        stall: count(Limit::Stall),
        itl: count(Limit::Itl),
        e2e: count(Limit::E2e),
    }
}
