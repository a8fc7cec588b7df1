//! When each replica wants its next step boundary, and which is first.

use crate::units::Picos;

/// Planned ends of replicas in a tournament: the first is known at once, a change costs one match
/// per round, and nothing stale is ever left behind when an end moves.
#[derive(Debug)]
pub struct Ends {
    /// Replicas, without those that fill up to a power of two.
    count: u32,
    /// The winner of each match: of the final at 1, of the match that feeds match `m` at `2m` and
    /// `2m + 1`; the last half are the replicas themselves, filled up to a power of two with some
    /// that never end.
    winners: Vec<End>,
}

/// A replica and when it wants its next boundary; [`Picos::NEVER`] if it is idle.
#[derive(Debug, Clone, Copy)]
struct End {
    at: Picos,
    replica: u32,
}

impl Ends {
    /// `replicas` idle replicas; at least one.
    pub fn idle(replicas: u32) -> Self {
        let leaves = replicas.next_power_of_two();
        let idle = |replica| End { at: Picos::NEVER, replica };
        let mut winners: Vec<End> = (0..leaves).chain(0..leaves).map(idle).collect();
        for node in (1..leaves as usize).rev() {
            winners[node] = winners[2 * node];
        }
        Self { count: replicas, winners }
    }

    /// One more replica, idle.
    pub fn add(&mut self) {
        self.count += 1;
        let leaves = self.winners.len() / 2;
        if self.count as usize > leaves {
            let mut larger = Self::idle(self.count);
            for end in &self.winners[leaves..] {
                larger.set(end.replica, Some(end.at).filter(|at| *at != Picos::NEVER));
            }
            *self = larger;
        }
    }

    /// `replica` wants its next boundary at `end`, or is idle. An end as late as time goes is
    /// before [`Picos::NEVER`] all the same.
    #[inline]
    pub fn set(&mut self, replica: u32, end: Option<Picos>) {
        let at = end.map_or(Picos::NEVER, |end| end.min(Picos(Picos::NEVER.0 - 1)));
        let mut node = self.winners.len() / 2 + replica as usize;
        if std::mem::replace(&mut self.winners[node].at, at) == at {
            return;
        }
        while node > 1 {
            node /= 2;
            let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
            self.winners[node] = if right.at < left.at { right } else { left };
        }
    }

    /// The first planned end and whose it is; of equal ones, the lowest replica's.
    pub fn first(&self) -> Option<(Picos, u32)> {
        let End { at, replica } = self.winners[1];
        (at != Picos::NEVER).then_some((at, replica))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_is_that_of_a_search_through_all(
            mut replicas in 1_u32..9,
            changes in prop::collection::vec((0_u32..9, prop::option::of(0_i64..5)), 0..40),
        ) {
            let mut ends = Ends::idle(replicas);
            let mut plain = vec![None; replicas as usize];
            for (replica, end) in changes {
                if replica == 8 {
                    ends.add();
                    plain.push(None);
                    replicas += 1;
                }
                let (replica, end) = (replica % replicas, end.map(Picos));
                ends.set(replica, end);
                plain[replica as usize] = end;
                let planned = (0..).zip(&plain).filter_map(|(at, end)| end.map(|end| (end, at)));
                prop_assert_eq!(ends.first(), planned.min());
            }
        }
    }

    #[test]
    fn an_end_as_late_as_time_goes_is_still_an_end() {
        let mut ends = Ends::idle(2);
        ends.set(1, Some(Picos::NEVER));
        assert_eq!(ends.first().map(|(_, replica)| replica), Some(1));
        ends.set(1, None);
        assert_eq!(ends.first(), None);
    }
}
