//! Simulated time: an integer number of picoseconds.
//!
//! Integers make a sum of steps exact in any order, so that ties at evenly spaced arrivals fall
//! the same way natively and in the browser. Nanoseconds would be too coarse for the time that
//! one cached token adds to a step (tens of picoseconds to tens of nanoseconds).

use std::num::NonZeroU64;
use std::ops::{Add, AddAssign, Sub, SubAssign};

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
        let picos = seconds * PICOS_PER_S as f64;
        // `round()` is a call where the processor has no such instruction, and this is in every
        // step. What a cast cuts off is exact, and from 2⁵² on there is nothing to cut off.
        let whole = picos as i64;
        let cut_off = picos - whole as f64;
        let up = i64::from(cut_off >= 0.5) - i64::from(cut_off <= -0.5);
        Self(whole.saturating_add(up))
    }

    /// The nearest picosecond to `millis` milliseconds.
    pub fn from_millis(millis: f64) -> Self {
        Self::from_secs(millis / 1e3)
    }

    /// `count` of these, one after the other. Saturates, as a sum does.
    #[inline]
    #[must_use]
    pub fn times(self, count: i64) -> Self {
        match self.0.checked_mul(count) {
            Some(product) => Self(product),
            None => many_beyond_time(self, count),
        }
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

/// A span of time from zero on, of which an `Option` takes no more room than itself: for what is
/// kept a million times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(NonZeroU64);

impl Span {
    /// How long it is.
    pub fn picos(self) -> Picos {
        Picos((self.0.get() - 1).cast_signed())
    }
}

impl From<Picos> for Span {
    /// None is shorter than zero.
    fn from(length: Picos) -> Self {
        let length = length.max(Picos::ZERO).0.cast_unsigned();
        Self(NonZeroU64::MIN.saturating_add(length))
    }
}

/// Saturates: however long a step takes, time never runs backwards.
impl Add for Picos {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        // Times are added a dozen times per boundary. A branch that is never taken costs nothing;
        // `saturating_add` has both results ready and chooses.
        match self.0.checked_add(other.0) {
            Some(sum) => Self(sum),
            None => beyond_time(self, other),
        }
    }
}

#[cold]
#[inline(never)]
fn many_beyond_time(each: Picos, count: i64) -> Picos {
    Picos(each.0.saturating_mul(count))
}

#[cold]
#[inline(never)]
fn beyond_time(a: Picos, b: Picos) -> Picos {
    Picos(a.0.saturating_add(b.0))
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

impl SubAssign for Picos {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
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
    fn seconds_are_rounded_half_away_from_zero() {
        for picos in [0.0, 0.5, 1.4, 1.5, 2.5, 1e6 + 0.5, 4.5e15 + 0.5, 1e17, 1e30, f64::INFINITY] {
            for picos in [picos, -picos] {
                let seconds = picos / PICOS_PER_S as f64;
                #[expect(clippy::cast_possible_truncation, reason = "float to int casts saturate")]
                let rounded = (seconds * PICOS_PER_S as f64).round() as i64;
                assert_eq!(Picos::from_secs(seconds).0, rounded, "{picos}");
            }
        }
        assert_eq!(Picos::from_secs(f64::NAN), Picos::ZERO);
    }

    #[test]
    fn a_span_is_as_long_as_what_it_was_made_of_and_takes_eight_bytes() {
        for picos in [Picos::ZERO, Picos(1), Picos::LAST, Picos::NEVER] {
            assert_eq!(Span::from(picos).picos(), picos);
        }
        assert_eq!(Span::from(Picos(-1)).picos(), Picos::ZERO);
        assert_eq!(size_of::<Option<Span>>(), 8);
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
