//! Latencies of requests as percentiles and histograms.

use serde::{Deserialize, Serialize};

use crate::math;
use crate::stats;

/// Nearest-rank percentiles over a stated population; `null` where the value is never.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Percentiles {
    /// Requests in the population.
    pub population: u64,
    /// Mean over those that have a value.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 90th.
    pub p90: Option<f64>,
    /// 95th.
    pub p95: Option<f64>,
    /// 99th.
    pub p99: Option<f64>,
}

/// Counts on a log axis, and what never came.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Histogram {
    /// Bin edges in milliseconds, ascending, one more than counts.
    pub edges_ms: Vec<f64>,
    /// Requests in each bin.
    pub counts: Vec<u64>,
    /// Requests without a value.
    pub never: u64,
}

/// Bins of a histogram in each factor of ten: 6 % wide, so that a narrow distribution has a shape.
const BINS_PER_DECADE: i32 = 40;

/// Percentiles of `values`, where `+∞` stands for never.
pub fn percentiles(mut values: Vec<f64>) -> Percentiles {
    values.sort_unstable_by(f64::total_cmp);
    let came = &values[..values.partition_point(|value| value.is_finite())];
    let rank = |p| stats::nearest_rank(&values, p).filter(|value| value.is_finite());
    Percentiles {
        population: values.len() as u64,
        mean: stats::mean(came),
        p50: rank(0.5),
        p90: rank(0.9),
        p95: rank(0.95),
        p99: rank(0.99),
    }
}

/// One percentile of `values`, where `+∞` stands for never.
pub fn percentile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    stats::nearest_rank(&values, share).filter(|value| value.is_finite())
}

/// Counts of `values_ms` on a log axis; `+∞` stands for never, and what is below a hundredth of a
/// millisecond shares the first bin.
pub fn histogram(values_ms: &[f64]) -> Histogram {
    let mut bins: Vec<i32> = values_ms.iter().filter(|v| v.is_finite()).map(|&v| bin(v)).collect();
    bins.sort_unstable();
    let never = (values_ms.len() - bins.len()) as u64;
    let (Some(&first), Some(&last)) = (bins.first(), bins.last()) else {
        return Histogram { never, ..Histogram::default() };
    };
    let count = |bin| {
        let from = bins.partition_point(|&b| b < bin);
        (bins.partition_point(|&b| b <= bin) - from) as u64
    };
    Histogram {
        edges_ms: (first..=last + 1).map(edge).collect(),
        counts: (first..=last).map(count).collect(),
        never,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the logarithm of a double is small")]
fn bin(value_ms: f64) -> i32 {
    let exact = math::log10(value_ms.max(0.01)) * f64::from(BINS_PER_DECADE);
    let bin = exact.floor() as i32;
    // The logarithm may land on the wrong side of an edge.
    if value_ms >= edge(bin + 1) { bin + 1 } else { bin }
}

fn edge(bin: i32) -> f64 {
    math::pow(10.0, f64::from(bin) / f64::from(BINS_PER_DECADE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejecting_the_slow_part_does_not_mend_a_percentile() {
        let mut values = vec![1.0; 70];
        values.extend([f64::INFINITY; 30]);
        let p = percentiles(values);
        assert_eq!((p.p50, p.p95, p.mean, p.population), (Some(1.0), None, Some(1.0), 100));
    }

    #[test]
    fn every_value_is_in_exactly_one_bin_or_never() {
        let values = [0.0, 0.5, 1.0, 9.999, 10.0, 10.1, 250.0, f64::INFINITY, f64::INFINITY];
        let h = histogram(&values);
        assert_eq!(h.counts.iter().sum::<u64>() + h.never, 9);
        assert_eq!(h.edges_ms.len(), h.counts.len() + 1);
        let at_ten =
            h.edges_ms.iter().position(|&e| (e - 10.0).abs() < 1e-9).expect("an edge at 10");
        assert_eq!(h.counts[at_ten], 2, "an edge belongs to the bin above it");
    }

    #[test]
    fn nothing_gives_an_empty_histogram() {
        assert_eq!(histogram(&[]), Histogram::default());
        assert_eq!(histogram(&[f64::INFINITY]).never, 1);
    }
}
