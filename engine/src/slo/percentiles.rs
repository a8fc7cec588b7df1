//! Percentile targets, over offered requests: what never came ranks last, so that nobody passes by
//! turning the slow part away.

use super::{Limit, Measures};
use crate::stats;
use crate::units::Picos;

/// A percentile over the offered requests of a class that must be within a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PercentileTarget {
    /// Of what.
    pub of: Limit,
    /// Which percentile as a share, above 0 and at most 1.
    pub share: f64,
    /// Its inclusive limit.
    pub limit: Picos,
}

/// Requests ranked against a target: how many there are, and how many are beyond its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ranked {
    /// Requests that have the quantity, or should have had it.
    pub population: u64,
    /// Those of them above the limit, or without it.
    pub beyond: u64,
}

impl PercentileTarget {
    /// Counts requests against the target, each as [`Measures::to_rank`] gives it.
    pub fn rank(&self, requests: impl IntoIterator<Item = Measures>) -> Ranked {
        let mut ranked = Ranked::default();
        for beyond in requests.into_iter().filter_map(|seen| seen.beyond(self.of, self.limit)) {
            ranked.population += 1;
            ranked.beyond += u64::from(beyond);
        }
        ranked
    }

    /// Whether so many may be beyond the limit: the nearest-rank percentile is within it. Met where
    /// there is nobody to rank.
    pub fn is_met(&self, ranked: Ranked) -> bool {
        let population = usize::try_from(ranked.population).unwrap_or(usize::MAX);
        let Some(rank) = stats::rank_of(self.share, population) else { return true };
        ranked.population - ranked.beyond > rank as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::Seen;
    use super::*;

    fn seen(ttft: Seen<Picos>) -> Measures {
        Measures {
            ttft,
            ttfvt: Seen::NotApplicable,
            tpot: Seen::NotApplicable,
            stall: Seen::NotApplicable,
            itl: Seen::NotApplicable,
            e2e: Seen::Never,
        }
    }

    /// Rejecting the slow 30 % leaves 70 fast answers; over offered requests p95 never came.
    #[test]
    fn nobody_meets_p95_by_rejecting_three_in_ten() {
        let p95 = PercentileTarget { of: Limit::Ttft, share: 0.95, limit: Picos(10) };
        let fast = vec![seen(Seen::At(Picos(10))); 70];
        let rejected = vec![seen(Seen::Never); 30];
        assert!(p95.is_met(p95.rank(fast.clone())));
        assert!(!p95.is_met(p95.rank(fast.into_iter().chain(rejected))));
    }

    #[test]
    fn the_target_is_met_exactly_when_the_nearest_rank_is_within_the_limit() {
        for (share, beyond) in [(0.95, 5), (0.5, 50), (0.99, 1), (1.0, 0)] {
            let target = PercentileTarget { of: Limit::Ttft, share, limit: Picos(10) };
            let met = |beyond| target.is_met(Ranked { population: 100, beyond });
            assert!(met(beyond) && !met(beyond + 1), "{share}");
        }
        let target = PercentileTarget { of: Limit::Tpot, share: 0.5, limit: Picos(10) };
        let one_token = target.rank([seen(Seen::Never)]);
        assert_eq!(one_token, Ranked::default(), "one token has no TPOT");
        assert!(target.is_met(one_token));
    }
}
