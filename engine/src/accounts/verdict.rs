//! The verdict: does the contract hold, is work merely late, or does it pile up?

use super::report::{MissedCounts, MixRate, SaturatedBy, Supply, Verdict, VerdictState};
use super::words::{percent, span_ms, three_digits};
use crate::slo::Contract;

/// What the verdict rests on.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    /// Every class meets its attainment target.
    pub attained: bool,
    /// Percentile targets that are not met, each as a clause.
    pub missed_targets: &'a [String],
    /// Why the counts do not say whether it does, where they do not.
    pub untold: Option<String>,
    /// good ÷ offered.
    pub attainment: f64,
    /// Requests in the window.
    pub offered: u64,
    /// Misses of each limit.
    pub missed: &'a MissedCounts,
    /// Requests that left without a first token, or failed.
    pub lost: u64,
    /// Demand and supply.
    pub supply: &'a Supply,
    /// Demand that does not yield to waiting, mean and peak: all but that of closed loops.
    pub unyielding: (MixRate, MixRate),
    /// Contract of each class.
    pub contracts: &'a [Contract],
}

impl Evidence<'_> {
    /// The verdict in a word, a sentence and its causes.
    pub fn verdict(&self) -> Verdict {
        let state = self.state();
        Verdict { state, sentence: self.sentence(state), causes: self.causes(state) }
    }

    /// Whether every class meets its own targets.
    pub fn contract_holds(&self) -> bool {
        self.offered > 0 && self.attained && self.missed_targets.is_empty()
    }

    /// *Overloaded* when debt grows without bound, or when it grows at the peak and breaks the
    /// contract; a peak that the contract survives is no overload.
    fn state(&self) -> VerdictState {
        let sustainable = self.supply.sustainable;
        let (required, required_peak) = self.unyielding;
        if required.rps > sustainable.rps {
            VerdictState::Overloaded
        } else if self.untold.is_some() {
            VerdictState::NotMeasuredHere
        } else if self.contract_holds() {
            VerdictState::Holds
        } else if required_peak.rps > sustainable.rps {
            VerdictState::Overloaded
        } else {
            VerdictState::LateButStable
        }
    }

    fn sentence(&self, state: VerdictState) -> String {
        let good = percent(self.attainment);
        let supply = self.supply;
        match state {
            VerdictState::NotMeasuredHere => self.untold.clone().unwrap_or_default(),
            VerdictState::Overloaded => {
                let (kind, need, have) = self.scarcer();
                let (required, required_peak) = self.unyielding;
                let when = if required_peak.rps > 1.02 * required.rps { " at peak" } else { "" };
                format!(
                    "{kind} need {} tok/s{when}; this fleet sustains {} for this mix",
                    three_digits(need),
                    three_digits(have)
                )
            }
            VerdictState::LateButStable if self.attained => format!(
                "All work is done, but {}; debt does not grow",
                self.missed_targets
                    .first()
                    .map_or("a percentile target is missed", |clause| clause)
            ),
            VerdictState::LateButStable => format!(
                "All work is done, but only {good} of requests are good; debt does not grow"
            ),
            _ => format!(
                "{good} of requests are good at {} req/s; peak demand is {} of what this fleet \
                 sustains",
                three_digits(supply.required.rps),
                percent(supply.required_peak.rps / supply.sustainable.rps)
            ),
        }
    }

    /// The token kind that takes more of the fleet's time, with demand at the peak and supply.
    fn scarcer(&self) -> (&'static str, f64, f64) {
        let MixRate { prefill_tps, decode_tps, .. } = self.unyielding.1;
        let sustainable = self.supply.sustainable;
        if self.supply.prefill_time_share > 0.5 {
            ("Prompts", prefill_tps, sustainable.prefill_tps)
        } else {
            ("Outputs", decode_tps, sustainable.decode_tps)
        }
    }

    fn causes(&self, state: VerdictState) -> Vec<String> {
        if state == VerdictState::NotMeasuredHere {
            return Vec::new();
        }
        let mut causes = self.misses();
        causes.extend_from_slice(self.missed_targets);
        if state == VerdictState::Overloaded {
            let supply = self.supply;
            causes.insert(
                0,
                format!(
                    "work piles up at {} req/s while demand is at its peak",
                    three_digits(self.unyielding.1.rps - supply.sustainable.rps)
                ),
            );
            let by = match supply.saturated_by {
                SaturatedBy::Seats => "every seat (max_num_seqs) is taken",
                SaturatedBy::KvMemory => "KV memory is full",
                SaturatedBy::TokenBudget => "every step's max_num_batched_tokens is used up",
                SaturatedBy::DeclaredRate => "the declared rate is reached",
            };
            causes.push(format!("saturated, {by}"));
        }
        causes
    }

    /// Clauses about what was missed, the most frequent first.
    fn misses(&self) -> Vec<String> {
        let share = |count: u64| count as f64 / self.offered.max(1) as f64;
        let limit = |get: fn(&Contract) -> Option<crate::units::Picos>| match self.contracts {
            [only] => get(only).map_or(String::new(), |at| format!(" {}", span_ms(at.as_millis()))),
            _ => " its limit".to_owned(),
        };
        let MissedCounts { ttft, tpot, stall, e2e, quality, .. } = *self.missed;
        let mut clauses = vec![
            (ttft, format!("wait more than{} for the first token", limit(|c| c.ttft))),
            (tpot, format!("get tokens more than{} apart on average", limit(|c| c.tpot))),
            (stall, format!("stall for more than{}", limit(|c| c.longest_stall))),
            (e2e, format!("take more than{} in all", limit(|c| c.e2e))),
            (quality, "get a bad answer".to_owned()),
            (self.lost, "give up, fail or are refused".to_owned()),
        ];
        clauses.retain(|(count, _)| *count > 0);
        clauses.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        clauses.into_iter().map(|(n, what)| format!("{} {what}", percent(share(n)))).collect()
    }
}
