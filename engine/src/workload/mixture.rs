//! Several kinds of lengths in one class, each for a share of its requests.

use super::lengths::{Lengths, MAX_DRAW_TOKENS, Rank};
use crate::counted::typed;
use crate::math;
use crate::problem::Problem;
use crate::rng::Generator;

/// The most parts of a mixture.
pub const MAX_PARTS: usize = 20;

/// Parts with weights that sum to one.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    parts: Vec<(f64, Lengths)>,
}

impl Mixture {
    /// Parts with weights above 0, in any unit. A part is no recording and no mixture itself.
    pub fn new(parts: Vec<(f64, Lengths)>) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        if !(1..=MAX_PARTS).contains(&parts.len()) {
            problems.push(Problem::error(
                "parts",
                format!("the mixture has {} parts", parts.len()),
                format!("give 1 to {MAX_PARTS}, each with `weight` and `tokens`"),
            ));
        }
        for (i, (weight, lengths)) in parts.iter().enumerate() {
            if !(*weight > 0.0 && weight.is_finite()) {
                problems.push(Problem::error(
                    format!("parts[{i}].weight"),
                    format!("the weight of this part is {weight}", weight = typed(*weight)),
                    "give a number above 0, or leave the part out",
                ));
            }
            if matches!(lengths, Lengths::Recorded(_) | Lengths::Mixture(_)) {
                problems.push(Problem::error(
                    format!("parts[{i}].tokens.kind"),
                    "a part of a mixture cannot be a recording or a mixture",
                    "give any other kind of lengths",
                ));
            }
        }
        let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
        if problems.is_empty() && !total.is_finite() {
            problems.push(Problem::error(
                "parts",
                "the weights add up to more than a number can hold",
                "give shares of requests, 0 to 1",
            ));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let share = |(weight, lengths): (f64, Lengths)| (weight / total, lengths);
        Ok(Self { parts: parts.into_iter().map(share).collect() })
    }

    /// Every length times `factor`.
    #[must_use]
    pub(super) fn scaled(&self, factor: f64) -> Self {
        let part = |(share, lengths): &(f64, Lengths)| (*share, lengths.scaled(factor));
        Self { parts: self.parts.iter().map(part).collect() }
    }

    /// Shares of requests, which sum to one, and their lengths.
    pub fn parts(&self) -> &[(f64, Lengths)] {
        &self.parts
    }

    /// First which part, then a length of it.
    pub(super) fn sample(&self, rng: &mut Generator, uniform: f64) -> Option<f64> {
        let mut rest = uniform;
        for (share, lengths) in &self.parts {
            if rest < *share {
                return lengths.sample(rng);
            }
            rest -= share;
        }
        self.parts.last()?.1.sample(rng)
    }

    /// The share of requests that stay at or below `tokens`.
    pub(super) fn share_at(&self, tokens: f64) -> f64 {
        self.parts.iter().map(|(share, lengths)| share * lengths.share_at(tokens)).sum()
    }

    /// The shortest length that a share of requests stay at or below, by bisection: a mixture has
    /// no closed form.
    pub(super) fn quantile(&self, rank: Rank) -> f64 {
        let (mut low, mut high) = (math::ln(0.5), math::ln(f64::from(MAX_DRAW_TOKENS)));
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.share_at(math::exp(middle)) < rank.below { low = middle } else { high = middle }
        }
        math::exp(high)
    }
}
