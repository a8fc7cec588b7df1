//! What a replica has to do, has done, and holds, counted as it goes.

use crate::units::{PICOS_PER_S, Picos};

/// What a replica has to do and has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplicaLoad {
    /// Requests in queues.
    pub waiting: u32,
    /// Longest age since due with which a request left a queue that it had waited in.
    pub oldest_age: Picos,
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
    /// Prompt tokens found cached when requests were first scheduled.
    pub cached_tokens: u64,
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
    /// Steps begun.
    pub steps: u64,
    /// Sequences in those steps.
    pub sequence_steps: u64,
    /// Time of those steps.
    pub busy: Picos,
    /// The part of `busy` that the books charge to prefill.
    pub prefill_busy: Picos,
}

/// The part of a [`ReplicaLoad`] that the fleet follows after everything that happens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Owed {
    /// Requests in queues.
    pub waiting: u32,
    /// Requests queued or running.
    pub outstanding: u32,
    /// Prompt tokens (and tokens to compute again) not yet computed.
    pub prefill_tokens: u64,
    /// Output tokens not yet streamed.
    pub decode_tokens: u64,
}

impl ReplicaLoad {
    /// What is to be done.
    pub fn owed(&self) -> Owed {
        Owed {
            waiting: self.waiting,
            outstanding: self.outstanding,
            prefill_tokens: self.backlog_prefill_tokens,
            decode_tokens: self.backlog_decode_tokens,
        }
    }

    /// A request with this much left to compute and to generate joins the queue.
    pub fn enter_queue(&mut self, prefill_left: u32, decode_left: u32) {
        self.waiting += 1;
        self.waiting_prefill_tokens += u64::from(prefill_left);
        self.waiting_decode_tokens += u64::from(decode_left);
    }

    /// A request with this much left leaves the queue; `age` is zero if it came this moment.
    pub fn leave_queue(&mut self, prefill_left: u32, decode_left: u32, age: Picos) {
        self.waiting -= 1;
        self.oldest_age = self.oldest_age.max(age);
        self.waiting_prefill_tokens -= u64::from(prefill_left);
        self.waiting_decode_tokens -= u64::from(decode_left);
    }

    /// A request arrives.
    pub fn accept(&mut self, prefill_left: u32, decode_left: u32) {
        self.outstanding += 1;
        self.backlog_prefill_tokens += u64::from(prefill_left);
        self.backlog_decode_tokens += u64::from(decode_left);
    }

    /// A request leaves with this much undone.
    pub fn dismiss(&mut self, prefill_left: u32, decode_left: u32) {
        self.outstanding -= 1;
        self.backlog_prefill_tokens -= u64::from(prefill_left);
        self.backlog_decode_tokens -= u64::from(decode_left);
    }
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

/// Blocks and seats held × picoseconds: exact, whatever the order of the sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// KV blocks × picoseconds in steps.
    pub block_picos: i128,
    /// Sequences in batches × picoseconds in steps.
    pub running_picos: i128,
}

impl Held {
    /// Holds `blocks` blocks and `running` sequences for `span`.
    pub fn add(&mut self, blocks: u64, running: u64, span: Picos) {
        self.block_picos += i128::from(blocks) * i128::from(span.0);
        self.running_picos += i128::from(running) * i128::from(span.0);
    }

    /// Blocks × seconds.
    pub fn block_s(&self) -> f64 {
        self.block_picos as f64 / PICOS_PER_S as f64
    }

    /// Sequences × seconds.
    pub fn running_s(&self) -> f64 {
        self.running_picos as f64 / PICOS_PER_S as f64
    }
}
