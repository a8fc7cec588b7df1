//! When requests are due.

use rand::RngExt;
use rand_distr::{Distribution, Exp1, Gamma};

use super::bursts::Bursts;
use super::closed_loop::{ClosedLoop, ThinkTime};
use super::profile::RateProfile;
use super::replay::Replay;
use crate::counted::typed;
use crate::problem::Problem;
use crate::rng::{Key, Stream, keyed};
use crate::units::Picos;

/// The most the gaps between arrivals may vary: their standard deviation over their mean.
pub const MAX_GAP_CV: f64 = 100.0;

/// When the requests of a class are due.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// Independent arrivals that follow a rate (an inhomogeneous Poisson process).
    Poisson(RateProfile),
    /// Evenly spaced in expected count: the i-th, from 0, is due when the count reaches i.
    Even(RateProfile),
    /// Gaps of a gamma law in expected count.
    Gamma(RateProfile, GammaGaps),
    /// A rate that jumps between two values at random.
    Bursts(Bursts),
    /// The moments of a trace.
    Trace(Replay),
    /// Users who ask one request at a time: when, the fleet decides.
    ClosedLoop(ClosedLoop),
}

/// One arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// When.
    pub at: Picos,
    /// Identity within its class, for its draws.
    pub request: u64,
    /// Which request of the recording it is; without a recording, its number.
    pub record: usize,
}

/// How gaps that follow a gamma law vary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GammaGaps {
    /// Shape k, above 0 and finite: the gaps' coefficient of variation is 1/√k.
    shape: f64,
}

impl GammaGaps {
    /// The law's shape k, vLLM's burstiness.
    pub fn shape(self) -> f64 {
        self.shape
    }
}

/// What a coefficient of variation of gaps means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spacing {
    /// No variation.
    Even,
    /// As much as the mean.
    Poisson,
    /// Another.
    Gamma(GammaGaps),
}

impl Spacing {
    /// By the coefficient of variation of the gaps, 0 to [`MAX_GAP_CV`]: 0 is evenly spaced, 1 is
    /// Poisson.
    pub fn of_cv(cv: f64) -> Result<Self, Problem> {
        if !(0.0..=MAX_GAP_CV).contains(&cv) {
            return Err(Problem::error(
                "cv",
                format!("the coefficient of variation of the gaps is {cv}", cv = typed(cv)),
                format!("give 0 (evenly spaced) to {MAX_GAP_CV}; 1 is Poisson"),
            ));
        }
        Ok(Self::of_shape(1.0 / (cv * cv)))
    }

    /// By the shape of the gamma law, which `vllm bench serve` calls burstiness: 1 is Poisson,
    /// below is burstier, infinite is evenly spaced.
    pub fn of_burstiness(k: f64) -> Result<Self, Problem> {
        let least = 1.0 / (MAX_GAP_CV * MAX_GAP_CV);
        if !(least..=f64::INFINITY).contains(&k) {
            return Err(Problem::error(
                "burstiness",
                format!("the burstiness is {k}", k = typed(k)),
                format!("give {least} or more: 1 is Poisson, \"inf\" is evenly spaced"),
            ));
        }
        Ok(Self::of_shape(k))
    }

    fn of_shape(shape: f64) -> Self {
        // Beyond this the law is even to the last bit of its own arithmetic.
        const EVEN: f64 = 1e12;
        if shape >= EVEN {
            Self::Even
        } else if shape.total_cmp(&1.0).is_eq() {
            Self::Poisson
        } else {
            Self::Gamma(GammaGaps { shape })
        }
    }

    /// Arrivals so spaced along a rate.
    pub fn along(self, profile: RateProfile) -> Arrivals {
        match self {
            Self::Even => Arrivals::Even(profile),
            Self::Poisson => Arrivals::Poisson(profile),
            Self::Gamma(gaps) => Arrivals::Gamma(profile, gaps),
        }
    }
}

impl GammaGaps {
    /// Standard deviation of the gaps over their mean.
    pub fn cv(self) -> f64 {
        1.0 / self.shape.sqrt()
    }

    /// The gap before a request, in expected count.
    ///
    /// The process has always been running: nobody begins it at 0. So the first gap is what is
    /// left of one that a random moment hits, a uniform share of a gap drawn by its length, which
    /// makes the expected count exact at every moment (Cox 1962, *Renewal Theory*, 5.2).
    fn before(self, key: Key) -> Option<f64> {
        let law = |shape: f64| Gamma::new(shape, 1.0 / self.shape).ok();
        let mut rng = keyed(key);
        if key.request == 0 {
            let share: f64 = rng.random();
            Some(share * law(self.shape + 1.0)?.sample(&mut rng))
        } else {
            Some(law(self.shape)?.sample(&mut rng))
        }
    }
}

impl Arrivals {
    /// The users of a closed loop.
    pub fn closed_loop(&self) -> Option<&ClosedLoop> {
        match self {
            Self::ClosedLoop(users) => Some(users),
            _ => None,
        }
    }

    /// What is due, in order of time, without end unless the arrivals have one. Nothing of a closed
    /// loop: when its users ask is not known before they are served.
    ///
    /// The i-th depends on the seed, the class and i alone, so a longer horizon only adds to a
    /// shorter one, and a rate twice as high has the same requests sooner.
    pub fn dues(&self, seed: u64, class: u64) -> Box<dyn Iterator<Item = Due> + '_> {
        let key = move |request| Key { seed, stream: Stream::Arrivals, class, request, attempt: 0 };
        match self {
            Self::Poisson(profile) => {
                numbered(along(profile, move |request| Some(Exp1.sample(&mut keyed(key(request))))))
            }
            Self::Gamma(profile, gaps) => {
                numbered(along(profile, move |request| gaps.before(key(request))))
            }
            Self::Even(profile) => numbered((0..).map_while(|index| profile.due_of_index(index))),
            Self::Bursts(bursts) => numbered(bursts.dues(seed, class)),
            Self::Trace(replay) => replay.dues(seed, class),
            Self::ClosedLoop(_) => Box::new(std::iter::empty()),
        }
    }

    /// The same at `factor` times the rates; of a trace, which has none, in 1/`factor` of the time;
    /// of a closed loop, with `factor` times the users.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::Poisson(profile) => Self::Poisson(profile.scaled(factor)),
            Self::Even(profile) => Self::Even(profile.scaled(factor)),
            Self::Gamma(profile, gaps) => Self::Gamma(profile.scaled(factor), *gaps),
            Self::Bursts(bursts) => Self::Bursts(bursts.scaled(factor)),
            Self::Trace(replay) => Self::Trace(replay.clone().in_time(1.0 / factor)),
            Self::ClosedLoop(crowd) => {
                Self::ClosedLoop(ClosedLoop { users: times(crowd.users, factor), ..*crowd })
            }
        }
    }

    /// As many requests without chance: evenly spaced in expected count; of a trace, those before
    /// the horizon evenly over it; of a closed loop, users who all think for the mean time.
    #[must_use]
    pub fn evened(&self, horizon: Picos) -> Self {
        match self {
            Self::Poisson(profile) | Self::Even(profile) | Self::Gamma(profile, _) => {
                Self::Even(profile.clone())
            }
            Self::Bursts(bursts) => bursts.mean_profile().map_or(Self::Bursts(*bursts), Self::Even),
            Self::Trace(replay) => Self::Trace(replay.clone().evened(horizon)),
            Self::ClosedLoop(crowd) => {
                let think = ThinkTime::Fixed(Picos::from_secs(crowd.think.mean_s()));
                Self::ClosedLoop(ClosedLoop { think, ..*crowd })
            }
        }
    }

    /// As many requests in larger bunches: gaps whose coefficient of variation is `factor` times what
    /// it is. `None` of arrivals that are no gaps of a law that varies: evenly spaced, recorded, in
    /// bursts of their own, or decided by the fleet; and beyond [`MAX_GAP_CV`].
    #[must_use]
    pub fn bunched(&self, factor: f64) -> Option<Self> {
        let (Self::Poisson(profile) | Self::Gamma(profile, _)) = self else { return None };
        Some(Spacing::of_cv(factor * self.gap_cv()?).ok()?.along(profile.clone()))
    }

    /// The coefficient of variation of the gaps, where they follow a law that varies.
    pub fn gap_cv(&self) -> Option<f64> {
        match self {
            Self::Poisson(_) => Some(1.0),
            Self::Gamma(_, gaps) => Some(gaps.cv()),
            Self::Even(_) | Self::Bursts(_) | Self::Trace(_) | Self::ClosedLoop(_) => None,
        }
    }

    /// Requests expected in `[from, to)`; of a trace, those recorded times its factor; of
    /// a closed loop none, as its rate is an outcome.
    pub fn expected(&self, from: Picos, to: Picos) -> f64 {
        match self {
            Self::Poisson(profile) | Self::Even(profile) | Self::Gamma(profile, _) => {
                profile.count_at(to.as_secs()) - profile.count_at(from.as_secs())
            }
            Self::Bursts(bursts) => bursts.mean_rps() * (to - from).as_secs(),
            Self::Trace(replay) => replay.expected(from, to),
            Self::ClosedLoop(_) => 0.0,
        }
    }
}

/// `factor` times as many users, at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn times(users: u32, factor: f64) -> u32 {
    ((f64::from(users) * factor).round() as u32).max(1)
}

/// Arrivals whose gaps in expected count are given by their number.
fn along(profile: &RateProfile, gap: impl Fn(u64) -> Option<f64>) -> impl Iterator<Item = Picos> {
    let mut count = 0.0;
    (0..).map_while(move |request| {
        count += gap(request)?;
        profile.time_of(count).map(Picos::from_secs)
    })
}

/// Arrivals that are no recording.
fn numbered<'a>(moments: impl Iterator<Item = Picos> + 'a) -> Box<dyn Iterator<Item = Due> + 'a> {
    let due = |(record, at): (usize, Picos)| Due { at, request: record as u64, record };
    Box::new(moments.enumerate().map(due))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiple_of_the_rates_brings_the_same_requests_sooner() {
        let hour = Picos::from_secs(3600.0);
        let profile = RateProfile::new(&[(0.0, 1.0), (1800.0, 3.0)]).unwrap();
        let trace = Arrivals::Trace(Replay::new(&[0.0, 1e-11, 3e-9]).unwrap());
        let moments = |arrivals: &Arrivals| moments(arrivals).take(3).collect::<Vec<_>>();
        for arrivals in [
            Arrivals::Poisson(profile.clone()),
            Arrivals::Even(profile.clone()),
            Spacing::of_cv(2.5).unwrap().along(profile.clone()),
            Arrivals::Bursts(Bursts::new(1.0, 9.0, 30.0, 3.0).unwrap()),
            trace.clone(),
        ] {
            let doubled = arrivals.scaled(2.0);
            assert!(moments(&doubled).iter().zip(moments(&arrivals)).all(|(d, a)| *d <= a));
            if arrivals != trace {
                let ratio =
                    doubled.expected(Picos::ZERO, hour) / arrivals.expected(Picos::ZERO, hour);
                assert!((ratio - 2.0).abs() < 1e-12, "the axis of time stays");
            }
        }
        assert_eq!(moments(&trace.scaled(2.0)), [Picos::ZERO, Picos(5), Picos(1_500)]);
    }

    #[test]
    fn even_arrivals_are_as_many_and_have_no_gaps() {
        let minute = Picos::from_secs(60.0);
        let trace = Replay::new(&[0.0, 0.1, 0.2, 59.0, 61.0]).unwrap();
        let even = Arrivals::Trace(trace.clone()).evened(minute);
        let due: Vec<_> = even.dues(1, 0).collect();
        assert!(due.iter().map(|d| d.at).eq([0.0, 15.0, 30.0, 45.0].map(Picos::from_secs)));
        assert!(due.iter().map(|d| d.record).eq(0..4), "lengths stay with their request");
        // Half the requests of a loop, evenly, with the records they had.
        let some = Arrivals::Trace(trace.looped(70.0).unwrap().at_rate(0.5).unwrap());
        let hour = Picos::from_secs(3_600.0);
        let records = |a: &Arrivals| {
            a.dues(1, 0).take_while(|due| due.at < hour).map(|due| due.record).collect::<Vec<_>>()
        };
        let even = some.evened(hour);
        assert_eq!(records(&some), records(&even));
        let half = even.expected(Picos::ZERO, Picos(hour.0 / 2));
        assert!((half * 2.0 - some.expected(Picos::ZERO, hour)).abs() < 1e-6);
        let bursts = Arrivals::Bursts(Bursts::new(1.0, 9.0, 30.0, 10.0).unwrap());
        assert_eq!(bursts.evened(minute), Arrivals::Even(RateProfile::constant(3.0).unwrap()));
        let poisson = Arrivals::Poisson(RateProfile::constant(2.0).unwrap());
        assert_eq!(poisson.evened(minute), Arrivals::Even(RateProfile::constant(2.0).unwrap()));
    }

    fn moments(arrivals: &Arrivals) -> impl Iterator<Item = Picos> + '_ {
        arrivals.dues(1, 0).map(|due| due.at)
    }

    /// Gamma laws of many kinds, and what they are in words.
    fn gamma(cv: f64, rate_rps: f64) -> Arrivals {
        Spacing::of_cv(cv).unwrap().along(RateProfile::constant(rate_rps).unwrap())
    }

    #[test]
    fn gamma_gaps_have_their_mean_and_coefficient_of_variation() {
        for cv in [0.2, 0.5, 1.5, 3.0] {
            let dues: Vec<f64> =
                moments(&gamma(cv, 4.0)).take(60_001).map(Picos::as_secs).collect();
            let gaps: Vec<f64> = dues.windows(2).map(|pair| 4.0 * (pair[1] - pair[0])).collect();
            let n = gaps.len() as f64;
            let mean = gaps.iter().sum::<f64>() / n;
            let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / n;
            // The kurtosis of a gamma law of shape k is 3 + 6/k, and 1/k = cv².
            let error = cv * cv * ((2.0 + 6.0 * cv * cv) / n).sqrt();
            assert!((mean - 1.0).abs() < 4.0 * cv / n.sqrt(), "{cv}: {mean}");
            assert!((variance - cv * cv).abs() < 4.0 * error, "{cv}: {variance}");
        }
    }

    #[test]
    fn bursty_arrivals_are_expected_as_often_as_they_come_from_the_first_second_on() {
        let first = Picos::from_secs(2.0);
        let seeds = 20_000_u32;
        for arrivals in [
            gamma(3.0, 1.0),
            gamma(0.5, 1.0),
            Arrivals::Bursts(Bursts::new(0.5, 3.0, 8.0, 2.0).unwrap()),
        ] {
            let counts: Vec<f64> = (0..seeds)
                .map(|seed| {
                    arrivals.dues(seed.into(), 0).take_while(|due| due.at < first).count() as f64
                })
                .collect();
            let n = f64::from(seeds);
            let mean = counts.iter().sum::<f64>() / n;
            let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / n;
            let expected = arrivals.expected(Picos::ZERO, first);
            assert!((expected - 2.0).abs() < 1e-9);
            assert!((mean - expected).abs() < 4.0 * (variance / n).sqrt(), "{mean}");
        }
    }

    #[test]
    fn cv_and_burstiness_say_the_same_and_the_ends_are_even_and_poisson() {
        let cv = |cv| Spacing::of_cv(cv).unwrap();
        let k = |k| Spacing::of_burstiness(k).unwrap();
        assert_eq!(cv(0.0), Spacing::Even);
        assert_eq!(k(f64::INFINITY), Spacing::Even);
        assert_eq!((cv(1.0), k(1.0)), (Spacing::Poisson, Spacing::Poisson));
        assert_eq!(cv(2.0), k(0.25));
        let Spacing::Gamma(gaps) = k(1.0 / 9.0) else { panic!("a gamma law") };
        assert!((gaps.cv() - 3.0).abs() < 1e-12);
        for bad in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(Spacing::of_burstiness(bad).unwrap_err().path, "burstiness");
        }
        for bad in [-0.1, 101.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Spacing::of_cv(bad).unwrap_err().path, "cv");
        }
    }

    fn poisson(rate_rps: f64) -> Arrivals {
        Arrivals::Poisson(RateProfile::constant(rate_rps).unwrap())
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
        let dues: Vec<f64> = moments(&poisson(4.0)).take(40_000).map(Picos::as_secs).collect();
        let gaps: Vec<f64> = dues.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / n;
        // Standard error of the mean is 1/√n of it, of the variance √(8/n) of it: four of each.
        assert!((mean * 4.0 - 1.0).abs() < 4.0 / n.sqrt());
        assert!((variance * 16.0 - 1.0).abs() < 4.0 * (8.0 / n).sqrt());
    }

    #[test]
    fn twice_the_rate_is_the_same_requests_in_half_the_time() {
        for (slow, fast) in [(poisson(3.0), poisson(6.0)), (gamma(2.0, 3.0), gamma(2.0, 6.0))] {
            for (slow, fast) in slow.dues(7, 2).zip(fast.dues(7, 2)).take(1_000) {
                assert!((slow.at.0 - 2 * fast.at.0).abs() <= 2);
                assert_eq!(slow.request, fast.request);
            }
        }
    }

    #[test]
    fn arrivals_follow_their_profile() {
        let profile = RateProfile::new(&[(0.0, 0.0), (500.0, 100.0), (1_000.0, 0.0)]).unwrap();
        let gamma = Spacing::of_cv(0.5).unwrap().along(profile.clone());
        for arrivals in [Arrivals::Poisson(profile.clone()), gamma, Arrivals::Even(profile)] {
            let dues: Vec<_> = moments(&arrivals).collect();
            for (from, to) in [(0.0, 100.0), (450.0, 550.0), (0.0, 1_000.0)] {
                let (from, to) = (Picos::from_secs(from), Picos::from_secs(to));
                let expected = arrivals.expected(from, to);
                let seen = dues.iter().filter(|due| (from..to).contains(due)).count() as f64;
                let allowed =
                    if matches!(arrivals, Arrivals::Even(_)) { 1.0 } else { 4.0 * expected.sqrt() };
                assert!((seen - expected).abs() <= allowed, "{seen} of {expected}");
            }
        }
    }
}
