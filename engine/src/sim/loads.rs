//! Who has how much to do: what the router asks at every arrival, however many replicas there are.

/// Replicas per word of a set.
const WORD: usize = u64::BITS as usize;

/// Of so few replicas each is looked at; of more, sets by level know the answer.
const FEW: usize = 16;

/// Requests queued or running at each replica.
#[derive(Debug)]
pub struct Loads {
    outstanding: Vec<u32>,
    /// Replicas that take requests.
    open: Vec<bool>,
    /// Of many replicas.
    levels: Option<Levels>,
}

impl Loads {
    /// `replicas` replicas with nothing to do; at least one.
    pub fn idle(replicas: u32) -> Self {
        let (outstanding, open) = (vec![0; replicas as usize], vec![true; replicas as usize]);
        let levels = Levels::of_many(&outstanding, &open);
        Self { outstanding, open, levels }
    }

    /// `replica` has this many requests now.
    #[inline]
    pub fn set(&mut self, replica: u32, outstanding: u32) {
        let known = &mut self.outstanding[replica as usize];
        let before = std::mem::replace(known, outstanding);
        if let Some(levels) = &mut self.levels
            && self.open[replica as usize]
        {
            levels.change(replica, before, outstanding);
        }
    }

    /// `replica` takes requests from now on.
    pub fn open(&mut self, replica: u32) {
        if !std::mem::replace(&mut self.open[replica as usize], true) {
            self.sort();
        }
    }

    /// `replica` takes no requests from now on.
    pub fn close(&mut self, replica: u32) {
        if std::mem::replace(&mut self.open[replica as usize], false) {
            self.sort();
        }
    }

    /// One more replica, which does not take requests yet.
    pub fn add(&mut self) {
        self.outstanding.push(0);
        self.open.push(false);
        self.sort();
    }

    /// Replicas come and go seldom: all are sorted into their levels again.
    fn sort(&mut self) {
        self.levels = Levels::of_many(&self.outstanding, &self.open);
    }

    /// Requests of `replica`.
    pub fn of(&self, replica: u32) -> u32 {
        self.outstanding[replica as usize]
    }

    /// The replica with the fewest requests, of equal ones the first from `start` on.
    pub fn least_outstanding(&self, start: u32) -> u32 {
        if let Some(levels) = &self.levels {
            return levels.first_of_least(start);
        }
        let in_order = (0..).zip(&self.outstanding).zip(&self.open);
        let cost = |((replica, outstanding), open): ((u32, &u32), &bool)| {
            let closed_and_load = u64::from(!open) << u32::BITS | u64::from(*outstanding);
            (closed_and_load << 1 | u64::from(replica < start), replica)
        };
        let mut least = (u64::MAX, start);
        for (key, replica) in in_order.map(cost) {
            if key < least.0 {
                least = (key, replica);
            }
        }
        least.1
    }
}

/// Open replicas by how much they have to do.
#[derive(Debug)]
struct Levels {
    /// For each number of requests, the replicas that have it: a set of bits in `words` words.
    sets: Vec<u64>,
    words: usize,
    /// The fewest requests that a replica has.
    least: usize,
}

impl Levels {
    /// The levels of replicas, if there are many and any is open.
    fn of_many(outstanding: &[u32], open: &[bool]) -> Option<Self> {
        let of_open = || (0..).zip(outstanding).zip(open).filter(|(_, open)| **open);
        let least = of_open().map(|((_, outstanding), _)| *outstanding).min()?;
        if outstanding.len() <= FEW {
            return None;
        }
        let words = outstanding.len().div_ceil(WORD);
        let mut this = Self { sets: Vec::new(), words, least: least as usize };
        for ((replica, outstanding), _) in of_open() {
            this.make_room_for(*outstanding as usize);
            this.flip(replica, *outstanding as usize);
        }
        Some(this)
    }

    fn change(&mut self, replica: u32, before: u32, now: u32) {
        let (before, now) = (before as usize, now as usize);
        if before == now {
            return;
        }
        self.make_room_for(now);
        self.flip(replica as usize, before);
        self.flip(replica as usize, now);
        self.least = self.least.min(now);
        // The least level may have become empty; somebody has more, as `replica` is in some.
        while self.set(self.least).iter().all(|word| *word == 0) {
            self.least += 1;
        }
    }

    /// The first from `start` on, and then from the beginning, of those that have the fewest.
    fn first_of_least(&self, start: u32) -> u32 {
        let (word, bit) = (start as usize / WORD, start as usize % WORD);
        let set = self.set(self.least);
        let at = |index: usize, bits: u64| {
            (bits != 0).then(|| {
                u64::BITS * u32::try_from(index).expect("a replica's index has 32 bits")
                    + bits.trailing_zeros()
            })
        };
        let not_before = at(word, set[word] & (u64::MAX << bit));
        let later = || (word + 1..self.words).find_map(|index| at(index, set[index]));
        let from_the_first = || (0..=word).find_map(|index| at(index, set[index]));
        not_before.or_else(later).or_else(from_the_first).unwrap_or(start)
    }

    fn make_room_for(&mut self, outstanding: usize) {
        let needed = (outstanding + 1) * self.words;
        if needed > self.sets.len() {
            self.sets.resize(needed, 0);
        }
    }

    fn set(&self, outstanding: usize) -> &[u64] {
        &self.sets[outstanding * self.words..(outstanding + 1) * self.words]
    }

    /// Puts a replica into a level, or takes it out.
    fn flip(&mut self, replica: usize, outstanding: usize) {
        self.sets[outstanding * self.words + replica / WORD] ^= 1 << (replica % WORD);
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
