//! The same requests in two fleets: from which outcome to which.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::accounts::{Row, Simulated, rows, window};
use crate::scenario::Scenario;
use crate::slo::Outcome;
use crate::workload::OfferedRequest;

/// Requests that had one outcome in the first scenario and another, or the same, in the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// Outcome in the first.
    pub from: Outcome,
    /// Outcome in the second.
    pub to: Outcome,
    /// How many requests.
    pub requests: u64,
}

/// The matrix of outcomes; `None` unless both offered the same users' requests: the same classes
/// at the same moments with the same prompts. Answers may differ (a tighter output budget), and so
/// may what counts as good.
pub fn moved(
    (a, of_a): (&Simulated, &Scenario),
    (b, of_b): (&Simulated, &Scenario),
) -> Option<Vec<Moved>> {
    let key = |request: &OfferedRequest| (request.due, request.class, request.input_tokens);
    let same = a.requests.iter().map(key).eq(b.requests.iter().map(key));
    if !same || of_a.warmup != of_b.warmup {
        return None;
    }
    let rows_a = rows(&a.requests, &a.run.stamps, &of_a.contracts);
    let rows_b = rows(&b.requests, &b.run.stamps, &of_b.contracts);
    let outcomes = |row: &Row| row.outcome;
    let from = window(&rows_a, of_a.warmup).iter().map(outcomes);
    let to = window(&rows_b, of_b.warmup).iter().map(outcomes);
    let mut counts: BTreeMap<(Outcome, Outcome), u64> = BTreeMap::new();
    for pair in from.zip(to) {
        *counts.entry(pair).or_default() += 1;
    }
    let all = counts.into_iter();
    Some(all.map(|((from, to), requests)| Moved { from, to, requests }).collect())
}
