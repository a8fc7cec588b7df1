//! What the stepwise engine keeps of a request.

use super::blocks::BlockId;
use crate::sim::job::Job;
use crate::units::Picos;

/// Progress of one request, block by block.
#[derive(Debug, Clone, Default)]
pub struct JobState {
    /// Tokens in its KV cache now.
    pub kv: u32,
    /// Tokens to have in the cache before the next one can be generated: prompt plus what had
    /// been generated when it was (re)admitted. It decodes once `kv` reaches this.
    pub target: u32,
    /// Most tokens that were ever in its cache; computing them again is waste.
    pub high_water: u32,
    /// Blocks that it holds.
    pub holdings: Holdings,
    /// The first so many of them, as far as they are of its shared prefix, are those by which the
    /// prefix is known.
    pub known: u32,
    /// When its last token was generated.
    pub last_token: Picos,
    /// When the last event of its stream left.
    pub last_event: Picos,
    /// What a decode sequence had been charged when it last began to decode.
    pub decode_mark: Picos,
    /// `kv` at that moment.
    pub decode_mark_kv: u32,
    /// Time that its replica had lost to prompts beside decodes at that moment.
    pub beside_prefill_mark: Picos,
    /// Gaps above this are counted.
    pub gap_limit: Option<Picos>,
    /// It decodes, and has no part in the step that begins.
    pub stalled: bool,
    /// It lost its blocks since its last token was generated.
    pub preempted_since_token: bool,
    /// It lost its blocks since the last event of its stream left.
    pub preempted_since_event: bool,
}

/// Blocks of one request.
#[derive(Debug, Clone, Default)]
pub struct Holdings {
    /// Those of its length, in order.
    pub blocks: Vec<BlockId>,
    /// Those of its windows.
    pub of_windows: Vec<BlockId>,
}

/// A request on a stepwise replica.
pub type StepJob = Job<JobState>;

impl StepJob {
    /// It generates one token a step; otherwise it still computes its prompt.
    pub fn is_decoding(&self) -> bool {
        self.state.kv >= self.state.target
    }

    /// Tokens to compute before it can generate.
    pub fn prefill_left(&self) -> u32 {
        self.state.target.saturating_sub(self.state.kv)
    }

    /// A token is generated at `at`, and leaves if it ends an event of the stream.
    pub fn emit(&mut self, at: Picos) {
        if self.stamps.generated == 0 {
            self.stamps.first_token = Some(at);
        } else {
            self.wait_until(at);
        }
        self.stamps.generated += 1;
        if self.shows_first() {
            self.stamps.first_visible = Some(at);
        }
        self.state.last_token = at;
        self.state.preempted_since_token = false;
        if self.sends(self.stamps.generated) {
            if self.stamps.generated > 1 {
                self.gap_until(at);
            }
            self.state.last_event = at;
            self.state.preempted_since_event = false;
        }
    }

    /// It had waited for its next token until `at`, or the run ended.
    pub fn wait_until(&mut self, at: Picos) {
        if self.state.preempted_since_token {
            self.stamps.stream.preempted += at - self.state.last_token;
        }
    }

    /// The gap since the last event of its stream has lasted until `at`.
    pub fn gap_until(&mut self, at: Picos) {
        let gap = at - self.state.last_event;
        self.stamps.add_gap(gap, self.state.preempted_since_event);
        self.stamps.gaps_above += u32::from(self.state.gap_limit.is_some_and(|limit| gap > limit));
    }
}
