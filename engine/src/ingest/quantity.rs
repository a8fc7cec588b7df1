//! Bounds on what a number in a file can be, the same for every format.

/// Larger values are taken for damage: no benchmark reaches 10^15 of anything, and sums and
/// products below it cannot overflow.
const LARGEST: f64 = 1e15;

/// Why a number was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unusable {
    /// NaN or infinite.
    NotFinite,
    /// Below zero.
    Negative,
    /// Beyond anything measured.
    TooLarge,
    /// A count with a fraction.
    NotWhole,
}

impl Unusable {
    /// In words, after "is".
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::NotFinite => "not finite",
            Self::Negative => "negative",
            Self::TooLarge => "larger than 1e15",
            Self::NotWhole => "not a whole number",
        }
    }
}

/// A quantity that cannot be negative.
pub(super) fn quantity(value: f64) -> Result<f64, Unusable> {
    if !value.is_finite() {
        Err(Unusable::NotFinite)
    } else if value < 0.0 {
        Err(Unusable::Negative)
    } else if value > LARGEST {
        Err(Unusable::TooLarge)
    } else {
        // -0.0 would print as such.
        Ok(value + 0.0)
    }
}

/// A count.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole and between 0 and 1e15"
)]
pub(super) fn count(value: f64) -> Result<u64, Unusable> {
    let value = quantity(value)?;
    if value.fract() == 0.0 { Ok(value as u64) } else { Err(Unusable::NotWhole) }
}

/// Tokens of one request.
pub(super) fn tokens(value: f64) -> Result<u32, Unusable> {
    u32::try_from(count(value)?).or(Err(Unusable::TooLarge))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_told_apart() {
        for (value, expected) in [
            (0.0, Ok(0)),
            (-0.0, Ok(0)),
            (3.0, Ok(3)),
            (3.5, Err(Unusable::NotWhole)),
            (-1.0, Err(Unusable::Negative)),
            (f64::NAN, Err(Unusable::NotFinite)),
            (f64::INFINITY, Err(Unusable::NotFinite)),
            (1e308, Err(Unusable::TooLarge)),
        ] {
            assert_eq!(count(value), expected, "{value}");
        }
        assert_eq!(tokens(5e9), Err(Unusable::TooLarge));
    }
}
