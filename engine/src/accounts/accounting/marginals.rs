//! How many missed each limit, alone and together with others: counted, never multiplied.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Case;
use crate::slo::Limit;

/// Misses of each limit, and of each set of limits, over offered requests.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Marginals {
    /// Each limit of the waterfall.
    pub limits: Vec<LimitMisses>,
    /// Every set of limits that somebody missed exactly, the empty set first; they sum to offered.
    pub sets: Vec<MissedSet>,
}

/// Misses of one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitMisses {
    /// Which.
    pub limit: Limit,
    /// Requests that missed it, whatever else happened to them.
    pub missed: u64,
    /// Requests that missed it and no other limit.
    pub alone: u64,
    /// Requests of which nobody knows whether they did.
    pub not_judged: u64,
}

/// Requests that missed exactly these limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissedSet {
    /// Which limits.
    pub limits: Vec<Limit>,
    /// How many requests.
    pub requests: u64,
}

impl Marginals {
    /// Counts the misses of `cases`.
    pub fn of(cases: &[Case]) -> Self {
        let mut counts: BTreeMap<u8, (Vec<Limit>, u64)> = BTreeMap::new();
        for case in cases {
            let set = case.missed.limits().map(|limit| 1 << limit as u8).sum();
            counts.entry(set).or_insert_with(|| (case.missed.limits().collect(), 0)).1 += 1;
        }
        let mut sets: Vec<(Vec<Limit>, u64)> = counts.into_values().collect();
        sets.sort();
        let count =
            |of: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| of(case)).count() as u64;
        let misses = |limit| LimitMisses {
            limit,
            missed: count(&|case| case.missed.contains(limit)),
            alone: count(&|case| case.missed.only() == Some(limit)),
            not_judged: count(&|case| !case.measures.knows(limit)),
        };
        Self {
            limits: Limit::ALL.map(misses).into(),
            sets: sets
                .into_iter()
                .map(|(limits, requests)| MissedSet { limits, requests })
                .collect(),
        }
    }
}
