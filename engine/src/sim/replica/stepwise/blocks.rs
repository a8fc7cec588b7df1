//! The KV block pool of one replica: how many blocks are held, and the free ones in the first-in,
//! first-out order in which they will be taken.
//!
//! Blocks of a preempted request keep what they hold until somebody takes them, as in vLLM's
//! block pool: they go to the tail of the free queue, last block first, and come back as cache
//! hits if their owner returns in time. Blocks that hold nothing of use are all alike, and those
//! that a request leaves behind lie side by side and are taken from its last to its first. So a
//! queue of *runs* says all that a queue of block ids would: memory grows with the requests that
//! were preempted, never with the pool, however large somebody says it is.

use std::collections::BTreeMap;

/// Blocks that a preempted request left behind; never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptRun(u64);

/// Free blocks side by side in the queue.
#[derive(Debug, Clone, Copy)]
struct Run {
    blocks: u64,
    /// They still hold what a preempted request computed.
    kept: bool,
}

/// A fixed number of blocks, each held or free.
#[derive(Debug, Clone)]
pub struct BlockPool {
    total: u64,
    free: u64,
    /// Free blocks by the order in which they were freed; the first is taken next.
    queue: BTreeMap<u64, Run>,
    freed: u64,
}

impl BlockPool {
    /// A pool of `blocks` free blocks that hold nothing.
    pub fn new(blocks: u64) -> Self {
        let mut pool = Self { total: blocks, free: 0, queue: BTreeMap::new(), freed: 0 };
        pool.free(blocks);
        pool
    }

    /// Blocks in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Blocks that nobody holds, kept content included.
    pub fn free_count(&self) -> u64 {
        self.free
    }

    /// Takes the `count` blocks that have been free longest; what they held is lost. False, and
    /// nothing is taken, where fewer are free.
    pub fn take(&mut self, count: u64) -> bool {
        if count > self.free {
            return false;
        }
        self.free -= count;
        let mut left = count;
        while left > 0
            && let Some(mut first) = self.queue.first_entry()
        {
            let run = first.get_mut();
            let taken = run.blocks.min(left);
            run.blocks -= taken;
            left -= taken;
            if run.blocks == 0 {
                first.remove();
            }
        }
        true
    }

    /// Puts `count` held blocks, whose content is of no use, at the tail of the free queue.
    pub fn free(&mut self, count: u64) {
        if count == 0 {
            return;
        }
        match self.queue.last_entry() {
            Some(mut last) if !last.get().kept => last.get_mut().blocks += count,
            _ => {
                self.append(Run { blocks: count, kept: false });
            }
        }
        self.free += count;
    }

    /// Puts the first `count` blocks of a request at the tail of the free queue, the last of them
    /// first. They hold what they hold until somebody takes them.
    pub fn keep(&mut self, count: u64) -> Option<KeptRun> {
        if count == 0 {
            return None;
        }
        self.free += count;
        Some(KeptRun(self.append(Run { blocks: count, kept: true })))
    }

    /// How many of them nobody has taken: always the first.
    pub fn kept(&self, run: KeptRun) -> u64 {
        self.queue.get(&run.0).map_or(0, |run| run.blocks)
    }

    /// Their owner takes the first `count` of them back, no more than [`Self::kept`] says.
    pub fn take_back(&mut self, run: KeptRun, count: u64) {
        if let Some(kept) = self.queue.get_mut(&run.0) {
            let back = kept.blocks.min(count);
            kept.blocks -= back;
            self.free -= back;
            if kept.blocks == 0 {
                self.queue.remove(&run.0);
            }
        }
    }

    fn append(&mut self, run: Run) -> u64 {
        let place = self.freed;
        self.freed += 1;
        self.queue.insert(place, run);
        place
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_kept_is_lost_from_its_last_block_on() {
        let mut pool = BlockPool::new(10);
        assert!(pool.take(10) && !pool.take(1));
        pool.free(2);
        let run = pool.keep(5).expect("some blocks");
        pool.free(3);
        assert!(pool.take(4), "two that hold nothing, then two of the five");
        assert_eq!((pool.kept(run), pool.free_count()), (3, 6));
        pool.take_back(run, 3);
        assert_eq!((pool.kept(run), pool.free_count()), (0, 3));
    }

    #[test]
    fn a_pool_of_any_size_costs_what_was_preempted() {
        let mut pool = BlockPool::new(1 << 40);
        for _ in 0..1000 {
            assert!(pool.take(1 << 20));
            pool.free(1 << 20);
        }
        assert_eq!((pool.queue.len(), pool.free_count()), (1, 1 << 40));
        assert!(pool.take(1 << 39));
        assert!(pool.keep(1 << 38).is_some());
        pool.free(1 << 38);
        assert_eq!(pool.queue.len(), 3);
    }

    /// The same with an id for every block, as the engine itself does it.
    struct Ids {
        queue: VecDeque<u32>,
        /// What a block still holds: the index-th block of a kept run.
        content: Vec<Option<(usize, usize)>>,
        runs: Vec<Vec<u32>>,
    }

    impl Ids {
        fn new(blocks: u32) -> Self {
            let content = vec![None; blocks as usize];
            Self { queue: (0..blocks).collect(), content, runs: Vec::new() }
        }

        fn take(&mut self, count: usize) -> Option<Vec<u32>> {
            let ids: Vec<u32> =
                (count <= self.queue.len()).then(|| self.queue.drain(..count).collect())?;
            self.forget(&ids);
            Some(ids)
        }

        fn keep(&mut self, ids: Vec<u32>) {
            for (index, id) in ids.iter().enumerate().rev() {
                self.content[*id as usize] = Some((self.runs.len(), index));
                self.queue.push_back(*id);
            }
            self.runs.push(ids);
        }

        fn forget(&mut self, ids: &[u32]) {
            for id in ids {
                self.content[*id as usize] = None;
            }
        }

        fn hits(&self, run: usize) -> usize {
            let hit =
                |(index, id): &(usize, &u32)| self.content[**id as usize] == Some((run, *index));
            self.runs[run].iter().enumerate().take_while(hit).count()
        }

        fn take_back(&mut self, run: usize, count: usize) -> Vec<u32> {
            let ids = self.runs[run][..count].to_vec();
            self.queue.retain(|id| !ids.contains(id));
            self.forget(&ids);
            // The owner asks for its run once.
            self.runs[run].clear();
            ids
        }
    }

    proptest! {
        #[test]
        fn runs_say_what_a_queue_of_block_ids_says(
            operations in prop::collection::vec((0_u32..6, 1_usize..9, any::<prop::sample::Index>()), 1..300),
        ) {
            let (mut pool, mut ids) = (BlockPool::new(32), Ids::new(32));
            let mut held: Vec<Vec<u32>> = Vec::new();
            let mut kept: Vec<(usize, KeptRun)> = Vec::new();
            for (operation, count, pick) in operations {
                match operation {
                    0..=2 => {
                        let taken = ids.take(count);
                        prop_assert_eq!(pool.take(count as u64), taken.is_some());
                        held.extend(taken);
                    }
                    3 if !held.is_empty() => {
                        let blocks = held.swap_remove(pick.index(held.len()));
                        pool.free(blocks.len() as u64);
                        ids.queue.extend(blocks.iter().rev());
                    }
                    4 if !held.is_empty() => {
                        let blocks = held.swap_remove(pick.index(held.len()));
                        if let Some(run) = pool.keep(blocks.len() as u64) {
                            kept.push((ids.runs.len(), run));
                            ids.keep(blocks);
                        }
                    }
                    5 if !kept.is_empty() => {
                        let (index, run) = kept.swap_remove(pick.index(kept.len()));
                        let back = ids.hits(index).min(count);
                        pool.take_back(run, back as u64);
                        held.push(ids.take_back(index, back));
                    }
                    _ => {}
                }
                held.retain(|blocks| !blocks.is_empty());
                let holding: usize = held.iter().map(Vec::len).sum();
                prop_assert_eq!(pool.free_count() + holding as u64, pool.total());
                for (index, run) in &kept {
                    prop_assert_eq!(pool.kept(*run), ids.hits(*index) as u64);
                }
            }
        }
    }
}
