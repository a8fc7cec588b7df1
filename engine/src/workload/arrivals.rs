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
mod tests;
