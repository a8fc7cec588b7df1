//! The plain engine: every step is simulated and every sequence in it is visited.
//!
//! `schedule` decides the next step's batch as vLLM V1 (0.19) does; `complete` applies it. The
//! oracle of the leaping engine.

mod blocks;
mod cached;
mod complete;
mod cut_off;
mod job;
mod schedule;

use blocks::{BlockId, BlockPool};
use job::{Holdings, JobState, StepJob};

use super::books::{Books, kv_reads, part, prefill_cost};
use super::queue::{Head, Queue, Rank};
use super::{Held, News, Refusals, ReplicaEngine, ReplicaLoad};
use crate::sim::ReplicaSpec;
use crate::sim::job::Place;
use crate::sim::jobs::Jobs;
use crate::slo::Fate;
use crate::step_time::{BatchShape, CompiledLaw};
use crate::units::Picos;

/// The engine of one replica, step by step.
#[derive(Debug)]
pub struct Stepwise<'a> {
    spec: &'a ReplicaSpec,
    horizon: Picos,
    pool: BlockPool,
    /// In order of admission.
    running: Vec<u32>,
    queue: Queue<'a>,
    /// Finished at the last boundary; under asynchronous scheduling their seats and blocks are
    /// usable one step later.
    finishing: Vec<Holdings>,
    /// Requests in the batch that left the system; they leave it at the next boundary.
    leaving: u32,
    /// The step in progress.
    step: Option<Step>,
    /// Idle, and a boundary is to come at this moment.
    waking: Option<Picos>,
    books: Books,
    load: ReplicaLoad,
    refusals: Refusals,
    held: Held,
    news: News,
    /// Limits on the gaps of each class that are counted.
    gap_limits: Vec<Option<Picos>>,
}

/// A step in progress.
#[derive(Debug)]
struct Step {
    start: Picos,
    end: Picos,
    batch: Vec<Work>,
}

/// One request's share of a step: `chunk` prompt tokens, or one decode when it is zero.
#[derive(Debug, Clone, Copy)]
struct Work {
    id: u32,
    chunk: u32,
}

impl<'a> ReplicaEngine<'a> for Stepwise<'a> {
    type State = JobState;

    fn new(spec: &'a ReplicaSpec, horizon: Picos) -> Self {
        Self {
            spec,
            horizon,
            pool: BlockPool::new(spec.usable_blocks),
            running: Vec::new(),
            queue: Queue::new(&spec.scheduling_policy),
            finishing: Vec::new(),
            leaving: 0,
            step: None,
            waking: None,
            books: Books::default(),
            load: ReplicaLoad::default(),
            refusals: Refusals::default(),
            held: Held::default(),
            news: News::default(),
            gap_limits: Vec::new(),
        }
    }

    fn count_gaps_above(&mut self, limits: &[Option<Picos>]) {
        self.gap_limits = limits.to_vec();
    }

    fn push(&mut self, id: u32, now: Picos, jobs: &mut Jobs<JobState>) {
        let job = &mut jobs[id];
        job.state.target = job.input;
        job.stamps.stream_interval = self.spec.stream_interval;
        job.state.gap_limit = self.gap_limits.get(job.class as usize).copied().flatten();
        job.place = Place::Waiting;
        job.stamps.queued = Some(now);
        self.load.accept(job.prefill_left(), job.decode_left());
        self.load.enter_queue(job.prefill_left(), job.decode_left());
        self.queue.push_back(id);
        if self.step.is_none() && self.waking.is_none() {
            self.waking = Some(now);
        }
    }

    fn boundary(&mut self, now: Picos, _most_steps: u64, jobs: &mut Jobs<JobState>) {
        self.waking = None;
        self.news.clear();
        let mut visible = now;
        let step = self.step.take();
        if let Some(step) = &step {
            self.hold(step.start, step.end);
        }
        self.release_finishing();
        self.drop_leaving(jobs);
        if let Some(step) = step {
            self.complete(&step, now, jobs);
            if self.spec.async_scheduling {
                visible = step.start;
            } else {
                self.release_finishing();
            }
        }
        self.start_step(now, visible, jobs);
    }

    fn leave(&mut self, id: u32, fate: Fate, now: Picos, jobs: &mut Jobs<JobState>) {
        let job = &mut jobs[id];
        match job.place {
            Place::Waiting => {
                self.load.leave_queue(job.prefill_left(), job.decode_left(), job.age_in_queue(now));
            }
            Place::Running => self.leaving += 1,
            Place::Outside | Place::Held | Place::Gone => return,
        }
        self.load.dismiss(job.prefill_left(), job.decode_left());
        job.end(fate, now);
    }

    fn cut(&mut self, _now: Picos, _jobs: &mut Jobs<JobState>) {}

    fn settle(&mut self, now: Picos, jobs: &mut Jobs<JobState>) {
        if let Some(step) = self.step.take() {
            self.cut_off(&step, now, jobs);
        }
        for id in self.running.iter().copied().chain(self.queue.preempted()) {
            if let Some(job) = jobs.get_mut(id)
                && (job.place != Place::Gone && job.stamps.generated > 0)
            {
                job.wait_until(now);
                job.gap_until(now);
            }
        }
    }

    fn end(&self) -> Option<Picos> {
        self.step.as_ref().map(|step| step.end).or(self.waking)
    }

    fn last_boundary(&self, _at: Picos) -> Option<Picos> {
        self.step.as_ref().map(|step| step.start)
    }

    fn steps_planned(&self) -> u64 {
        self.load.steps
    }

    fn load(&self) -> &ReplicaLoad {
        &self.load
    }

    fn load_at(&self, _at: Picos) -> ReplicaLoad {
        self.load
    }

    fn kv_used_tokens(&self, _at: Picos) -> u64 {
        self.held_blocks() * u64::from(self.spec.block_size)
    }

    fn running(&self) -> usize {
        self.running.len()
    }

    fn oldest_age(&self, at: Picos, jobs: &Jobs<JobState>) -> Picos {
        self.queue.oldest_age(at, jobs)
    }

    fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    fn held(&self) -> &Held {
        &self.held
    }

    fn news(&self) -> &News {
        &self.news
    }

    fn outstanding(&self, jobs: &Jobs<JobState>) -> Vec<u32> {
        let runs = |id: &u32| jobs[*id].place == Place::Running;
        let running = self.running.iter().copied().filter(runs);
        let mut all: Vec<u32> = running.chain(self.queue.waiting(jobs)).collect();
        all.sort_unstable();
        all
    }

    fn last_event(&self, _at: Picos, job: &StepJob) -> Picos {
        job.state.last_event
    }
}

impl Stepwise<'_> {
    fn held_blocks(&self) -> u64 {
        self.pool.total() - self.pool.free_count()
    }

    /// What the replica held from `start` to `end`, as far as it lies before the horizon.
    fn hold(&mut self, start: Picos, end: Picos) {
        let span = end.min(self.horizon) - start.min(self.horizon);
        self.held.add(self.held_blocks(), self.running.len() as u64, span);
    }

    /// Decides the next step with what is known at `visible` and starts it at `now`.
    fn start_step(&mut self, now: Picos, visible: Picos, jobs: &mut Jobs<JobState>) {
        let mut batch = self.schedule(now, visible, jobs);
        if batch.is_empty() {
            // Nothing runs, so nothing is ahead of the scheduler: it sees the present.
            self.release_finishing();
        }
        while batch.is_empty() {
            let nobody_runs = self.running.is_empty();
            batch = self.schedule(now, now, jobs);
            if batch.is_empty() && nobody_runs {
                return;
            }
        }
        let shape = shape(&batch, jobs);
        let duration = self.spec.law.step(shape);
        self.charge(shape, &batch, jobs);
        self.load.steps += 1;
        self.load.sequence_steps += batch.len() as u64;
        self.load.busy += duration;
        self.step = Some(Step { start: now, end: now + duration, batch });
    }

    /// Shares the step's time out to what caused it.
    fn charge(&mut self, shape: BatchShape, batch: &[Work], jobs: &mut Jobs<JobState>) {
        let law = &self.spec.law;
        let pairs = |job: &StepJob, chunk: u32| pairs(law, job, chunk);
        let prefills = || batch.iter().filter(|work| work.chunk > 0);
        let all_pairs = prefills().map(|work| pairs(&jobs[work.id], work.chunk));
        let all_pairs = all_pairs.fold(Picos::ZERO, |sum, pairs| sum + pairs);
        let composition =
            law.composition(shape.prefill_tokens, shape.prefill_half_pairs, shape.decode_seqs);
        let per_token = self.books.step(law, shape, composition, all_pairs);
        for work in prefills() {
            let job = &mut jobs[work.id];
            let cost = prefill_cost(per_token, work.chunk, pairs(job, work.chunk));
            let again = job.state.high_water.saturating_sub(job.state.kv).min(work.chunk);
            job.stamps.busy += cost;
            job.stamps.recomputed += part(cost, again, work.chunk);
            self.load.prefill_busy += cost;
            self.load.recomputed_tokens += u64::from(again);
        }
    }

    /// Opens the account of a run of decode steps: from here on each adds one token to its cache.
    fn begin_decode(&self, job: &mut StepJob) {
        job.state.decode_mark = self.books.decode();
        job.state.decode_mark_kv = job.state.kv;
        job.state.beside_prefill_mark = self.books.beside_prefill();
    }

    /// Closes the account of a run of decode steps.
    fn settle_decode(&self, job: &mut StepJob) {
        let steps = u64::from(job.state.kv - job.state.decode_mark_kv);
        job.stamps.busy += self.books.decode() - job.state.decode_mark;
        job.stamps.busy += kv_reads(&self.spec.law, job.state.decode_mark_kv, steps);
        let beside_prefill = self.books.beside_prefill() - job.state.beside_prefill_mark;
        job.stamps.stream.beside_prefill += beside_prefill;
    }
}

/// What the attention pairs of a chunk of a prompt cost.
fn pairs(law: &CompiledLaw, job: &StepJob, chunk: u32) -> Picos {
    law.pairs(BatchShape::half_pairs(u64::from(job.state.kv), u64::from(chunk)))
}

/// The batch shape that the step law sees.
fn shape(batch: &[Work], jobs: &Jobs<JobState>) -> BatchShape {
    let mut shape = BatchShape::default();
    for work in batch {
        let context = u64::from(jobs[work.id].state.kv);
        if work.chunk == 0 {
            shape.add_decode(context);
        } else {
            shape.add_prefill(context, u64::from(work.chunk));
        }
    }
    shape
}
