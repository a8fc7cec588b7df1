//! Where demand exceeds supply most.

use super::parts::tightest;
use super::report::{MixRate, Supply};

/// Demand that comes anyhow and the supply that it exceeds: where fewer replicas take requests or at
/// the peak if it does there, else in the mean.
#[derive(Debug, Clone, Copy)]
pub struct Excess {
    /// Demand.
    pub need: MixRate,
    /// Supply.
    pub have: MixRate,
    /// When.
    pub when: When,
    /// Begin and end of that time, seconds.
    pub span: Option<(f64, f64)>,
}

/// When demand exceeds supply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// In the mean.
    Mean,
    /// At the peak of demand.
    Peak,
    /// Where fewer replicas take requests than at most.
    Tightest,
}

impl When {
    /// In a sentence about demand.
    pub fn words(self) -> &'static str {
        if self == Self::Peak { " at peak" } else { "" }
    }
}

impl Excess {
    /// That of a supply; `required` and `peak` are the demand that does not yield to waiting.
    pub fn of(supply: &Supply, (required, peak): (MixRate, MixRate)) -> Self {
        let (need, have) = tightest(supply, peak);
        if need.rps <= have.rps {
            return Self { need: required, have: supply.sustainable, when: When::Mean, span: None };
        }
        let (from, when) = match &supply.over_time {
            Some(over_time) => (over_time.tightest_from_s, When::Tightest),
            None if need.rps > 1.02 * required.rps => (supply.peak_from_s, When::Peak),
            None => return Self { need, have, when: When::Mean, span: None },
        };
        Self { need, have, when, span: Some((from, from + supply.peak_window_s)) }
    }
}
