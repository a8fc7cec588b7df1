//! What decides, or leaves undecided, whether the contract holds, beside load and latency: how many
//! can be good at best, who is let in, and whether the replicas are there.

use super::demand::ClassDemand;
use super::latency::attainment_cap;
use super::report::EstimateVerdict;
use crate::accounts::words::{percent, three_digits};
use crate::fleet::{Life, TokenBucket};
use crate::scenario::Scenario;
use crate::units::{PICOS_PER_S, Picos};
use crate::workload::{RetryOn, TrafficClass};

/// Classes of which fewer can be good than must be, by length, errors and quality, whatever the fleet.
pub fn caps(scenario: &Scenario, classes: &[ClassDemand]) -> Vec<String> {
    let all = classes.iter().zip(&scenario.contracts);
    let capped = all.filter(|(class, contract)| attainment_cap(class) < contract.attainment_target);
    let sentence = |(class, contract): (&ClassDemand, &crate::slo::Contract)| {
        format!(
            "at most {} of class {} can be good, by length, errors and quality, whatever the fleet: \
             the target is {}",
            percent(attainment_cap(class)),
            class.class.name,
            percent(contract.attainment_target)
        )
    };
    capped.map(sentence).collect()
}

/// The verdict with what the door does, where that may decide, and why.
pub fn behind_the_door(
    verdict: EstimateVerdict,
    scenario: &Scenario,
    offered_rps: f64,
) -> (EstimateVerdict, Option<String>) {
    match bucket(scenario, offered_rps) {
        Some((decided, reason)) if may_change(verdict) => (decided, Some(reason)),
        Some((_, reason)) => (verdict, Some(reason)),
        None => (verdict, None),
    }
}

/// The verdict of a pool whose replicas come and go, and why. More than is asked of a fleet whose
/// replicas all are there, or too late on it, is no better on a smaller one.
pub fn while_replicas_come_and_go(
    verdict: EstimateVerdict,
    life: &Life,
) -> (EstimateVerdict, Option<String>) {
    if life.is_constant() || !may_change(verdict) {
        return (verdict, None);
    }
    let reason = "replicas start, fail or are scaled: whether enough are there at every moment, only a \
                  simulation decides";
    (EstimateVerdict::NotDecided, Some(reason.to_owned()))
}

fn may_change(verdict: EstimateVerdict) -> bool {
    matches!(verdict, EstimateVerdict::Holds | EstimateVerdict::NotDecided)
}

/// What a token bucket decides: that too few are let in, or nothing, since its burst may not suffice.
fn bucket(scenario: &Scenario, offered_rps: f64) -> Option<(EstimateVerdict, String)> {
    let rule = scenario.admission.token_bucket?;
    let share = let_in(&rule, offered_rps, scenario.horizon);
    let rate = three_digits(PICOS_PER_S as f64 / rule.interval.0 as f64);
    let lowest = scenario.contracts.iter().map(|c| c.attainment_target).fold(1.0, f64::min);
    if share >= lowest {
        return Some((
            EstimateVerdict::NotDecided,
            format!(
                "whom the token bucket ({rate} req/s) turns away depends on when requests come: a \
                 simulation decides"
            ),
        ));
    }
    let tries_again = |class: &TrafficClass| {
        class.clients.retries.as_ref().is_some_and(|r| r.tries_again(0, RetryOn::Rejected))
    };
    let again = scenario.classes.iter().any(tries_again);
    let verdict = if again { EstimateVerdict::NotDecided } else { EstimateVerdict::LateButStable };
    let reason = format!(
        "the token bucket lets in {rate} of {} req/s, so at most {} can be good, whatever the \
         fleet{}",
        three_digits(offered_rps),
        percent(share),
        if again { ", but for those who try again in time" } else { "" }
    );
    Some((verdict, reason))
}

/// The largest share of what is asked that a bucket lets in over the horizon, if nobody asks twice.
fn let_in(rule: &TokenBucket, offered_rps: f64, horizon: Picos) -> f64 {
    let tokens = f64::from(rule.burst) + horizon.0 as f64 / rule.interval.0 as f64;
    let asked = offered_rps * horizon.as_secs();
    if asked > tokens { tokens / asked } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_lets_in_its_rate_and_its_burst() {
        let rule = TokenBucket::new(2.0, 100).expect("a bucket");
        let minute = Picos::from_secs(60.0);
        assert!((let_in(&rule, 10.0, minute) - 220.0 / 600.0).abs() < 1e-12);
        assert!((let_in(&rule, 3.0, minute) - 1.0).abs() < 1e-12, "its burst suffices");
    }

    #[test]
    fn only_what_holds_is_left_undecided() {
        let life = Life { cold_start: true, ..Life::default() };
        let of = |verdict, life: &Life| while_replicas_come_and_go(verdict, life).0;
        assert_eq!(of(EstimateVerdict::Holds, &life), EstimateVerdict::NotDecided);
        assert_eq!(of(EstimateVerdict::Overloaded, &life), EstimateVerdict::Overloaded);
        assert_eq!(of(EstimateVerdict::Holds, &Life::default()), EstimateVerdict::Holds);
    }
}
