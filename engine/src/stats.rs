//! Statistics over requests: nearest-rank percentiles and binomial intervals.

/// Nearest-rank percentile: the ⌈p·n⌉-th smallest of `sorted`, for `0 < p ≤ 1`.
///
/// `None` when there is nothing to rank. Values that never came are stored as `+∞` by the caller
/// and come back as `+∞`, so that nobody passes a percentile by dropping the slow half.
pub fn nearest_rank(sorted: &[f64], p: f64) -> Option<f64> {
    let rank = rank_of(p, sorted.len())?;
    Some(sorted[rank])
}

/// Zero-based index of the nearest rank, or `None` for an empty sample.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rank is between 1 and n"
)]
pub(crate) fn rank_of(p: f64, n: usize) -> Option<usize> {
    if n == 0 {
        return None;
    }
    // p·n may land a hair above an integer in floating point: 0.07 × 100 is 7.000000000000001.
    let exact = p * n as f64;
    let rank = (exact - 1e-9 * exact.max(1.0)).ceil() as usize;
    Some(rank.clamp(1, n) - 1)
}

/// Wilson score interval of a binomial share, 95 %.
///
/// Wilson, E. B. (1927), Probable inference, the law of succession, and statistical inference.
pub fn wilson_95(successes: u64, trials: u64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let z = 1.959_963_984_540_054;
    let n = trials as f64;
    let share = successes as f64 / n;
    let centre = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    (((centre - spread) / scale).max(0.0), ((centre + spread) / scale).min(1.0))
}

/// Mean, or `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Mean and its standard error, which is 0 of a single value; `None` of nothing.
pub fn mean_with_error(values: &[f64]) -> Option<(f64, f64)> {
    let mean = mean(values)?;
    if values.len() < 2 {
        return Some((mean, 0.0));
    }
    let n = values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    Some((mean, (squares / (n - 1.0) / n).sqrt()))
}

/// Splits `units` whole units over `weights` by largest remainder, so that the parts sum to
/// `units` exactly; ties go to the earlier part. All zero when there is nothing to share.
pub fn apportion(weights: &[u64], units: u64) -> Vec<u64> {
    let total: u128 = weights.iter().map(|&w| u128::from(w)).sum();
    if total == 0 {
        return vec![0; weights.len()];
    }
    let scaled: Vec<u128> = weights.iter().map(|&w| u128::from(w) * u128::from(units)).collect();
    let mut parts: Vec<u64> = scaled.iter().map(|s| narrow(s / total)).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(scaled[i] % total), i));
    let missing = units - parts.iter().sum::<u64>();
    for &i in order.iter().take(usize::try_from(missing).unwrap_or(usize::MAX)) {
        parts[i] += 1;
    }
    parts
}

/// A quotient of a share: at most the units that are shared out.
fn narrow(x: u128) -> u64 {
    u64::try_from(x).unwrap_or(u64::MAX)
}

/// Most moments in any half-open window of `window_s`, per second of it; of moments in seconds that
/// ascend.
pub fn peak_rate(moments_s: &[f64], window_s: f64) -> f64 {
    let mut oldest = 0;
    let mut most = 0;
    for (newest, moment) in moments_s.iter().enumerate() {
        while moment - moments_s[oldest] >= window_s {
            oldest += 1;
        }
        most = most.max(newest - oldest + 1);
    }
    most as f64 / window_s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_known_to_its_spread_over_the_root_of_its_values() {
        assert_eq!(mean_with_error(&[]), None);
        assert_eq!(mean_with_error(&[3.0]), Some((3.0, 0.0)));
        // Variance 4 over four values: a standard deviation of 2 over 2.
        let (mean, error) = mean_with_error(&[1.0, 1.0, 5.0, 5.0]).unwrap();
        assert!((mean - 3.0).abs() < 1e-12 && (error - (16.0_f64 / 12.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn nearest_rank_takes_the_value_at_the_ceiling() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        for (p, expected) in
            [(0.01, 1.0), (0.07, 7.0), (0.5, 50.0), (0.901, 91.0), (0.99, 99.0), (1.0, 100.0)]
        {
            assert_eq!(nearest_rank(&hundred, p), Some(expected), "{p}");
        }
        assert_eq!(nearest_rank(&[], 0.5), None);
        assert_eq!(nearest_rank(&[3.0], 0.001), Some(3.0));
    }

    #[test]
    fn what_never_came_is_infinite_at_its_rank() {
        let values = [1.0, 2.0, f64::INFINITY];
        assert_eq!(nearest_rank(&values, 0.5), Some(2.0));
        assert_eq!(nearest_rank(&values, 0.99), Some(f64::INFINITY));
    }

    #[test]
    fn wilson_holds_the_share_and_narrows() {
        let (low, high) = wilson_95(50, 100);
        assert!((low - 0.403_8).abs() < 1e-3 && (high - 0.596_2).abs() < 1e-3);
        let (low, high) = wilson_95(0, 10);
        assert!(low.abs() < 1e-12 && (high - 0.277_5).abs() < 1e-3);
    }

    #[test]
    fn shares_sum_exactly() {
        let counts = [31_120, 13_585, 11_490, 8_153, 3_118, 1_024, 564, 212, 49];
        let users = apportion(&counts, 100);
        assert_eq!(users.iter().sum::<u64>(), 100);
        assert_eq!(users, [45, 20, 17, 12, 4, 1, 1, 0, 0]);
        assert_eq!(apportion(&counts, 1_000).iter().sum::<u64>(), 1_000);
        assert_eq!(apportion(&[0, 0], 100), [0, 0]);
        assert_eq!(apportion(&[1, 1, 1], 100), [34, 33, 33]);
        assert_eq!(apportion(&[u64::MAX, u64::MAX], 1_000), [500, 500]);
    }
}
