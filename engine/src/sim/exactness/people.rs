//! Who stands behind the requests of a random configuration, and who is let in.

use super::configuration::Dice;
use crate::fleet::{Admission, Shedding, TokenBucket};
use crate::units::Picos;
use crate::workload::{
    Arrivals, ClientBehaviour, ClosedLoop, Hidden, Lengths, Patience, RateProfile, Retries,
    RetryOn, Session, SharedPrefix, ThinkTime, TrafficClass,
};

/// Traffic classes of all kinds of people; `round` times coincide with arrivals and steps.
#[derive(Debug)]
pub struct People<'a> {
    dice: &'a mut Dice,
    round: bool,
}

impl<'a> People<'a> {
    pub fn new(dice: &'a mut Dice, round: bool) -> Self {
        Self { dice, round }
    }

    /// One to three classes, the last of which may be a closed loop.
    pub fn classes(&mut self, (longest_input, longest_output): (u32, u32)) -> Vec<TrafficClass> {
        let count = self.dice.within(1, 3);
        let last_is_a_loop = self.dice.one_in(2);
        (0..count)
            .map(|position| {
                let arrivals = if last_is_a_loop && position + 1 == count {
                    Arrivals::ClosedLoop(self.crowd())
                } else {
                    Arrivals::Even(RateProfile::constant(1.0).expect("a rate"))
                };
                let session = (!matches!(arrivals, Arrivals::ClosedLoop(_)))
                    .then(|| self.sometimes(2, Self::session))
                    .flatten();
                let input = self.lengths(longest_input);
                let output = self.lengths(longest_output);
                TrafficClass {
                    position,
                    clients: self.behaviour(),
                    patience: self.sometimes(3, Self::patience),
                    error_rate: self.dice.pick(&[0.0, 0.0, 0.2]),
                    priority: self.dice.pick(&[-1, 0, 1]),
                    hidden: self.hidden(session.is_some()),
                    session,
                    shared_prefix: self.sometimes(3, |p| p.shared_prefix(longest_input)),
                    ..TrafficClass::new("people", arrivals, input, output)
                }
            })
            .collect()
    }

    /// Limits at the door and in the queue.
    pub fn admission(&mut self) -> Admission {
        Admission {
            max_waiting: self.sometimes(3, |people| people.dice.within(0, 8)),
            max_queue_age: self.sometimes(2, |people| people.span(50)),
            token_bucket: self.sometimes(4, |people| {
                let rate_rps = people.dice.pick(&[1.0, 10.0, 50.0, 100.0]);
                TokenBucket::new(rate_rps, people.dice.within(1, 5)).expect("a bucket")
            }),
            shedding: self.sometimes(3, |people| Shedding {
                max_waiting: people.dice.within(0, 5),
                above_priority: people.dice.pick(&[-1, 0]),
            }),
            retry_after: self.sometimes(3, |people| people.span(100)),
        }
    }

    fn behaviour(&mut self) -> ClientBehaviour {
        ClientBehaviour {
            stall_patience: self.sometimes(2, Self::patience),
            timeout: self.sometimes(2, |people| people.span(500)),
            retries: self.sometimes(2, Self::retries),
        }
    }

    /// How long somebody waits for a token: often about as long as a step takes.
    fn patience(&mut self) -> Patience {
        let longest = self.dice.pick(&[3, 30, 100]);
        if !self.round && self.dice.one_in(3) {
            let median_s = 0.001 + self.span(longest).as_secs();
            return Patience::lognormal(median_s, 3.0 * median_s).expect("a patience");
        }
        Patience::Fixed(self.span(longest).max(Picos(1)))
    }

    fn retries(&mut self) -> Retries {
        let all = [
            RetryOn::Rejected,
            RetryOn::Error,
            RetryOn::TimedOut,
            RetryOn::CancelledBeforeFirst,
            RetryOn::CancelledMidStream,
        ];
        let mut on: Vec<RetryOn> = all.into_iter().filter(|_| self.dice.one_in(2)).collect();
        on.push(self.dice.pick(&all));
        let base_s = self.span(20).as_secs();
        let jitter = if self.round { 0.0 } else { self.dice.pick(&[0.0, 0.5, 1.0]) };
        let factor = self.dice.pick(&[1.0, 2.0]);
        Retries::new(self.dice.within(2, 5), on)
            .expect("some attempts")
            .with_back_off((base_s, factor, 1.0), jitter)
            .expect("a back-off")
    }

    /// Short ones and such that grow beyond the longest context.
    fn session(&mut self) -> Session {
        let longest = self.dice.pick(&[2, 4, 30]);
        Session {
            turns: self.lengths(longest),
            think: self.think(),
            new_tokens: self.sometimes(2, |people| people.lengths(60)),
        }
    }

    fn hidden(&mut self, of_a_session: bool) -> Hidden {
        match self.dice.below(if of_a_session { 3 } else { 1 }) {
            0 => Hidden::None,
            1 => Hidden::Share(0.3),
            _ => Hidden::Added(Lengths::Fixed(5)),
        }
    }

    fn shared_prefix(&mut self, longest: u32) -> SharedPrefix {
        let (tokens, count) = (self.dice.within(1, longest), self.dice.pick(&[1, 5]));
        SharedPrefix::new(tokens, count, self.dice.pick(&[0.0, 1.0])).expect("a prefix")
    }

    fn crowd(&mut self) -> ClosedLoop {
        let think = self.think();
        ClosedLoop::new(self.dice.within(1, 12), think).expect("users")
    }

    fn think(&mut self) -> ThinkTime {
        let think_s = self.span(50).as_secs();
        let think = match self.dice.below(if self.round { 1 } else { 3 }) {
            0 => ThinkTime::fixed(think_s),
            1 => ThinkTime::exponential(think_s),
            _ => Ok(ThinkTime::uniform(0.0, think_s).expect("a range")),
        };
        think.expect("a think time")
    }

    fn lengths(&mut self, longest: u32) -> Lengths {
        Lengths::empirical((0..5).map(|_| self.dice.within(1, longest)).collect()).expect("lengths")
    }

    /// Up to so many hundredths of a second; of round times a quarter are nothing at all.
    fn span(&mut self, hundredths: u32) -> Picos {
        let hundredths = if !self.round {
            self.dice.unit() * f64::from(hundredths)
        } else if self.dice.one_in(4) {
            0.0
        } else {
            f64::from(self.dice.within(1, hundredths))
        };
        Picos::from_secs(0.01 * hundredths)
    }

    fn sometimes<T>(&mut self, n: u64, draw: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.dice.one_in(n).then(|| draw(self))
    }
}
