//! The same requests in two fleets: from which outcome to which.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::accounts::{Simulated, rows, window};
use crate::scenario::Scenario;
use crate::slo::{Outcome, RequestStamps};
use crate::workload::OfferedRequest;

/// Requests that had one outcome in the first scenario and another, or the same, in the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Outcome in the first.
    pub from: Outcome,
    /// Outcome in the second.
    pub to: Outcome,
    /// How many requests.
    pub requests: u64,
}

/// The requests of a scenario and what became of them.
#[derive(Debug, Clone, Copy)]
pub struct Served<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// What was offered, by due.
    pub requests: &'a [OfferedRequest],
    /// At the same index.
    pub stamps: &'a [RequestStamps],
}

impl<'a> Served<'a> {
    /// By a simulation of it.
    pub fn of(scenario: &'a Scenario, simulated: &'a Simulated) -> Self {
        Self { scenario, requests: &simulated.requests, stamps: &simulated.run.stamps }
    }

    /// The outcomes of the measurement window.
    pub fn outcomes(self) -> Vec<Outcome> {
        let rows = rows(self.requests, self.stamps, &self.scenario.contracts);
        window(&rows, self.scenario.warmup).iter().map(|row| row.outcome).collect()
    }
}

/// The matrix of outcomes; `None` unless both offered the same users' requests: the same classes
/// at the same moments with the same prompts. Answers may differ (a tighter output budget), and so
/// may what counts as good.
pub fn moved(a: Served<'_>, b: Served<'_>) -> Option<Vec<Moved>> {
    let key = |request: &OfferedRequest| (request.due, request.class, request.input_tokens);
    let same = a.requests.iter().map(key).eq(b.requests.iter().map(key));
    if !same || a.scenario.warmup != b.scenario.warmup {
        return None;
    }
    let mut counts: BTreeMap<(Outcome, Outcome), u64> = BTreeMap::new();
    for pair in a.outcomes().into_iter().zip(b.outcomes()) {
        *counts.entry(pair).or_default() += 1;
    }
    let all = counts.into_iter();
    Some(all.map(|((from, to), requests)| Moved { from, to, requests }).collect())
}
