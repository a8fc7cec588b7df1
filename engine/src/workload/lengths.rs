//! Lengths in tokens: of prompts and of answers.

use rand::RngExt;
use rand_distr::{Distribution, LogNormal};

use crate::math;
use crate::problem::Problem;
use crate::rng::{Key, keyed};

/// The longest length a document may name, tokens: the longest context any model offers.
pub const MAX_LENGTH_TOKENS: u32 = 10_000_000;

/// The longest length a draw from a distribution may give, tokens. Far above any model's context,
/// so that such a request is refused as too long either way, and small enough that a prompt and
/// an answer add up in 32 bits.
const MAX_DRAW_TOKENS: u32 = 1 << 30;

/// Lengths of the prompts or answers of a class.
#[derive(Debug, Clone, PartialEq)]
pub enum Lengths {
    /// Every request alike.
    Fixed(u32),
    /// Lognormal.
    Lognormal(Lognormal),
    /// Inverse of a table of quantiles.
    Quantiles(QuantileTable),
    /// Drawn with replacement from observed lengths.
    Empirical(Vec<u32>),
    /// The i-th request has the i-th length.
    Recorded(Vec<u32>),
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
        check_observed("samples", &samples).map(|()| Self::Empirical(samples))
    }

    /// The i-th request has the i-th of `tokens`.
    pub fn recorded(tokens: Vec<u32>) -> Result<Self, Problem> {
        check_observed("tokens", &tokens).map(|()| Self::Recorded(tokens))
    }

    /// The length of the request that `key` names, the `record`-th of a recording, at least one
    /// token. `None` beyond the end of a recording.
    pub(super) fn draw(&self, key: Key, record: usize) -> Option<u32> {
        match self {
            Self::Fixed(tokens) => Some(*tokens),
            Self::Lognormal(lognormal) => {
                let law = LogNormal::new(lognormal.mu, lognormal.sigma).ok()?;
                Some(whole_tokens(law.sample(&mut keyed(key))))
            }
            Self::Quantiles(table) => Some(whole_tokens(table.at(keyed(key).random()))),
            Self::Empirical(samples) => {
                // 64 bits wide everywhere: an index of the machine's own width would draw
                // other numbers in the browser.
                let index: u64 = keyed(key).random_range(0..samples.len() as u64);
                samples.get(usize::try_from(index).ok()?).copied()
            }
            Self::Recorded(tokens) => tokens.get(record).copied(),
        }
    }
}

/// A lognormal law of lengths, by the mean and standard deviation of the logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lognormal {
    mu: f64,
    sigma: f64,
}

impl Lognormal {
    /// The law with the given mean and 99th percentile, tokens.
    ///
    /// With z the 99 % quantile of the standard normal and L = ln(p99 / mean), σ solves
    /// σ²/2 − zσ + L = 0. Both roots have this mean and p99; the larger one puts nearly all
    /// requests at almost nothing, so the smaller is meant. None exists for p99 above
    /// mean · exp(z²/2), about 15 times the mean.
    pub fn from_mean_p99(mean: f64, p99: f64) -> Result<Self, Vec<Problem>> {
        let limit = f64::from(MAX_LENGTH_TOKENS);
        let out_of_range = |field: &str, tokens: f64| {
            (!(1.0..=limit).contains(&tokens)).then(|| {
                Problem::error(
                    field,
                    format!("the length is {tokens:?} tokens"),
                    format!("give 1 to {MAX_LENGTH_TOKENS} tokens"),
                )
            })
        };
        let problems: Vec<_> =
            out_of_range("mean", mean).into_iter().chain(out_of_range("p99", p99)).collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        if p99 <= mean {
            return Err(vec![Problem::error(
                "p99",
                format!("the 99th percentile of {p99} tokens is not above the mean of {mean}"),
                "give a higher 99th percentile, or fixed lengths",
            )]);
        }
        let z = math::normal_quantile(0.99);
        let log_ratio = math::ln(p99 / mean);
        let discriminant = z * z - 2.0 * log_ratio;
        if discriminant < 0.0 {
            let heaviest = mean * math::exp(z * z / 2.0);
            return Err(vec![Problem::error(
                "p99",
                format!(
                    "no lognormal law has a mean of {mean} and a 99th percentile of {p99} tokens: \
                     the tail is too heavy"
                ),
                format!(
                    "give a 99th percentile up to {}, or a table of quantiles",
                    heaviest.floor()
                ),
            )]);
        }
        let sigma = 2.0 * log_ratio / (z + discriminant.sqrt());
        Ok(Self { mu: math::ln(mean) - sigma * sigma / 2.0, sigma })
    }

    /// Mean of the logarithm of the length.
    pub fn mu(self) -> f64 {
        self.mu
    }

    /// Standard deviation of the logarithm of the length.
    pub fn sigma(self) -> f64 {
        self.sigma
    }
}

/// Quantiles of a length: linear between rows, flat beyond the first and the last.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantileTable {
    rows: Vec<(f64, f64)>,
}

impl QuantileTable {
    /// A table of `(p, tokens)` rows in ascending order of both.
    pub fn new(rows: &[(f64, f64)]) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        if rows.is_empty() {
            problems.push(Problem::error(
                "table",
                "the table of quantiles has no rows",
                "give at least one row with `p` and `tokens`",
            ));
        }
        let mut before: Option<(f64, f64)> = None;
        for (i, &(p, tokens)) in rows.iter().enumerate() {
            if !(0.0..=1.0).contains(&p) || before.is_some_and(|(last, _)| p <= last) {
                problems.push(Problem::error(
                    format!("table[{i}].p"),
                    format!("the share of requests of this row is {p:?}"),
                    "give shares from 0 to 1, each above the one before",
                ));
            }
            let in_range = (1.0..=f64::from(MAX_LENGTH_TOKENS)).contains(&tokens);
            if !in_range || before.is_some_and(|(_, last)| tokens < last) {
                problems.push(Problem::error(
                    format!("table[{i}].tokens"),
                    format!("the length of this row is {tokens:?} tokens"),
                    format!("give 1 to {MAX_LENGTH_TOKENS} tokens, none below the row before"),
                ));
            }
            before = Some((p, tokens));
        }
        if problems.is_empty() { Ok(Self { rows: rows.to_vec() }) } else { Err(problems) }
    }

    /// The shares of its rows, ascending.
    pub fn shares(&self) -> impl Iterator<Item = f64> + '_ {
        self.rows.iter().map(|(p, _)| *p)
    }

    /// The length that a share `p` of requests stay at or below, tokens.
    pub fn at(&self, p: f64) -> f64 {
        let next = self.rows.partition_point(|(row, _)| *row <= p);
        match (next.checked_sub(1).and_then(|i| self.rows.get(i)), self.rows.get(next)) {
            (Some(&(p0, low)), Some(&(p1, high))) => low + (high - low) * (p - p0) / (p1 - p0),
            (Some(&(_, tokens)), None) | (None, Some(&(_, tokens))) => tokens,
            (None, None) => 1.0,
        }
    }
}

/// The nearest whole number of tokens, at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to 1..=MAX_DRAW_TOKENS"
)]
fn whole_tokens(tokens: f64) -> u32 {
    tokens.round().clamp(1.0, f64::from(MAX_DRAW_TOKENS)) as u32
}

fn check_observed(field: &str, tokens: &[u32]) -> Result<(), Problem> {
    let hint = format!("give lengths of 1 to {MAX_LENGTH_TOKENS} tokens");
    if tokens.is_empty() {
        return Err(Problem::error(field, "there are no lengths", hint));
    }
    match tokens.iter().position(|length| !(1..=MAX_LENGTH_TOKENS).contains(length)) {
        None => Ok(()),
        Some(i) => Err(Problem::error(
            format!("{field}[{i}]"),
            format!("the length is {} tokens", tokens[i]),
            hint,
        )),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::Stream;

    const DRAWS: u64 = 100_000;

    fn sorted_draws(lengths: &Lengths) -> Vec<u32> {
        let mut drawn: Vec<_> = (0..DRAWS)
            .map(|request| {
                let stream = Stream::InputTokens;
                lengths.draw(Key { seed: 1, stream, class: 0, request, attempt: 0 }, 0).unwrap()
            })
            .collect();
        drawn.sort_unstable();
        drawn
    }

    fn mean(values: &[u32]) -> f64 {
        values.iter().map(|v| f64::from(*v)).sum::<f64>() / values.len() as f64
    }

    #[test]
    fn lognormal_lengths_have_the_mean_and_99th_percentile_asked_for() {
        for (asked_mean, p99) in [(512.0, 2_048.0), (256.0, 900.0), (1_000.0, 1_100.0)] {
            let drawn = sorted_draws(&Lengths::lognormal(asked_mean, p99).unwrap());
            assert!((mean(&drawn) / asked_mean - 1.0).abs() < 0.02, "{}", mean(&drawn));
            let seen = f64::from(drawn[usize::try_from(DRAWS).unwrap() / 100 * 99]);
            assert!((seen / p99 - 1.0).abs() < 0.03, "{seen} for {p99}");
        }
    }

    #[test]
    fn a_lognormal_law_that_does_not_exist_is_refused() {
        for (mean, p99, path) in [
            (512.0, 512.0, "p99"),
            (512.0, 100.0, "p99"),
            (100.0, 1_500.0, "p99"),
            (0.0, 10.0, "mean"),
            (f64::NAN, 10.0, "mean"),
            (10.0, f64::INFINITY, "p99"),
        ] {
            assert_eq!(Lognormal::from_mean_p99(mean, p99).unwrap_err()[0].path, path);
        }
        // exp(z²/2) = 14.96… is the heaviest tail there is.
        assert!(Lognormal::from_mean_p99(100.0, 1_496.0).is_ok());
        assert!(Lognormal::from_mean_p99(100.0, 1_498.0).is_err());
    }

    #[test]
    fn a_quantile_table_gives_back_its_rows() {
        let table = QuantileTable::new(&[(0.1, 10.0), (0.5, 50.0), (0.9, 450.0)]).unwrap();
        for (p, tokens) in
            [(0.0, 10.0), (0.1, 10.0), (0.3, 30.0), (0.5, 50.0), (0.7, 250.0), (0.95, 450.0)]
        {
            assert!((table.at(p) - tokens).abs() < 1e-9, "{p}");
        }
        let drawn = sorted_draws(&Lengths::Quantiles(table));
        let median = f64::from(drawn[usize::try_from(DRAWS).unwrap() / 2]);
        assert!((median - 50.0).abs() < 3.0, "{median}");
    }

    #[test]
    fn bad_tables_and_samples_say_which_row() {
        let table = [(0.5, 10.0), (0.5, 9.0), (1.5, f64::NAN), (f64::NAN, 0.0)];
        let paths: Vec<_> =
            QuantileTable::new(&table).unwrap_err().into_iter().map(|p| p.path).collect();
        assert_eq!(
            paths,
            [
                "table[1].p",
                "table[1].tokens",
                "table[2].p",
                "table[2].tokens",
                "table[3].p",
                "table[3].tokens"
            ]
        );
        assert_eq!(QuantileTable::new(&[]).unwrap_err()[0].path, "table");
        assert_eq!(Lengths::empirical(vec![5, 0]).unwrap_err().path, "samples[1]");
        assert_eq!(Lengths::recorded(vec![]).unwrap_err().path, "tokens");
        assert_eq!(Lengths::fixed(0).unwrap_err().path, "tokens");
        assert_eq!(Lengths::fixed(MAX_LENGTH_TOKENS + 1).unwrap_err().path, "tokens");
    }

    #[test]
    fn empirical_lengths_come_as_often_as_they_were_seen() {
        let drawn = sorted_draws(&Lengths::empirical(vec![1, 1, 1, 9]).unwrap());
        let nines = drawn.iter().filter(|tokens| **tokens == 9).count() as f64 / DRAWS as f64;
        assert!((nines - 0.25).abs() < 4.0 * (0.1875 / DRAWS as f64).sqrt());
        assert!(drawn.iter().all(|tokens| [1, 9].contains(tokens)));
    }

    proptest! {
        #[test]
        fn quantiles_never_fall(p in 0.0..1.0_f64, q in 0.0..1.0_f64, low in 1.0..100.0_f64) {
            let table = QuantileTable::new(&[(0.2, low), (0.6, low * 2.0), (1.0, 900.0)]).unwrap();
            prop_assert!(table.at(p.min(q)) <= table.at(p.max(q)));
        }

        #[test]
        fn the_lognormal_law_found_has_the_mean_and_p99(mean in 1.0..1e5_f64, ratio in 1.001..14.9_f64) {
            let p99 = mean * ratio;
            let law = Lognormal::from_mean_p99(mean, p99).unwrap();
            let z = math::normal_quantile(0.99);
            prop_assert!((math::exp(law.mu() + law.sigma() * law.sigma() / 2.0) / mean - 1.0).abs() < 1e-9);
            prop_assert!((math::exp(law.mu() + z * law.sigma()) / p99 - 1.0).abs() < 1e-9);
            prop_assert!(law.sigma() <= z);
        }
    }
}
