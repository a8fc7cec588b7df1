//! The counterfactual of every lost request: which single limit, had it been lifted, would have
//! made it good, and how far it would have had to be lifted.
//!
//! Counted on the requests themselves. It holds what happened fixed: limits do not change what a
//! fleet does, so lifting one is exact. What a setting of fleet or clients would have done to a
//! request that was refused, gave up or timed out no record can say; those are named for a
//! simulation of the changed setting.

use serde::{Deserialize, Serialize};

use super::Case;
use crate::slo::{Contract, Fate, Limit, Outcome};
use crate::units::Picos;

/// Shares of the saved for which the limit that saves them is given.
const SHARES: [f64; 3] = [0.5, 0.9, 1.0];

/// Where every lost request went: the counts sum to `lost`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Relaxing {
    /// Requests that are not good.
    pub lost: u64,
    /// Each limit, lifted alone.
    pub limits: Vec<LimitLifted>,
    /// Would be good had their answers been acceptable.
    pub quality: u64,
    /// Would be good had the server not failed them at the end.
    pub errors: u64,
    /// Would stay lost whichever single one of these was lifted.
    pub several: u64,
    /// What no record can say: simulate the changed setting.
    pub to_simulate: Vec<ToSimulate>,
}

/// One limit lifted, all else as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitLifted {
    /// Which.
    pub limit: Limit,
    /// What it is now, milliseconds; `null` where no class or not every class has the same.
    pub now_ms: Option<f64>,
    /// Lost requests that would be good without it.
    pub saved: u64,
    /// The limit that would save these shares of them; empty where classes have different limits
    /// (see each class alone), and of the percentile of gaps, which are only counted.
    pub to_save: Vec<LimitToSave>,
}

/// The smallest limit that saves a share of the requests that lifting it would save.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LimitToSave {
    /// Share of the saved, 0 to 1.
    pub share: f64,
    /// Requests saved.
    pub requests: u64,
    /// The limit, milliseconds.
    pub limit_ms: f64,
}

/// Requests of an outcome on which only a simulation can tell what a setting would change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToSimulate {
    /// Which outcome.
    pub outcome: Outcome,
    /// How many.
    pub requests: u64,
    /// What to change.
    pub setting: String,
}

/// What one lost request needs.
enum Needs {
    Limit(Limit, Option<Picos>),
    Quality,
    NoError,
    Several,
    Simulation,
}

impl Relaxing {
    /// Counts what would have saved each of `cases`.
    pub fn of(cases: &[Case], contracts: &[Contract]) -> Self {
        let mut relaxing = Self::default();
        let mut saved: [Vec<Option<Picos>>; Limit::ALL.len()] = Default::default();
        let mut simulate = [0_u64; Outcome::ALL.len()];
        for case in cases.iter().filter(|case| !case.is_good()) {
            relaxing.lost += 1;
            match needs(case) {
                Needs::Limit(limit, least) => saved[limit as usize].push(least),
                Needs::Quality => relaxing.quality += 1,
                Needs::NoError => relaxing.errors += 1,
                Needs::Several => relaxing.several += 1,
                Needs::Simulation => simulate[case.outcome as usize] += 1,
            }
        }
        relaxing.limits = Limit::ALL
            .into_iter()
            .zip(saved)
            .map(|(limit, least)| lifted(limit, least, contracts))
            .collect();
        relaxing.to_simulate = Outcome::ALL
            .into_iter()
            .zip(simulate)
            .filter(|(_, requests)| *requests > 0)
            .map(|(outcome, requests)| ToSimulate {
                outcome,
                requests,
                setting: setting(outcome).to_owned(),
            })
            .collect();
        relaxing
    }
}

fn needs(case: &Case) -> Needs {
    match case.fate {
        Fate::Completed if case.acceptable => match case.missed.only() {
            Some(limit) => Needs::Limit(limit, case.measures.least_limit(limit)),
            None => Needs::Several,
        },
        Fate::Completed if case.missed.any() => Needs::Several,
        Fate::Completed => Needs::Quality,
        Fate::Failed => match case.missed_but_for_error {
            Some(missed) if case.acceptable && !missed.any() => Needs::NoError,
            Some(_) => Needs::Several,
            None => Needs::Simulation,
        },
        _ => Needs::Simulation,
    }
}

fn lifted(limit: Limit, saved: Vec<Option<Picos>>, contracts: &[Contract]) -> LimitLifted {
    let count = saved.len() as u64;
    let mut least: Vec<Picos> = saved.into_iter().flatten().collect();
    least.sort_unstable();
    let now = contracts.first().and_then(|contract| contract.limit(limit));
    let same = contracts.iter().all(|contract| contract.limit(limit) == now);
    let shares = SHARES.into_iter().filter(|_| same);
    LimitLifted {
        limit,
        now_ms: now.filter(|_| same).map(Picos::as_millis),
        saved: count,
        to_save: shares.filter_map(|share| to_save(share, &least)).collect(),
    }
}

fn to_save(share: f64, sorted: &[Picos]) -> Option<LimitToSave> {
    let at = sorted[crate::stats::rank_of(share, sorted.len())?];
    // Others may need no more than that.
    let requests = sorted.partition_point(|least| *least <= at) as u64;
    Some(LimitToSave { share, requests, limit_ms: at.as_millis() })
}

/// What would have to change for the requests of an outcome.
fn setting(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Rejected => "admission limits",
        Outcome::TooLong => "max_model_len, or KV memory",
        Outcome::Error => "the errors of the server",
        Outcome::TimedOut => "the client's time-out",
        Outcome::CancelledBeforeFirst | Outcome::CancelledMidStream => "the patience of users",
        _ => "the length of the run",
    }
}
