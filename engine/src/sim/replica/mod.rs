//! One replica: which requests share a step, and what the step does to them.
//!
//! Two engines of the same rules behind one trait. [`Stepwise`] simulates every step and visits
//! every sequence in it: it is plain, and the oracle of the other. [`Leaping`] takes many steps at
//! once and visits a sequence when it joins and when it leaves. Both keep integers only, so that
//! equal means equal to the picosecond.

mod books;
mod leaping;
mod load;
mod queue;
mod stepwise;

use std::fmt::Debug;

pub use leaping::Leaping;
pub use load::{Held, Owed, Refusals, ReplicaLoad};
pub use stepwise::Stepwise;

use super::job::Job;
use super::jobs::Jobs;
use super::{ReplicaSpec, Sample};
use crate::slo::Fate;
use crate::units::Picos;

/// What a boundary brought that clients wait for, each list in order of numbers: engines meet
/// requests in orders of their own.
#[derive(Debug, Default)]
pub struct News {
    /// Requests whose first token left at this boundary; some may have ended with it.
    pub first_tokens: Vec<u32>,
    /// Requests that were served to the end at this boundary, whether or not they then failed.
    pub served: Vec<u32>,
}

impl News {
    /// Nothing yet of the boundary that is to come.
    pub fn clear(&mut self) {
        self.first_tokens.clear();
        self.served.clear();
    }

    /// Nobody waited for what the boundary brought.
    pub fn is_empty(&self) -> bool {
        self.first_tokens.is_empty() && self.served.is_empty()
    }

    /// Everything that the boundary brought has been told.
    pub fn sort(&mut self) {
        self.first_tokens.sort_unstable();
        self.served.sort_unstable();
    }
}

/// The engine of one replica, as a fleet drives it.
///
/// The fleet calls [`boundary`](Self::boundary) at [`end`](Self::end), the moment the engine wants
/// to be called next. Between two calls an engine may take several steps at once, as long as nobody
/// can tell: what the outside may see in between, it gives as it is at that moment
/// ([`load_at`](Self::load_at), [`kv_used_tokens`](Self::kv_used_tokens)). Whatever happens to a
/// replica from outside (`push`, `leave`, `cut`) may move its `end` to an earlier moment, never to
/// a later one, and never before that `now`.
pub trait ReplicaEngine<'a>: Debug + Sized {
    /// What the engine keeps of one request.
    type State: Debug + Clone + Default;

    /// An idle replica; what it holds is integrated up to `horizon`.
    fn new(spec: &'a ReplicaSpec, horizon: Picos) -> Self;

    /// Counts, of requests of each class, the gaps above its limit; before anything happens.
    fn count_gaps_above(&mut self, limits: &[Option<Picos>]);

    /// Takes a request into the queue at `now`. An idle replica then wants a boundary at `now`,
    /// after everything else that arrives at this moment.
    fn push(&mut self, id: u32, now: Picos, jobs: &mut Jobs<Self::State>);

    /// Applies what ends at `now`, which is [`end`](Self::end), and starts what comes next: at
    /// most `most_steps` steps (at least one) before the next call.
    fn boundary(&mut self, now: Picos, most_steps: u64, jobs: &mut Jobs<Self::State>);

    /// A request leaves the system at `now`, waiting or running: its queue at once, its batch at
    /// the next step boundary, and the step in progress is done and charged all the same.
    fn leave(&mut self, id: u32, fate: Fate, now: Picos, jobs: &mut Jobs<Self::State>);

    /// Ends what is planned with the step in progress at `now`.
    fn cut(&mut self, now: Picos, jobs: &mut Jobs<Self::State>);

    /// The replica stops at `now`, or the run does: brings the rows of running requests, the load and
    /// what was held up to date. The step in progress is charged as far as it came.
    fn settle(&mut self, now: Picos, jobs: &mut Jobs<Self::State>);

    /// When it wants its next boundary; `None` if it is idle.
    fn end(&self) -> Option<Picos>;

    /// The last step boundary not after `at`, of a replica that is not idle.
    fn last_boundary(&self, at: Picos) -> Option<Picos>;

    /// Steps begun when everything planned has begun.
    fn steps_planned(&self) -> u64;

    /// What it has to do and has done; tokens and steps as of the last call.
    fn load(&self) -> &ReplicaLoad;

    /// The same at a moment between the last call and the next.
    fn load_at(&self, at: Picos) -> ReplicaLoad;

    /// KV tokens' worth of blocks held at a moment between the last call and the next.
    fn kv_used_tokens(&self, at: Picos) -> u64;

    /// Sequences in the batch.
    fn running(&self) -> usize;

    /// Age since due of the oldest waiting request.
    fn oldest_age(&self, at: Picos, jobs: &Jobs<Self::State>) -> Picos;

    /// Why requests waited, as of the last call.
    fn refusals(&self) -> &Refusals;

    /// Blocks and seats held over time, as of the last call.
    fn held(&self) -> &Held;

    /// What the last boundary brought.
    fn news(&self) -> &News;

    /// When the last event of its stream not after `at` left, of a request that has streamed some and
    /// has not left; `at` lies between the last call and the next.
    fn last_event(&self, at: Picos, job: &Job<Self::State>) -> Picos;

    /// Requests in its queue and in its batch that have not left, in order of their numbers.
    fn outstanding(&self, jobs: &Jobs<Self::State>) -> Vec<u32>;

    /// Adds the replica as it is at `sample.at`.
    fn add_to(&self, sample: &mut Sample, jobs: &Jobs<Self::State>) {
        let load = self.load_at(sample.at);
        sample.completed += load.completed;
        sample.waiting += u64::from(load.waiting);
        sample.running += self.running() as u64;
        sample.kv_used_tokens += self.kv_used_tokens(sample.at);
        sample.oldest_age = sample.oldest_age.max(self.oldest_age(sample.at, jobs));
        sample.backlog_prefill_tokens += load.backlog_prefill_tokens;
        sample.backlog_decode_tokens += load.backlog_decode_tokens;
        sample.waiting_prefill_tokens += load.waiting_prefill_tokens;
        sample.waiting_decode_tokens += load.waiting_decode_tokens;
        sample.prefill_tokens += load.prefill_tokens;
        sample.decode_tokens += load.decode_tokens;
        sample.preemptions += load.preemptions;
    }
}
