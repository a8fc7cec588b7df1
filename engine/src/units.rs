//! Simulated time: an integer number of picoseconds.
//!
//! Integers make a sum of steps exact in any order, so that ties at evenly spaced arrivals fall
//! the same way natively and in the browser. Nanoseconds would be too coarse for the time that
//! one cached token adds to a step (tens of picoseconds to tens of nanoseconds).

use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// Picoseconds in one second.
pub const PICOS_PER_S: i64 = 1_000_000_000_000;

/// The longest span a scenario may cover, seconds (30 days); far below the 106 days at which
/// `i64` picoseconds end, so that sums of a few spans cannot overflow.
pub const MAX_HORIZON_S: f64 = 30.0 * 86_400.0;

/// Hours of a year of the books: 365 days.
pub const YEAR_H: f64 = 8_760.0;

/// Hours of a month of the books, a twelfth of a year, so that twelve months are a year: what cloud
/// price lists take too.
pub const MONTH_H: f64 = 730.0;

/// A point in simulated time or a span of it, in picoseconds.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Picos(pub i64);

impl Picos {
    /// Time zero.
    pub const ZERO: Self = Self(0);
    /// Later than anything that happens.
    pub const NEVER: Self = Self(i64::MAX);
    /// The last moment a run may come to, 100 days: three times the longest horizon, for its drain.
    pub const LAST: Self = Self(100 * 86_400 * PICOS_PER_S);

    /// The nearest picosecond to `seconds`; out-of-range values saturate, NaN is zero.
    /// Documents are checked before they get here, so saturation is never reached by a scenario.
    #[expect(clippy::cast_possible_truncation, reason = "float to int casts saturate")]
    pub fn from_secs(seconds: f64) -> Self {
        Self((seconds * PICOS_PER_S as f64).round() as i64)
    }

    /// The nearest picosecond to `millis` milliseconds.
    pub fn from_millis(millis: f64) -> Self {
        Self::from_secs(millis / 1e3)
    }

    /// Seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / PICOS_PER_S as f64
    }

    /// Milliseconds.
    pub fn as_millis(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

/// Saturates: however long a step takes, time never runs backwards.
impl Add for Picos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Picos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Picos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_never_runs_backwards() {
        let mut late = Picos::LAST + Picos::NEVER;
        assert_eq!(late, Picos::NEVER);
        late += Picos(1);
        assert_eq!(late, Picos::NEVER);
        assert!(Picos::from_secs(3.0 * MAX_HORIZON_S) < Picos::LAST);
    }

    #[test]
    fn seconds_survive_the_round_trip_to_a_picosecond() {
        for s in [0.0, 1e-12, 0.033, 1.0, 599.999_999_999_999, 86_400.0] {
            assert!((Picos::from_secs(s).as_secs() - s).abs() <= 1e-12 * (1.0 + s), "{s}");
        }
    }

    #[test]
    fn the_longest_horizon_leaves_room_for_sums() {
        assert!(Picos::from_secs(MAX_HORIZON_S).0 < i64::MAX / 3);
    }
}
