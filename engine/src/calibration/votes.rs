//! Each measured number alone says how much slower steps are than the source; the fit is what the
//! middle of them says.
//!
//! A weighted median holds while less than half of the weight is wrong, and a number near
//! saturation, which moves by far more than the step time, still has one vote.

use crate::math;

/// Whether and where a curve over scales meets a measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Crossing {
    /// At this scale.
    At(f64),
    /// Below the smallest scale tried.
    Below,
    /// Above the largest scale tried.
    Above,
}

/// Where the curve through `(scale, value)` points, by ascending scale, meets `measured`: linear
/// between points in the logarithms of both. Of several crossings the first. All numbers positive;
/// `None` of fewer than two points.
pub fn crossing(curve: &[(f64, f64)], measured: f64) -> Option<Crossing> {
    let (first, last) = (curve.first()?, curve.last().filter(|_| curve.len() > 1)?);
    let gap = |value: f64| math::ln(value / measured);
    for pair in curve.windows(2) {
        let ((low, at_low), (high, at_high)) = (pair[0], pair[1]);
        let (from, to) = (gap(at_low), gap(at_high));
        if from * to <= 0.0 && (from - to).abs() > 0.0 {
            let share = from / (from - to);
            return Some(Crossing::At(low * math::exp(share * math::ln(high / low))));
        }
    }
    // Rising curves are above the measurement when even the fastest steps are too slow.
    let rises = last.1 >= first.1;
    let is_above = gap(first.1) > 0.0;
    Some(if rises == is_above { Crossing::Below } else { Crossing::Above })
}

/// The value below and above which lie equal weights; between two values when they part the weight
/// in halves, their geometric mean. `None` without weight.
pub fn weighted_median(votes: &[(f64, f64)]) -> Option<f64> {
    let mut votes: Vec<(f64, f64)> = votes.iter().copied().filter(|(_, w)| *w > 0.0).collect();
    votes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let total: f64 = votes.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    for (i, &(value, weight)) in votes.iter().enumerate() {
        below += weight;
        let excess = below - total / 2.0;
        if excess.abs() <= 1e-9 * total {
            let next = votes.get(i + 1).map_or(value, |(next, _)| *next);
            return Some((value * next).sqrt());
        }
        if excess > 0.0 {
            return Some(value);
        }
    }
    None
}

/// `count` scales in equal ratios from `low` to `high`, both included.
pub fn scales(low: f64, high: f64, count: u32) -> Vec<f64> {
    let step = math::ln(high / low) / f64::from(count - 1);
    (0..count).map(|i| low * math::exp(f64::from(i) * step)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_met_where_it_crosses() {
        let rising: Vec<(f64, f64)> =
            scales(0.2, 5.0, 9).into_iter().map(|s| (s, 10.0 * s)).collect();
        let falling: Vec<(f64, f64)> = rising.iter().map(|(s, v)| (*s, 100.0 / v)).collect();
        for truth in [0.21, 1.0, 1.3, 4.9] {
            for (curve, measured) in [(&rising, 10.0 * truth), (&falling, 10.0 / truth)] {
                let Some(Crossing::At(found)) = crossing(curve, measured) else {
                    panic!("{truth}")
                };
                assert!((found / truth - 1.0).abs() < 1e-9, "{truth} {found}");
            }
        }
        assert_eq!(crossing(&rising, 1.0), Some(Crossing::Below));
        assert_eq!(crossing(&rising, 99.0), Some(Crossing::Above));
        assert_eq!(crossing(&falling, 99.0), Some(Crossing::Below));
        assert_eq!(crossing(&falling, 1.0), Some(Crossing::Above));
        assert_eq!(crossing(&rising[..1], 1.0), None);
    }

    #[test]
    fn less_than_half_of_the_weight_cannot_move_the_median() {
        let sound = [(1.29, 1.0), (1.3, 1.0), (1.31, 1.0)];
        for wild in [0.2, 5.0] {
            let votes = [&sound[..], &[(wild, 1.0), (wild, 0.9)]].concat();
            let median = weighted_median(&votes).expect("votes");
            assert!((1.29..=1.31).contains(&median), "{median}");
        }
        assert_eq!(weighted_median(&[(2.0, 1.0), (8.0, 1.0)]), Some(4.0));
        assert_eq!(weighted_median(&[(2.0, 0.0)]), None);
        assert_eq!(weighted_median(&[]), None);
    }

    #[test]
    fn scales_reach_both_ends() {
        let scales = scales(0.2, 5.0, 13);
        assert_eq!(scales.len(), 13);
        assert!((scales[0] - 0.2).abs() < 1e-12 && (scales[12] - 5.0).abs() < 1e-9);
        assert!(scales.is_sorted());
    }
}
