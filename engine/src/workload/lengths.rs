//! Lengths in tokens: of prompts and of answers.

use rand::RngExt;
use rand_distr::{Distribution, Gamma, LogNormal, Pareto};

use super::laws::{GammaLengths, ParetoLengths, Uniform};
use super::lognormal::Lognormal;
use super::mixture::Mixture;
use super::quantile_table::QuantileTable;
use crate::counted::typed;
use crate::math;
use crate::problem::Problem;
use crate::rng::{Generator, Key, keyed};

/// The longest length a document may name, tokens: the longest context any model offers.
pub const MAX_LENGTH_TOKENS: u32 = 10_000_000;

/// The longest length a draw from a distribution may give, tokens. Far above any model's context,
/// so that such a request is refused as too long either way, and small enough that a prompt and
/// an answer add up in 32 bits.
pub(super) const MAX_DRAW_TOKENS: u32 = 1 << 30;

/// Lengths of the prompts or answers of a class.
#[derive(Debug, Clone, PartialEq)]
pub enum Lengths {
    /// Every request alike.
    Fixed(u32),
    /// Every length of a range alike.
    Uniform(Uniform),
    /// Lognormal.
    Lognormal(Lognormal),
    /// Gamma.
    Gamma(GammaLengths),
    /// Pareto.
    Pareto(ParetoLengths),
    /// Several kinds, each for a share of requests.
    Mixture(Mixture),
    /// Inverse of a table of quantiles.
    Quantiles(QuantileTable),
    /// Drawn with replacement from observed lengths.
    Empirical(Samples),
    /// The i-th request has the i-th length.
    Recorded(Vec<u32>),
    /// Others, cut to a range.
    Clipped(Box<Lengths>, Clip),
}

/// Observed lengths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Samples {
    /// In the order in which draws index them.
    given: Vec<u32>,
    sorted: Vec<u32>,
}

impl Samples {
    /// As they were given.
    pub fn given(&self) -> &[u32] {
        &self.given
    }
}

/// A range: a length beyond an end becomes that end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clip {
    /// Shortest, tokens.
    pub min: u32,
    /// Longest, tokens.
    pub max: u32,
}

/// A place in a distribution: the share of requests below and above it, which sum to one, and the
/// standard normal value of the same rank. All three, so that neither tail loses its digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rank {
    pub below: f64,
    pub above: f64,
    pub z: f64,
}

impl Rank {
    /// By the share at or below, 0 < p < 1.
    pub fn of_share(p: f64) -> Self {
        Self { below: p, above: 1.0 - p, z: math::normal_quantile(p) }
    }

    /// By a standard normal value.
    pub fn of_normal(z: f64) -> Self {
        Self { below: math::normal_cdf(z), above: math::normal_cdf(-z), z }
    }
}

impl Lengths {
    /// Every request has `tokens`.
    pub fn fixed(tokens: u32) -> Result<Self, Problem> {
        check_observed("tokens", &[tokens])
            .map(|()| Self::Fixed(tokens))
            .map_err(|problem| Problem { path: "tokens".to_owned(), ..problem })
    }

    /// Lognormal with the given mean and 99th percentile.
    pub fn lognormal(mean: f64, p99: f64) -> Result<Self, Vec<Problem>> {
        Lognormal::from_mean_p99(mean, p99).map(Self::Lognormal)
    }

    /// Inverse of a table of `(p, tokens)` rows.
    pub fn quantiles(rows: &[(f64, f64)]) -> Result<Self, Vec<Problem>> {
        QuantileTable::new(rows).map(Self::Quantiles)
    }

    /// Drawn with replacement from `samples`.
    pub fn empirical(samples: Vec<u32>) -> Result<Self, Problem> {
        check_observed("samples", &samples)?;
        let mut sorted = samples.clone();
        sorted.sort_unstable();
        Ok(Self::Empirical(Samples { given: samples, sorted }))
    }

    /// The i-th request has the i-th of `tokens`.
    pub fn recorded(tokens: Vec<u32>) -> Result<Self, Problem> {
        check_observed("tokens", &tokens).map(|()| Self::Recorded(tokens))
    }

    /// The same cut to a range: below `min` a length becomes `min`, above `max` it becomes `max`.
    pub fn clipped(self, min: Option<u32>, max: Option<u32>) -> Result<Self, Vec<Problem>> {
        if min.is_none() && max.is_none() {
            return Ok(self);
        }
        let mut problems = Vec::new();
        for (field, tokens) in [("min", min), ("max", max)] {
            let Some(tokens) = tokens else { continue };
            if let Err(problem) = check_observed(field, &[tokens]) {
                problems.push(Problem { path: field.to_owned(), ..problem });
            }
        }
        let clip = Clip { min: min.unwrap_or(1), max: max.unwrap_or(MAX_DRAW_TOKENS) };
        if problems.is_empty() && clip.max < clip.min {
            problems.push(Problem::error(
                "max",
                format!("the longest, {} tokens, is below the shortest, {}", clip.max, clip.min),
                format!("give {} or more", clip.min),
            ));
        }
        if problems.is_empty() { Ok(Self::Clipped(Box::new(self), clip)) } else { Err(problems) }
    }

    /// Every length times `factor`, drawn by the same chance: what was longer stays longer. No
    /// length falls below one token.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let times = |tokens: u32| whole_tokens(f64::from(tokens) * factor);
        let all = |tokens: &[u32]| tokens.iter().copied().map(times).collect();
        match self {
            Self::Fixed(tokens) => Self::Fixed(times(*tokens)),
            Self::Uniform(law) => Self::Uniform(law.scaled(factor)),
            Self::Lognormal(law) => Self::Lognormal(law.scaled(factor)),
            Self::Gamma(law) => Self::Gamma(law.scaled(factor)),
            Self::Pareto(law) => Self::Pareto(law.scaled(factor)),
            Self::Mixture(mixture) => Self::Mixture(mixture.scaled(factor)),
            Self::Quantiles(table) => Self::Quantiles(table.scaled(factor)),
            Self::Empirical(samples) => Self::Empirical(Samples {
                given: all(&samples.given),
                sorted: all(&samples.sorted),
            }),
            Self::Recorded(tokens) => Self::Recorded(all(tokens)),
            Self::Clipped(inner, clip) => {
                let clip = Clip { min: times(clip.min), max: times(clip.max) };
                Self::Clipped(Box::new(inner.scaled(factor)), clip)
            }
        }
    }

    /// The length of the request that `key` names, the `record`-th of a recording, at least one
    /// token. `None` beyond the end of a recording.
    pub(super) fn draw(&self, key: Key, record: usize) -> Option<u32> {
        match self {
            Self::Recorded(tokens) => tokens.get(record).copied(),
            law => law.sample(&mut keyed(key)).map(whole_tokens),
        }
    }

    /// A length before it is rounded; `None` of a recording.
    pub(super) fn sample(&self, rng: &mut Generator) -> Option<f64> {
        match self {
            Self::Fixed(tokens) => Some(f64::from(*tokens)),
            Self::Uniform(law) => {
                let (min, max) = law.range();
                Some(f64::from(rng.random_range(min..=max)))
            }
            Self::Lognormal(law) => Some(LogNormal::new(law.mu(), law.sigma()).ok()?.sample(rng)),
            Self::Gamma(law) => {
                let (shape, scale) = law.shape_and_scale();
                Some(Gamma::new(shape, scale).ok()?.sample(rng))
            }
            Self::Pareto(law) => {
                let (min, alpha) = law.min_and_alpha();
                Some(Pareto::new(min, alpha).ok()?.sample(rng))
            }
            Self::Mixture(mixture) => {
                let uniform = rng.random();
                mixture.sample(rng, uniform)
            }
            Self::Quantiles(table) => Some(table.at(rng.random())),
            Self::Empirical(samples) => {
                // 64 bits wide everywhere: an index of the machine's own width would draw
                // other numbers in the browser.
                let index: u64 = rng.random_range(0..samples.given.len() as u64);
                samples.given.get(usize::try_from(index).ok()?).map(|tokens| f64::from(*tokens))
            }
            Self::Recorded(_) => None,
            Self::Clipped(inner, clip) => inner.sample(rng).map(|tokens| clip.apply(tokens)),
        }
    }

    /// The length at a standard normal value, tokens: the draw of a request whose rank is known.
    /// Of a recording, as of samples.
    pub fn at_normal(&self, z: f64) -> f64 {
        self.at(Rank::of_normal(z))
    }

    /// The length that a share `p` of requests stay at or below, in whole tokens.
    pub fn quantile(&self, p: f64) -> u32 {
        whole_tokens(self.at(Rank::of_share(p)))
    }

    fn at(&self, rank: Rank) -> f64 {
        match self {
            Self::Fixed(tokens) => f64::from(*tokens),
            Self::Uniform(law) => law.quantile(rank.below),
            Self::Lognormal(law) => math::exp(law.mu() + law.sigma() * rank.z),
            Self::Gamma(law) => law.quantile(rank.below, rank.above),
            Self::Pareto(law) => law.quantile(rank.above),
            Self::Mixture(mixture) => mixture.quantile(rank),
            Self::Quantiles(table) => table.at(rank.below),
            Self::Empirical(samples) => f64::from(nth(&samples.sorted, rank.below)),
            Self::Recorded(tokens) => {
                let mut sorted = tokens.clone();
                sorted.sort_unstable();
                f64::from(nth(&sorted, rank.below))
            }
            Self::Clipped(inner, clip) => clip.apply(inner.at(rank)),
        }
    }

    /// The share of requests that stay at or below `tokens`.
    pub fn share_at(&self, tokens: f64) -> f64 {
        let share_of = |sorted: &[u32]| {
            let below = sorted.partition_point(|length| f64::from(*length) <= tokens);
            below as f64 / sorted.len().max(1) as f64
        };
        match self {
            Self::Fixed(length) => f64::from(u8::from(f64::from(*length) <= tokens)),
            Self::Uniform(law) => law.share_at(tokens),
            Self::Lognormal(law) => math::normal_cdf((math::ln(tokens) - law.mu()) / law.sigma()),
            Self::Gamma(law) => law.share_at(tokens),
            Self::Pareto(law) => law.share_at(tokens),
            Self::Mixture(mixture) => mixture.share_at(tokens),
            Self::Quantiles(table) => table.share_at(tokens),
            Self::Empirical(samples) => share_of(&samples.sorted),
            Self::Recorded(lengths) => {
                let mut sorted = lengths.clone();
                sorted.sort_unstable();
                share_of(&sorted)
            }
            Self::Clipped(_, clip) if tokens < f64::from(clip.min) => 0.0,
            Self::Clipped(_, clip) if tokens >= f64::from(clip.max) => 1.0,
            Self::Clipped(inner, _) => inner.share_at(tokens),
        }
    }

    /// Whether every request is alike.
    pub fn is_constant(&self) -> bool {
        match self {
            Self::Fixed(_) => true,
            Self::Uniform(law) => law.range().0 == law.range().1,
            Self::Empirical(samples) => samples.sorted.first() == samples.sorted.last(),
            Self::Quantiles(table) => table.at(0.0).total_cmp(&table.at(1.0)).is_eq(),
            Self::Clipped(inner, clip) => clip.min == clip.max || inner.is_constant(),
            Self::Lognormal(_)
            | Self::Gamma(_)
            | Self::Pareto(_)
            | Self::Mixture(_)
            | Self::Recorded(_) => false,
        }
    }
}

impl Clip {
    /// The length cut to the range.
    pub fn apply(self, tokens: f64) -> f64 {
        tokens.clamp(f64::from(self.min), f64::from(self.max))
    }
}

/// The value of a rank of sorted lengths; 1 of none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share times a length, cut to the last index"
)]
fn nth(sorted: &[u32], share: f64) -> u32 {
    let last = sorted.len().saturating_sub(1);
    let index = (share * sorted.len() as f64) as usize;
    sorted.get(index.min(last)).copied().unwrap_or(1)
}

/// The nearest whole number of tokens, at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 1..=MAX_DRAW_TOKENS"
)]
pub(super) fn whole_tokens(tokens: f64) -> u32 {
    tokens.round().clamp(1.0, f64::from(MAX_DRAW_TOKENS)) as u32
}

fn check_observed(field: &str, tokens: &[u32]) -> Result<(), Problem> {
    let hint =
        format!("give lengths of 1 to {most} tokens", most = typed(f64::from(MAX_LENGTH_TOKENS)));
    if tokens.is_empty() {
        return Err(Problem::error(field, "there are no lengths", hint));
    }
    match tokens.iter().position(|length| !(1..=MAX_LENGTH_TOKENS).contains(length)) {
        None => Ok(()),
        Some(i) => Err(Problem::error(
            format!("{field}[{i}]"),
            format!("the length is {} tokens", typed(f64::from(tokens[i]))),
            hint,
        )),
    }
}

#[cfg(test)]
mod tests;
