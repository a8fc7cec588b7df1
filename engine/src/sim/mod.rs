//! What would happen: every step of every replica, every sequence in it.
//!
//! The reference simulator. It prefers clarity to speed and becomes the oracle of a faster one.
//! Its scheduler follows vLLM V1 (0.19): running decodes first, then the one partial prefill, then
//! waiting requests first come, first served; paged KV; preemption by recompute from the tail,
//! whose blocks stay cached until taken; prompt reservation at admission; and the one-step lag of
//! asynchronous scheduling.

use crate::slo::RequestStamps;
use crate::step_time::CompiledLaw;
use crate::units::Picos;

/// One replica's engine, as the scheduler sees it.
#[derive(Debug, Clone)]
pub struct ReplicaSpec {
    /// Step time.
    pub law: CompiledLaw,
    /// KV blocks that requests can hold (the engine's count less its null block).
    pub usable_blocks: u64,
    /// Tokens per block.
    pub block_size: u32,
    /// Sequences that may run at once.
    pub max_num_seqs: u32,
    /// Tokens one step may process.
    pub max_num_batched_tokens: u32,
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

/// When a run ends before everything is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Steps in all, over all replicas.
    pub max_steps: u64,
    /// Nothing happens after this moment.
    pub until: Picos,
}

/// What a run gives, before anyone counts it.
#[derive(Debug, Clone)]
pub struct SimRun {
    /// One row per offered request, in the order offered.
    pub stamps: Vec<RequestStamps>,
    /// The fleet at evenly spaced moments.
    pub samples: Vec<Sample>,
    /// When the last request was decided, or the run was cut off.
    pub ended: Picos,
    /// Steps executed, over all replicas.
    pub steps: u64,
    /// Replica-seconds spent in steps.
    pub busy_s: f64,
    /// A limit cut the run off.
    pub cut_off: bool,
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
    /// Requests gone without completing: cancelled, failed, refused.
    pub lost: u64,
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
    /// Prompt tokens computed so far, recomputed ones included.
    pub prefill_tokens: u64,
    /// Output tokens streamed so far.
    pub decode_tokens: u64,
    /// Preemptions so far.
    pub preemptions: u64,
}
