//! A percentile of the gaps between the stream events of one request (ITL), held against a limit.
//!
//! The p-th percentile of n gaps is within x exactly if no more than n − ⌈p·n⌉ of them are above
//! x: so a simulation counts gaps above the limit, and needs no list of them. A file has the list,
//! and keeps the percentiles that a contract may name.

use serde::{Deserialize, Serialize};

use crate::stats;
use crate::units::Picos;

/// The percentiles of its gaps that a request can be held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum GapPercentile {
    /// The median gap.
    P50,
    /// 75th.
    P75,
    /// 90th.
    P90,
    /// 95th.
    P95,
    /// 99th.
    P99,
    /// 99.9th.
    P999,
}

impl GapPercentile {
    /// All of them, ascending.
    pub const ALL: [Self; 6] = [Self::P50, Self::P75, Self::P90, Self::P95, Self::P99, Self::P999];

    /// The one of this number, e.g. 95.
    pub fn of(number: f64) -> Option<Self> {
        Self::ALL.into_iter().find(|percentile| percentile.number().total_cmp(&number).is_eq())
    }

    /// Its number, e.g. 95.
    pub fn number(self) -> f64 {
        match self {
            Self::P50 => 50.0,
            Self::P75 => 75.0,
            Self::P90 => 90.0,
            Self::P95 => 95.0,
            Self::P99 => 99.0,
            Self::P999 => 99.9,
        }
    }

    /// As a share of the gaps.
    pub fn share(self) -> f64 {
        self.number() / 100.0
    }

    /// The most of `gaps` gaps that may be above a limit on this percentile (nearest rank).
    pub fn may_be_above(self, gaps: u32) -> u32 {
        let rank = stats::rank_of(self.share(), gaps as usize);
        rank.map_or(0, |rank| gaps - 1 - u32::try_from(rank).unwrap_or(gaps - 1))
    }
}

/// An inclusive limit on a percentile of each request's own gaps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ItlLimit {
    /// Which percentile.
    pub percentile: GapPercentile,
    /// Its limit.
    pub at: Picos,
}

/// What is known of the gaps of one request, of at least one gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GapsSeen {
    /// How many there are, and how many of them are above the limit that they were counted under.
    Counted {
        /// Gaps in all.
        gaps: u32,
        /// Those above the limit.
        above: u32,
    },
    /// Every percentile of [`GapPercentile::ALL`].
    Known([Picos; GapPercentile::ALL.len()]),
}

impl GapsSeen {
    /// Whether they miss `limit`. Where gaps were counted, the limit they were counted under has
    /// to be [`ItlLimit::at`]; the percentile may be another.
    pub fn exceed(self, limit: ItlLimit) -> bool {
        match self {
            Self::Counted { gaps, above } => above > limit.percentile.may_be_above(gaps),
            Self::Known(percentiles) => percentiles[limit.percentile as usize] > limit.at,
        }
    }

    /// Of a list of gaps in ascending order; `None` of an empty one.
    pub fn of_sorted(gaps: &[Picos]) -> Option<Self> {
        let mut percentiles = [Picos::ZERO; GapPercentile::ALL.len()];
        for (slot, percentile) in percentiles.iter_mut().zip(GapPercentile::ALL) {
            *slot = gaps[stats::rank_of(percentile.share(), gaps.len())?];
        }
        Some(Self::Known(percentiles))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Counting gaps above a limit judges as the list of gaps does.
        #[test]
        fn a_count_of_gaps_above_the_limit_is_as_good_as_the_list(
            mut gaps in prop::collection::vec(0_i64..30, 1..300), at in -1_i64..31,
        ) {
            gaps.sort_unstable();
            let gaps: Vec<Picos> = gaps.into_iter().map(Picos).collect();
            let above = gaps.iter().filter(|gap| gap.0 > at).count();
            let [gaps_seen, above] = [gaps.len(), above].map(|n| u32::try_from(n).unwrap());
            let counted = GapsSeen::Counted { gaps: gaps_seen, above };
            let known = GapsSeen::of_sorted(&gaps).unwrap();
            for percentile in GapPercentile::ALL {
                let limit = ItlLimit { percentile, at: Picos(at) };
                prop_assert_eq!(counted.exceed(limit), known.exceed(limit), "{:?}", percentile);
            }
        }
    }

    #[test]
    fn so_many_gaps_may_be_above() {
        for (percentile, gaps, most) in [
            (GapPercentile::P95, 100, 5),
            (GapPercentile::P95, 19, 0),
            (GapPercentile::P95, 20, 1),
            (GapPercentile::P99, 99, 0),
            (GapPercentile::P999, 1_000, 1),
            (GapPercentile::P50, 1, 0),
            (GapPercentile::P50, 0, 0),
        ] {
            assert_eq!(percentile.may_be_above(gaps), most, "{percentile:?} of {gaps}");
        }
        assert_eq!(GapPercentile::of(99.9), Some(GapPercentile::P999));
        assert_eq!(GapPercentile::of(96.0), None);
    }
}
