//! Which requests share the next step.
//!
//! vLLM V1 (0.19): the running list first, in order of admission, each decode one token and the
//! partial prefill what the budget leaves; a request that needs a block when none is free preempts
//! the tail of the list, which may be itself. Then, unless somebody was preempted, preempted
//! requests and the queue in order, until seats, budget or blocks refuse the head.

use super::{BlockId, BlockPool, Content, Refusals, Replica, Work};
use crate::sim::job::{Job, Place};
use crate::units::Picos;

impl Replica<'_> {
    /// The batch of a step that starts at `now`, decided with the queue as it was at `visible`.
    pub(super) fn schedule(&mut self, now: Picos, visible: Picos, jobs: &mut [Job]) -> Vec<Work> {
        let mut batch = Vec::with_capacity(self.running.len() + 1);
        let mut budget = self.spec.max_num_batched_tokens;
        let preempted = self.schedule_running(&mut batch, &mut budget, jobs);
        if !preempted {
            self.admit(&mut batch, &mut budget, (now, visible), jobs);
        }
        batch
    }

    /// Gives running requests their tokens and blocks; true if somebody lost theirs.
    fn schedule_running(
        &mut self,
        batch: &mut Vec<Work>,
        budget: &mut u32,
        jobs: &mut [Job],
    ) -> bool {
        let mut any_preempted = false;
        let mut next = 0;
        while next < self.running.len() && *budget > 0 {
            let id = self.running[next];
            let job = &jobs[id as usize];
            let chunk = job.prefill_left().min(*budget);
            let tokens = chunk.max(1);
            let needed = self.blocks_for(job.kv + tokens) - block_count(job);
            while self.pool.free_count() < needed && self.running.len() > next {
                self.preempt_tail(jobs);
                any_preempted = true;
            }
            if self.running.len() == next {
                break; // it was the tail itself
            }
            take_blocks(&mut self.pool, &mut jobs[id as usize].blocks, needed);
            batch.push(Work { id, chunk });
            *budget -= tokens;
            next += 1;
        }
        any_preempted
    }

    /// The tail of the running list loses its blocks and goes to the front of the queue. Full
    /// blocks keep what they hold until taken; they are freed last block first.
    fn preempt_tail(&mut self, jobs: &mut [Job]) {
        let Some(id) = self.running.pop() else { return };
        let job = &mut jobs[id as usize];
        if job.is_decoding() {
            self.settle_decode(job);
        }
        let full_blocks = if self.spec.prefix_caching { job.kv / self.spec.block_size } else { 0 };
        free_window(&mut self.pool, job);
        for index in (0..block_count(job)).rev() {
            let content = (index < full_blocks).then_some(Content { request: id, index });
            self.pool.free(job.blocks[index as usize], content);
        }
        let left_before = job.prefill_left();
        job.high_water = job.high_water.max(job.kv);
        job.kv = 0;
        job.target = job.input + job.stamps.generated;
        job.place = Place::Waiting;
        job.stamps.preemptions += 1;
        self.load.backlog_prefill_tokens += u64::from(job.prefill_left() - left_before);
        self.load.enter_queue(job);
        self.load.preemptions += 1;
        self.preempted.push(id);
    }

    /// Admits from the head of the queue until something refuses it.
    fn admit(
        &mut self,
        batch: &mut Vec<Work>,
        budget: &mut u32,
        (now, visible): (Picos, Picos),
        jobs: &mut [Job],
    ) {
        while let Some(id) = self.head(visible, jobs) {
            if self.running.len() + self.finishing.len() >= self.spec.max_num_seqs as usize {
                self.refusals.seats += 1;
                return;
            }
            let job = &jobs[id as usize];
            if self.has_no_room(job, *budget) {
                self.refusals.kv_memory += 1;
                return;
            }
            let hits = self.cached_blocks(id, job);
            let cached = hits * self.spec.block_size;
            let left = job.target - cached;
            let chunk = left.min(*budget);
            if chunk == 0 || (chunk < left && !self.spec.chunked_prefill) {
                self.refusals.token_budget += 1;
                return;
            }
            let reserved = if self.spec.reserve_full_isl { job.target } else { cached + chunk };
            let needed = self.blocks_for(reserved) + self.spec.window_blocks_per_seq;
            if needed > self.pool.free_count() {
                self.refusals.kv_memory += 1;
                return;
            }
            self.admit_head(id, hits, chunk, now, jobs);
            batch.push(Work { id, chunk });
            *budget -= chunk;
        }
    }

    /// Whether the blocks that are free are too few for `job` whatever of it is still cached: seen
    /// at once, where counting its cached blocks takes as long as it is, at every step it waits.
    fn has_no_room(&self, job: &Job, budget: u32) -> bool {
        let least = if self.spec.reserve_full_isl { job.target } else { job.target.min(budget) };
        let needed = self.blocks_for(least) + self.spec.window_blocks_per_seq;
        self.spec.chunked_prefill && budget > 0 && needed > self.pool.free_count()
    }

    /// Moves the head of the queue into the batch, with its cached blocks and new ones for `chunk`.
    fn admit_head(&mut self, id: u32, hits: u32, chunk: u32, now: Picos, jobs: &mut [Job]) {
        if self.preempted.pop().is_none() {
            self.waiting.pop_front();
        }
        let job = &mut jobs[id as usize];
        self.load.leave_queue(job);
        job.blocks.truncate(hits as usize);
        for (index, &block) in (0..).zip(&job.blocks) {
            let still_there = self.pool.touch(block, Content { request: id, index });
            debug_assert!(still_there, "counted as a hit just now");
        }
        let cached = hits * self.spec.block_size;
        let needed = self.blocks_for(cached + chunk) - hits;
        take_blocks(&mut self.pool, &mut job.blocks, needed);
        take_blocks(&mut self.pool, &mut job.window_blocks, self.spec.window_blocks_per_seq);
        job.kv = cached;
        job.place = Place::Running;
        job.stamps.cached_tokens += cached;
        job.stamps.scheduled = job.stamps.scheduled.or(Some(now));
        self.load.backlog_prefill_tokens -= u64::from(cached);
        self.running.push(id);
    }

    /// The request at the head of the queue, if the scheduler can see it. Those that gave up are
    /// removed on the way.
    fn head(&mut self, visible: Picos, jobs: &[Job]) -> Option<u32> {
        let waits = |id: &u32| jobs[*id as usize].place == Place::Waiting;
        while self.preempted.pop_if(|id| !waits(id)).is_some() {}
        while self.waiting.pop_front_if(|id| !waits(id)).is_some() {}
        if let Some(&id) = self.preempted.last() {
            return Some(id);
        }
        let &id = self.waiting.front()?;
        (jobs[id as usize].stamps.queued <= Some(visible)).then_some(id)
    }

    /// Blocks of a preempted request that nobody has taken, from the first on. The last token is
    /// always computed, so that there is something to sample from.
    fn cached_blocks(&self, id: u32, job: &Job) -> u32 {
        let most = (job.target - 1) / self.spec.block_size;
        let former = job.blocks.iter().take(most as usize);
        let hit = |(index, block): &(u32, &u32)| {
            self.pool.holds(**block, Content { request: id, index: *index })
        };
        (0..).zip(former).take_while(hit).map(|(index, _)| index + 1).last().unwrap_or(0)
    }

    fn blocks_for(&self, tokens: u32) -> u32 {
        tokens.div_ceil(self.spec.block_size)
    }

    /// Frees what finished at an earlier boundary.
    pub(super) fn release_finishing(&mut self, jobs: &mut [Job]) {
        for id in std::mem::take(&mut self.finishing) {
            self.release(id, jobs);
        }
    }

    /// Requests that gave up while their prompt was being computed leave the batch.
    pub(super) fn drop_given_up(&mut self, jobs: &mut [Job]) {
        if std::mem::take(&mut self.given_up) == 0 {
            return;
        }
        let gone = |id: &mut u32| jobs[*id as usize].place == Place::Gone;
        for id in self.running.extract_if(.., gone).collect::<Vec<_>>() {
            self.release(id, jobs);
        }
    }

    /// A request that will not return gives its blocks back, last block first, holding nothing.
    fn release(&mut self, id: u32, jobs: &mut [Job]) {
        let job = &mut jobs[id as usize];
        free_window(&mut self.pool, job);
        for block in std::mem::take(&mut job.blocks).into_iter().rev() {
            self.pool.free(block, None);
        }
    }
}

impl Refusals {
    /// Refusals since an `earlier` count.
    #[must_use]
    pub fn since(&self, earlier: Self) -> Self {
        Self {
            seats: self.seats - earlier.seats,
            kv_memory: self.kv_memory - earlier.kv_memory,
            token_budget: self.token_budget - earlier.token_budget,
        }
    }
}

fn block_count(job: &Job) -> u32 {
    u32::try_from(job.blocks.len()).expect("a request holds fewer blocks than it has tokens")
}

/// Takes `count` blocks; the caller has seen that they are free.
fn take_blocks(pool: &mut BlockPool, into: &mut Vec<BlockId>, count: u32) {
    for _ in 0..count {
        into.push(pool.take().expect("the caller counted the free blocks"));
    }
}

/// What the windows of a sequence hold is of no use to anybody later.
fn free_window(pool: &mut BlockPool, job: &mut Job) {
    for block in std::mem::take(&mut job.window_blocks) {
        pool.free(block, None);
    }
}
