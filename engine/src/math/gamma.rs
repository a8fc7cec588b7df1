//! The incomplete gamma function and its inverse: the gamma distribution.
//!
//! Series below the mean, Lentz's continued fraction above (Abramowitz and Stegun 1964, 6.5.29 and
//! 6.5.31), the inverse by safeguarded Newton steps from the cube-root approximation of Wilson and
//! Hilferty (1931).

use super::{exp, ln, normal_quantile, pow};

/// Relative change at which a sum or an iteration has converged.
const EPSILON: f64 = 1e-14;

/// Terms of a sum at most: enough for shapes up to about a hundred million.
const MOST_TERMS: u32 = 50_000;

/// Share of a gamma law of `shape` and scale 1 that is at most `x`, and the share above.
pub fn gamma_shares(shape: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if x.is_infinite() {
        return (1.0, 0.0);
    }
    if x < shape + 1.0 {
        let below = series(shape, x).clamp(0.0, 1.0);
        (below, 1.0 - below)
    } else {
        let above = fraction(shape, x).clamp(0.0, 1.0);
        (1.0 - above, above)
    }
}

/// xᵃ·e⁻ˣ/Γ(a).
fn density_times_x(shape: f64, x: f64) -> f64 {
    exp(shape * ln(x) - x - libm::lgamma(shape))
}

fn series(shape: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0 / shape, 1.0 / shape, shape);
    for _ in 0..MOST_TERMS {
        n += 1.0;
        term *= x / n;
        sum += term;
        if term < sum * EPSILON {
            break;
        }
    }
    sum * density_times_x(shape, x)
}

fn fraction(shape: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut denominator = x + 1.0 - shape;
    let (mut forward, mut inverse) = (1.0 / TINY, 1.0 / away(denominator));
    let mut product = inverse;
    for i in 1..MOST_TERMS {
        let i = f64::from(i);
        let numerator = -i * (i - shape);
        denominator += 2.0;
        inverse = 1.0 / away(numerator * inverse + denominator);
        forward = away(denominator + numerator / forward);
        product *= forward * inverse;
        if (forward * inverse - 1.0).abs() < EPSILON {
            break;
        }
    }
    product * density_times_x(shape, x)
}

/// Where a gamma law of `shape` and scale 1 has the share `below` at most and `above` beyond.
/// The two sum to one; both are given so that neither tail loses its digits.
pub fn gamma_quantile(shape: f64, below: f64, above: f64) -> f64 {
    if below <= 0.0 {
        return 0.0;
    }
    if above <= 0.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut x = first_guess(shape, below, above);
    for _ in 0..200 {
        let (share_below, share_above) = gamma_shares(shape, x);
        let excess = if below < above { share_below - below } else { above - share_above };
        if excess > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let newton = x - excess * x / density_times_x(shape, x);
        let next = if newton > low && newton < high {
            newton
        } else if high.is_finite() {
            f64::midpoint(low, high)
        } else {
            2.0 * x
        };
        if (next - x).abs() <= EPSILON * 10.0 * x {
            return next;
        }
        x = next;
    }
    x
}

fn first_guess(shape: f64, below: f64, above: f64) -> f64 {
    let z = if below < above { normal_quantile(below) } else { -normal_quantile(above) };
    let ninth = 1.0 / (9.0 * shape);
    let root = 1.0 - ninth + z * ninth.sqrt();
    if shape > 0.5 && root > 0.2 {
        return shape * root * root * root;
    }
    // Near 0 the law is xᵃ/Γ(a + 1).
    let near_zero = exp((ln(below) + libm::lgamma(shape + 1.0)) / shape);
    if near_zero < 1.0 { near_zero.max(1e-300) } else { 1.0 - ln(above) * pow(shape, 0.25) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shares_of_whole_shapes_are_those_of_a_poisson_count() {
        // More than n events before x: 1 − e⁻ˣ·Σ xⁱ/i!
        for x in [0.1, 1.0, 4.0, 12.0] {
            let (below, above) = gamma_shares(3.0, x);
            let due = exp(-x) * (1.0 + x + x * x / 2.0);
            assert!((above - due).abs() < 1e-13 && (below - (1.0 - due)).abs() < 1e-13, "{x}");
        }
        // Shape ½ is half the square of a normal: 2·Φ(√(2x)) − 1.
        let due = 2.0 * crate::math::normal_cdf((2.0 * 0.7_f64).sqrt()) - 1.0;
        assert!((gamma_shares(0.5, 0.7).0 - due).abs() < 1e-13);
    }

    #[test]
    fn shape_one_is_exponential_in_both_tails() {
        for (below, above) in [(1e-12, 1.0), (0.3, 0.7), (0.99, 0.01), (1.0, 1e-18)] {
            let due = if below < above { -libm::log1p(-below) } else { -ln(above) };
            let x = gamma_quantile(1.0, below, above);
            assert!((x / due - 1.0).abs() < 1e-10, "{below}: {x} {due}");
        }
    }

    proptest! {
        #[test]
        fn the_quantile_inverts_the_share(shape in 1e-4..2e4_f64, p in 1e-9..0.999_999_999_f64) {
            let x = gamma_quantile(shape, p, 1.0 - p);
            if x > 1e-290 {
                let (below, _) = gamma_shares(shape, x);
                prop_assert!((below - p).abs() < 1e-8 * p.max(1e-3), "{} {}", below, p);
            }
        }
    }
}
