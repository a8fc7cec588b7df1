//! Which requests share the next step.
//!
//! vLLM V1 (0.19): the running list first, in order of admission, each decode one token and each
//! XX

use super::{BlockId, Head, Holdings, JobState, Rank, StepJob, Stepwise, Work};
use crate::sim::SchedulingPolicy;
use crate::sim::job::Place;
use crate::sim::jobs::Jobs;
use crate::units::Picos;

impl Stepwise<'_> {
    /// The batch of a step that starts at `now`, decided with the queue as it was at `visible`.
    pub(super) fn schedule(
        &mut self,
        now: Picos,
        visible: Picos,
        jobs: &mut Jobs<JobState>,
    ) -> Vec<Work> {
        let mut batch = Vec::with_capacity(self.running.len() + 1);
        let mut budget = self.spec.max_num_batched_tokens;
        let preempted = self.schedule_running(&mut batch, &mut budget, jobs);
        if !preempted {
            self.admit(&mut batch, &mut budget, (now, visible), jobs);
        }
        batch
    }

    /// Gives running requests their tokens and blocks; true if somebody lost theirs.
    ///
    /// By priority who loses may have got their tokens of this step already, which are free again;
    /// and who cannot be given blocks but by losing its own ends the step for all behind it.
    fn schedule_running(
        &mut self,
        batch: &mut Vec<Work>,
        budget: &mut u32,
        jobs: &mut Jobs<JobState>,
    ) -> bool {
        let mut any_preempted = false;
        let mut next = 0;
        'running: while next < self.running.len() && *budget > 0 {
            let id = self.running[next];
            let job = &jobs[id];
            let chunk = self.spec.of_one_step(job.prefill_left()).min(*budget);
            let tokens = chunk.max(1);
            let reach = job.state.kv + tokens;
            let needed = self.blocks_for(reach) - held(&job.state.holdings.blocks);
            while self.pool.free_count() < u64::from(needed) {
                let victim = self.victim(jobs);
                self.preempt(victim, jobs);
                any_preempted = true;
                if victim == next {
                    break 'running; // it was itself
                }
                if victim < next {
                    *budget += batch.remove(victim).chunk.max(1);
                    next -= 1;
                }
            }
            self.take_blocks(&mut jobs[id], needed);
            self.take_part(&mut jobs[id]);
            batch.push(Work { id, chunk });
            *budget -= tokens;
            next += 1;
        }
        for work in batch.iter().filter(|work| work.chunk > 0) {
            let reach = jobs[work.id].state.kv + work.chunk;
            self.cache(work.id, reach, jobs);
        }
        for id in self.running.split_off(next) {
            self.stall(&mut jobs[id]);
            self.running.push(id);
        }
        any_preempted
    }

    /// A decoding request has a part in the step that begins: its account goes on.
    fn take_part(&self, job: &mut StepJob) {
        if std::mem::take(&mut job.state.stalled) {
            self.begin_decode(job);
        }
    }

    /// A running request has no part in the step that begins: the account of its decoding stops.
    fn stall(&self, job: &mut StepJob) {
        if job.is_decoding() && !job.state.stalled {
            self.settle_decode(job);
            job.state.stalled = true;
        }
    }

    /// Who of the running requests loses its blocks next, by its place.
    fn victim(&self, jobs: &Jobs<JobState>) -> usize {
        let policy = &self.spec.scheduling_policy;
        let last = self.running.len() - 1;
        match policy {
            SchedulingPolicy::Fcfs => last,
            SchedulingPolicy::Priority(_) => (0..=last)
                .max_by_key(|place| {
                    let id = self.running[*place];
                    Rank::of(policy, id, &jobs[id])
                })
                .unwrap_or(last),
        }
    }

    /// A running request loses its blocks and goes back to the queue. Full blocks keep what they
    /// hold until taken; they are freed last block first.
    fn preempt(&mut self, place: usize, jobs: &mut Jobs<JobState>) {
        let id = self.running.remove(place);
        let job = &mut jobs[id];
        if job.is_decoding() && !std::mem::take(&mut job.state.stalled) {
            self.settle_decode(job);
        }
        let kv = job.state.kv;
        self.keep(id, kv, &jobs[id]);
        self.release(std::mem::take(&mut jobs[id].state.holdings));
        let job = &mut jobs[id];
        let left_before = job.prefill_left();
        job.state.high_water = job.state.high_water.max(job.state.kv);
        job.state.kv = 0;
        job.state.target = job.input + job.stamps.generated;
        job.place = Place::Waiting;
        job.stamps.preemptions += 1;
        job.state.preempted_since_token = job.stamps.generated > 0;
        job.state.preempted_since_event |= job.stamps.generated > 0;
        self.load.backlog_prefill_tokens += u64::from(job.prefill_left() - left_before);
        self.load.enter_queue(job.prefill_left(), job.decode_left());
        self.load.preemptions += 1;
        self.queue.push_front(id, job);
    }

    /// Admits from the head of the queue until something refuses it.
    fn admit(
        &mut self,
        batch: &mut Vec<Work>,
        budget: &mut u32,
        (now, visible): (Picos, Picos),
        jobs: &mut Jobs<JobState>,
    ) {
        while let Head::Seen(id) = self.queue.head(visible, jobs) {
            if self.running.len() + self.finishing.len() >= self.spec.max_num_seqs as usize {
                self.refusals.seats += 1;
                return;
            }
            let job = &jobs[id];
            if self.has_no_room(job, *budget) {
                self.refusals.kv_memory += 1;
                return;
            }
            let hits = self.hits(id, job);
            let cached = held(&hits) * self.spec.block_size;
            let left = self.spec.of_one_step(job.state.target - cached);
            let chunk = left.min(*budget);
            if chunk == 0 || (chunk < left && !self.spec.chunked_prefill) {
                self.refusals.token_budget += 1;
                return;
            }
            let reserved =
                if self.spec.reserve_full_isl { job.state.target } else { cached + chunk };
            let needed = self.blocks_for(reserved) + self.spec.window_blocks_per_seq;
            // A hit that somebody holds need not be free; others are taken out of the free ones.
            let shared = hits.iter().filter(|block| self.pool.is_held(**block)).count() as u64;
            if u64::from(needed) - shared > self.pool.free_count() {
                self.refusals.kv_memory += 1;
                return;
            }
            self.admit_head(id, hits, chunk, now, jobs);
            self.cache(id, cached + chunk, jobs);
            batch.push(Work { id, chunk });
            *budget -= chunk;
        }
    }

    /// Whether the blocks that are free are too few for `job` whatever of it is still cached: seen
    /// at once, where counting its cached blocks takes as long as it is, at every step it waits.
    fn has_no_room(&self, job: &StepJob, budget: u32) -> bool {
        let least = if self.spec.reserve_full_isl {
            job.state.target
        } else {
            self.spec.of_one_step(job.state.target).min(budget)
        };
        let shared = job.lineage.as_ref().map_or(0, |l| l.prefix_tokens.max(l.history_tokens));
        let needed = self.blocks_for(least) + self.spec.window_blocks_per_seq;
        let needed = needed.saturating_sub(shared / self.spec.block_size);
        self.spec.chunked_prefill && budget > 0 && u64::from(needed) > self.pool.free_count()
    }

    /// Moves the head of the queue into the batch, with its cached blocks and new ones for `chunk`.
    fn admit_head(
        &mut self,
        id: u32,
        hits: Vec<BlockId>,
        chunk: u32,
        now: Picos,
        jobs: &mut Jobs<JobState>,
    ) {
        self.queue.pop();
        self.forget_beyond(id, &jobs[id], held(&hits));
        let job = &mut jobs[id];
        self.load.leave_queue(job.prefill_left(), job.decode_left(), job.age_in_queue(now));
        for block in &hits {
            self.pool.hold(*block);
        }
        let cached = held(&hits) * self.spec.block_size;
        let needed = self.blocks_for(cached + chunk) - held(&hits);
        job.state.known = held(&hits);
        job.state.holdings.blocks = hits;
        for _ in 0..self.spec.window_blocks_per_seq {
            job.state.holdings.of_windows.extend(self.pool.take());
        }
        self.take_blocks(&mut jobs[id], needed);
        let job = &mut jobs[id];
        job.state.kv = cached;
        job.place = Place::Running;
        if job.stamps.schedule(now, cached) {
            self.load.cached_tokens += u64::from(cached);
        }
        self.load.backlog_prefill_tokens -= u64::from(cached);
        self.running.push(id);
    }

    /// Takes `count` more blocks for `job`; the caller has seen that they are free.
    fn take_blocks(&mut self, job: &mut StepJob, count: u32) {
        for _ in 0..count {
            let taken = self.pool.take();
            debug_assert!(taken.is_some(), "the caller counted the free blocks");
            job.state.holdings.blocks.extend(taken);
        }
    }

    fn blocks_for(&self, tokens: u32) -> u32 {
        tokens.div_ceil(self.spec.block_size)
    }

    /// Frees what finished at an earlier boundary.
    pub(super) fn release_finishing(&mut self) {
        for holdings in std::mem::take(&mut self.finishing) {
            self.release(holdings);
        }
    }

    /// Requests that left the system while they ran leave the batch.
    pub(super) fn drop_leaving(&mut self, jobs: &mut Jobs<JobState>) {
        if std::mem::take(&mut self.leaving) == 0 {
            return;
        }
        let gone = |id: &mut u32| jobs[*id].place == Place::Gone;
        for id in self.running.extract_if(.., gone).collect::<Vec<_>>() {
            self.release(std::mem::take(&mut jobs[id].state.holdings));
        }
    }

    /// A request lets go of its blocks, those of its windows first and then from its last one on.
    fn release(&mut self, holdings: Holdings) {
        let Holdings { blocks, of_windows } = holdings;
        for block in of_windows.into_iter().chain(blocks.into_iter().rev()) {
            self.pool.release(block);
        }
    }
}

fn held(blocks: &[BlockId]) -> u32 {
    u32::try_from(blocks.len()).expect("as many as a request has tokens at most")
}
