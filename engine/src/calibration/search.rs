//! A robust minimum in one dimension.

use crate::math;

/// Huber's loss: quadratic near zero, linear beyond `delta`, so that one broken point pulls no
/// harder than a doubtful one.
///
/// Huber, P. J. (1964), Robust estimation of a location parameter.
pub fn huber(residual: f64, delta: f64) -> f64 {
    let size = residual.abs();
    if size <= delta { size * size / 2.0 } else { delta * (size - delta / 2.0) }
}

/// The factor in `[low, high]` that makes `loss` smallest, to a relative `tolerance`.
///
/// A scan in equal ratios finds the valley, since a loss over several loads may have more than
/// one; golden sections then narrow it.
pub fn smallest(low: f64, high: f64, tolerance: f64, mut loss: impl FnMut(f64) -> f64) -> f64 {
    const SCAN: u32 = 12;
    let (from, to) = (math::ln(low), math::ln(high));
    let step = (to - from) / f64::from(SCAN);
    let mut at = |log: f64| loss(math::exp(log));
    let mut best = (from, f64::INFINITY);
    for i in 0..=SCAN {
        let log = from + f64::from(i) * step;
        let here = at(log);
        if here < best.1 {
            best = (log, here);
        }
    }
    let (mut a, mut b) = ((best.0 - step).max(from), (best.0 + step).min(to));
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut c, mut d) = (b - golden * (b - a), a + golden * (b - a));
    let (mut at_c, mut at_d) = (at(c), at(d));
    while b - a > tolerance {
        if at_c <= at_d {
            (b, d, at_d) = (d, c, at_c);
            c = b - golden * (b - a);
            at_c = at(c);
        } else {
            (a, c, at_c) = (c, d, at_d);
            d = a + golden * (b - a);
            at_d = at(d);
        }
    }
    math::exp(f64::midpoint(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_valley_is_found_wherever_it_lies() {
        for truth in [0.21, 0.7, 1.0, 1.3, 4.8] {
            let found = smallest(0.2, 5.0, 1e-4, |x| (math::ln(x) - math::ln(truth)).abs());
            assert!((found / truth - 1.0).abs() < 1e-3, "{truth} {found}");
        }
    }

    #[test]
    fn the_deeper_of_two_valleys_wins() {
        let loss = |x: f64| (x - 0.5).abs().min((x - 3.0).abs() + 0.1);
        assert!((smallest(0.2, 5.0, 1e-4, loss) - 0.5).abs() < 1e-3);
    }

    #[test]
    fn one_outlier_moves_the_minimum_little() {
        let points = [1.30, 1.29, 1.31, 1.30, 13.0];
        let loss =
            |x: f64| points.iter().map(|p| huber(math::ln(x) - math::ln(*p), 0.05)).sum::<f64>();
        let found = smallest(0.2, 5.0, 1e-4, loss);
        assert!((found / 1.3 - 1.0).abs() < 0.02, "{found}");
    }

    #[test]
    fn huber_is_smooth_where_it_turns_linear() {
        let delta = 0.1;
        assert!((huber(delta, delta) - delta * delta / 2.0).abs() < 1e-15);
        assert!((huber(-1.0, delta) - huber(1.0, delta)).abs() < 1e-15);
        let slope = (huber(0.5, delta) - huber(0.4, delta)) / 0.1;
        assert!((slope - delta).abs() < 1e-12);
    }
}
