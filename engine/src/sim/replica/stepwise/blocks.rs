//! The KV block pool of one replica: real block ids in a first-in, first-out free queue.
//!
//! Blocks of a preempted request keep what they hold until somebody takes them, as in vLLM's
//! block pool: they go to the tail of the free queue, last block first, and come back as cache
//! hits if their owner returns in time.

/// A block of the pool.
pub type BlockId = u32;

/// No block: the end of the free queue.
const NONE: BlockId = BlockId::MAX;

/// What a free block still holds: the `index`-th block of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    /// The request.
    pub request: u32,
    /// Which of its blocks.
    pub index: u32,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    previous: BlockId,
    next: BlockId,
    free: bool,
    content: Option<Content>,
}

/// A fixed number of blocks, each held or free.
///
/// Blocks that were never taken stand at the head of the queue in the order of their ids, so they
/// need no slot until then: a large pool costs nothing before it is used.
#[derive(Debug, Clone)]
pub struct BlockPool {
    slots: Vec<Slot>,
    total: u32,
    head: BlockId,
    tail: BlockId,
    free: u32,
}

impl BlockPool {
    /// A pool of `blocks` free blocks that hold nothing.
    pub fn new(blocks: u32) -> Self {
        Self { slots: Vec::new(), total: blocks, head: NONE, tail: NONE, free: blocks }
    }

    /// Blocks in all.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Blocks that nobody holds, cached content included.
    pub fn free_count(&self) -> u32 {
        self.free
    }

    /// Takes the block that has been free longest; what it held is lost.
    pub fn take(&mut self) -> Option<BlockId> {
        if let Ok(never_taken) = u32::try_from(self.slots.len())
            && never_taken < self.total
        {
            self.slots.push(Slot { previous: NONE, next: NONE, free: false, content: None });
            self.free -= 1;
            return Some(never_taken);
        }
        let id = self.head;
        if id == NONE {
            return None;
        }
        self.unlink(id);
        self.slots[id as usize].content = None;
        Some(id)
    }

    /// Takes `id` back if it is free and still holds `content`.
    pub fn touch(&mut self, id: BlockId, content: Content) -> bool {
        let slot = &mut self.slots[id as usize];
        if !slot.free || slot.content != Some(content) {
            return false;
        }
        slot.content = None;
        self.unlink(id);
        true
    }

    /// Whether `id` is free and still holds `content`.
    pub fn holds(&self, id: BlockId, content: Content) -> bool {
        let slot = &self.slots[id as usize];
        slot.free && slot.content == Some(content)
    }

    /// Puts a held block at the tail of the free queue.
    pub fn free(&mut self, id: BlockId, content: Option<Content>) {
        let tail = self.tail;
        let slot = &mut self.slots[id as usize];
        debug_assert!(!slot.free, "a block is freed once");
        *slot = Slot { previous: tail, next: NONE, free: true, content };
        if tail == NONE {
            self.head = id;
        } else {
            self.slots[tail as usize].next = id;
        }
        self.tail = id;
        self.free += 1;
    }

    fn unlink(&mut self, id: BlockId) {
        let Slot { previous, next, .. } = self.slots[id as usize];
        match previous {
            NONE => self.head = next,
            before => self.slots[before as usize].next = next,
        }
        match next {
            NONE => self.tail = previous,
            after => self.slots[after as usize].previous = previous,
        }
        self.slots[id as usize].free = false;
        self.free -= 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn blocks_are_taken_in_the_order_they_were_freed() {
        let mut pool = BlockPool::new(3);
        let taken: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        assert_eq!(taken, [0, 1, 2]);
        for id in [2, 0, 1] {
            pool.free(id, None);
        }
        assert_eq!(std::iter::from_fn(|| pool.take()).collect::<Vec<_>>(), [2, 0, 1]);
    }

    #[test]
    fn content_survives_until_the_block_is_taken() {
        let mut pool = BlockPool::new(2);
        let content = Content { request: 7, index: 0 };
        let id = pool.take().expect("two free blocks");
        pool.free(id, Some(content));
        assert!(pool.touch(id, content), "still there");
        pool.free(id, Some(content));
        while pool.take().is_some() {}
        assert!(!pool.touch(id, content), "taken by another");
    }

    proptest! {
        #[test]
        fn free_and_held_blocks_always_sum_to_the_total(operations in prop::collection::vec(0_u32..4, 1..200)) {
            let mut pool = BlockPool::new(8);
            let mut held = Vec::new();
            let mut cached = Vec::new();
            for operation in operations {
                match operation {
                    0 | 1 => held.extend(pool.take()),
                    2 => if let Some(id) = held.pop() {
                        let content = Content { request: id, index: 0 };
                        pool.free(id, Some(content));
                        cached.push((id, content));
                    },
                    _ => if let Some((id, content)) = cached.pop()
                        && pool.touch(id, content) { held.push(id) },
                }
                prop_assert_eq!(pool.free_count() as usize + held.len(), 8);
                let mut unique = held.clone();
                unique.sort_unstable();
                unique.dedup();
                prop_assert_eq!(unique.len(), held.len(), "a block has one holder");
            }
        }
    }
}
