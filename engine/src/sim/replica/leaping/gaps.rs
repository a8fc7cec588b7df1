//! The longest step since some step, and the steps above a limit since then, for many askers.

use super::job::LeapJob;
use super::leap::Leap;
use crate::units::Picos;

/// Longest steps of stretches, only those that no later stretch exceeds: so they fall, and the
/// first that began late enough is the longest since.
#[derive(Debug, Default)]
pub struct Gaps {
    /// Steps done when the stretch began, and its longest step.
    stretches: Vec<(i64, Picos)>,
}

impl Gaps {
    /// A stretch that began when `done` steps were done ends; its longest step took `longest`.
    pub fn push(&mut self, done: i64, longest: Picos) {
        while self.stretches.pop_if(|(_, shorter)| *shorter <= longest).is_some() {}
        self.stretches.push((done, longest));
    }

    /// The longest step of the stretches that began when `done` or more steps were done.
    pub fn since(&self, done: i64) -> Picos {
        let first = self.stretches.partition_point(|(began, _)| *began < done);
        self.stretches.get(first).map_or(Picos::ZERO, |(_, longest)| *longest)
    }

    /// Nobody will ask about what was before.
    pub fn forget(&mut self) {
        self.stretches.clear();
    }
}

/// Steps so far above the limit of each class: each is one gap of everybody who decodes in it.
#[derive(Debug, Default)]
pub struct StepsAbove {
    classes: Vec<Option<Above>>,
}

#[derive(Debug, Clone, Copy)]
struct Above {
    limit: Picos,
    steps: u64,
}

impl StepsAbove {
    /// None so far.
    pub fn of(limits: &[Option<Picos>]) -> Self {
        let above = |limit: &Option<Picos>| limit.map(|limit| Above { limit, steps: 0 });
        Self { classes: limits.iter().map(above).collect() }
    }

    /// The first `steps` steps of `leap` are over.
    pub fn pass(&mut self, leap: &Leap, steps: i64) {
        for above in self.classes.iter_mut().flatten() {
            above.steps += leap.steps_above(above.limit, steps).cast_unsigned();
        }
    }

    /// Steps above the limit of a class so far.
    pub fn steps(&self, class: u32) -> u64 {
        self.class(class).map_or(0, |above| above.steps)
    }

    /// Brings the count of a decoding request up to the last boundary.
    pub fn settle(&self, job: &mut LeapJob) {
        let steps = self.steps(job.class);
        let more = steps - job.state.above_mark;
        job.stamps.gaps_above += u32::try_from(more).expect("no more gaps than tokens");
        job.state.above_mark = steps;
    }

    /// A gap that is not one step.
    pub fn gap(&self, job: &mut LeapJob, gap: Picos) {
        let above = self.class(job.class).is_some_and(|above| gap > above.limit);
        job.stamps.gaps_above += u32::from(above);
    }

    fn class(&self, class: u32) -> Option<&Above> {
        self.classes.get(class as usize)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_longest_since_is_that_of_a_search_through_all(
            longest in prop::collection::vec(0_i64..20, 0..40), since in 0_i64..130,
        ) {
            let mut gaps = Gaps::default();
            let mut plain = Picos::ZERO;
            for (index, longest) in (0..).zip(longest) {
                gaps.push(3 * index, Picos(longest));
                if 3 * index >= since {
                    plain = plain.max(Picos(longest));
                }
            }
            prop_assert_eq!(gaps.since(since), plain);
        }
    }
}
