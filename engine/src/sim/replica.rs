//! One replica: which requests share a step, and what the step does to them.
//!
//! The plainest form: every step is simulated and every sequence in it is visited. `schedule`
//! decides the next step's batch as vLLM V1 (0.19) does; `complete` applies it.

mod blocks;
mod complete;
mod schedule;

use std::collections::VecDeque;

pub use blocks::{BlockId, BlockPool, Content};

use super::ReplicaSpec;
use super::job::{Job, Place};
use crate::slo::Fate;
use crate::step_time::BatchShape;
use crate::units::Picos;

/// The engine of one replica.
#[derive(Debug)]
pub struct Replica<'a> {
    spec: &'a ReplicaSpec,
    pool: BlockPool,
    /// In order of admission; the tail is preempted first.
    running: Vec<u32>,
    /// Never scheduled, first come first served. Requests that gave up are skipped at the head.
    waiting: VecDeque<u32>,
    /// Preempted, the next to return on top; they go before all of `waiting`.
    preempted: Vec<u32>,
    /// Finished at the last boundary; under asynchronous scheduling their seats and blocks are
    /// usable one step later.
    finishing: Vec<u32>,
    /// Requests in the batch whose users gave up; they leave it at the next boundary.
    given_up: u32,
    /// The step in progress.
    step: Option<Step>,
    /// Idle, and a boundary is to come.
    waking: bool,
    /// Decode cost of one sequence summed over all steps so far, without its KV reads.
    decode_cost_s: f64,
    load: ReplicaLoad,
    refusals: Refusals,
}

/// A step in progress.
#[derive(Debug)]
struct Step {
    start: Picos,
    batch: Vec<Work>,
}

/// One request's share of a step: `chunk` prompt tokens, or one decode when it is zero.
#[derive(Debug, Clone, Copy)]
struct Work {
    id: u32,
    chunk: u32,
}

/// What a replica has to do and has done, counted as it goes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ReplicaLoad {
    /// Requests in queues.
    pub waiting: u32,
    /// Requests queued or running.
    pub outstanding: u32,
    /// Prompt tokens (and tokens to compute again) not yet computed.
    pub backlog_prefill_tokens: u64,
    /// Output tokens not yet streamed.
    pub backlog_decode_tokens: u64,
    /// The part of `backlog_prefill_tokens` that waits in queues.
    pub waiting_prefill_tokens: u64,
    /// The part of `backlog_decode_tokens` that waits in queues.
    pub waiting_decode_tokens: u64,
    /// Prompt tokens computed.
    pub prefill_tokens: u64,
    /// Output tokens streamed.
    pub decode_tokens: u64,
    /// Requests served to the end.
    pub completed: u64,
    /// Requests served to the end and then failed.
    pub failed: u64,
    /// Requests that lost their blocks.
    pub preemptions: u64,
    /// Tokens computed a second time.
    pub recomputed_tokens: u64,
    /// Steps executed.
    pub steps: u64,
    /// Time in steps.
    pub busy: Picos,
    /// Replica-seconds by the marginal terms of prefill.
    pub prefill_busy_s: f64,
}

/// Steps in which a visible request was not admitted, by the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Refusals {
    /// `max_num_seqs` was reached.
    pub seats: u64,
    /// Too few free KV blocks.
    pub kv_memory: u64,
    /// `max_num_batched_tokens` was used up.
    pub token_budget: u64,
}

impl<'a> Replica<'a> {
    /// An idle replica.
    pub fn new(spec: &'a ReplicaSpec) -> Self {
        Self {
            spec,
            pool: BlockPool::new(u32::try_from(spec.usable_blocks).unwrap_or(u32::MAX)),
            running: Vec::new(),
            waiting: VecDeque::new(),
            preempted: Vec::new(),
            finishing: Vec::new(),
            given_up: 0,
            step: None,
            waking: false,
            decode_cost_s: 0.0,
            load: ReplicaLoad::default(),
            refusals: Refusals::default(),
        }
    }

    /// What it has to do and has done.
    pub fn load(&self) -> &ReplicaLoad {
        &self.load
    }

    /// Why requests waited.
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Sequences in the batch.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// KV tokens' worth of blocks held.
    pub fn kv_used_tokens(&self) -> u64 {
        u64::from(self.pool.total() - self.pool.free_count()) * u64::from(self.spec.block_size)
    }

    /// Age since due of the oldest waiting request.
    pub fn oldest_age(&self, now: Picos, jobs: &[Job]) -> Picos {
        let is_waiting = |id: &&u32| jobs[**id as usize].place == Place::Waiting;
        let queued = self.waiting.iter().find(is_waiting);
        let oldest = self.preempted.iter().filter(is_waiting).chain(queued);
        oldest.map(|id| now - jobs[*id as usize].due).max().unwrap_or(Picos::ZERO)
    }

    /// Takes a request into the queue at `now`. True if the replica was asleep: it then wants a
    /// boundary at `now`, after everything else that arrives at this moment.
    pub fn push(&mut self, id: u32, now: Picos, jobs: &mut [Job]) -> bool {
        let job = &mut jobs[id as usize];
        job.place = Place::Waiting;
        job.stamps.queued = Some(now);
        self.load.outstanding += 1;
        self.load.enter_queue(job);
        self.load.backlog_prefill_tokens += u64::from(job.prefill_left());
        self.load.backlog_decode_tokens += u64::from(job.decode_left());
        self.waiting.push_back(id);
        let asleep = self.step.is_none() && !self.waking;
        self.waking |= asleep;
        asleep
    }

    /// Applies the step that ends at `now`, if any, and starts the next; returns its end, or
    /// `None` when there is nothing to do.
    pub fn boundary(&mut self, now: Picos, jobs: &mut [Job]) -> Option<Picos> {
        self.waking = false;
        let mut visible = now;
        self.release_finishing(jobs);
        if let Some(step) = self.step.take() {
            self.complete(&step, now, jobs);
            if self.spec.async_scheduling {
                visible = step.start;
            } else {
                self.release_finishing(jobs);
            }
        }
        self.start_step(now, visible, jobs)
    }

    /// A user gave up before the first token: the request leaves its queue now, or its batch at
    /// the next boundary.
    pub fn give_up(&mut self, id: u32, now: Picos, jobs: &mut [Job]) {
        let job = &mut jobs[id as usize];
        match job.place {
            Place::Waiting => self.load.leave_queue(job),
            Place::Running => self.given_up += 1,
            Place::Outside | Place::Gone => return,
        }
        self.load.outstanding -= 1;
        self.load.backlog_prefill_tokens -= u64::from(job.prefill_left());
        self.load.backlog_decode_tokens -= u64::from(job.decode_left());
        job.end(Fate::Cancelled, now);
    }

    /// Decides the next step with what is known at `visible` and starts it at `now`.
    fn start_step(&mut self, now: Picos, visible: Picos, jobs: &mut [Job]) -> Option<Picos> {
        self.drop_given_up(jobs);
        let mut batch = self.schedule(now, visible, jobs);
        if batch.is_empty() {
            // Nothing runs, so nothing is ahead of the scheduler: it sees the present.
            self.release_finishing(jobs);
            batch = self.schedule(now, now, jobs);
        }
        if batch.is_empty() {
            return None;
        }
        let shape = shape(&batch, jobs);
        let duration = self.spec.law.step(shape);
        self.charge(shape, &batch, jobs);
        self.load.steps += 1;
        self.load.busy += duration;
        self.step = Some(Step { start: now, batch });
        Some(now + duration)
    }

    /// Shares the step's time out by the marginal terms of the law.
    fn charge(&mut self, shape: BatchShape, batch: &[Work], jobs: &mut [Job]) {
        let parts = self.spec.law.parts(shape);
        self.decode_cost_s += parts.decode_s(0);
        if shape.prefill_tokens == 0 {
            return;
        }
        for work in batch.iter().filter(|work| work.chunk > 0) {
            let job = &mut jobs[work.id as usize];
            let chunk = u64::from(work.chunk);
            let cost = parts.prefill_s(chunk, BatchShape::half_pairs(u64::from(job.kv), chunk));
            let again = job.high_water.saturating_sub(job.kv).min(work.chunk);
            job.stamps.busy_s += cost;
            job.stamps.recomputed_s += cost * f64::from(again) / f64::from(work.chunk);
            self.load.prefill_busy_s += cost;
            self.load.recomputed_tokens += u64::from(again);
        }
    }

    /// Closes the account of a run of decode steps.
    fn settle_decode(&self, job: &mut Job) {
        let steps = f64::from(job.kv - job.decode_mark_kv);
        let kv_read = steps * f64::from(job.decode_mark_kv) + steps * (steps - 1.0) / 2.0;
        job.stamps.busy_s += self.decode_cost_s - job.decode_mark_s
            + kv_read * self.spec.law.per_kv_token().as_secs();
    }
}

impl ReplicaLoad {
    fn enter_queue(&mut self, job: &Job) {
        self.waiting += 1;
        self.waiting_prefill_tokens += u64::from(job.prefill_left());
        self.waiting_decode_tokens += u64::from(job.decode_left());
    }

    fn leave_queue(&mut self, job: &Job) {
        self.waiting -= 1;
        self.waiting_prefill_tokens -= u64::from(job.prefill_left());
        self.waiting_decode_tokens -= u64::from(job.decode_left());
    }
}

/// The batch shape that the step law sees.
fn shape(batch: &[Work], jobs: &[Job]) -> BatchShape {
    let mut shape = BatchShape::default();
    for work in batch {
        let context = u64::from(jobs[work.id as usize].kv);
        if work.chunk == 0 {
            shape.add_decode(context);
        } else {
            shape.add_prefill(context, u64::from(work.chunk));
        }
    }
    shape
}
