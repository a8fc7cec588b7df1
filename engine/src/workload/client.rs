//! What the clients of a class do beside asking: when they leave, and when they ask again.
//!
//! None of it is drawn with the list of requests: it depends on what the fleet does. Draws are
//! keyed by request and attempt all the same, so that two fleets meet the same people.

use std::collections::BTreeSet;

use rand::RngExt;

use super::Patience;
use crate::counted::typed;
use crate::problem::Problem;
use crate::rng::{Key, keyed};
use crate::units::Picos;

/// The people of a class and their software. The default waits for ever and never asks again.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClientBehaviour {
    /// How long a user who has a first token waits for the next one before leaving.
    pub stall_patience: Option<Patience>,
    /// From sending an attempt to its last token: what is not complete by then is cut off, by the
    /// client's time-out or a gateway's.
    pub timeout: Option<Picos>,
    /// Whether and when it asks again after an attempt that went wrong.
    pub retries: Option<Retries>,
}

/// How an attempt may go wrong so that trying again makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RetryOn {
    /// It was turned away.
    Rejected,
    /// The server failed it.
    Error,
    /// A time-out cut it off.
    TimedOut,
    /// Its user lost patience before the first token.
    CancelledBeforeFirst,
    /// Its user lost patience while tokens were streaming.
    CancelledMidStream,
}

/// Trying again with exponential back-off: after the i-th attempt, from 1, a client waits
/// min(base · factor^(i − 1), longest), less a random share of it up to `jitter`.
#[derive(Debug, Clone, PartialEq)]
pub struct Retries {
    /// Attempts in all, the first included.
    max_attempts: u32,
    base_s: f64,
    factor: f64,
    longest_s: f64,
    jitter: f64,
    on: BTreeSet<RetryOn>,
}

impl Retries {
    /// The longest wait between two attempts, seconds: a day.
    pub const LONGEST_S: f64 = 86_400.0;
    /// The most attempts of one request.
    pub const MOST_ATTEMPTS: u32 = 100;

    /// Up to `max_attempts` attempts, the first included, after the ways `on` of going wrong.
    pub fn new(max_attempts: u32, on: impl IntoIterator<Item = RetryOn>) -> Result<Self, Problem> {
        if !(2..=Self::MOST_ATTEMPTS).contains(&max_attempts) {
            return Err(Problem::error(
                "max_attempts",
                format!("{max_attempts} attempts in all, the first included"),
                format!("give 2 to {}, or leave retries out", Self::MOST_ATTEMPTS),
            ));
        }
        let on: BTreeSet<RetryOn> = on.into_iter().collect();
        if on.is_empty() {
            return Err(Problem::error(
                "on",
                "nothing that may go wrong is tried again",
                "name at least one, e.g. `rejected`, or leave retries out",
            ));
        }
        Ok(Self {
            max_attempts,
            base_s: 0.0,
            factor: 1.0,
            longest_s: Self::LONGEST_S,
            jitter: 0.0,
            on,
        })
    }

    /// The same, waiting `base_s` seconds after the first attempt and `factor` times as long after
    /// each further one, but never longer than `longest_s`; a share of up to `jitter` of each wait
    /// is left out at random.
    pub fn with_back_off(
        self,
        (base_s, factor, longest_s): (f64, f64, f64),
        jitter: f64,
    ) -> Result<Self, Vec<Problem>> {
        let ranges = [
            ("backoff_base_s", "the first back-off in seconds", base_s, 0.0..=Self::LONGEST_S),
            ("backoff_factor", "the growth of back-off", factor, 1.0..=10.0),
            ("backoff_max_s", "the longest back-off in seconds", longest_s, 0.0..=Self::LONGEST_S),
            ("jitter", "the random share of back-off", jitter, 0.0..=1.0),
        ];
        let problems: Vec<Problem> = ranges
            .into_iter()
            .filter(|(.., value, range)| !range.contains(value))
            .map(|(field, what, value, range)| {
                let hint = format!("give {} to {}", range.start(), range.end());
                Problem::error(field, format!("{what} is {value}", value = typed(value)), hint)
            })
            .collect();
        if problems.is_empty() {
            Ok(Self { base_s, factor, longest_s, jitter, ..self })
        } else {
            Err(problems)
        }
    }

    /// Whether a client whose `attempt`, from 0, went wrong in this way tries again.
    pub fn tries_again(&self, attempt: u32, wrong: RetryOn) -> bool {
        attempt + 1 < self.max_attempts && self.on.contains(&wrong)
    }

    /// Attempts in all where this way of going wrong is tried again, else one.
    pub fn attempts(&self, wrong: RetryOn) -> u32 {
        if self.on.contains(&wrong) { self.max_attempts } else { 1 }
    }

    /// How long it waits after `attempt`, from 0. `key` is that of the attempt.
    pub fn back_off(&self, attempt: u32, key: Key) -> Picos {
        let mut seconds = self.base_s;
        for _ in 0..attempt {
            seconds *= self.factor;
        }
        let left_out =
            if self.jitter > 0.0 { self.jitter * keyed(key).random::<f64>() } else { 0.0 };
        Picos::from_secs(seconds.min(self.longest_s) * (1.0 - left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn key(request: u64, attempt: u64) -> Key {
        Key { seed: 1, stream: Stream::BackOff, class: 0, request, attempt }
    }

    fn retries(jitter: f64) -> Retries {
        let plain = Retries::new(5, [RetryOn::Rejected, RetryOn::Error]).unwrap();
        plain.with_back_off((0.5, 2.0, 3.0), jitter).unwrap()
    }

    #[test]
    fn back_off_doubles_up_to_its_longest() {
        let waits = (0..5).map(|i| retries(0.0).back_off(i, key(0, i.into())).as_secs());
        assert_eq!(waits.collect::<Vec<_>>(), [0.5, 1.0, 2.0, 3.0, 3.0]);
    }

    #[test]
    fn jitter_leaves_out_up_to_its_share_and_half_of_it_on_average() {
        let n = 20_000_u64;
        let waits: Vec<f64> =
            (0..n).map(|i| retries(0.4).back_off(1, key(i, 1)).as_secs()).collect();
        assert!(waits.iter().all(|wait| (0.6..=1.0).contains(wait)));
        let mean = waits.iter().sum::<f64>() / n as f64;
        // Uniform on 0.4: standard deviation 0.4/√12.
        assert!((mean - 0.8).abs() < 4.0 * 0.4 / 12.0_f64.sqrt() / (n as f64).sqrt(), "{mean}");
        let again = retries(0.4).back_off(1, key(7, 1));
        assert_eq!(again, retries(0.4).back_off(1, key(7, 1)), "keyed by attempt");
        assert_ne!(again, retries(0.4).back_off(1, key(7, 2)));
    }

    #[test]
    fn attempts_end_and_only_named_ways_are_tried_again() {
        let retries = retries(0.0);
        assert!(retries.tries_again(3, RetryOn::Error));
        assert!(!retries.tries_again(4, RetryOn::Error));
        assert!(!retries.tries_again(0, RetryOn::TimedOut));
    }

    #[test]
    fn impossible_retries_are_refused_field_by_field() {
        assert_eq!(Retries::new(1, [RetryOn::Error]).unwrap_err().path, "max_attempts");
        assert_eq!(Retries::new(3, []).unwrap_err().path, "on");
        let fine = Retries::new(3, [RetryOn::Error]).unwrap();
        let problems = fine.with_back_off((-1.0, 0.5, f64::NAN), 1.5).unwrap_err();
        assert_eq!(problems.len(), 4);
    }
}
