//! The fast engine: runs of steps in which nothing but time passes are taken at once.
//!
//! As long as nobody joins, finishes, loses blocks or is looked for, every step of a batch of
//! decodes is the one before with one more cached token per sequence. How many such steps follow is
//! known when the first is scheduled ([`plan`]); they are a [`Leap`], and what they do is a sum
//! ([`advance`]). A sequence is touched when it joins and when it leaves, never in between: its
//! counts follow from those of the replica.
//!
//! *Invariants.* Every step the engine begins, the stepwise engine begins at the same picosecond
//! with the same batch. A leap may be cut short or split anywhere without changing anything, so
//! whoever disturbs one only has to cut it early enough. All who run get as many tokens of a step as
//! they may have, but for the last in order of admission, who gets at least one: nobody is admitted
//! before all others got theirs, and what somebody may have never grows. The exception is a step in
//! which somebody lost its own blocks, by priority: who comes behind it has no part in that step
//! ([`rank`]).

mod advance;
mod block_size;
mod cut_off;
mod deadlines;
mod events;
mod free_queue;
mod gaps;
mod job;
mod leap;
mod phases;
mod plan;
mod rank;
mod release;
mod schedule;
mod shared;

use block_size::BlockSize;
use deadlines::Deadlines;
use events::Moments;
use free_queue::FreeQueue;
use gaps::{Gaps, StepsAbove};
use job::{JobState, LeapJob};
use leap::Leap;
use phases::Phases;
use release::Left;
use shared::Shared;

use super::books::Books;
use super::queue::{Head, Queue, Rank};
use super::{Held, News, Refusals, ReplicaEngine, ReplicaLoad};
use crate::sim::ReplicaSpec;
use crate::sim::job::Place;
use crate::sim::jobs::Jobs;
use crate::slo::Fate;
use crate::units::Picos;

/// The engine of one replica, leaping.
#[derive(Debug)]
pub struct Leaping<'a> {
    spec: &'a ReplicaSpec,
    horizon: Picos,
    block_size: BlockSize,
    blocks: FreeQueue,
    total_blocks: u64,
    /// What requests share; nothing until the first comes that may.
    shared: Option<Box<Shared>>,
    phases: Phases,
    /// Requests in order of admission; those that no longer run are skipped.
    admitted: Vec<u32>,
    /// Requests in the batch, decoding or not.
    running: u32,
    /// Decoding requests in the batch.
    decodes: u32,
    /// Tokens in the caches of decoding requests.
    decode_kv: u64,
    /// Requests whose prompts take more steps, in order of admission.
    partials: Vec<u32>,
    /// Requests that would decode and have no part in the step in progress.
    stalled: Vec<u32>,
    /// Requests whose next token is the first since they had no part in a step.
    resumed: Vec<u32>,
    /// When decoding requests finish, by steps done. An entry is stale unless it is still what its
    /// request says.
    finishes: Deadlines,
    /// When decoding requests show their first token, in the same way; of those alone that hide
    /// some before it.
    shows: Deadlines,
    queue: Queue<'a>,
    /// Prompt tokens of the step in progress.
    chunks: Vec<Chunk>,
    /// Requests in the batch that left the system; they leave it at the next boundary.
    leaving: Vec<u32>,
    /// Those of them that decode.
    leaving_decodes: u32,
    /// Blocks and seats of who finished at the last boundary; under asynchronous scheduling they
    /// are usable one step later.
    finishing: Finishing,
    /// Steps done.
    done: i64,
    leap: Option<Leap>,
    /// Why the head of the queue was not admitted.
    blocked: Option<Blocked>,
    /// Idle, and a boundary is to come at this moment.
    waking: Option<Picos>,
    gaps: Gaps,
    above: StepsAbove,
    /// When steps ended, where events of streams hold several tokens.
    moments: Moments,
    books: Books,
    load: ReplicaLoad,
    refusals: Refusals,
    held: Held,
    news: News,
}

/// Some prompt tokens of a request.
#[derive(Debug, Clone, Copy)]
struct Chunk {
    id: u32,
    tokens: u32,
    /// What its attention pairs cost.
    pairs: Picos,
}

#[derive(Debug, Default)]
struct Finishing {
    blocks: u64,
    seats: u32,
    /// Where requests share blocks, what each of them leaves instead: which blocks come free and in
    /// which order depends on who else holds them.
    left: Vec<Left>,
}

/// A visible request that was refused.
#[derive(Debug, Clone, Copy)]
struct Blocked {
    head: u32,
    reason: Reason,
    /// The next block that anybody takes may change the answer.
    depends_on_cache: bool,
}

#[derive(Debug, Clone, Copy)]
enum Reason {
    Seats,
    KvMemory,
    TokenBudget,
}

impl<'a> ReplicaEngine<'a> for Leaping<'a> {
    type State = JobState;

    fn new(spec: &'a ReplicaSpec, horizon: Picos) -> Self {
        let total_blocks = spec.usable_blocks.min(u64::from(u32::MAX));
        let block_size = BlockSize::new(spec.block_size);
        Self {
            spec,
            horizon,
            block_size,
            blocks: FreeQueue::new(total_blocks),
            total_blocks,
            shared: None,
            phases: Phases::new(block_size),
            admitted: Vec::new(),
            running: 0,
            decodes: 0,
            decode_kv: 0,
            partials: Vec::new(),
            finishes: Deadlines::default(),
            shows: Deadlines::default(),
            queue: Queue::new(&spec.scheduling_policy),
            stalled: Vec::new(),
            resumed: Vec::new(),
            chunks: Vec::new(),
            leaving: Vec::new(),
            leaving_decodes: 0,
            finishing: Finishing::default(),
            done: 0,
            leap: None,
            blocked: None,
            waking: None,
            gaps: Gaps::default(),
            above: StepsAbove::default(),
            moments: Moments::default(),
            books: Books::default(),
            load: ReplicaLoad::default(),
            refusals: Refusals::default(),
            held: Held::default(),
            news: News::default(),
        }
    }

    fn count_gaps_above(&mut self, limits: &[Option<Picos>]) {
        self.above = StepsAbove::of(limits);
    }

    fn push(&mut self, id: u32, now: Picos, jobs: &mut Jobs<JobState>) {
        let job = &mut jobs[id];
        job.state.target = job.input;
        job.stamps.stream_interval = self.spec.stream_interval;
        job.place = Place::Waiting;
        job.stamps.queued = Some(now);
        if job.lineage.is_some() && self.shared.is_none() && self.spec.prefix_caching {
            self.shared = Some(Box::default());
        }
        self.load.accept(job.input, job.output);
        self.load.enter_queue(job.input, job.output);
        self.queue.push_back(id);
        let is_looked_at = match self.blocked {
            None => true,
            Some(blocked) => self.is_before(id, blocked, jobs),
        };
        match &mut self.leap {
            Some(leap) if leap.steps > 1 && is_looked_at => {
                let ends_late_enough = leap.first_not_before(now);
                let lag = i64::from(self.spec.async_scheduling);
                leap.steps = leap.steps.min((ends_late_enough + lag).max(1));
            }
            Some(_) => {}
            None => self.waking = self.waking.or(Some(now)),
        }
    }

    fn boundary(&mut self, now: Picos, most_steps: u64, jobs: &mut Jobs<JobState>) {
        self.waking = None;
        self.news.clear();
        let mut visible = now;
        if let Some(leap) = self.leap.take() {
            self.pass(&leap, leap.steps, jobs);
            self.complete(now, jobs);
            if self.spec.async_scheduling {
                visible = leap.time(leap.steps - 1);
            } else {
                self.release_finishing();
            }
        } else {
            self.release_finishing();
        }
        let most_steps = i64::try_from(most_steps).unwrap_or(i64::MAX);
        self.plan(now, visible, most_steps, jobs);
    }

    fn leave(&mut self, id: u32, fate: Fate, now: Picos, jobs: &mut Jobs<JobState>) {
        match jobs[id].place {
            Place::Waiting => {
                let job = &jobs[id];
                self.load.leave_queue(job.prefill_left(), job.decode_left(), job.age_in_queue(now));
                if self.blocked.is_some_and(|blocked| blocked.head == id) {
                    self.cut(now, jobs);
                }
                self.abandon(&jobs[id]);
            }
            Place::Running => {
                self.cut(now, jobs);
                self.split(now, jobs);
                let job = &mut jobs[id];
                self.update(job);
                self.leaving.push(id);
                self.leaving_decodes += u32::from(job.is_decoding());
            }
            Place::Outside | Place::Held | Place::Gone => return,
        }
        let job = &mut jobs[id];
        self.load.dismiss(job.prefill_left(), job.decode_left());
        job.end(fate, now);
    }

    fn cut(&mut self, now: Picos, _jobs: &mut Jobs<JobState>) {
        if let Some(leap) = &mut self.leap {
            leap.steps = leap.in_progress(now);
        }
    }

    fn settle(&mut self, now: Picos, jobs: &mut Jobs<JobState>) {
        self.cut(now, jobs);
        self.split(now, jobs);
        self.stop(now, jobs);
    }

    fn end(&self) -> Option<Picos> {
        self.leap.as_ref().map(Leap::end).or(self.waking)
    }

    fn last_boundary(&self, at: Picos) -> Option<Picos> {
        self.leap.as_ref().map(|leap| leap.time(leap.in_progress(at) - 1))
    }

    fn steps_planned(&self) -> u64 {
        self.load.steps + self.leap.as_ref().map_or(0, |leap| leap.steps.cast_unsigned() - 1)
    }

    fn load(&self) -> &ReplicaLoad {
        &self.load
    }

    fn load_at(&self, at: Picos) -> ReplicaLoad {
        let mut load = self.load;
        let streaming = u64::from(self.decodes - self.leaving_decodes);
        let tokens = self.steps_since(at).cast_unsigned() * streaming;
        load.decode_tokens += tokens;
        load.backlog_decode_tokens -= tokens;
        load
    }

    fn kv_used_tokens(&self, at: Picos) -> u64 {
        let mut blocks = self.held_blocks();
        let passed = self.steps_since(at);
        if passed > 0 {
            blocks = blocks + self.phases.needed(2, passed + 1) - self.finishing.blocks;
        }
        blocks * u64::from(self.spec.block_size)
    }

    fn running(&self) -> usize {
        self.running as usize
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
        let running = self.admitted.iter().copied().filter(runs);
        let mut all: Vec<u32> = running.chain(self.queue.waiting(jobs)).collect();
        all.sort_unstable();
        all
    }

    fn last_event(&self, at: Picos, job: &LeapJob) -> Picos {
        let steps = self.done + self.steps_since(at);
        if self.streams_in_events() {
            return self.last_event_by(steps, job);
        }
        match self.last_boundary(at) {
            Some(boundary) if job.is_decoding() && steps > job.state.since => boundary,
            _ => job.state.last_token,
        }
    }
}

impl Leaping<'_> {
    fn held_blocks(&self) -> u64 {
        self.total_blocks - self.blocks.free()
    }

    /// Steps of the leap that have passed at a moment before its end.
    fn steps_since(&self, at: Picos) -> i64 {
        self.leap.as_ref().map_or(0, |leap| leap.in_progress(at) - 1)
    }

    /// Blocks of a running request with `kv` tokens in its cache, windows included.
    fn blocks_of(&self, kv: u32) -> u64 {
        self.blocks_for(kv) + u64::from(self.spec.window_blocks_per_seq)
    }

    fn blocks_for(&self, tokens: u32) -> u64 {
        u64::from(self.block_size.blocks(tokens))
    }
}
