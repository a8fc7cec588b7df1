//! Who has how much to do: what the router asks at every arrival, however many replicas there are.

/// Replicas per word of a set.
const WORD: usize = u64::BITS as usize;

/// Requests queued or running at each replica.
#[derive(Debug)]
pub struct Loads {
    outstanding: Vec<u32>,
    /// Replicas that take requests: only they are in `levels`.
    open: Vec<bool>,
    open_count: usize,
    /// For each number of requests, the replicas that have it: a set of bits in `words` words.
    levels: Vec<u64>,
    words: usize,
    /// The fewest requests that a replica has.
    least: usize,
}

impl Loads {
    /// `replicas` replicas with nothing to do; at least one.
    pub fn idle(replicas: u32) -> Self {
        let words = (replicas as usize).div_ceil(WORD);
        let mut this = Self {
            outstanding: vec![0; replicas as usize],
            open: vec![true; replicas as usize],
            open_count: replicas as usize,
            levels: vec![0; words],
            words,
            least: 0,
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
        if before == now || !self.open[replica as usize] {
            return;
        }
        self.make_room_for(now);
        self.flip(replica as usize, before);
        self.flip(replica as usize, now);
        self.least = self.least.min(now);
        self.find_least();
    }

    /// `replica` takes requests from now on.
    pub fn open(&mut self, replica: u32) {
        if !std::mem::replace(&mut self.open[replica as usize], true) {
            let now = self.outstanding[replica as usize] as usize;
            self.open_count += 1;
            self.make_room_for(now);
            self.flip(replica as usize, now);
            self.least = if self.open_count == 1 { now } else { self.least.min(now) };
        }
    }

    /// `replica` takes no requests from now on.
    pub fn close(&mut self, replica: u32) {
        if std::mem::replace(&mut self.open[replica as usize], false) {
            self.open_count -= 1;
            self.flip(replica as usize, self.outstanding[replica as usize] as usize);
            self.find_least();
        }
    }

    /// One more replica, which does not take requests yet.
    pub fn add(&mut self) {
        self.outstanding.push(0);
        self.open.push(false);
        let words = self.outstanding.len().div_ceil(WORD);
        if words > self.words {
            let old = self.levels.chunks(self.words);
            self.levels = old.flat_map(|level| level.iter().copied().chain([0])).collect();
            self.words = words;
        }
    }

    fn make_room_for(&mut self, outstanding: usize) {
        let needed = (outstanding + 1) * self.words;
        if needed > self.levels.len() {
            self.levels.resize(needed, 0);
        }
    }

    /// The least level may have become empty; of none that is open, none is least.
    fn find_least(&mut self) {
        while self.open_count > 0 && self.level(self.least).iter().all(|word| *word == 0) {
            self.least += 1; // somebody has more: the sets hold every open replica
        }
    }

    /// Requests of `replica`.
    pub fn of(&self, replica: u32) -> u32 {
        self.outstanding[replica as usize]
    }

    /// The replica with the fewest requests, of equal ones the first from `start` on.
    pub fn least_outstanding(&self, start: u32) -> u32 {
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
    fn of_equal_ones_the_first_from_the_start_is_chosen() {
        let loads = Loads::idle(3);
        let chosen: Vec<u32> = [0, 1, 2, 0].map(|start| loads.least_outstanding(start)).into();
        assert_eq!(chosen, [0, 1, 2, 0]);
    }

    proptest! {
        #[test]
        fn the_choice_is_that_of_a_search_through_all(
            mut replicas in prop::sample::select(vec![1_u32, 7, 63, 64, 150]),
            changes in prop::collection::vec((0_u32..150, 0_u32..8), 0..400),
        ) {
            let mut loads = Loads::idle(replicas);
            let mut plain = vec![(0_u32, true); replicas as usize];
            for (start, (replica, change)) in (0..).zip(changes) {
                let (start, replica) = (start % replicas, replica % replicas);
                let known = &mut plain[replica as usize];
                match change {
                    5 => { loads.open(replica); known.1 = true; }
                    6 => { loads.close(replica); known.1 = false; }
                    7 => { loads.add(); plain.push((0, false)); replicas += 1; }
                    outstanding => { loads.set(replica, outstanding); known.0 = outstanding; }
                }
                let in_turn = (0..replicas).map(|offset| (start + offset) % replicas);
                let mut open = in_turn.filter(|replica| plain[*replica as usize].1).peekable();
                if open.peek().is_some() {
                    let expected = open.min_by_key(|replica| plain[*replica as usize].0);
                    prop_assert_eq!(Some(loads.least_outstanding(start)), expected);
                }
            }
        }
    }
}
