//! The free queue of a replica's KV blocks as counts, without the blocks.
//!
//! Blocks are taken from the front and given back to the back. Which block it is matters only
//! where somebody left what may be looked for: a preempted request, a shared prefix that nobody
//! holds, a session between two turns. As blocks are freed last one first and taken from the front,
//! what survives is always the first of them, so a count per stretch that was left says it all.

use std::collections::VecDeque;

/// The free blocks.
#[derive(Debug)]
pub struct FreeQueue {
    free: u64,
    /// Blocks in `entries`; all others are behind them and hold nothing.
    listed: u64,
    entries: VecDeque<Entry>,
    /// Entries that have left the front.
    gone: u64,
}

/// Blocks that were left at once, and those between them and the ones before.
#[derive(Debug)]
struct Entry {
    /// Blocks in front that hold nothing of use.
    ahead: u64,
    /// Blocks that still hold what was computed, the last one first.
    kept: u32,
}

/// Which entry of the queue blocks with content are in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ticket(u64);

impl FreeQueue {
    /// `blocks` free blocks that hold nothing.
    pub fn new(blocks: u64) -> Self {
        Self { free: blocks, listed: 0, entries: VecDeque::new(), gone: 0 }
    }

    /// Blocks that nobody holds, with or without content.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// Takes `count` blocks from the front; the caller has seen that they are free.
    pub fn take(&mut self, count: u64) {
        debug_assert!(count <= self.free, "no block is held twice");
        self.free -= count;
        if !self.entries.is_empty() {
            self.take_listed(count);
        }
    }

    /// The first of them are those that somebody left.
    fn take_listed(&mut self, count: u64) {
        let mut left = count;
        while left > 0
            && let Some(front) = self.entries.front_mut()
        {
            let anonymous = left.min(front.ahead);
            front.ahead -= anonymous;
            let content = u32::try_from(left - anonymous).map_or(front.kept, |n| n.min(front.kept));
            front.kept -= content;
            let taken = anonymous + u64::from(content);
            self.listed -= taken;
            left -= taken;
            if front.ahead == 0 && front.kept == 0 {
                self.entries.pop_front();
                self.gone += 1;
            }
        }
    }

    /// Gives back blocks that hold nothing of use.
    pub fn give_back(&mut self, count: u64) {
        self.free += count;
    }

    /// Gives back `empty` blocks, then `kept` ones that may be looked for, last one first.
    pub fn give_back_content(&mut self, empty: u64, kept: u32) -> Ticket {
        self.entries.push_back(Entry { ahead: self.free - self.listed + empty, kept });
        self.free += empty + u64::from(kept);
        self.listed = self.free;
        Ticket(self.gone + self.entries.len() as u64)
    }

    /// Blocks of an entry that nobody has taken.
    pub fn kept(&self, ticket: Ticket) -> u32 {
        self.index(ticket).map_or(0, |index| self.entries[index].kept)
    }

    /// Takes the first `hits` of the kept blocks back; the others are of no use from now on.
    pub fn take_back(&mut self, ticket: Ticket, hits: u32) {
        if let Some(index) = self.index(ticket) {
            let entry = &mut self.entries[index];
            entry.ahead += u64::from(entry.kept - hits);
            entry.kept = 0;
            self.free -= u64::from(hits);
            self.listed -= u64::from(hits);
        }
    }

    /// Takes the first `count` of the kept blocks back; the others stay what and where they are.
    pub fn take_first(&mut self, ticket: Ticket, count: u32) {
        if let Some(index) = self.index(ticket) {
            self.entries[index].kept -= count;
            self.free -= u64::from(count);
            self.listed -= u64::from(count);
        }
    }

    /// Tickets count from one, so that none is in no entry.
    fn index(&self, ticket: Ticket) -> Option<usize> {
        usize::try_from(ticket.0.checked_sub(self.gone + 1)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_survives_is_a_prefix_in_the_order_of_preemption() {
        let mut queue = FreeQueue::new(10);
        queue.take(10);
        let first = queue.give_back_content(1, 4);
        let second = queue.give_back_content(0, 3);
        queue.give_back(2);
        assert_eq!(queue.free(), 10);
        queue.take(3); // the empty one and two of the first
        assert_eq!((queue.kept(first), queue.kept(second)), (2, 3));
        queue.take_back(second, 2);
        assert_eq!((queue.kept(first), queue.kept(second), queue.free()), (2, 0, 5));
        queue.take(4); // two of the first, one that the second left, one behind
        assert_eq!((queue.kept(first), queue.free()), (0, 1));
        let third = queue.give_back_content(2, 1);
        queue.take(3);
        assert_eq!(queue.kept(third), 1);
        queue.take(1);
        assert_eq!((queue.kept(third), queue.free()), (0, 0));
        assert_eq!(queue.kept(Ticket::default()), 0);
    }
}
