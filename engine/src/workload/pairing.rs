//! How the prompt and the answer of one request go together.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::lengths::{Lengths, whole_tokens};
use crate::counted::typed;
use crate::math;
use crate::problem::Problem;
use crate::rng::{Key, keyed};

/// How the prompt and the answer of one request go together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Pairing {
    /// Drawn apart.
    #[default]
    Apart,
    /// The i-th sample of the one with the i-th of the other.
    Together,
    /// Each of its own law, their ranks correlated.
    Correlated(Copula),
}

/// A Gaussian copula: both lengths are those of the ranks of two correlated normal values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Copula {
    /// Correlation of the normal values.
    correlation: f64,
}

impl Copula {
    /// By Spearman's rank correlation, −1 to 1: that of the normal values is 2·sin(πρ/6) (Pearson
    /// 1907).
    pub fn of_rank_correlation(rho: f64) -> Result<Self, Problem> {
        if (-1.0..=1.0).contains(&rho) {
            let correlation = 2.0 * math::sin(std::f64::consts::PI * rho / 6.0);
            Ok(Self { correlation: correlation.clamp(-1.0, 1.0) })
        } else {
            Err(Problem::error(
                "rank_correlation",
                format!("the rank correlation of prompt and answer is {rho}", rho = typed(rho)),
                "give -1 to 1; 0 draws them apart",
            ))
        }
    }

    /// The second normal value, from the first and one that is independent of it.
    pub fn second(self, first: f64, independent: f64) -> f64 {
        let rest = (1.0 - self.correlation * self.correlation).max(0.0).sqrt();
        self.correlation * first + rest * independent
    }
}

impl Pairing {
    /// Prompt and answer of the request of these keys, the `record`-th of a recording; `None` for
    /// a side whose recording has ended.
    pub(super) fn draw(
        self,
        (input, input_key): (&Lengths, Key),
        (output, output_key): (&Lengths, Key),
        record: usize,
    ) -> (Option<u32>, Option<u32>) {
        match (self, input, output) {
            (Self::Together, Lengths::Empirical(inputs), Lengths::Empirical(outputs)) => {
                let pairs = inputs.given().len().min(outputs.given().len()) as u64;
                let index: u64 = keyed(input_key).random_range(0..pairs.max(1));
                let nth = |tokens: &[u32]| tokens.get(usize::try_from(index).ok()?).copied();
                (nth(inputs.given()), nth(outputs.given()))
            }
            (Self::Correlated(copula), ..) => {
                let first: f64 = StandardNormal.sample(&mut keyed(input_key));
                let independent: f64 = StandardNormal.sample(&mut keyed(output_key));
                let second = copula.second(first, independent);
                let tokens = |lengths: &Lengths, z| Some(whole_tokens(lengths.at_normal(z)));
                (tokens(input, first), tokens(output, second))
            }
            (Self::Apart | Self::Together, ..) => {
                (input.draw(input_key, record), output.draw(output_key, record))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    const DRAWS: u32 = 40_000;

    fn pairs(pairing: Pairing, input: &Lengths, output: &Lengths) -> Vec<(u32, u32)> {
        let key = |stream, request: u32| Key {
            seed: 1,
            stream,
            class: 0,
            request: request.into(),
            attempt: 0,
        };
        let pair = |request| {
            let (of_input, of_output) =
                (key(Stream::InputTokens, request), key(Stream::OutputTokens, request));
            let (i, o) = pairing.draw((input, of_input), (output, of_output), 0);
            (i.unwrap(), o.unwrap())
        };
        (0..DRAWS).map(pair).collect()
    }

    /// Mean ranks of values, ties shared.
    fn ranks(values: impl Iterator<Item = u32>) -> Vec<f64> {
        let values: Vec<u32> = values.collect();
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let rank = |v: &u32| {
            let (low, high) =
                (sorted.partition_point(|x| x < v), sorted.partition_point(|x| x <= v));
            f64::midpoint(low as f64, high as f64)
        };
        values.iter().map(rank).collect()
    }

    fn rank_correlation(pairs: &[(u32, u32)]) -> f64 {
        let (a, b) = (ranks(pairs.iter().map(|p| p.0)), ranks(pairs.iter().map(|p| p.1)));
        let n = pairs.len() as f64;
        let middle = n / 2.0;
        let sum = |x: &[f64], y: &[f64]| -> f64 {
            x.iter().zip(y).map(|(x, y)| (x - middle) * (y - middle)).sum()
        };
        sum(&a, &b) / (sum(&a, &a) * sum(&b, &b)).sqrt()
    }

    #[test]
    fn correlated_lengths_have_the_rank_correlation_and_keep_their_own_laws() {
        let input = Lengths::lognormal(900.0, 5_000.0).unwrap();
        let output = Lengths::quantiles(&[(0.0, 10.0), (0.5, 200.0), (1.0, 4_000.0)]).unwrap();
        let apart = pairs(Pairing::Apart, &input, &output);
        for rho in [-0.6, 0.0, 0.3, 0.9] {
            let copula = Copula::of_rank_correlation(rho).unwrap();
            let seen = pairs(Pairing::Correlated(copula), &input, &output);
            let error = 4.0 / f64::from(DRAWS).sqrt();
            assert!((rank_correlation(&seen) - rho).abs() < error, "{rho}");
            assert!(seen.iter().zip(&apart).all(|(a, b)| a.0 == b.0), "prompts stay as they were");
            let below = |tokens: u32| {
                seen.iter().filter(|pair| pair.1 <= tokens).count() as f64 / f64::from(DRAWS)
            };
            assert!((below(200) - 0.5).abs() < 4.0 * 0.5 / f64::from(DRAWS).sqrt());
        }
    }

    #[test]
    fn paired_samples_come_in_their_pairs() {
        let input = Lengths::empirical(vec![10, 20, 30]).unwrap();
        let output = Lengths::empirical(vec![7, 1, 3]).unwrap();
        let seen = pairs(Pairing::Together, &input, &output);
        assert!(seen.iter().all(|pair| [(10, 7), (20, 1), (30, 3)].contains(pair)));
        let first = seen.iter().filter(|pair| pair.0 == 10).count() as f64 / f64::from(DRAWS);
        assert!((first - 1.0 / 3.0).abs() < 4.0 * (2.0 / 9.0 / f64::from(DRAWS)).sqrt());
    }

    #[test]
    fn a_rank_correlation_is_between_minus_one_and_one() {
        for rho in [-1.1, 1.5, f64::NAN] {
            assert_eq!(Copula::of_rank_correlation(rho).unwrap_err().path, "rank_correlation");
        }
        let whole = Copula::of_rank_correlation(1.0).unwrap();
        assert!((whole.second(0.7, 9.0) - 0.7).abs() < 1e-6);
    }
}
