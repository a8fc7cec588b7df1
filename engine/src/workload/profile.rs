//! A rate that changes over time, its integral and the exact inverse of that.
//!
//! The integral is the expected count of requests so far. Seen through its inverse, a process of
//! one arrival per unit of expected count becomes arrivals that follow the profile: exactly, with
//! no thinning and no step size (Çinlar 1975, time change of a Poisson process).

use crate::counted::typed;
use crate::problem::Problem;
use crate::units::{PICOS_PER_S, Picos};

/// A piecewise linear rate: constant before its first knot, linear between knots, constant after
/// the last, or the same again in every period. Two knots at one moment make a jump.
#[derive(Debug, Clone, PartialEq)]
pub struct RateProfile {
    /// In order of time; the first is at 0, the last of a periodic one at its end.
    knots: Vec<Knot>,
    /// Whether it begins again after its last knot.
    periodic: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Knot {
    t_s: f64,
    rate_rps: f64,
    /// Expected requests in `[0, t_s)`.
    count: f64,
}

impl RateProfile {
    /// The same rate always, requests per second.
    pub fn constant(rate_rps: f64) -> Result<Self, Problem> {
        if rate_rps.is_finite() && rate_rps > 0.0 {
            Ok(Self { knots: vec![Knot { t_s: 0.0, rate_rps, count: 0.0 }], periodic: false })
        } else {
            Err(Problem::error(
                "rate_rps",
                format!(
                    "the arrival rate is {rate_rps} requests per second",
                    rate_rps = typed(rate_rps)
                ),
                "give a rate above 0",
            ))
        }
    }

    /// A rate through `(t_s, rate_rps)` points in order of time. Everything wrong is reported,
    /// with paths such as `points[2].t_s`.
    pub fn new(points: &[(f64, f64)]) -> Result<Self, Vec<Problem>> {
        let problems = check(points);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut knots: Vec<Knot> = Vec::with_capacity(points.len() + 1);
        let from_zero = points.first().filter(|(t_s, _)| *t_s > 0.0).map(|(_, rate)| (0.0, *rate));
        for &(t_s, rate_rps) in from_zero.iter().chain(points) {
            let count = knots.last().map_or(0.0, |last| {
                last.count + (t_s - last.t_s) * (last.rate_rps + rate_rps) / 2.0
            });
            knots.push(Knot { t_s, rate_rps, count });
        }
        Ok(Self { knots, periodic: false })
    }

    /// The rate through `points`, the first at 0, again and again: the last ends the period.
    pub(super) fn repeating(points: &[(f64, f64)]) -> Result<Self, Vec<Problem>> {
        Self::new(points).map(|profile| Self { periodic: true, ..profile })
    }

    /// The profile at `factor` times its rates, a number above 0; its moments stay.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let scale = |knot: &Knot| Knot {
            t_s: knot.t_s,
            rate_rps: knot.rate_rps * factor,
            count: knot.count * factor,
        };
        Self { knots: self.knots.iter().map(scale).collect(), periodic: self.periodic }
    }

    /// Rate at a moment, requests per second; after a jump its new value.
    pub fn rate_at(&self, t_s: f64) -> f64 {
        let (_, t_s) = self.lap_of(t_s, |end| end.t_s);
        let (knot, slope) = self.piece(|knot| knot.t_s <= t_s);
        (knot.rate_rps + slope * (t_s - knot.t_s)).max(0.0)
    }

    /// Expected requests in `[0, t_s)`.
    pub fn count_at(&self, t_s: f64) -> f64 {
        let (laps, t_s) = self.lap_of(t_s, |end| end.t_s);
        let (knot, slope) = self.piece(|knot| knot.t_s <= t_s);
        let tau = t_s - knot.t_s;
        let before = self.knots.last().map_or(0.0, |end| laps * end.count);
        before + knot.count + tau * (knot.rate_rps + slope * tau / 2.0)
    }

    /// When the expected count reaches `count`, seconds; `None` if it never does.
    pub fn time_of(&self, count: f64) -> Option<f64> {
        let (laps, count) = self.lap_of(count, |end| end.count);
        let before = self.knots.last().map_or(0.0, |end| laps * end.t_s);
        self.time_in_lap(count).map(|t_s| before + t_s)
    }

    /// The highest rate, requests per second.
    pub fn peak_rps(&self) -> f64 {
        self.knots.iter().map(|knot| knot.rate_rps).fold(0.0, f64::max)
    }

    /// Whether it is the same at all times.
    pub fn is_constant(&self) -> bool {
        self.knots.iter().all(|knot| knot.rate_rps >= self.peak_rps())
    }

    /// Whole periods before `position`, and the rest; `measure` is the length of a period.
    fn lap_of(&self, position: f64, measure: impl Fn(&Knot) -> f64) -> (f64, f64) {
        match self.knots.last() {
            Some(end) if self.periodic => {
                let laps = (position / measure(end)).floor();
                (laps, (position - laps * measure(end)).max(0.0))
            }
            _ => (0.0, position),
        }
    }

    fn time_in_lap(&self, count: f64) -> Option<f64> {
        let (knot, slope) = self.piece(|knot| knot.count <= count);
        let rest = count - knot.count;
        if rest <= 0.0 {
            return (knot.rate_rps > 0.0 || slope > 0.0).then_some(knot.t_s);
        }
        // The root of rate·τ + slope·τ²/2 = rest that does not cancel, also at slope 0.
        let root = (knot.rate_rps * knot.rate_rps + 2.0 * slope * rest).max(0.0).sqrt();
        let denominator = knot.rate_rps + root;
        (denominator > 0.0).then(|| knot.t_s + 2.0 * rest / denominator)
    }

    /// When the `index`-th of evenly spaced requests is due, from 0; `None` if never.
    ///
    /// Under a constant rate this is `index / rate` rounded once to a picosecond, however long
    /// the run.
    pub fn due_of_index(&self, index: u64) -> Option<Picos> {
        if let [only] = self.knots.as_slice() {
            exact_ratio(index, only.rate_rps)
        } else {
            self.time_of(index as f64).map(Picos::from_secs)
        }
    }

    /// The last knot for which `before` holds (the first if none), and the slope after it.
    fn piece(&self, before: impl Fn(&Knot) -> bool) -> (Knot, f64) {
        let next = self.knots.partition_point(before).max(1);
        let knot = self.knots[next - 1];
        let slope = self.knots.get(next).map_or(0.0, |after| {
            if after.t_s > knot.t_s {
                (after.rate_rps - knot.rate_rps) / (after.t_s - knot.t_s)
            } else {
                0.0
            }
        });
        (knot, slope)
    }
}

fn check(points: &[(f64, f64)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    if points.is_empty() {
        problems.push(Problem::error(
            "points",
            "the rate profile has no points",
            "give at least one point with `t_s` and `rate_rps`",
        ));
    }
    let mut latest = 0.0;
    for (i, &(t_s, rate_rps)) in points.iter().enumerate() {
        if !t_s.is_finite() || t_s < 0.0 {
            problems.push(Problem::error(
                format!("points[{i}].t_s"),
                format!("the moment of this point is {t_s} s", t_s = typed(t_s)),
                "give seconds from the start, 0 or more",
            ));
        } else if t_s < latest {
            problems.push(Problem::error(
                format!("points[{i}].t_s"),
                format!(
                    "this point is at {t_s} s, before the one at {latest} s that precedes it",
                    t_s = typed(t_s),
                    latest = typed(latest)
                ),
                "put the points in order of time",
            ));
        } else {
            latest = t_s;
        }
        if !rate_rps.is_finite() || rate_rps < 0.0 {
            problems.push(Problem::error(
                format!("points[{i}].rate_rps"),
                format!(
                    "the rate at this point is {rate_rps} requests per second",
                    rate_rps = typed(rate_rps)
                ),
                "give a rate of 0 or more",
            ));
        }
    }
    if problems.is_empty() && points.iter().all(|(_, rate_rps)| *rate_rps <= 0.0) {
        problems.push(Problem::error(
            "points",
            "the rate is 0 at every point, so nobody ever asks",
            "give at least one point a rate above 0",
        ));
    }
    problems
}

/// `index / rate` seconds, rounded once to the nearest picosecond; `None` beyond any horizon.
///
/// A rate is a whole number times a power of two, so the quotient is one of integers.
fn exact_ratio(index: u64, rate: f64) -> Option<Picos> {
    const FRACTION_BITS: u32 = 52;
    let bits = rate.to_bits();
    let biased = i32::try_from((bits >> FRACTION_BITS) & 0x7ff).unwrap_or(0);
    let fraction = u128::from(bits & ((1 << FRACTION_BITS) - 1));
    let (mantissa, exponent) = if biased == 0 {
        (fraction, -1074)
    } else {
        (fraction | (1 << FRACTION_BITS), biased - 1075)
    };
    let numerator = u128::from(index) * u128::from(PICOS_PER_S.unsigned_abs());
    let shift = exponent.unsigned_abs();
    let (numerator, denominator) = if exponent < 0 {
        if numerator > 0 && shift >= numerator.leading_zeros() {
            return None;
        }
        (if numerator == 0 { 0 } else { numerator << shift }, mantissa)
    } else if shift >= mantissa.leading_zeros() {
        // So fast that every request of a bounded run is due at once.
        (0, 1)
    } else {
        (numerator, mantissa << shift)
    };
    let quotient = numerator / denominator;
    let rest = numerator % denominator;
    let rounded = quotient + u128::from(rest >= denominator - rest);
    i64::try_from(rounded).ok().map(Picos)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ramp() -> RateProfile {
        RateProfile::new(&[(0.0, 2.0), (100.0, 10.0), (100.0, 4.0), (200.0, 0.0), (300.0, 1.0)])
            .unwrap()
    }

    #[test]
    fn the_count_is_the_area_under_the_rate() {
        let profile = ramp();
        for (t_s, count) in [(0.0, 0.0), (50.0, 200.0), (100.0, 600.0), (200.0, 800.0)] {
            assert!((profile.count_at(t_s) - count).abs() < 1e-9, "{t_s}");
        }
        // After the last point the rate stays 1/s.
        assert!((profile.count_at(400.0) - 950.0).abs() < 1e-9);
        assert!((profile.rate_at(99.999_999) - 10.0).abs() < 1e-6);
        assert!((profile.rate_at(100.0) - 4.0).abs() < 1e-12);
    }

    #[test]
    fn before_its_first_point_a_profile_is_constant() {
        let late = RateProfile::new(&[(10.0, 3.0), (20.0, 5.0)]).unwrap();
        assert!((late.count_at(10.0) - 30.0).abs() < 1e-12);
        assert!((late.rate_at(4.0) - 3.0).abs() < 1e-12);
    }

    #[test]
    fn a_count_that_is_never_reached_has_no_moment() {
        let ends = RateProfile::new(&[(0.0, 1.0), (10.0, 0.0)]).unwrap();
        assert!((ends.time_of(4.999).unwrap() - 10.0).abs() < 0.2);
        assert_eq!(ends.time_of(5.0), None);
        assert_eq!(ends.time_of(6.0), None);
    }

    #[test]
    fn nobody_is_due_while_the_rate_is_zero() {
        let pause = RateProfile::new(&[(0.0, 1.0), (5.0, 1.0), (5.0, 0.0), (9.0, 0.0), (9.0, 2.0)])
            .unwrap();
        assert_eq!(pause.time_of(5.0), Some(9.0));
        assert_eq!(pause.time_of(6.0), Some(9.5));
        let late_start = RateProfile::new(&[(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)]).unwrap();
        assert_eq!(late_start.due_of_index(0), Some(Picos::from_secs(3.0)));
        let from_nothing = RateProfile::new(&[(0.0, 0.0), (10.0, 2.0)]).unwrap();
        assert_eq!(from_nothing.due_of_index(0), Some(Picos::ZERO));
    }

    #[test]
    fn evenly_spaced_requests_do_not_drift() {
        let profile = RateProfile::constant(137.0).unwrap();
        // 137 requests make a second, to the picosecond, after thirty days too.
        for seconds in [0, 1, 600, 2_592_000_u64] {
            let due = profile.due_of_index(137 * seconds).unwrap();
            assert_eq!(due.0, i64::try_from(seconds).unwrap() * PICOS_PER_S);
        }
        // 1/137 s is 7,299,270,072.99 ps.
        assert_eq!(profile.due_of_index(1), Some(Picos(7_299_270_073)));
        assert_eq!(RateProfile::constant(1e-300).unwrap().due_of_index(1), None);
        assert_eq!(RateProfile::constant(f64::MAX).unwrap().due_of_index(9), Some(Picos(0)));
        assert_eq!(
            RateProfile::constant(f64::MIN_POSITIVE).unwrap().due_of_index(0),
            Some(Picos(0))
        );
    }

    #[test]
    fn every_bad_point_is_reported_with_its_path() {
        let problems =
            RateProfile::new(&[(5.0, 1.0), (4.0, -1.0), (f64::NAN, f64::INFINITY)]).unwrap_err();
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(
            paths,
            ["points[1].t_s", "points[1].rate_rps", "points[2].t_s", "points[2].rate_rps"]
        );
        assert_eq!(RateProfile::new(&[]).unwrap_err()[0].path, "points");
        assert_eq!(RateProfile::new(&[(0.0, 0.0), (9.0, 0.0)]).unwrap_err()[0].path, "points");
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(RateProfile::constant(rate).unwrap_err().path, "rate_rps");
        }
    }

    proptest! {
        #[test]
        fn time_inverts_count(
            gaps in prop::collection::vec(0.0..50.0_f64, 1..6),
            rates in prop::collection::vec(0.01..40.0_f64, 6),
            t_s in 0.0..400.0_f64,
        ) {
            let mut at = 0.0;
            let points: Vec<_> = gaps
                .iter()
                .zip(&rates)
                .map(|(gap, rate)| {
                    at += gap;
                    (at, *rate)
                })
                .collect();
            let profile = RateProfile::new(&points).unwrap();
            let back = profile.time_of(profile.count_at(t_s)).unwrap();
            prop_assert!((back - t_s).abs() < 1e-6, "{t_s} came back as {back}");
        }

        #[test]
        fn exact_spacing_agrees_with_floating_point(index in 0..5_000_000_u64, rate in 0.01..1e5_f64) {
            let exact = exact_ratio(index, rate).unwrap().as_secs();
            let float = index as f64 / rate;
            prop_assert!((exact - float).abs() <= 1e-12 + float * 1e-15);
        }
    }
}
