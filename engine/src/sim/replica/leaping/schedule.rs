//! Which requests share the next step: the same rules as the stepwise engine's, by counts.

use super::job::{JobState, LeapJob};
use super::plan::Scheduled;
use super::release::Hits;
use super::{Blocked, Chunk, Head, Leaping, Reason};
use crate::sim::job::Place;
use crate::sim::jobs::Jobs;
use crate::sim::{ReplicaSpec, SchedulingPolicy};
use crate::units::Picos;

/// More requests than these in the list of admitted ones, and those that no longer run are dropped
/// once they outnumber the others.
const FEW: usize = 64;

impl Leaping<'_> {
    /// Makes the batch of a step that starts at `now`, decided with the queue as it was at
    /// `visible`.
    pub(super) fn schedule(
        &mut self,
        now: Picos,
        visible: Picos,
        jobs: &mut Jobs<JobState>,
    ) -> Scheduled {
        self.blocked = None;
        self.resume(jobs);
        let preempted = self.schedule_running(now, jobs);
        let unseen = !preempted && self.admit(now, visible, jobs);
        Scheduled { preempted, unseen }
    }

    /// Gives running requests their tokens and blocks; true if somebody lost theirs.
    ///
    /// Request by request, each preempts from the tail while it finds no block. The tail falls as
    /// far as when all are asked for together: each request lost makes room for those before it,
    /// and none is lost while the rest would find room.
    fn schedule_running(&mut self, now: Picos, jobs: &mut Jobs<JobState>) -> bool {
        let of_decodes = self.phases.next();
        if self.partials.is_empty() && of_decodes <= self.blocks.free() {
            self.blocks.take(of_decodes); // as nearly always
            return false;
        }
        let mut of_prompts = self.chunk_partials(jobs);
        let mut preempted = false;
        let by_rank = matches!(self.spec.scheduling_policy, SchedulingPolicy::Priority(_));
        if by_rank && self.phases.next() + of_prompts > self.blocks.free() {
            self.chunks.clear();
            return self.schedule_by_rank(now, jobs);
        }
        while self.phases.next() + of_prompts > self.blocks.free() {
            preempted = true;
            let last =
                self.chunks.last().map(|chunk| (chunk.id, self.blocks_of_chunk(chunk, jobs)));
            let lost = self.preempt_tail(now, jobs);
            if let Some((id, blocks)) = last
                && lost == Some(id)
            {
                self.chunks.pop();
                of_prompts -= blocks;
            }
        }
        self.blocks.take(self.phases.next() + of_prompts);
        self.compute_prefixes(jobs);
        preempted
    }

    /// Others may find what the partial prefills are to compute of what they share.
    pub(super) fn compute_prefixes(&mut self, jobs: &mut Jobs<JobState>) {
        for chunk in 0..self.chunks.len() {
            let Chunk { id, tokens, .. } = self.chunks[chunk];
            let job = &mut jobs[id];
            self.compute_prefix(job, job.state.kv + tokens);
        }
    }

    /// Each partial prefill gets as much of the step as the threshold and the budget leave it.
    /// Returns the blocks that takes.
    fn chunk_partials(&mut self, jobs: &Jobs<JobState>) -> u64 {
        let (mut budget, mut blocks) = (self.spec.max_num_batched_tokens - self.decodes, 0);
        for id in &self.partials {
            let tokens = self.spec.of_one_step(jobs[*id].prefill_left()).min(budget);
            budget -= tokens;
            let chunk = Chunk { id: *id, tokens, pairs: Picos::ZERO };
            blocks += self.blocks_of_chunk(&chunk, jobs);
            self.chunks.push(chunk);
        }
        blocks
    }

    /// Blocks to take before these tokens can be computed.
    fn blocks_of_chunk(&self, chunk: &Chunk, jobs: &Jobs<JobState>) -> u64 {
        let kv = jobs[chunk.id].state.kv;
        self.blocks_for(kv + chunk.tokens) - self.blocks_for(kv)
    }

    /// The last admitted request loses its blocks. Returns which it was.
    fn preempt_tail(&mut self, now: Picos, jobs: &mut Jobs<JobState>) -> Option<u32> {
        let runs = |id: &u32| jobs[*id].place == Place::Running;
        while self.admitted.pop_if(|id| !runs(id)).is_some() {}
        let id = self.admitted.pop()?;
        self.preempt(id, 0, now, jobs);
        if self.partials.last() == Some(&id) {
            self.partials.pop();
        }
        Some(id)
    }

    /// A running request loses its blocks and goes back to the queue, though it `got` tokens of the
    /// step that begins. Full blocks keep what they hold until taken; they are freed last block
    /// first.
    pub(super) fn preempt(&mut self, id: u32, got: u32, now: Picos, jobs: &mut Jobs<JobState>) {
        let job = &mut jobs[id];
        let left_before = job.prefill_left();
        if job.is_decoding() {
            self.pause(job, now);
        }
        self.running -= 1;
        let kv = job.state.kv;
        let left = self.left_by_preemption(id, job, (kv, got));
        job.state.ticket = self.give_back(left);
        job.state.prefix_blocks = 0;
        job.state.high_water = job.state.high_water.max(kv);
        job.state.kv = 0;
        job.state.target = job.input + job.stamps.generated;
        job.place = Place::Waiting;
        job.state.span_preemption();
        job.stamps.preemptions += 1;
        self.load.backlog_prefill_tokens += u64::from(job.prefill_left() - left_before);
        self.load.enter_queue(job.prefill_left(), job.decode_left());
        self.load.preemptions += 1;
        self.queue.push_front(id, job);
    }

    /// Admits from the head of the queue until something refuses it. True if the head is not seen
    /// yet.
    fn admit(&mut self, now: Picos, visible: Picos, jobs: &mut Jobs<JobState>) -> bool {
        let in_use = self.decodes + self.chunks.iter().map(|chunk| chunk.tokens).sum::<u32>();
        let mut budget = self.spec.max_num_batched_tokens - in_use;
        loop {
            let head = match self.queue.head(visible, jobs) {
                Head::Seen(head) => head,
                Head::Unseen => return true,
                Head::Nobody => return false,
            };
            match self.admissible(&jobs[head], budget) {
                Ok((hits, tokens)) => {
                    self.admit_head(head, hits, tokens, now, jobs);
                    budget -= tokens;
                }
                Err((reason, depends_on_cache)) => {
                    let blocked = Blocked { head, reason, depends_on_cache };
                    self.block(blocked);
                    return self.may_be_passed(blocked) && self.queue.has_unseen(jobs);
                }
            }
        }
    }

    /// Cached blocks and prompt tokens with which `job` can join the batch, or what refuses it and
    /// whether that depends on what is cached.
    fn admissible(&self, job: &LeapJob, budget: u32) -> Result<(Hits, u32), (Reason, bool)> {
        if self.running + self.finishing.seats >= self.spec.max_num_seqs {
            return Err((Reason::Seats, false));
        }
        let ReplicaSpec { chunked_prefill, reserve_full_isl, block_size, .. } = *self.spec;
        let free = self.blocks.free();
        let target = job.state.target;
        let hits = self.hits(job);
        let is_checked_first = chunked_prefill && budget > 0;
        if is_checked_first {
            let least =
                if reserve_full_isl { target } else { self.spec.of_one_step(target).min(budget) };
            if self.blocks_of(least) > free + u64::from(hits.held) {
                return Err((Reason::KvMemory, false));
            }
        }
        let cached = hits.blocks() * block_size;
        let left = self.spec.of_one_step(target - cached);
        let tokens = left.min(budget);
        if tokens == 0 || (tokens < left && !chunked_prefill) {
            return Err((Reason::TokenBudget, hits.may_be_taken()));
        }
        let reserved = if reserve_full_isl { target } else { cached + tokens };
        let is_known_to_fit = is_checked_first && reserve_full_isl;
        if !is_known_to_fit && self.blocks_of(reserved) > free + u64::from(hits.held) {
            return Err((Reason::KvMemory, hits.may_be_taken()));
        }
        Ok((hits, tokens))
    }

    fn block(&mut self, blocked: Blocked) {
        self.blocked = Some(blocked);
        self.refuse(1);
    }

    /// Moves the head of the queue into the batch, with its cached blocks and new ones for `tokens`.
    fn admit_head(
        &mut self,
        id: u32,
        hits: Hits,
        tokens: u32,
        now: Picos,
        jobs: &mut Jobs<JobState>,
    ) {
        self.queue.pop();
        let job = &mut jobs[id];
        self.load.leave_queue(job.prefill_left(), job.decode_left(), job.age_in_queue(now));
        self.take_hits(job, hits);
        let cached = hits.blocks() * self.spec.block_size;
        self.blocks.take(self.blocks_of(cached + tokens) - u64::from(hits.blocks()));
        self.compute_prefix(job, cached + tokens);
        job.state.kv = cached;
        job.place = Place::Running;
        if job.stamps.schedule(now, cached) {
            self.load.cached_tokens += u64::from(cached);
        }
        self.load.backlog_prefill_tokens -= u64::from(cached);
        self.running += 1;
        self.chunks.push(Chunk { id, tokens, pairs: Picos::ZERO });
        self.admitted.push(id);
        if self.admitted.len() > FEW && self.admitted.len() > 3 * self.running as usize {
            self.admitted.retain(|id| jobs[*id].place == Place::Running);
        }
    }
}
