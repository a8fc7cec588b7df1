//! One request inside the fleet: what has been computed, what is left, what it cost.

use super::replica::BlockId;
use crate::slo::{Fate, RequestStamps};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// Where a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Not yet due, or refused.
    Outside,
    /// In a queue, never scheduled or preempted.
    Waiting,
    /// In a batch.
    Running,
    /// Decided.
    Gone,
}

/// State of one request. Token counts are exact; money is in replica-seconds.
#[derive(Debug, Clone)]
pub struct Job {
    /// What happened so far.
    pub stamps: RequestStamps,
    /// Where it is.
    pub place: Place,
    /// Prompt length.
    pub input: u32,
    /// Tokens it will generate.
    pub output: u32,
    /// When it is due.
    pub due: Picos,
    /// Fails after it was served.
    pub fails: bool,
    /// Tokens in its KV cache now.
    pub kv: u32,
    /// Tokens to have in the cache before the next one can be generated: prompt plus what had
    /// been generated when it was (re)admitted. It decodes once `kv` reaches this.
    pub target: u32,
    /// Most tokens that were ever in its cache; computing them again is waste.
    pub high_water: u32,
    /// Blocks it holds, or held when it was preempted.
    pub blocks: Vec<BlockId>,
    /// Blocks of its windows while it runs.
    pub window_blocks: Vec<BlockId>,
    /// When its last token left.
    pub last_token: Picos,
    /// Decode cost per sequence of its replica when it last began to decode, replica-seconds.
    pub decode_mark_s: f64,
    /// `kv` at that moment.
    pub decode_mark_kv: u32,
}

impl Job {
    /// A request that nobody has seen yet.
    pub fn new(request: &OfferedRequest) -> Self {
        Self {
            stamps: RequestStamps {
                fate: Fate::Unfinished,
                replica: 0,
                queued: None,
                scheduled: None,
                first_token: None,
                ended: None,
                generated: 0,
                longest_stall: Picos::ZERO,
                preemptions: 0,
                cached_tokens: 0,
                busy_s: 0.0,
                recomputed_s: 0.0,
            },
            place: Place::Outside,
            input: request.input_tokens,
            output: request.output_tokens,
            due: request.due,
            fails: request.fails,
            kv: 0,
            target: request.input_tokens,
            high_water: 0,
            blocks: Vec::new(),
            window_blocks: Vec::new(),
            last_token: Picos::ZERO,
            decode_mark_s: 0.0,
            decode_mark_kv: 0,
        }
    }

    /// It generates one token a step; otherwise it still computes its prompt.
    pub fn is_decoding(&self) -> bool {
        self.kv >= self.target
    }

    /// Tokens to compute before it can generate.
    pub fn prefill_left(&self) -> u32 {
        self.target.saturating_sub(self.kv)
    }

    /// Tokens to generate.
    pub fn decode_left(&self) -> u32 {
        self.output - self.stamps.generated
    }

    /// A token leaves at `at`.
    pub fn emit(&mut self, at: Picos) {
        if self.stamps.generated == 0 {
            self.stamps.first_token = Some(at);
        } else {
            self.stamps.longest_stall = self.stamps.longest_stall.max(at - self.last_token);
        }
        self.stamps.generated += 1;
        self.last_token = at;
    }

    /// It leaves at `at`.
    pub fn end(&mut self, fate: Fate, at: Picos) {
        self.place = Place::Gone;
        self.stamps.fate = fate;
        self.stamps.ended = Some(at);
    }

    /// What happened to it until `at`, when the run ends. Of a request that is still here, its
    /// time and its open gap are known up to then.
    pub fn stamps_at(mut self, at: Picos) -> RequestStamps {
        if !matches!(self.place, Place::Outside | Place::Gone) {
            self.stamps.ended = Some(at);
            if self.stamps.generated > 0 {
                self.stamps.longest_stall = self.stamps.longest_stall.max(at - self.last_token);
            }
        }
        self.stamps
    }
}
