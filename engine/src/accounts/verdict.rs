//! The verdict: does the contract hold, is work merely late, or does it pile up?

use std::collections::BTreeMap;

use super::excess::{Excess, When, where_tightest};
use super::parts::{PartSupply, Served, tightest};
use super::proviso::proviso;
use super::report::{MixRate, SaturatedBy, Supply, TokenKind, Verdict, VerdictState};
use super::tally::{self, Row};
use super::unserved::{Door, Unserved, no_replica};
use super::words::{capital, percent, span_ms, thousands, three_digits};
use crate::scenario::Scenario;
use crate::slo::{Contract, Limit, Outcome};
use crate::stats::apportion;
use crate::units::Picos;

/// Share of the users of closed loops from which on it is said that they wait.
const MANY_USERS: f64 = 0.05;

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
    /// Who was not served to the end.
    pub unserved: Unserved,
    /// What the door let in where demand is above supply.
    pub door: Door,
    /// When the horizon ends, seconds.
    pub horizon_s: f64,
    /// Users of closed loops, and how many requests wait when the horizon ends.
    pub crowd: Option<(u64, u64)>,
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
        let excess = Excess::of(binding.supply, binding.unyielding);
        Self {
            attained: tally::attained(window, contracts),
            missed_targets: tally::missed_targets(window, contracts),
            untold,
            attainment: tally::attainment(window),
            outcomes: tally::outcomes(window),
            proviso: proviso(scenario),
            offered_rps,
            contracts,
            unserved: Unserved::of(window),
            door: Door::of(&scenario.admission, window, excess.span),
            horizon_s: scenario.horizon.as_secs(),
            crowd: None,
            binding,
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

    /// *Overloaded* when debt grows without bound, or when it breaks the contract that it grows for a
    /// while: at the peak, or where fewer replicas take requests. A peak that the contract survives
    /// is no overload; where some are never served, the run ended before the debt did.
    fn state(&self) -> VerdictState {
        let required = self.binding.unyielding.0;
        let (need, have) = tightest(self.binding.supply, self.binding.unyielding.1);
        if required.rps > self.binding.supply.sustainable.rps {
            VerdictState::Overloaded
        } else if self.untold.is_some() {
            VerdictState::NotMeasuredHere
        } else if self.contract_holds() {
            VerdictState::Holds
        } else if need.rps > have.rps || self.unserved.never > 0 {
            VerdictState::Overloaded
        } else {
            VerdictState::LateButStable
        }
    }

    fn sentence(&self, state: VerdictState) -> String {
        let good = percent(self.attainment);
        let few = match self.outcomes.get(&Outcome::Good) {
            None | Some(0) => "no request is good".to_owned(),
            Some(_) => format!("only {good} of requests are good"),
        };
        match state {
            VerdictState::NotMeasuredHere => self.untold.clone().unwrap_or_default(),
            VerdictState::Overloaded => self.overloaded(),
            VerdictState::LateButStable if self.attained => format!(
                "Debt does not grow, but {}",
                self.missed_targets
                    .first()
                    .map_or("a percentile target is missed", |clause| clause)
            ),
            VerdictState::LateButStable => {
                let debt = self.debt_is_bounded();
                match self.unserved.clause() {
                    Some(unserved) => {
                        format!("Not all work is done: {unserved}, and {few}; {debt}")
                    }
                    None if self.all_users_wait() => format!("{}; {debt}", capital(&few)),
                    None => format!("All work is done, but {few}; {debt}"),
                }
            }
            _ => self.holds(&good),
        }
    }

    /// What debt does where none grows that does not yield: users of a closed loop wait, and as many
    /// as there are at most.
    fn debt_is_bounded(&self) -> String {
        match self.crowd {
            Some((users, waiting)) if self.all_users_wait() => format!(
                "debt grows until all users wait: {} requests of {} users do when the horizon ends",
                thousands(waiting as f64),
                thousands(users as f64)
            ),
            // What is turned away or left is owed to nobody any more.
            _ if self.unserved.is_any() => "none of what is not done piles up".to_owned(),
            _ => "debt does not grow".to_owned(),
        }
    }

    fn excess(&self) -> Excess {
        Excess::of(self.binding.supply, self.binding.unyielding)
    }

    fn all_users_wait(&self) -> bool {
        self.crowd.is_some_and(|(users, waiting)| waiting as f64 >= MANY_USERS * users as f64)
    }

    fn overloaded(&self) -> String {
        let Supply { binds, over_time, .. } = self.binding.supply;
        let Excess { need, have, when, .. } = self.excess();
        let without = over_time.as_ref().and_then(|over_time| over_time.without);
        if let Some(without) = without.filter(|_| have.rps <= 0.0 || self.unserved.never > 0) {
            return no_replica(
                &without,
                (self.binding.pool, self.horizon_s),
                &need,
                &self.unserved,
            );
        }
        let kind = match binds {
            TokenKind::Prefill => "Prompts",
            TokenKind::Decode => "Outputs",
        };
        let of_pool = self.binding.pool.map_or_else(String::new, |pool| format!(" of pool {pool}"));
        let (asked, sustained) = (three_digits(need.tps(*binds)), three_digits(have.tps(*binds)));
        if let (When::Tightest, Some(over_time)) = (when, over_time) {
            return format!(
                "{kind} need {asked} tok/s{of_pool} from {} on; the replicas that take requests then \
                 ({} of {}) sustain {sustained}",
                span_ms(1e3 * over_time.tightest_from_s),
                three_digits(over_time.tightest_replicas),
                over_time.most_replicas
            );
        }
        let mix = match when {
            _ if !self.binding.supply.is_another_mix_at_peak() => "this mix",
            When::Mean => "the mean mix",
            _ => "the mix at that hour",
        };
        let who = if self.binding.pool.is_some() { "it".to_owned() } else { self.binding.who() };
        let when = when.words();
        format!("{kind} need {asked} tok/s{of_pool}{when}; {who} sustains {sustained} for {mix}")
    }

    fn holds(&self, good: &str) -> String {
        let supply = self.binding.supply;
        let offered = three_digits(self.offered_rps);
        let briefly = |need: f64, have: f64| {
            if need > have { ", too briefly to break the contract" } else { "" }
        };
        if let Some(over_time) = &supply.over_time {
            let (need, have) = (over_time.tightest_required, over_time.tightest_sustainable);
            let pool = self.binding.pool;
            let whose = pool.map_or_else(String::new, |pool| format!(" of pool {pool}"));
            return format!(
                "{good} of requests are good at {offered} req/s; {}{}",
                where_tightest(over_time, &whose),
                briefly(need.rps, have.rps)
            );
        }
        format!(
            "{good} of requests are good at {offered} req/s; peak demand is {} of what {} \
             sustains{}{}",
            percent(supply.required_peak.rps / supply.sustainable_at_peak.rps),
            self.binding.who(),
            if supply.is_another_mix_at_peak() { " of the mix at that hour" } else { "" },
            briefly(self.binding.unyielding.1.rps, supply.sustainable_at_peak.rps)
        )
    }

    fn causes(&self, state: VerdictState) -> Vec<String> {
        if state == VerdictState::NotMeasuredHere {
            return Vec::new();
        }
        let mut causes = self.losses();
        causes.extend_from_slice(&self.missed_targets);
        if self.unserved.never > 0 {
            causes.push(format!(
                "{} are never served: no replica takes requests when the run ends",
                percent(self.unserved.share(self.unserved.never))
            ));
        }
        if state == VerdictState::Overloaded {
            let Excess { need, have, when, .. } = self.excess();
            if need.rps > have.rps {
                causes.insert(0, self.growth(&need, &have, when));
            }
            causes.extend(self.saturated(&need, &have));
        } else if self.unserved.turned_away > 0 && self.binding.pool.is_none() {
            // Nothing ran out, so it may be the door alone that turns them away.
            let Supply { required, sustainable, .. } = self.binding.supply;
            causes.extend(self.door.binds(required, sustainable));
        }
        causes
    }

    fn growth(&self, need: &MixRate, have: &MixRate, when: When) -> String {
        let growth = three_digits(need.rps - have.rps);
        let during = match when {
            When::Mean => "",
            When::Peak => " while demand is at its peak",
            When::Tightest => " meanwhile",
        };
        if self.unserved.is_any() {
            format!(
                "demand is {growth} req/s above what is sustained{during}: as much piles up, is \
                 turned away or leaves"
            )
        } else {
            format!("work piles up at {growth} req/s{during}")
        }
    }

    /// What ran out in this run: the replicas, unless the door kept their load from them.
    fn saturated(&self, need: &MixRate, have: &MixRate) -> Option<String> {
        if have.rps <= 0.0 || need.rps <= have.rps {
            return None;
        }
        if let Some(door) = self.door.binds(need, have) {
            return Some(door);
        }
        let by = match self.binding.supply.saturated_by {
            SaturatedBy::Seats => "every seat (max_num_seqs) is taken",
            SaturatedBy::KvMemory => "KV memory is full",
            SaturatedBy::TokenBudget => "every step's max_num_batched_tokens is used up",
            SaturatedBy::DeclaredRate => "the declared rate is reached",
        };
        Some(format!("saturated, {by}"))
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
