//! When each replica wants its next step boundary, and which is first.

use crate::units::Picos;

/// Planned ends of replicas in a tournament: the first is known at once, a change costs one match
/// per round, and nothing stale is ever left behind when an end moves.
#[derive(Debug)]
pub struct Ends {
    /// Replicas, without those that fill up to a power of two.
    count: u32,
    /// Ends by replica, filled up with [`Picos::NEVER`] to a power of two.
    at: Vec<Picos>,
    /// The winner of each match, a replica: of the final at 1, of the match that feeds match `m`
    /// at `2m` and `2m + 1`; the last half are the replicas themselves.
    winners: Vec<u32>,
}

impl Ends {
    /// `replicas` idle replicas; at least one.
    pub fn idle(replicas: u32) -> Self {
        let leaves = replicas.next_power_of_two();
        let mut this = Self {
            count: replicas,
            at: vec![Picos::NEVER; leaves as usize],
            winners: (0..leaves).chain(0..leaves).collect(),
        };
        for replica in 0..leaves {
            this.play(replica);
        }
        this
    }

    /// One more replica, idle.
    pub fn add(&mut self) {
        self.count += 1;
        if self.count as usize > self.at.len() {
            let mut larger = Self::idle(self.count);
            for (replica, end) in (0..).zip(&self.at) {
                larger.set(replica, Some(*end).filter(|end| *end != Picos::NEVER));
            }
            *self = larger;
        }
    }

    /// `replica` wants its next boundary at `end`, or is idle. An end as late as time goes is
    /// before [`Picos::NEVER`] all the same.
    pub fn set(&mut self, replica: u32, end: Option<Picos>) {
        let end = end.map_or(Picos::NEVER, |end| end.min(Picos(Picos::NEVER.0 - 1)));
        if std::mem::replace(&mut self.at[replica as usize], end) != end {
            self.play(replica);
        }
    }

    /// The first planned end and whose it is; of equal ones, the lowest replica's.
    pub fn first(&self) -> Option<(Picos, u32)> {
        let replica = self.winners[1];
        let end = self.at[replica as usize];
        (end != Picos::NEVER).then_some((end, replica))
    }

    /// Plays the matches of `replica` again.
    fn play(&mut self, replica: u32) {
        let mut node = self.at.len() + replica as usize;
        while node > 1 {
            node /= 2;
            let (left, right) = (self.winners[2 * node], self.winners[2 * node + 1]);
            let right_wins = self.at[right as usize] < self.at[left as usize];
            self.winners[node] = if right_wins { right } else { left };
        }
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
