//! The longest step since some step, for many askers.

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
