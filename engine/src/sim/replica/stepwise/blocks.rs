//! The KV blocks of one replica: who holds each, what it contains, and the free ones in the first-in,
//! first-out order in which they will be taken.
//!
//! As vLLM's block pool (`v1/core/block_pool.py`): a block keeps what it contains until somebody
//! takes it, so a block that is free may still be found by its content and held again; a block that
//! several hold is free when the last lets go of it. Blocks that nobody ever took are alike, and are
//! taken first: they are a number, so that memory grows with what was held, never with the pool,
//! however large somebody says it is.

use std::collections::BTreeMap;

/// A block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockId(usize);

/// What a full block contains: by whose tokens it is known, and its place among them. Two blocks of
/// equal content have equal ones before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Content {
    /// Whose tokens.
    pub line: Line,
    /// The index of the block, from the start of the prompt.
    pub index: u32,
}

/// Whose tokens: what stands for a hash over them and all before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    /// A shared prefix, by its number.
    Prefix(u32),
    /// All that was said in a session, by its number.
    Session(u32),
    /// Those of one attempt alone.
    Own(u32),
}

#[derive(Debug, Clone, Default)]
struct Block {
    holders: u32,
    content: Option<Content>,
    /// Neighbours in the queue, of a free block.
    before: Option<usize>,
    after: Option<usize>,
}

/// A fixed number of blocks, each held or free.
#[derive(Debug, Clone)]
pub struct BlockPool {
    total: u64,
    free: u64,
    /// Those that somebody has held.
    blocks: Vec<Block>,
    /// The free ones of them: the first is taken next, once there are no others.
    first: Option<usize>,
    last: Option<usize>,
    cached: BTreeMap<Content, usize>,
}

impl BlockPool {
    /// A pool of `blocks` free blocks that contain nothing.
    pub fn new(blocks: u64) -> Self {
        Self {
            total: blocks,
            free: blocks,
            blocks: Vec::new(),
            first: None,
            last: None,
            cached: BTreeMap::new(),
        }
    }

    /// Blocks in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Blocks that nobody holds, whatever they contain.
    pub fn free_count(&self) -> u64 {
        self.free
    }

    /// Takes the block that has been free longest; what it contained is lost. `None` if none is.
    pub fn take(&mut self) -> Option<BlockId> {
        if (self.blocks.len() as u64) < self.total {
            self.blocks.push(Block { holders: 1, ..Block::default() });
            self.free -= 1;
            return Some(BlockId(self.blocks.len() - 1));
        }
        let id = self.first?;
        self.hold(BlockId(id));
        self.forget(id);
        Some(BlockId(id))
    }

    /// The block that contains this, if it is still there.
    pub fn find(&self, content: Content) -> Option<BlockId> {
        self.cached.get(&content).copied().map(BlockId)
    }

    /// Whether somebody holds it.
    pub fn is_held(&self, BlockId(id): BlockId) -> bool {
        self.blocks[id].holders > 0
    }

    /// One more holds it.
    pub fn hold(&mut self, BlockId(id): BlockId) {
        if self.blocks[id].holders == 0 {
            self.unlink(id);
            self.free -= 1;
        }
        self.blocks[id].holders += 1;
    }

    /// One of its holders lets go of it: after the last it is free, behind all that are.
    pub fn release(&mut self, BlockId(id): BlockId) {
        let last = self.last;
        let block = &mut self.blocks[id];
        block.holders -= 1;
        if block.holders > 0 {
            return;
        }
        (block.before, block.after) = (last, None);
        match last {
            Some(last) => self.blocks[last].after = Some(id),
            None => self.first = Some(id),
        }
        self.last = Some(id);
        self.free += 1;
    }

    /// It is full, and this is what it contains.
    pub fn fill(&mut self, BlockId(id): BlockId, content: Content) {
        if self.blocks[id].content == Some(content) {
            return;
        }
        self.forget(id);
        let other = self.cached.insert(content, id);
        debug_assert_eq!(other, None, "nobody computes what is cached");
        self.blocks[id].content = Some(content);
    }

    /// This cannot be found any more. Whether it could.
    pub fn lose(&mut self, content: Content) -> bool {
        let id = self.cached.get(&content).copied();
        if let Some(id) = id {
            self.forget(id);
        }
        id.is_some()
    }

    fn forget(&mut self, id: usize) {
        if let Some(content) = self.blocks[id].content.take() {
            self.cached.remove(&content);
        }
    }

    fn unlink(&mut self, id: usize) {
        let Block { before, after, .. } = self.blocks[id];
        match before {
            Some(before) => self.blocks[before].after = after,
            None => self.first = after,
        }
        match after {
            Some(after) => self.blocks[after].before = before,
            None => self.last = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    fn content(index: u32) -> Content {
        Content { line: Line::Prefix(1), index }
    }

    #[test]
    fn what_is_shared_is_free_when_the_last_lets_go_and_found_until_it_is_taken() {
        let mut pool = BlockPool::new(2);
        let (a, b) = (pool.take().expect("free"), pool.take().expect("free"));
        pool.fill(a, content(0));
        pool.hold(a);
        pool.release(a);
        assert_eq!((pool.free_count(), pool.is_held(a), pool.take()), (0, true, None));
        pool.release(a);
        pool.release(b);
        assert_eq!((pool.free_count(), pool.find(content(0))), (2, Some(a)));
        pool.hold(a);
        assert_eq!(pool.take(), Some(b), "a hit is taken out of the queue");
        pool.release(a);
        assert_eq!((pool.take(), pool.find(content(0))), (Some(a), None));
    }

    #[test]
    fn a_pool_of_any_size_costs_what_was_held() {
        let mut pool = BlockPool::new(1 << 40);
        for _ in 0..1000 {
            let block = pool.take().expect("free");
            pool.release(block);
        }
        assert_eq!((pool.blocks.len(), pool.free_count()), (1000, 1 << 40));
    }

    proptest! {
        #[test]
        fn the_queue_is_one_of_block_ids(
            operations in prop::collection::vec((0_u32..5, any::<prop::sample::Index>()), 1..300),
        ) {
            let total = 12_u64;
            let mut pool = BlockPool::new(total);
            let mut queue: VecDeque<usize> = (0..12).collect();
            // One entry per holder.
            let mut held: Vec<BlockId> = Vec::new();
            let mut contents = BTreeMap::new();
            for (number, (operation, pick)) in (0..).zip(operations) {
                match operation {
                    0 | 1 => {
                        let taken = queue.pop_front();
                        prop_assert_eq!(pool.take(), taken.map(BlockId));
                        if let Some(id) = taken {
                            contents.retain(|_, other| *other != id);
                            held.push(BlockId(id));
                        }
                    }
                    2 if !held.is_empty() => {
                        let block = held.swap_remove(pick.index(held.len()));
                        pool.release(block);
                        if !held.contains(&block) {
                            queue.push_back(block.0);
                        }
                    }
                    3 if !held.is_empty() => {
                        let block = held[pick.index(held.len())];
                        contents.retain(|_, other| *other != block.0);
                        contents.insert(number, block.0);
                        pool.fill(block, content(number));
                    }
                    4 if !contents.is_empty() => {
                        let (index, id) =
                            contents.iter().nth(pick.index(contents.len())).expect("within");
                        let found = pool.find(content(*index));
                        prop_assert_eq!(found, Some(BlockId(*id)));
                        pool.hold(BlockId(*id));
                        queue.retain(|other| other != id);
                        held.push(BlockId(*id));
                    }
                    _ => {}
                }
                prop_assert_eq!(pool.free_count(), queue.len() as u64);
                let distinct: std::collections::BTreeSet<usize> =
                    held.iter().map(|block| block.0).collect();
                prop_assert_eq!(pool.free_count() + distinct.len() as u64, pool.total());
                prop_assert!(distinct.iter().all(|id| pool.is_held(BlockId(*id))));
            }
        }
    }
}
