//! The door: who is let in, by what a gateway can know when a request arrives.

use crate::fleet::{Admission, BucketLevel};
use crate::units::Picos;

/// What the door sees of an arriving request. Not how long its answer will be: nobody knows yet.
#[derive(Debug, Clone, Copy)]
pub struct Knock {
    /// Priority of its class; a lower number is more urgent.
    pub priority: i32,
    /// When it arrives.
    pub at: Picos,
}

/// The limits at the door, and what they remember.
#[derive(Debug)]
pub struct Door<'a> {
    limits: &'a Admission,
    bucket: Option<BucketLevel>,
    /// It has no limits.
    is_wide_open: bool,
}

impl<'a> Door<'a> {
    /// A door that nobody has come to.
    pub fn new(limits: &'a Admission) -> Self {
        let bucket = limits.token_bucket.map(BucketLevel::full);
        let is_wide_open =
            limits.max_waiting.is_none() && limits.shedding.is_none() && bucket.is_none();
        Self { limits, bucket, is_wide_open }
    }

    /// Whether everybody is let in, whoever it is.
    pub fn is_wide_open(&self) -> bool {
        self.is_wide_open
    }

    /// Whether an arrival is let in while `waiting` requests are in queues.
    pub fn admits(&mut self, knock: Knock, waiting: u64) -> bool {
        let full = self.limits.max_waiting.is_some_and(|most| waiting >= u64::from(most));
        let shed = self.limits.shedding.is_some_and(|shedding| {
            waiting >= u64::from(shedding.max_waiting) && knock.priority > shedding.above_priority
        });
        // The bucket comes last: whoever is turned away anyhow takes no token.
        !full && !shed && self.bucket.as_mut().is_none_or(|bucket| bucket.take(knock.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::{Shedding, TokenBucket};

    fn knock(priority: i32, at_s: f64) -> Knock {
        Knock { priority, at: Picos::from_secs(at_s) }
    }

    fn let_in(limits: &Admission, knocks: &[(f64, i32, u64)]) -> Vec<bool> {
        let mut door = Door::new(limits);
        knocks
            .iter()
            .map(|(at_s, priority, waiting)| door.admits(knock(*priority, *at_s), *waiting))
            .collect()
    }

    #[test]
    fn without_limits_everybody_is_let_in() {
        assert_eq!(let_in(&Admission::default(), &[(0.0, 9, 1 << 40)]), [true]);
    }

    #[test]
    fn a_full_queue_turns_away_whoever_comes() {
        let limits = Admission { max_waiting: Some(3), ..Admission::default() };
        let seen = let_in(&limits, &[(0.0, 0, 2), (0.0, 0, 3), (0.0, -5, 4), (1.0, 0, 2)]);
        assert_eq!(seen, [true, false, false, true]);
    }

    #[test]
    fn shedding_spares_the_urgent() {
        let shedding = Some(Shedding { max_waiting: 3, above_priority: 0 });
        let limits = Admission { shedding, ..Admission::default() };
        let seen = let_in(&limits, &[(0.0, 1, 2), (0.0, 1, 3), (0.0, 0, 9), (0.0, -1, 9)]);
        assert_eq!(seen, [true, false, true, true]);
    }

    #[test]
    fn a_bucket_lets_its_burst_in_at_once_and_then_its_rate() {
        let token_bucket = Some(TokenBucket::new(2.0, 3).unwrap());
        let limits = Admission { token_bucket, ..Admission::default() };
        let at = |times: &[f64]| {
            let knocks: Vec<_> = times.iter().map(|at_s| (*at_s, 0, 0)).collect();
            let_in(&limits, &knocks)
        };
        assert_eq!(at(&[5.0, 5.0, 5.0, 5.0]), [true, true, true, false]);
        // A token every half second, not a picosecond sooner.
        assert_eq!(at(&[0.0, 0.0, 0.0, 0.499, 0.5, 0.5]), [true, true, true, false, true, false]);
        let mut often = Vec::new();
        for i in 0..1_000 {
            often.push(f64::from(i) * 0.01);
        }
        // Ten seconds, less the hundredth at their end: 3 at once, then one each half second.
        assert_eq!(at(&often).iter().filter(|in_| **in_).count(), 3 + 19);
    }

    #[test]
    fn who_is_turned_away_for_the_queue_takes_no_token() {
        let token_bucket = Some(TokenBucket::new(0.001, 1).unwrap());
        let limits = Admission { token_bucket, max_waiting: Some(1), ..Admission::default() };
        assert_eq!(let_in(&limits, &[(0.0, 0, 1), (0.0, 0, 0), (0.0, 0, 0)]), [false, true, false]);
    }
}
