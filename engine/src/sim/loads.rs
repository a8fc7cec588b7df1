//! Who has how much to do: what the router asks at every arrival, however many replicas there are.

use std::collections::BTreeSet;

/// Requests queued or running at each replica.
#[derive(Debug)]
pub struct Loads {
    outstanding: Vec<u32>,
    /// The same as (requests, replica), so that the least of them come first.
    by_load: BTreeSet<(u32, u32)>,
    /// Where the search for the least loaded replica begins, so that ties rotate.
    first: u32,
}

impl Loads {
    /// `replicas` replicas with nothing to do; at least one.
    pub fn idle(replicas: u32) -> Self {
        Self {
            outstanding: vec![0; replicas as usize],
            by_load: (0..replicas).map(|replica| (0, replica)).collect(),
            first: 0,
        }
    }

    /// `replica` has this many requests now.
    pub fn set(&mut self, replica: u32, outstanding: u32) {
        let known = &mut self.outstanding[replica as usize];
        if *known != outstanding {
            self.by_load.remove(&(*known, replica));
            self.by_load.insert((outstanding, replica));
            *known = outstanding;
        }
    }

    /// The replica with the fewest requests; the search starts one further each time, so that ties
    /// rotate.
    pub fn least_outstanding(&mut self) -> u32 {
        let start = self.first;
        self.first = start + 1;
        if self.first as usize >= self.outstanding.len() {
            self.first = 0;
        }
        let Some(&(least, lowest)) = self.by_load.first() else { return start };
        let from_start = self.by_load.range((least, start)..=(least, u32::MAX)).next();
        from_start.map_or(lowest, |&(_, replica)| replica)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ties_rotate() {
        let mut loads = Loads::idle(3);
        let chosen: Vec<u32> = (0..5).map(|_| loads.least_outstanding()).collect();
        assert_eq!(chosen, [0, 1, 2, 0, 1]);
    }

    proptest! {
        #[test]
        fn the_choice_is_that_of_a_search_through_all(
            changes in prop::collection::vec((0_u32..7, 0_u32..4), 0..60),
        ) {
            let mut loads = Loads::idle(7);
            let mut plain = [0_u32; 7];
            for (start, (replica, outstanding)) in (0..7).cycle().zip(changes) {
                loads.set(replica, outstanding);
                plain[replica as usize] = outstanding;
                let in_turn = (0..7).map(|offset| (start + offset) % 7);
                let expected = in_turn.min_by_key(|replica| plain[*replica as usize]);
                prop_assert_eq!(Some(loads.least_outstanding()), expected);
            }
        }
    }
}
