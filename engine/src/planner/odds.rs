//! In how many windows a fleet holds the contract, and when as many were seen as it takes to say
//! whether that is the share that was asked for.
//!
//! The rule: after [`LOOKS`] windows the 95 % Wilson interval of the share is held against the
//! confidence asked for. Once it lies wholly on one side, the fleet is settled; where it still
//! contains it after the last look, the share itself decides, and that it does is reported. The
//! first of these looks at which a fleet that never fails can be settled is always among them.
//! Looking up to seven times makes it less sure than one look would be: a fleet exactly at 95 % is
//! settled below in 18 % of plans and not in 2.5 %. One at 98 % is refused in 2 %, one at 90 % is
//! taken in 0.4 % (a test works that out).

use crate::stats::wilson_95;

/// After so many windows a fleet is looked at.
const LOOKS: [u32; 6] = [10, 20, 40, 80, 160, 240];
/// The square of the normal deviate of a 95 % interval.
const Z_SQUARED: f64 = 3.841_458_820_694_124;

/// Windows in which a fleet held, of those decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Odds {
    /// It held.
    pub holds: u32,
    /// Of so many.
    pub runs: u32,
}

/// What windows say of a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// It holds in the share of windows that was asked for.
    pub holds: bool,
    /// The interval lies wholly on that side.
    pub is_settled: bool,
    /// The windows.
    pub odds: Odds,
}

impl Odds {
    /// One window more.
    pub fn add(&mut self, holds: bool) {
        self.holds += u32::from(holds);
        self.runs += 1;
    }

    /// The share.
    pub fn share(self) -> f64 {
        f64::from(self.holds) / f64::from(self.runs.max(1))
    }

    /// Its 95 % Wilson interval.
    pub fn interval(self) -> (f64, f64) {
        wilson_95(self.holds.into(), self.runs.into())
    }

    /// Against the confidence asked for.
    pub fn against(self, confidence: f64) -> Standing {
        let (low, high) = self.interval();
        let is_settled = high < confidence || low >= confidence;
        Standing { holds: self.share() >= confidence, is_settled, odds: self }
    }

    /// The only window there is, where nothing is drawn.
    pub fn for_certain(self) -> Standing {
        Standing { holds: self.holds == self.runs, is_settled: true, odds: self }
    }
}

/// The looks at a fleet, ascending, the last after `most` windows at most; where that leaves room,
/// the first at which one that never failed is settled is among them.
pub fn looks(confidence: f64, most: u32) -> Vec<u32> {
    let settles = settles_after(confidence);
    let mut looks: Vec<u32> = LOOKS.into_iter().chain([settles]).filter(|n| *n < most).collect();
    looks.push(most);
    looks.sort_unstable();
    looks.dedup();
    looks
}

/// Windows for a plan's answer where computing does not matter.
pub fn most_windows(confidence: f64) -> u32 {
    LOOKS[LOOKS.len() - 1].max(settles_after(confidence))
}

/// The fewest windows of which all have to hold for the interval to lie above: the lower end of
/// n of n is n ÷ (n + z²).
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "up to 381")]
fn settles_after(confidence: f64) -> u32 {
    (Z_SQUARED * confidence / (1.0 - confidence) + 1e-9).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn odds(holds: u32, runs: u32) -> Odds {
        Odds { holds, runs }
    }

    #[test]
    fn a_fleet_that_never_fails_is_settled_at_a_look_and_not_before() {
        for confidence in [0.5, 0.9, 0.95, 0.99] {
            let looks = looks(confidence, most_windows(confidence));
            let all_hold = |n: u32| odds(n, n).against(confidence);
            let settled = settles_after(confidence);
            assert!(looks.contains(&settled) && looks.is_sorted(), "{looks:?}");
            assert!(all_hold(settled).is_settled, "{confidence}");
            assert!(!all_hold(settled - 1).is_settled, "{confidence}");
        }
        assert_eq!([0.9, 0.95, 0.99].map(settles_after), [35, 73, 381]);
        assert_eq!(most_windows(0.99), 381);
    }

    #[test]
    fn looks_end_where_computing_does() {
        assert_eq!(looks(0.95, 240), [10, 20, 40, 73, 80, 160, 240]);
        assert_eq!(looks(0.95, 20), [10, 20]);
        assert_eq!(looks(0.95, 5), [5]);
        assert_eq!(looks(0.95, 1), [1]);
    }

    #[test]
    fn the_interval_settles_and_else_the_share_decides() {
        let standing = |holds, runs| {
            let standing = odds(holds, runs).against(0.95);
            (standing.holds, standing.is_settled)
        };
        assert_eq!(standing(8, 10), (false, true));
        assert_eq!(standing(9, 10), (false, false));
        assert_eq!(standing(10, 10), (true, false));
        assert_eq!(standing(73, 73), (true, true));
        assert_eq!(standing(228, 240), (true, false));
        assert_eq!(standing(227, 240), (false, false));
        assert!(odds(0, 1).for_certain().is_settled && !odds(0, 1).for_certain().holds);
    }

    /// What the rule does with fleets whose share is known, by all ways in which windows may fall:
    /// the chance of each count of holds, look by look.
    fn refused(share: f64, confidence: f64) -> f64 {
        let looks = looks(confidence, most_windows(confidence));
        let mut open = vec![1.0];
        let (mut refused, mut runs) = (0.0, 0);
        for look in looks {
            for _ in runs..look {
                let mut next = vec![0.0; open.len() + 1];
                for (holds, chance) in open.iter().enumerate() {
                    next[holds] += chance * (1.0 - share);
                    next[holds + 1] += chance * share;
                }
                open = next;
            }
            runs = look;
            for (holds, chance) in (0..).zip(open.iter_mut()) {
                let standing = odds(holds, runs).against(confidence);
                if standing.is_settled || runs == most_windows(confidence) {
                    refused += if standing.holds { 0.0 } else { *chance };
                    *chance = 0.0;
                }
            }
        }
        refused
    }

    #[test]
    fn fleets_away_from_the_confidence_are_told_apart() {
        let known =
            [(0.85, 1.0), (0.9, 0.996), (0.95, 0.471), (0.98, 0.021), (0.99, 0.005), (1.0, 0.0)];
        for (share, expected) in known {
            let refused = refused(share, 0.95);
            assert!((refused - expected).abs() < 1e-3, "{share}: {refused}");
        }
    }
}
