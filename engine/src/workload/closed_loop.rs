//! A closed loop: so many users, each of whom asks, waits for the end, thinks, and asks again.
//!
//! Users are not requests in flight: those who think ask nothing. How often they ask depends on
//! how soon they are served, so the rate is an outcome: users = rate · (response + think time).

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use super::{OfferedRequest, TrafficClass};
use crate::counted::typed;
use crate::problem::Problem;
use crate::rng::{Key, Stream, keyed};
use crate::units::{MAX_HORIZON_S, Picos};

/// Users who ask one request at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosedLoop {
    /// How many.
    pub users: u32,
    /// From the end of a request to their next one.
    pub think: ThinkTime,
}

/// From the end of a user's request to the next one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ThinkTime {
    /// Always as long; zero asks again at once.
    Fixed(Picos),
    /// Evenly distributed.
    Uniform {
        /// The shortest.
        min: Picos,
        /// The longest.
        max: Picos,
    },
    /// Exponentially distributed.
    Exponential {
        /// Mean, seconds.
        mean_s: f64,
    },
}

/// One request of one user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The user, from 0.
    pub user: u32,
    /// How many this user asked before.
    pub number: u32,
}

impl Turn {
    /// The user's next one.
    #[must_use]
    pub fn next(self) -> Self {
        Self { number: self.number + 1, ..self }
    }

    /// The turn `number`, from 1, of the session that the `place`-th arrival of a class begins: its
    /// first is that arrival, so no other number may be that of one.
    pub fn of_session(place: u32, number: u32) -> Self {
        Self { user: place + 1, number }
    }

    /// Which arrival began that session, and the turn's number in it.
    pub fn in_session(self) -> (u32, u32) {
        (self.user - 1, self.number)
    }

    /// Its index within the class, in every draw: a user's requests do not depend on what the
    /// others ask.
    pub fn index(self) -> u64 {
        u64::from(self.user) << 32 | u64::from(self.number)
    }
}

impl ClosedLoop {
    /// The same crowd with `share` of its users, at least one.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
    pub fn times(&self, share: f64) -> Self {
        let users = (f64::from(self.users) * share).round().max(1.0) as u32;
        Self { users, ..*self }
    }

    /// The most users of one class.
    pub const MOST_USERS: u32 = 1_000_000;
    /// Two requests of one user are due no sooner after each other than this, a millisecond, so
    /// that a user who is turned away at once and does not think cannot ask without end in no
    /// time.
    pub const QUICKEST_TURN: Picos = Picos(1_000_000_000);

    /// `users` users who think for `think`.
    pub fn new(users: u32, think: ThinkTime) -> Result<Self, Problem> {
        if (1..=Self::MOST_USERS).contains(&users) {
            return Ok(Self { users, think });
        }
        Err(Problem::error(
            "users",
            format!("there are {users} users"),
            format!("give 1 to {}", Self::MOST_USERS),
        ))
    }

    /// When a user's first request is due: after what is left of a think time that began some time
    /// ago, so that as many ask in the first seconds as in any others.
    pub fn first_due(&self, seed: u64, class: u64, user: u32) -> Picos {
        self.think.left(key(seed, class, Turn { user, number: 0 }))
    }

    /// When a user's `turn` is due whose last request was due at `last_due` and ended at `ended`.
    pub fn due(
        &self,
        seed: u64,
        class: u64,
        turn: Turn,
        (last_due, ended): (Picos, Picos),
    ) -> Picos {
        self.think.next_due((seed, class), turn, (last_due, ended))
    }
}

fn key(seed: u64, class: u64, turn: Turn) -> Key {
    Key { seed, stream: Stream::ThinkTime, class, request: turn.index(), attempt: 0 }
}

impl ThinkTime {
    /// Always `s` seconds.
    pub fn fixed(s: f64) -> Result<Self, Problem> {
        Ok(Self::Fixed(Picos::from_secs(checked("s", s)?)))
    }

    /// Evenly between `min_s` and `max_s` seconds.
    pub fn uniform(min_s: f64, max_s: f64) -> Result<Self, Vec<Problem>> {
        let (min, max) = match (checked("min_s", min_s), checked("max_s", max_s)) {
            (Ok(min), Ok(max)) => (min, max),
            (min, max) => return Err(min.err().into_iter().chain(max.err()).collect()),
        };
        if max < min {
            return Err(vec![Problem::error(
                "max_s",
                format!(
                    "the longest think time, {max} s, is below the shortest, {min} s",
                    max = typed(max),
                    min = typed(min)
                ),
                "give the longest at least as long as the shortest",
            )]);
        }
        Ok(Self::Uniform { min: Picos::from_secs(min), max: Picos::from_secs(max) })
    }

    /// Exponentially with a mean of `mean_s` seconds.
    pub fn exponential(mean_s: f64) -> Result<Self, Problem> {
        Ok(Self::Exponential { mean_s: checked("mean_s", mean_s)? })
    }

    /// Mean, seconds.
    pub fn mean_s(&self) -> f64 {
        match self {
            Self::Fixed(span) => span.as_secs(),
            Self::Uniform { min, max } => f64::midpoint(min.as_secs(), max.as_secs()),
            Self::Exponential { mean_s } => *mean_s,
        }
    }

    /// When what follows a request that was due at `last_due` and ended at `ended` is due.
    pub(super) fn next_due(
        &self,
        (seed, class): (u64, u64),
        turn: Turn,
        (last_due, ended): (Picos, Picos),
    ) -> Picos {
        (ended + self.draw(key(seed, class, turn))).max(last_due + ClosedLoop::QUICKEST_TURN)
    }

    /// What is left at a random moment of the think time in which that moment lies: a part, each
    /// as likely, of a length that is met in proportion to itself (the equilibrium excess of renewal
    /// theory). The share P(T > t) / mean of them ends in the next moment after t, so at first users
    /// ask at the rate 1 / mean each, whatever the law.
    fn left(&self, key: Key) -> Picos {
        let part = || -> f64 { keyed(Key { attempt: 1, ..key }).random() };
        match *self {
            Self::Fixed(span) => Picos::from_secs(span.as_secs() * part()),
            Self::Uniform { min, max } => {
                // A length up to x is met with probability (x² − min²) / (max² − min²).
                let (min, max) = (min.as_secs(), max.as_secs());
                let share: f64 = keyed(key).random();
                let met = (min * min + share * (max * max - min * min)).sqrt();
                Picos::from_secs(met * part())
            }
            // It does not remember when it began.
            Self::Exponential { .. } => self.draw(key),
        }
    }

    fn draw(&self, key: Key) -> Picos {
        match *self {
            Self::Fixed(span) => span,
            Self::Uniform { min, max } => {
                let share: f64 = keyed(key).random();
                min + Picos::from_secs((max - min).as_secs() * share)
            }
            Self::Exponential { mean_s } => {
                let unit: f64 = Exp1.sample(&mut keyed(key));
                Picos::from_secs((unit * mean_s).min(MAX_HORIZON_S))
            }
        }
    }
}

fn checked(field: &str, seconds: f64) -> Result<f64, Problem> {
    if (0.0..=MAX_HORIZON_S).contains(&seconds) {
        return Ok(seconds);
    }
    Err(Problem::error(
        field,
        format!("users think for {seconds} s", seconds = typed(seconds)),
        format!("give seconds from 0 to {longest}", longest = typed(MAX_HORIZON_S)),
    ))
}

impl TrafficClass {
    /// What a user of this class, the `class`-th, asks at that turn; `None` where lengths were
    /// recorded for other requests.
    pub fn turn(&self, seed: u64, class: u32, turn: Turn, due: Picos) -> Option<OfferedRequest> {
        self.request_of(seed, class, turn.index(), due, None).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn think_times_have_their_means_and_ranges() {
        let n = 20_000_u32;
        for think in [
            ThinkTime::fixed(0.75).unwrap(),
            ThinkTime::uniform(0.5, 1.0).unwrap(),
            ThinkTime::exponential(0.75).unwrap(),
        ] {
            let draws: Vec<f64> = (0..n)
                .map(|user| think.draw(key(1, 0, Turn { user, number: 3 })).as_secs())
                .collect();
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            assert!((think.mean_s() - 0.75).abs() < 1e-12);
            // The exponential has the largest spread: its mean.
            assert!((mean - 0.75).abs() < 4.0 * 0.75 / f64::from(n).sqrt(), "{think:?} {mean}");
            if let ThinkTime::Uniform { .. } = think {
                assert!(draws.iter().all(|draw| (0.5..=1.0).contains(draw)));
            }
        }
    }

    #[test]
    fn users_do_not_start_together() {
        let crowd = ClosedLoop::new(1_000, ThinkTime::fixed(10.0).unwrap()).unwrap();
        let dues: Vec<f64> = (0..1_000).map(|user| crowd.first_due(1, 0, user).as_secs()).collect();
        let early = dues.iter().filter(|due| **due < 5.0).count();
        assert!((400..600).contains(&early) && dues.iter().all(|due| *due <= 10.0), "{early}");
    }

    /// The law of what is left: P(left ≤ t) = ∫₀ᵗ P(T > x) dx / mean, in closed form for each; and as
    /// many ask in each of the first seconds, where no think time is shorter.
    #[test]
    fn first_requests_come_at_the_rate_of_all_others() {
        let users = 100_000_u32;
        let uniform_excess = |min: f64, max: f64| {
            move |t: f64| {
                let mean = f64::midpoint(min, max);
                let over = (t.min(max) - min).max(0.0);
                (t.min(max) - over * over / (2.0 * (max - min))) / mean
            }
        };
        let laws: [(ThinkTime, &dyn Fn(f64) -> f64); 4] = [
            (ThinkTime::fixed(10.0).unwrap(), &|t: f64| (t / 10.0).min(1.0)),
            (ThinkTime::uniform(0.0, 20.0).unwrap(), &uniform_excess(0.0, 20.0)),
            (ThinkTime::uniform(6.0, 14.0).unwrap(), &uniform_excess(6.0, 14.0)),
            (ThinkTime::exponential(10.0).unwrap(), &|t| 1.0 - crate::math::exp(-t / 10.0)),
        ];
        for (think, law) in laws {
            let crowd = ClosedLoop::new(users, think).unwrap();
            let dues: Vec<f64> =
                (0..users).map(|user| crowd.first_due(1, 0, user).as_secs()).collect();
            for t in [0.2, 1.0, 3.0, 8.0, 13.0] {
                let n = f64::from(users);
                let share = dues.iter().filter(|due| **due <= t).count() as f64 / n;
                let p = law(t);
                let error = (p * (1.0 - p) / n).sqrt();
                assert!((share - p).abs() <= 4.0 * error, "{think:?} by {t} s: {share} {p}");
            }
        }
    }

    #[test]
    fn a_user_who_does_not_think_takes_a_millisecond_all_the_same() {
        let hasty = ClosedLoop::new(1, ThinkTime::fixed(0.0).unwrap()).unwrap();
        let turn = Turn { user: 0, number: 0 }.next();
        let at = Picos::from_secs(3.0);
        assert_eq!(hasty.due(1, 0, turn, (at, at)), Picos::from_secs(3.001));
        let ended = Picos::from_secs(4.0);
        assert_eq!(hasty.due(1, 0, turn, (at, ended)), ended);
    }

    #[test]
    fn impossible_loops_are_refused_field_by_field() {
        let think = ThinkTime::fixed(1.0).unwrap();
        assert_eq!(ClosedLoop::new(0, think).unwrap_err().path, "users");
        assert_eq!(ClosedLoop::new(1_000_001, think).unwrap_err().path, "users");
        assert_eq!(ThinkTime::fixed(-1.0).unwrap_err().path, "s");
        assert_eq!(ThinkTime::exponential(f64::NAN).unwrap_err().path, "mean_s");
        assert_eq!(ThinkTime::uniform(-1.0, f64::INFINITY).unwrap_err().len(), 2);
        assert_eq!(ThinkTime::uniform(2.0, 1.0).unwrap_err()[0].path, "max_s");
    }
}
