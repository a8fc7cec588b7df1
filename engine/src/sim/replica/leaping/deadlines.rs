//! What is to happen to requests after so many steps of their replica.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Requests by the step in which something happens to them, of equal ones by their numbers. Nothing
/// is taken out before its time: whoever takes one looks whether it still holds.
#[derive(Debug, Default)]
pub struct Deadlines(BinaryHeap<Reverse<Deadline>>);

/// A step and a request in one number: comparing two of them is not a branch that nobody could
/// predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Deadline(i128);

impl Deadlines {
    /// Something happens to `id` when `step` steps are done.
    pub fn push(&mut self, step: i64, id: u32) {
        self.0.push(Reverse(Deadline(i128::from(step) << u32::BITS | i128::from(id))));
    }

    /// How many there are, stale ones included.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The first step and its request.
    pub fn first(&self) -> Option<(i64, u32)> {
        let Reverse(Deadline(both)) = *self.0.peek()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as packed")]
        Some(((both >> u32::BITS) as i64, both as u32))
    }

    /// Takes the first away.
    pub fn pop(&mut self) {
        self.0.pop();
    }

    /// Takes the first away if it is due when `done` steps are done.
    pub fn pop_due(&mut self, done: i64) -> Option<(i64, u32)> {
        let first = self.first().filter(|(step, _)| *step <= done)?;
        self.pop();
        Some(first)
    }

    /// Takes all away.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_step_comes_first_then_the_lowest_number() {
        let mut deadlines = Deadlines::default();
        for (step, id) in [(7, u32::MAX), (1 << 40, 0), (7, 2), (0, 9)] {
            deadlines.push(step, id);
        }
        assert_eq!(deadlines.pop_due(6), Some((0, 9)));
        assert_eq!(deadlines.pop_due(6), None);
        let rest: Vec<_> = std::iter::from_fn(|| deadlines.pop_due(i64::MAX)).collect();
        assert_eq!(rest, [(7, 2), (7, u32::MAX), (1 << 40, 0)]);
    }
}
