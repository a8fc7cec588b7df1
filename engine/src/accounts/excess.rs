//! Where demand exceeds supply most.

use super::parts::tightest;
use super::report::{MixRate, Supply, SupplyOverTime};
use super::words::{percent, span_ms, three_digits};

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

/// Demand against what the replicas sustain that take requests where least is to spare; `whose` they
/// are.
pub fn where_tightest(over_time: &SupplyOverTime, whose: &str) -> String {
    let from = span_ms(1e3 * over_time.tightest_from_s);
    let (need, have) = (over_time.tightest_required.rps, over_time.tightest_sustainable.rps);
    if have <= 0.0 {
        return format!("from {from} on no replica{whose} takes requests for a while");
    }
    format!(
        "where it is tightest, from {from} on, demand is {} of what the replicas{whose} that take \
         requests then ({} of {}) sustain",
        percent(need / have),
        three_digits(over_time.tightest_replicas),
        over_time.most_replicas
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_share_is_taken_of_what_nobody_does() {
        let rate = |rps| MixRate { rps, prefill_tps: rps, decode_tps: rps };
        let of = |replicas, sustained| SupplyOverTime {
            most_replicas: 1,
            replicas: Vec::new(),
            mean_replicas: replicas,
            sustainable: rate(sustained),
            tightest_from_s: 100.0,
            tightest_replicas: replicas,
            tightest_required: rate(5.0),
            tightest_sustainable: rate(sustained),
            without: None,
        };
        assert_eq!(
            where_tightest(&of(1.0, 10.0), ""),
            "where it is tightest, from 100 s on, demand is 50 % of what the replicas that take \
             requests then (1 of 1) sustain"
        );
        assert_eq!(
            where_tightest(&of(0.0, 0.0), " of pool a"),
            "from 100 s on no replica of pool a takes requests for a while"
        );
    }
}
