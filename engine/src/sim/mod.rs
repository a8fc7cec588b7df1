//! What would happen: every step of every replica, every sequence in it.
//!
//! A fleet loop ([`FleetSim`]) drives replica engines, of which there are two: the fast one leaps
//! over runs of equal steps, the plain one takes every step and is the oracle of the other. They
//! give the same run, to the picosecond. The scheduler follows vLLM V1 (0.19): running requests
//! first, then waiting ones first come, first served; long prompts in parts; paged KV; preemption
//! by recompute from the tail, whose blocks stay cached until taken; prompt reservation at
//! admission; and the one-step lag of asynchronous scheduling.

mod clients;
mod ends;
mod event;
#[cfg(test)]
mod exactness;
mod fleet;
mod job;
mod jobs;
mod loads;
mod peaks;
mod replica;
mod rows;
mod sampler;
mod saturate;
pub mod yardstick;

pub use clients::{ClientRequest, drive_clients};
pub use fleet::{FleetSim, Progress};
pub use peaks::{Peaks, WorkRate};
pub use replica::Refusals;
use replica::{Leaping, ReplicaEngine, Stepwise};
pub use rows::Stamps;
pub use saturate::{Saturation, saturate, saturate_one_of};

use serde::{Deserialize, Serialize};

use crate::fleet::{Admission, Life, Routing};
use crate::step_time::CompiledLaw;
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// Simulates `requests` on `fleet` to the end, or to a limit.
pub fn simulate(requests: &[OfferedRequest], fleet: &FleetSpec, limits: RunLimits) -> SimRun {
    run(FleetSim::<Leaping>::with_engine(requests, fleet, limits))
}

/// The same run by the reference engine, step by step: what [`simulate`] is checked against.
pub fn simulate_stepwise(
    requests: &[OfferedRequest],
    fleet: &FleetSpec,
    limits: RunLimits,
) -> SimRun {
    run(FleetSim::<Stepwise>::with_engine(requests, fleet, limits))
}

fn run<'a, R: ReplicaEngine<'a>>(mut sim: FleetSim<'a, R>) -> SimRun {
    while let Progress::Running { .. } = sim.advance(u64::MAX) {}
    sim.finish()
}

/// Pools of like replicas behind one door.
#[derive(Debug, Clone)]
pub struct FleetSpec {
    /// At least one; requests name theirs by its index.
    pub pools: Vec<PoolSpec>,
    /// How a request finds its replica within its pool.
    pub routing: Routing,
    /// Whom the fleet lets in.
    pub admission: Admission,
}

/// Like replicas behind a router.
#[derive(Debug, Clone)]
pub struct PoolSpec {
    /// One of them.
    pub replica: ReplicaSpec,
    /// How many there are at first, at least one.
    pub replicas: u32,
    /// How they come and go.
    pub life: Life,
}

impl PoolSpec {
    /// Replicas that are there from the beginning to the end.
    pub fn constant(replica: ReplicaSpec, replicas: u32) -> Self {
        Self { replica, replicas, life: Life::default() }
    }

    /// The most that are wanted at any moment.
    pub fn most_replicas(&self) -> u32 {
        self.life.most_replicas(self.replicas)
    }
}

impl FleetSpec {
    /// One pool that lets everybody in.
    pub fn open(replica: ReplicaSpec, replicas: u32) -> Self {
        let pools = vec![PoolSpec::constant(replica, replicas)];
        Self { pools, routing: Routing::default(), admission: Admission::default() }
    }

    /// Replicas of all pools at first.
    pub fn replicas(&self) -> u32 {
        self.pools.iter().map(|pool| pool.replicas).sum()
    }
}

/// Whose turn it is next, and who loses blocks first when there are not enough.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SchedulingPolicy {
    /// First come, first served; who was admitted last loses.
    #[default]
    Fcfs,
    /// By the priority of each class, a lower number being more urgent, and then by arrival; who is
    /// least urgent loses.
    Priority(Vec<i32>),
}

impl SchedulingPolicy {
    /// The priority of a class; 0 where nobody says, as in vLLM.
    fn priority_of(&self, class: u32) -> i32 {
        match self {
            Self::Fcfs => 0,
            Self::Priority(of_classes) => of_classes.get(class as usize).copied().unwrap_or(0),
        }
    }
}

/// One replica's engine, as the scheduler sees it.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "vLLM's switches, each named")]
pub struct ReplicaSpec {
    /// Step time.
    pub law: CompiledLaw,
    /// KV blocks that requests can hold (the engine's count less its null block).
    pub usable_blocks: u64,
    /// Tokens per block.
    pub block_size: u32,
    /// Blocks that a running sequence holds beside those of its length: what its sliding-window
    /// layers and recurrent states keep. The most they ever keep, so an upper bound for sequences
    /// shorter than the window.
    pub window_blocks_per_seq: u32,
    /// Sequences that may run at once.
    pub max_num_seqs: u32,
    /// Tokens one step may process.
    pub max_num_batched_tokens: u32,
    /// Prompt tokens of one request that one step may process; 0 is no such limit.
    pub long_prefill_token_threshold: u32,
    /// Whose turn it is.
    pub scheduling_policy: SchedulingPolicy,
    /// Tokens of one event of a stream, after the first token, which leaves at once; 1 or more.
    pub stream_interval: u16,
    /// Longest prompt plus output, tokens.
    pub max_model_len: u32,
    /// Split prompts over steps.
    pub chunked_prefill: bool,
    /// A preempted prefix survives until its blocks are taken.
    pub prefix_caching: bool,
    /// Admit only when blocks for the whole prompt are free.
    pub reserve_full_isl: bool,
    /// Step m + 1 is scheduled when step m starts.
    pub async_scheduling: bool,
    /// From due to queued: tokeniser and server.
    pub api_overhead: Picos,
}

impl ReplicaSpec {
    /// Of so many prompt tokens that a request has left, those that one step may process.
    fn of_one_step(&self, tokens: u32) -> u32 {
        match self.long_prefill_token_threshold {
            0 => tokens,
            threshold => tokens.min(threshold),
        }
    }

    /// Whether a request is longer than `max_model_len` or than all KV blocks together, so that it
    /// would wait, or preempt itself, for ever.
    pub fn can_never_fit(&self, input_tokens: u32, output_tokens: u32) -> bool {
        let tokens = u64::from(input_tokens) + u64::from(output_tokens);
        // The last token is never read back, so it needs no place in the cache.
        let blocks = (tokens - 1).div_ceil(u64::from(self.block_size));
        tokens > u64::from(self.max_model_len)
            || blocks + u64::from(self.window_blocks_per_seq) > self.usable_blocks
    }
}

/// When a run ends before everything is decided, and what its averages are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// End of the arrivals: time-weighted averages are over `[0, horizon]`.
    pub horizon: Picos,
    /// Steps in all, over all replicas.
    pub max_steps: u64,
    /// Attempts in all, tries after the first and requests of closed loops included.
    pub max_attempts: usize,
    /// Nothing happens after this moment.
    pub until: Picos,
}

impl RunLimits {
    /// Steps of a run nobody limits further: some seconds of computing.
    pub const MAX_STEPS: u64 = 100_000_000;
    /// Attempts of a run nobody limits further: twice what a workload may offer.
    pub const MAX_ATTEMPTS: usize = 10_000_000;

    /// Until everything is decided, or time as the simulator counts it comes to its end.
    pub fn to_the_end(horizon: Picos) -> Self {
        Self {
            horizon,
            max_steps: Self::MAX_STEPS,
            max_attempts: Self::MAX_ATTEMPTS,
            until: Picos::LAST,
        }
    }
}

/// The limit that cut a run off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CutOff {
    /// [`RunLimits::max_steps`].
    Steps,
    /// [`RunLimits::max_attempts`].
    Attempts,
    /// [`RunLimits::until`].
    Time,
}

/// What a run gives, before anyone counts it.
#[derive(Debug, Clone, PartialEq)]
pub struct SimRun {
    /// One row per offered request, in the order offered.
    pub stamps: Stamps,
    /// What was offered, by due moment, then class, where users in a closed loop or sessions asked
    /// more than the list that was given; `None` where the list was all.
    pub requests: Option<Vec<OfferedRequest>>,
    /// The fleet at evenly spaced moments, and at the end.
    pub samples: Vec<Sample>,
    /// The most that was owed at any moment.
    pub peaks: Peaks,
    /// When the last request was decided, or the run was cut off.
    pub ended: Picos,
    /// Steps executed, over all replicas.
    pub steps: u64,
    /// Replica time spent in steps.
    pub busy: Picos,
    /// Prompt and output tokens that were computed a second time after a preemption.
    pub recomputed_tokens: u64,
    /// Each pool alone, in the order of the fleet.
    pub pools: Vec<PoolRun>,
    /// The limit that cut the run off, if one did.
    pub cut_off: Option<CutOff>,
    /// Turns of sessions that were never asked, per class; empty where no class has sessions.
    pub unasked: Vec<UnaskedTurns>,
}

/// Turns that a session would have had, by why they were never asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnaskedTurns {
    /// A turn before was lost: its user does not go on.
    pub after_a_lost_turn: u64,
    /// Prompt and answer would have been longer than `max_model_len`.
    pub beyond_max_model_len: u64,
    /// They would have been due after the horizon.
    pub after_the_horizon: u64,
}

/// What one pool did in a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PoolRun {
    /// Memory and seats over the horizon.
    pub usage: Usage,
    /// The most that its replicas owed; `work_s` by the pool's own rate.
    pub peaks: Peaks,
    /// Most KV tokens' worth of blocks held at a sampled moment.
    pub peak_kv_tokens: u64,
    /// Most sequences in batches at a sampled moment.
    pub peak_running: u64,
    /// Replica time spent in steps.
    pub busy: Picos,
    /// Tokens that were computed a second time after a preemption.
    pub recomputed_tokens: u64,
    /// When its replicas were there, in order of their begin; none where nothing happens to any:
    /// then all are there all the time.
    pub stints: Vec<Stint>,
}

/// A replica from being ordered until it is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stint {
    /// Its number in the fleet; a place is taken again when its replica is gone.
    pub replica: u32,
    /// When it was ordered: it is paid for from here on.
    pub from: Picos,
    /// When it was ready, or would have been at the earliest when it was gone.
    pub ready: Picos,
    /// Until when it took requests: from then on it finished what it had.
    pub takes_until: Picos,
    /// When it was gone, or the run ended.
    pub to: Picos,
    /// Why.
    pub end: StintEnd,
}

/// Why a replica is not there any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StintEnd {
    /// It failed.
    Crashed,
    /// It was let go and had finished what it had.
    Drained,
    /// It was let go before it was ready.
    Cancelled,
    /// It is there; the run ended.
    RunEnded,
}

/// Replicas by what they are doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplicaStates {
    /// Ordered and not ready yet.
    pub starting: u32,
    /// Taking requests.
    pub ready: u32,
    /// Finishing what they have.
    pub draining: u32,
    /// Failed, their replacements starting.
    pub crashed: u32,
}

/// Use of memory and seats over the horizon, all replicas of a pool together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Usage {
    /// KV tokens held × seconds.
    pub kv_token_s: f64,
    /// Sequences in batches × seconds.
    pub running_s: f64,
}

/// The fleet at one moment. Counts are since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sample {
    /// The moment.
    pub at: Picos,
    /// Requests due so far.
    pub offered: u64,
    /// Requests completed so far, good or not.
    pub completed: u64,
    /// Requests gone without completing: cancelled, failed, timed out, turned away. Not those
    /// whose clients try again.
    pub lost: u64,
    /// Requests whose clients wait to try again now.
    pub deferred: u64,
    /// Attempts that reached the router so far, the first ones included.
    pub attempts: u64,
    /// Requests in queues now, preempted ones included.
    pub waiting: u64,
    /// Sequences in batches now.
    pub running: u64,
    /// KV tokens' worth of blocks held now.
    pub kv_used_tokens: u64,
    /// Age since due of the oldest waiting request, zero if none waits.
    pub oldest_age: Picos,
    /// Prompt tokens (and tokens to compute again) accepted and not yet computed.
    pub backlog_prefill_tokens: u64,
    /// Output tokens accepted and not yet streamed.
    pub backlog_decode_tokens: u64,
    /// The part of `backlog_prefill_tokens` that waits in queues.
    pub waiting_prefill_tokens: u64,
    /// The part of `backlog_decode_tokens` that waits in queues.
    pub waiting_decode_tokens: u64,
    /// Seconds of fleet work accepted and unfinished, by the rates the run was given.
    pub backlog_work_s: f64,
    /// The part of `backlog_work_s` that waits in queues.
    pub waiting_work_s: f64,
    /// Prompt tokens computed so far, recomputed ones included.
    pub prefill_tokens: u64,
    /// Output tokens streamed so far.
    pub decode_tokens: u64,
    /// Preemptions so far.
    pub preemptions: u64,
    /// Replicas now.
    pub replicas: ReplicaStates,
}
