//! What requests of one replica share, as counts: the blocks of shared prefixes, and what sessions
//! have left behind.
//!
//! Whoever holds a block holds all before it, and lets go of the last one first. So of every line of
//! blocks the first are held, the next are free and can be found, and the rest is lost: of a prefix
//! the free ones are stretches, of which the deepest have been free longest. The turns of a session
//! follow each other, so that of what a session left nobody holds anything until the next one comes.

use std::collections::{BTreeMap, VecDeque};

use super::free_queue::{FreeQueue, Ticket};

/// Everything that is shared.
#[derive(Debug, Default)]
pub struct Shared {
    prefixes: BTreeMap<u32, Prefix>,
    /// What each session left, beyond its shared prefix.
    sessions: BTreeMap<u32, Ticket>,
}

/// The blocks of one shared prefix.
#[derive(Debug, Default)]
struct Prefix {
    /// How many requests hold the first so many blocks, by that number.
    holders: BTreeMap<u32, u32>,
    /// Those that are free and can be found, the deepest first.
    free: VecDeque<Stretch>,
}

/// Blocks that came free at once.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    /// The index of the first.
    from: u32,
    ticket: Ticket,
}

impl Prefix {
    /// Blocks that somebody holds.
    fn held(&self) -> u32 {
        self.holders.last_key_value().map_or(0, |(blocks, _)| *blocks)
    }

    /// Blocks that can be found.
    fn cached(&self, queue: &FreeQueue) -> u32 {
        let left = |stretch: &Stretch| Some(queue.kept(stretch.ticket)).filter(|kept| *kept > 0);
        let deepest = self.free.iter().find_map(|s| left(s).map(|kept| s.from + kept));
        deepest.unwrap_or_else(|| self.held())
    }

    /// One more request holds the first `blocks`, which can be found.
    fn hold(&mut self, queue: &mut FreeQueue, blocks: u32) {
        while let Some(stretch) = self.free.back_mut() {
            let kept = queue.kept(stretch.ticket);
            let taken = kept.min(blocks.saturating_sub(stretch.from));
            queue.take_first(stretch.ticket, taken);
            if taken < kept {
                stretch.from += taken;
                break;
            }
            self.free.pop_back();
        }
        *self.holders.entry(blocks).or_default() += 1;
    }

    /// One that held the first `blocks` holds nothing any more.
    fn let_go(&mut self, queue: &mut FreeQueue, blocks: u32) {
        self.forget_holder(blocks);
        let still_held = self.held();
        if still_held < blocks {
            let ticket = queue.give_back_content(0, blocks - still_held);
            self.free.push_back(Stretch { from: still_held, ticket });
        }
        while self.free.pop_front_if(|stretch| queue.kept(stretch.ticket) == 0).is_some() {}
    }

    fn forget_holder(&mut self, blocks: u32) {
        if let Some(holders) = self.holders.get_mut(&blocks) {
            *holders -= 1;
            if *holders == 0 {
                self.holders.remove(&blocks);
            }
        }
    }
}

impl Shared {
    /// Blocks of a prefix that can be found, and those of them that somebody holds.
    pub fn found(&self, queue: &FreeQueue, prefix: u32) -> (u32, u32) {
        self.prefixes.get(&prefix).map_or((0, 0), |p| (p.cached(queue), p.held()))
    }

    /// One more request holds the first `blocks` of a prefix, all of which can be found.
    pub fn hold(&mut self, queue: &mut FreeQueue, prefix: u32, blocks: u32) {
        self.prefixes.entry(prefix).or_default().hold(queue, blocks);
    }

    /// A request that held the first `from` blocks of a prefix has computed more: the first `to`.
    pub fn grow(&mut self, prefix: u32, from: u32, to: u32) {
        let prefix = self.prefixes.entry(prefix).or_default();
        prefix.forget_holder(from);
        *prefix.holders.entry(to).or_default() += 1;
    }

    /// A request that held the first `blocks` of a prefix holds nothing any more.
    pub fn let_go(&mut self, queue: &mut FreeQueue, prefix: u32, blocks: u32) {
        self.prefixes.entry(prefix).or_default().let_go(queue, blocks);
    }

    /// Where what a session left is.
    pub fn left_by(&self, session: u32) -> Ticket {
        self.sessions.get(&session).copied().unwrap_or_default()
    }

    /// Somebody holds what a session left, or it is of no use.
    pub fn resume(&mut self, session: u32) {
        self.sessions.remove(&session);
    }

    /// A session has left something.
    pub fn leave(&mut self, session: u32, ticket: Ticket) {
        self.sessions.insert(session, ticket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_blocks_of_a_prefix_are_lost_first_and_those_before_stay_a_prefix() {
        let mut queue = FreeQueue::new(10);
        let mut shared = Shared::default();
        shared.hold(&mut queue, 1, 0);
        queue.take(7);
        shared.grow(1, 0, 7);
        shared.hold(&mut queue, 1, 4);
        assert_eq!(shared.found(&queue, 1), (7, 7));
        shared.let_go(&mut queue, 1, 7);
        assert_eq!((shared.found(&queue, 1), queue.free()), ((7, 4), 6));
        queue.take(4); // three that nobody had, and the seventh
        assert_eq!(shared.found(&queue, 1), (6, 4));
        shared.let_go(&mut queue, 1, 4);
        assert_eq!((shared.found(&queue, 1), queue.free()), ((6, 0), 6));
        shared.hold(&mut queue, 1, 5);
        assert_eq!((shared.found(&queue, 1), queue.free()), ((6, 5), 1));
        queue.take(1);
        assert_eq!(shared.found(&queue, 1), (5, 5));
        shared.let_go(&mut queue, 1, 5);
        queue.take(5);
        assert_eq!(shared.found(&queue, 1), (0, 0));
    }
}
