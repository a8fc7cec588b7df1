//! The verdict: does the contract hold, is work merely late, or does it pile up?

use std::collections::BTreeMap;

use super::parts::{PartSupply, Served};
use super::report::{MixRate, SaturatedBy, Supply, TokenKind, Verdict, VerdictState};
use super::tally::{self, Row};
use super::words::{percent, span_ms, three_digits};
use crate::scenario::Scenario;
use crate::slo::{Contract, Limit, Outcome};
use crate::stats::apportion;
use crate::step_time::Origin;
use crate::units::Picos;

/// What the verdict rests on.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    /// Every class meets its attainment target.
    pub attained: bool,
    /// Percentile targets that are not met, each as a clause.
    pub missed_targets: Vec<String>,
    /// Why the counts do not say whether it does, where they do not.
    pub untold: Option<String>,
    /// good ÷ offered.
    pub attainment: f64,
    /// Every outcome with its count.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// What it rests on, where that is uncertain: see [`proviso`].
    pub proviso: Option<String>,
    /// Mean demand on the whole fleet, requests per second.
    pub offered_rps: f64,
    /// Demand and supply where there is least to spare.
    pub binding: Binding<'a>,
    /// Contract of each class.
    pub contracts: &'a [Contract],
}

/// Demand and supply of the pool that has the least to spare.
#[derive(Debug, Clone)]
pub struct Binding<'a> {
    /// Its name, where there are several pools.
    pub pool: Option<&'a str>,
    /// Demand and supply.
    pub supply: &'a Supply,
    /// Demand that does not yield to waiting, mean and peak: all but that of closed loops.
    pub unyielding: (MixRate, MixRate),
}

impl<'a> Binding<'a> {
    /// That of the worst of some pools; `None` where nothing that fits is asked of any.
    pub fn of(served: &'a [Served]) -> Option<Self> {
        let (worst, PartSupply { supply, unyielding }) = Served::worst(served)?;
        let several = served.len() > 1;
        let pool = several.then_some(worst.part.scenario.pool.name.as_str());
        Some(Self { pool, supply, unyielding: *unyielding })
    }

    /// That of a fleet whose demand is all of `supply`'s.
    pub fn all_of(supply: &'a Supply) -> Self {
        let unyielding = (supply.required, supply.required_peak);
        Self { pool: None, supply, unyielding }
    }

    /// What sustains it.
    fn who(&self) -> String {
        self.pool.map_or_else(|| "this fleet".to_owned(), |pool| format!("pool {pool}"))
    }
}

impl<'a> Evidence<'a> {
    /// Of the requests that `scenario` counts, `window`; `untold` says why they are not enough.
    pub fn of(
        scenario: &'a Scenario,
        window: &[Row<'_>],
        untold: Option<String>,
        binding: Binding<'a>,
        offered_rps: f64,
    ) -> Self {
        let contracts = scenario.contracts.as_slice();
        Self {
            attained: tally::attained(window, contracts),
            missed_targets: tally::missed_targets(window, contracts),
            untold,
            attainment: tally::attainment(window),
            outcomes: tally::outcomes(window),
            proviso: proviso(scenario),
            offered_rps,
            binding,
            contracts,
        }
    }

    /// The verdict in a word, a sentence and its causes.
    pub fn verdict(&self) -> Verdict {
        let state = self.state();
        let sentence = self.sentence(state);
        let sentence = match &self.proviso {
            Some(proviso) if state != VerdictState::NotMeasuredHere => {
                format!("{sentence}, {proviso}")
            }
            _ => sentence,
        };
        Verdict { state, sentence, causes: self.causes(state) }
    }

    /// Whether every class meets its own targets.
    pub fn contract_holds(&self) -> bool {
        self.outcomes.values().any(|count| *count > 0)
            && self.attained
            && self.missed_targets.is_empty()
    }

    /// *Overloaded* when debt grows without bound, or when it grows at the peak and breaks the
    /// contract; a peak that the contract survives is no overload.
    fn state(&self) -> VerdictState {
        let Supply { sustainable, sustainable_at_peak, .. } = self.binding.supply;
        let (required, required_peak) = self.binding.unyielding;
        if required.rps > sustainable.rps {
            VerdictState::Overloaded
        } else if self.untold.is_some() {
            VerdictState::NotMeasuredHere
        } else if self.contract_holds() {
            VerdictState::Holds
        } else if required_peak.rps > sustainable_at_peak.rps {
            VerdictState::Overloaded
        } else {
            VerdictState::LateButStable
        }
    }

    fn sentence(&self, state: VerdictState) -> String {
        let good = percent(self.attainment);
        let supply = self.binding.supply;
        match state {
            VerdictState::NotMeasuredHere => self.untold.clone().unwrap_or_default(),
            VerdictState::Overloaded => {
                let (need, have, when) = self.excess();
                let kind = match supply.binds {
                    TokenKind::Prefill => "Prompts",
                    TokenKind::Decode => "Outputs",
                };
                let mix = if !supply.is_another_mix_at_peak() {
                    "this mix"
                } else if when.is_empty() {
                    "the mean mix"
                } else {
                    "the mix at that hour"
                };
                format!(
                    "{kind} need {} tok/s{}{when}; {} sustains {} for {mix}",
                    three_digits(need.tps(supply.binds)),
                    self.binding.pool.map_or_else(String::new, |pool| format!(" of pool {pool}")),
                    if self.binding.pool.is_some() { "it".to_owned() } else { self.binding.who() },
                    three_digits(have.tps(supply.binds))
                )
            }
            VerdictState::LateButStable if self.attained => format!(
                "Debt does not grow, but {}",
                self.missed_targets
                    .first()
                    .map_or("a percentile target is missed", |clause| clause)
            ),
            VerdictState::LateButStable if self.unserved() => format!(
                "Not all work is done: some is turned away or leaves, and only {good} of requests \
                 are good; debt does not grow"
            ),
            VerdictState::LateButStable => format!(
                "All work is done, but only {good} of requests are good; debt does not grow"
            ),
            _ => format!(
                "{good} of requests are good at {} req/s; peak demand is {} of what {} \
                 sustains{}{}",
                three_digits(self.offered_rps),
                percent(supply.required_peak.rps / supply.sustainable_at_peak.rps),
                self.binding.who(),
                if supply.is_another_mix_at_peak() { " of the mix at that hour" } else { "" },
                if self.binding.unyielding.1.rps > supply.sustainable_at_peak.rps {
                    ", too briefly to break the contract"
                } else {
                    ""
                }
            ),
        }
    }

    /// Whether requests were turned away or left before they were served, so that not all that was
    /// asked for is work.
    fn unserved(&self) -> bool {
        let never_served = [Outcome::Rejected, Outcome::TimedOut, Outcome::CancelledBeforeFirst];
        never_served.iter().any(|outcome| self.outcomes.get(outcome).is_some_and(|n| *n > 0))
    }

    /// Demand that comes anyhow and the supply that it exceeds, at the peak if it does there, else
    /// in the mean; and when that is.
    fn excess(&self) -> (MixRate, MixRate, &'static str) {
        let Supply { sustainable, sustainable_at_peak, .. } = self.binding.supply;
        let (required, required_peak) = self.binding.unyielding;
        if required_peak.rps <= sustainable_at_peak.rps {
            return (required, *sustainable, "");
        }
        let when = if required_peak.rps > 1.02 * required.rps { " at peak" } else { "" };
        (required_peak, *sustainable_at_peak, when)
    }

    fn causes(&self, state: VerdictState) -> Vec<String> {
        if state == VerdictState::NotMeasuredHere {
            return Vec::new();
        }
        let mut causes = self.losses();
        causes.extend_from_slice(&self.missed_targets);
        if state == VerdictState::Overloaded {
            let (need, have, when) = self.excess();
            let growth = three_digits(need.rps - have.rps);
            let during = if when.is_empty() { "" } else { " while demand is at its peak" };
            let what = if self.unserved() {
                format!(
                    "demand is {growth} req/s above what is sustained{during}: as much piles up, is \
                     turned away or leaves"
                )
            } else {
                format!("work piles up at {growth} req/s{during}")
            };
            causes.insert(0, what);
            let by = match self.binding.supply.saturated_by {
                SaturatedBy::Seats => "every seat (max_num_seqs) is taken",
                SaturatedBy::KvMemory => "KV memory is full",
                SaturatedBy::TokenBudget => "every step's max_num_batched_tokens is used up",
                SaturatedBy::DeclaredRate => "the declared rate is reached",
            };
            causes.push(format!("saturated, {by}"));
        }
        causes
    }

    /// Clauses about who was lost, the most frequent first. Every request is in one of them or
    /// good, so that shares add up; they are the waterfall's.
    fn losses(&self) -> Vec<String> {
        let mut counts: Vec<(Outcome, u64)> = self.outcomes.iter().map(|(o, n)| (*o, *n)).collect();
        counts.sort_by_key(|(outcome, n)| (std::cmp::Reverse(*n), *outcome));
        let weights: Vec<u64> = counts.iter().map(|(_, n)| *n).collect();
        let mut lost: Vec<((Outcome, u64), u64)> =
            counts.into_iter().zip(apportion(&weights, 1_000)).collect();
        lost.retain(|((outcome, n), _)| *outcome != Outcome::Good && *n > 0);
        let clause = |((outcome, _), tenths): ((Outcome, u64), u64)| {
            let share = match tenths {
                0 => "under 0.1 %".to_owned(),
                _ => percent(tenths as f64 / 1e3),
            };
            format!("{share} {}", self.what_happens(outcome))
        };
        lost.into_iter().map(clause).collect()
    }

    /// What those with an outcome meet, as a verb.
    fn what_happens(&self, outcome: Outcome) -> String {
        let limit = |get: fn(&Contract) -> Option<Picos>| match self.contracts {
            [only] => get(only).map(|at| span_ms(at.as_millis())),
            _ => None,
        };
        let limit = |get| limit(get).unwrap_or_else(|| "their limit".to_owned());
        let has = |limit| self.contracts.iter().any(|c| c.limit(limit).is_some());
        match outcome {
            Outcome::Good => "are good".to_owned(),
            Outcome::Rejected => "are rejected".to_owned(),
            Outcome::TooLong => "are too long to be served".to_owned(),
            Outcome::Error => "fail".to_owned(),
            Outcome::TimedOut => "time out".to_owned(),
            Outcome::CancelledBeforeFirst => "give up waiting".to_owned(),
            Outcome::CancelledMidStream => "leave in mid-stream".to_owned(),
            Outcome::LateFirstToken if !has(Limit::Ttfvt) => {
                format!("wait more than {} for the first token", limit(|c| c.ttft))
            }
            Outcome::LateFirstToken if !has(Limit::Ttft) => {
                format!("wait more than {} for the first token that is shown", limit(|c| c.ttfvt))
            }
            Outcome::LateFirstToken => {
                "wait too long for the first token, or for the first that is shown".to_owned()
            }
            Outcome::LateAndSlow if has(Limit::Ttfvt) => {
                "wait too long for a first token and miss another limit too".to_owned()
            }
            Outcome::LateAndSlow => {
                format!("wait more than {} and miss another limit too", limit(|c| c.ttft))
            }
            Outcome::Stalled if !has(Limit::Stall) => format!(
                "have more gaps above {} than their limit allows",
                limit(|c| c.itl.map(|limit| limit.at))
            ),
            Outcome::Stalled if has(Limit::Itl) => {
                "stall, or have more gaps above their limit than it allows".to_owned()
            }
            Outcome::Stalled => format!("stall for more than {}", limit(|c| c.longest_stall)),
            Outcome::SlowTokens => {
                format!("get tokens more than {} apart on average", limit(|c| c.tpot))
            }
            Outcome::LateCompletion => format!("take more than {} in all", limit(|c| c.e2e)),
            Outcome::LowQuality => "get a bad answer in time".to_owned(),
            Outcome::Unfinished => "are undecided when the run ends".to_owned(),
        }
    }
}

/// Step times off by as much as this on average are a range: what rests on them is no promise.
const WIDE_BAND: f64 = 0.2;

/// On what an answer rests whose step times come from a datasheet or have a wide band, as a clause
/// after it: a range, which no number of seeds makes a probability. Of several pools, the widest.
pub fn proviso(scenario: &Scenario) -> Option<String> {
    let wide = scenario.pools().filter_map(|pool| {
        let provenance = &pool.step_time()?.resolved.provenance;
        let band = provenance.band?;
        let whose = match provenance.origin {
            Origin::Datasheet => "the datasheet's step times are",
            _ if band.typical >= WIDE_BAND => "these step times are",
            _ => return None,
        };
        Some((pool, band, whose))
    });
    let (pool, band, whose) = wide.reduce(|a, b| if b.1.typical > a.1.typical { b } else { a })?;
    let of = if scenario.has_several_pools() {
        format!(" for pool {}", pool.name)
    } else {
        String::new()
    };
    let (low, high) = (three_digits(band.low), three_digits(band.high));
    Some(format!("if {whose} right{of}: true ones may be {low} to {high} × as long"))
}
