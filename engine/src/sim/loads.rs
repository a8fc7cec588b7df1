//! Who has how much to do: what the router asks at every arrival, however many replicas there are.

/// Replicas per word of a set.
const WORD: usize = u64::BITS as usize;

/// Requests queued or running at each replica.
#[derive(Debug)]
pub struct Loads {
    outstanding: Vec<u32>,
    /// For each number of requests, the replicas that have it: a set of bits in `words` words.
    levels: Vec<u64>,
    words: usize,
    /// The fewest requests that a replica has.
    least: usize,
    /// Where the search for the least loaded replica begins, so that ties rotate.
    first: u32,
}

impl Loads {
    /// `replicas` replicas with nothing to do; at least one.
    pub fn idle(replicas: u32) -> Self {
        let words = (replicas as usize).div_ceil(WORD);
        let mut this = Self {
            outstanding: vec![0; replicas as usize],
            levels: vec![0; words],
            words,
            least: 0,
            first: 0,
        };
        for replica in 0..replicas as usize {
            this.flip(replica, 0);
        }
        this
    }

    /// `replica` has this many requests now.
    pub fn set(&mut self, replica: u32, outstanding: u32) {
        let known = &mut self.outstanding[replica as usize];
        let before = std::mem::replace(known, outstanding) as usize;
        let now = outstanding as usize;
        if before == now {
            return;
        }
        if (now + 1) * self.words > self.levels.len() {
            self.levels.resize((now + 1) * self.words, 0);
        }
        self.flip(replica as usize, before);
        self.flip(replica as usize, now);
        self.least = self.least.min(now);
        while self.level(self.least).iter().all(|word| *word == 0) {
            self.least += 1; // somebody has more: the sets hold every replica
        }
    }

    /// The replica with the fewest requests; the search starts one further each time, so that ties
    /// rotate.
    pub fn least_outstanding(&mut self) -> u32 {
        let start = self.first;
        self.first = if start as usize + 1 < self.outstanding.len() { start + 1 } else { 0 };
        let (word, bit) = (start as usize / WORD, start as usize % WORD);
        let level = self.level(self.least);
        let at = |index: usize, bits: u64| {
            (bits != 0).then(|| {
                u64::BITS * u32::try_from(index).expect("a replica's index has 32 bits")
                    + bits.trailing_zeros()
            })
        };
        let not_before = at(word, level[word] & (u64::MAX << bit));
        let later = || (word + 1..self.words).find_map(|index| at(index, level[index]));
        let from_the_first = || (0..=word).find_map(|index| at(index, level[index]));
        not_before.or_else(later).or_else(from_the_first).unwrap_or(start)
    }

    fn level(&self, outstanding: usize) -> &[u64] {
        &self.levels[outstanding * self.words..(outstanding + 1) * self.words]
    }

    /// Puts a replica into a level, or takes it out.
    fn flip(&mut self, replica: usize, outstanding: usize) {
        self.levels[outstanding * self.words + replica / WORD] ^= 1 << (replica % WORD);
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
            replicas in prop::sample::select(vec![1_u32, 7, 64, 150]),
            changes in prop::collection::vec((0_u32..150, 0_u32..4), 0..400),
        ) {
            let mut loads = Loads::idle(replicas);
            let mut plain = vec![0_u32; replicas as usize];
            for (start, (replica, outstanding)) in (0..replicas).cycle().zip(changes) {
                let replica = replica % replicas;
                loads.set(replica, outstanding);
                plain[replica as usize] = outstanding;
                let in_turn = (0..replicas).map(|offset| (start + offset) % replicas);
                let expected = in_turn.min_by_key(|replica| plain[*replica as usize]);
                prop_assert_eq!(Some(loads.least_outstanding()), expected);
            }
        }
    }
}
