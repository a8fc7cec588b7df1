//! A run of steps of one composition, in closed form.

use crate::units::Picos;

/// Steps whose sequences stay the same: each takes `growth` longer than the one before, for one
/// more cached token in every decode.
///
/// `T(j) = start + j·first + growth·j·(j − 1)/2` is the end of the j-th step and exactly the sum
/// that a loop over the steps gives, because all terms are integers. A run of more than one step
/// ends before [`Picos::LAST`], so that nothing overflows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leap {
    /// When the first step starts.
    pub start: Picos,
    /// How long it takes.
    pub first: i64,
    /// By how much each step is longer than the one before.
    pub growth: i64,
    /// How many steps, at least one.
    pub steps: i64,
}

/// A search looks at so many steps before it guesses.
const FEW_STEPS: i64 = 6;

/// More steps than these are not taken at once, so that sums over them do not overflow.
const MOST_STEPS: i64 = 1 << 31;

impl Leap {
    /// One step.
    pub fn step(start: Picos, duration: Picos) -> Self {
        Self { start, first: duration.0, growth: 0, steps: 1 }
    }

    /// As many as `most` steps, fewer if they would not end in time as it is counted.
    pub fn of(start: Picos, first: i64, growth: i64, most: i64) -> Self {
        let room = (Picos::LAST.0 - start.0) as f64 / 2.0;
        let length =
            |steps: i64| (first as f64 + growth as f64 * steps as f64 / 2.0) * steps as f64;
        let mut steps = most.clamp(1, MOST_STEPS);
        if first < 0 || growth < 0 {
            steps = 1;
        }
        while steps > 1 && length(steps) > room {
            steps /= 2;
        }
        Self { start, first, growth, steps }
    }

    /// End of the `j`-th step, `j` at most `steps`; of the zeroth, the start.
    pub fn time(&self, j: i64) -> Picos {
        self.start + self.length(j) // only a single step may end later than time goes
    }

    /// How long the first `j` steps take together.
    pub fn length(&self, j: i64) -> Picos {
        Picos(j * self.first + j * (j - 1) / 2 * self.growth)
    }

    /// End of the last step.
    pub fn end(&self) -> Picos {
        self.time(self.steps)
    }

    /// How long the `j`-th step takes.
    pub fn duration(&self, j: i64) -> Picos {
        Picos(self.first + (j - 1) * self.growth)
    }

    /// The first `j` whose step ends at `moment` or later; `steps` if none does.
    ///
    /// It is mostly among the next few. Else a quadratic guesses (in the form that does not cancel
    /// and does not divide by a small `growth`), and integers decide.
    pub fn first_not_before(&self, moment: Picos) -> i64 {
        let ahead = moment.0.saturating_sub(self.start.0);
        if ahead <= 0 {
            return 0;
        }
        let (mut length, mut duration) = (self.first, self.first);
        for j in 1..=FEW_STEPS {
            if j == self.steps || length >= ahead {
                return j;
            }
            duration += self.growth;
            length += duration;
        }
        let (ahead, growth) = (ahead as f64, self.growth as f64);
        let linear = self.first as f64 - growth / 2.0;
        let guess = 2.0 * ahead / (linear + (linear * linear + 2.0 * growth * ahead).sqrt());
        #[expect(clippy::cast_possible_truncation, reason = "floats saturate, and NaN is zero")]
        let mut j = (guess as i64).clamp(1, self.steps);
        while j < self.steps && self.time(j) < moment {
            j += 1;
        }
        while j > 1 && self.time(j - 1) >= moment {
            j -= 1;
        }
        j
    }

    /// How many of the first `steps` steps take longer than `limit`: none of them is shorter than
    /// the one before.
    pub fn steps_above(&self, limit: Picos, steps: i64) -> i64 {
        let room = limit.0 - self.first;
        if room < 0 {
            return steps;
        }
        if self.growth <= 0 {
            return 0;
        }
        (steps - 1 - room / self.growth).max(0)
    }

    /// The step in progress at `moment`, which is not before the start: it ends the first after it.
    pub fn in_progress(&self, moment: Picos) -> i64 {
        self.first_not_before(moment + Picos(1)).max(1)
    }

    /// What follows the first `done` steps.
    pub fn rest(&self, done: i64) -> Self {
        Self {
            start: self.time(done),
            first: self.duration(done + 1).0,
            growth: self.growth,
            steps: self.steps - done,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn leaps() -> impl Strategy<Value = Leap> {
        let growth = prop_oneof![Just(0), 1_i64..1000, 1_i64..10_000_000];
        (0_i64..1 << 50, 0_i64..1 << 36, growth, 1_i64..5000)
            .prop_map(|(start, first, growth, most)| Leap::of(Picos(start), first, growth, most))
    }

    proptest! {
        #[test]
        fn the_sum_is_that_of_a_loop(leap in leaps()) {
            let mut end = leap.start;
            for j in 1..=leap.steps {
                prop_assert_eq!(leap.time(j - 1), end);
                end += Picos(leap.first + (j - 1) * leap.growth);
            }
            prop_assert_eq!(leap.end(), end);
        }

        #[test]
        fn the_first_step_that_ends_late_enough_is_found(leap in leaps(), share in 0.0..1.2_f64, off in -1_i64..2) {
            let span = (leap.end() - leap.start).0 as f64;
            #[expect(clippy::cast_possible_truncation, reason = "some moment of the run")]
            let at_random = Picos(leap.start.0 + (span * share) as i64);
            let on_an_end = leap.time(leap.first_not_before(at_random)) + Picos(off);
            for moment in [at_random, on_an_end] {
                let j = leap.first_not_before(moment);
                prop_assert!(j == leap.steps || leap.time(j) >= moment);
                prop_assert!(j == 0 || leap.time(j - 1) < moment);
            }
        }

        #[test]
        fn steps_above_a_limit_are_those_of_a_loop(leap in leaps(), of in 0.0..1.1_f64, off in -1_i64..2) {
            #[expect(clippy::cast_possible_truncation, reason = "some step of the run")]
            let step = (leap.steps as f64 * of) as i64;
            let limit = Picos(leap.duration(step).0 + off);
            let plain = (1..=leap.steps).filter(|j| leap.duration(*j) > limit).count();
            prop_assert_eq!(leap.steps_above(limit, leap.steps), i64::try_from(plain).unwrap());
        }

        #[test]
        fn a_run_can_be_split_anywhere(leap in leaps(), at in 0.0..1.0_f64) {
            #[expect(clippy::cast_possible_truncation, reason = "a step of the run")]
            let done = (leap.steps as f64 * at) as i64;
            let rest = leap.rest(done);
            for j in 0..=rest.steps {
                prop_assert_eq!(rest.time(j), leap.time(done + j));
            }
        }
    }

    #[test]
    fn no_run_outlasts_time() {
        for (first, growth) in [(i64::MAX, 0), (1 << 40, 1 << 40), (0, 0), (1, i64::MAX)] {
            let leap = Leap::of(Picos::from_secs(1e6), first, growth, 1 << 40);
            assert!(leap.steps == 1 || leap.end() < Picos::LAST);
            assert!(leap.end() >= leap.start);
        }
    }
}
