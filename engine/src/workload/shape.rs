//! What a length distribution looks like: for a picture of it, not for a simulation.

use super::lengths::Lengths;
use crate::math;

/// Points of the distribution that a shape is made from.
const NODES: u32 = 2_000;

/// A histogram on a log axis, and a few numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Bin edges, tokens, ascending, evenly spaced in the logarithm; one more than `shares`.
    pub edges: Vec<f64>,
    /// Share of requests in each bin; they sum to one.
    pub shares: Vec<f64>,
    /// Mean, tokens.
    pub mean: f64,
    /// Median, tokens.
    pub p50: f64,
    /// 90th percentile, tokens.
    pub p90: f64,
    /// 99th percentile, tokens.
    pub p99: f64,
}

/// The shape of `lengths` in `bins` bins from the 0.1 % to the 99.9 % quantile; the tails beyond
/// count into the outer bins. Where all lengths are alike there is one bin.
pub fn shape(lengths: &Lengths, bins: usize) -> Shape {
    let values = nodes(lengths);
    let at = |p: f64| value_at(&values, p);
    let mean = match lengths {
        Lengths::Lognormal(law) => law.mean(),
        _ => mean(&values),
    };
    let (low, high) = (at(0.001).max(1.0), at(0.999).max(1.0));
    let bins = if high > low { bins.max(1) } else { 1 };
    let edges: Vec<f64> = (0..=bins)
        .map(|i| low * math::exp(math::ln(high / low) * i as f64 / bins as f64))
        .collect();
    let mut shares = vec![0.0; bins];
    for value in &values {
        let bin = edges.partition_point(|edge| edge <= value).saturating_sub(1).min(bins - 1);
        shares[bin] += 1.0 / values.len() as f64;
    }
    Shape { edges, shares, mean, p50: at(0.5), p90: at(0.9), p99: at(0.99) }
}

/// Values of equal weight, ascending.
fn nodes(lengths: &Lengths) -> Vec<f64> {
    let observed = |tokens: &[u32]| {
        let mut sorted: Vec<f64> = tokens.iter().copied().map(f64::from).collect();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    match lengths {
        Lengths::Fixed(tokens) => vec![f64::from(*tokens)],
        Lengths::Empirical(samples) => observed(samples.given()),
        Lengths::Recorded(tokens) => observed(tokens),
        law => {
            let grid = (0..NODES).map(|i| (f64::from(i) + 0.5) / f64::from(NODES));
            grid.map(|p| law.at_normal(math::normal_quantile(p)).max(1.0)).collect()
        }
    }
}

fn value_at(values: &[f64], p: f64) -> f64 {
    crate::stats::nearest_rank(values, p).unwrap_or(1.0)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lognormal_shows_its_own_mean_and_tail() {
        let shape = shape(&Lengths::lognormal(512.0, 2_391.0).unwrap(), 32);
        assert!((shape.mean - 512.0).abs() < 1e-6, "{}", shape.mean);
        assert!((shape.p99 / 2_391.0 - 1.0).abs() < 0.01, "{}", shape.p99);
        assert!((shape.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert_eq!((shape.edges.len(), shape.shares.len()), (33, 32));
        assert!(shape.edges.windows(2).all(|pair| pair[1] > pair[0]));
        let tallest = shape.shares.iter().copied().fold(0.0, f64::max);
        assert!(shape.shares[0] < tallest && shape.shares[31] < tallest, "one hump");
    }

    #[test]
    fn lengths_that_are_alike_have_one_bin() {
        for lengths in [
            Lengths::fixed(256).unwrap(),
            Lengths::empirical(vec![256; 9]).unwrap(),
            Lengths::quantiles(&[(0.5, 256.0)]).unwrap(),
        ] {
            let shape = shape(&lengths, 32);
            assert_eq!((shape.shares.len(), shape.mean, shape.p99), (1, 256.0, 256.0));
        }
    }

    #[test]
    fn observed_lengths_are_counted_as_they_are() {
        let shape = shape(&Lengths::empirical(vec![100, 100, 100, 1_000]).unwrap(), 10);
        assert!((shape.mean - 325.0).abs() < 1e-9);
        assert!((shape.shares[0] - 0.75).abs() < 1e-9 && (shape.shares[9] - 0.25).abs() < 1e-9);
    }
}
