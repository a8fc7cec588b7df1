//! What the leaping engine keeps of a request: counts as of the last time something happened to
//! it, from which every later count follows.

use super::free_queue::Ticket;
use crate::sim::job::{Job, Place};
use crate::units::Picos;

/// Progress of one request.
#[derive(Debug, Clone)]
pub struct JobState {
    /// Steps its replica had done when it last began to decode, with the token of that moment;
    /// [`NOT_DECODING`] otherwise.
    pub since: i64,
    /// What a decode sequence had been charged at that moment.
    pub decode_mark: Picos,
    /// Time that its replica had lost to prompts beside decodes at that moment.
    pub beside_prefill_mark: Picos,
    /// Steps of its replica above the limit of its class at that moment.
    pub above_mark: u64,
    /// When its last token left, unless it has decoded a step since: then one leaves at every
    /// boundary.
    pub last_token: Picos,
    /// When the last event of its stream left; below zero, and one less, if it was preempted since.
    /// Only where events hold several tokens.
    pub last_event: Picos,
    /// Where its blocks are while it is preempted, those of its shared prefix left out.
    pub ticket: Ticket,
    /// Tokens to have in the cache before the next one can be generated: prompt plus what had
    /// been generated when it was (re)admitted.
    pub target: u32,
    /// Tokens in its KV cache, unless it decodes.
    pub kv: u32,
    /// Most tokens that were ever in its cache; computing them again is waste.
    pub high_water: u32,
    /// Blocks of its shared prefix that it holds.
    pub prefix_blocks: u32,
}

/// No step.
pub const NOT_DECODING: i64 = -1;

impl Default for JobState {
    fn default() -> Self {
        Self {
            since: NOT_DECODING,
            decode_mark: Picos::ZERO,
            beside_prefill_mark: Picos::ZERO,
            above_mark: 0,
            last_token: Picos::ZERO,
            last_event: Picos::ZERO,
            ticket: Ticket::default(),
            target: 0,
            kv: 0,
            high_water: 0,
            prefix_blocks: 0,
        }
    }
}

/// A request on a leaping replica.
pub type LeapJob = Job<JobState>;

impl LeapJob {
    /// It generates one token a step.
    pub fn is_decoding(&self) -> bool {
        self.state.since != NOT_DECODING
    }

    /// It would decode, and has no part in the step in progress.
    pub fn is_stalled(&self) -> bool {
        self.place == Place::Running && !self.is_decoding() && self.state.kv == self.state.target
    }

    /// Tokens to compute before it can generate, unless it decodes.
    pub fn prefill_left(&self) -> u32 {
        if self.is_decoding() { 0 } else { self.state.target - self.state.kv }
    }

    /// Steps it has decoded when its replica has done `done`.
    pub fn decoded(&self, done: i64) -> u32 {
        u32::try_from(done - self.state.since).expect("no longer than its output")
    }

    /// Tokens in its cache, of a decoding request.
    pub fn decode_kv(&self, done: i64) -> u32 {
        self.state.target + self.decoded(done)
    }

    /// Tokens generated, of a decoding request; the first came with the last token of its prompt.
    pub fn decode_generated(&self, done: i64) -> u32 {
        self.state.target - self.input + 1 + self.decoded(done)
    }

    /// Steps its replica will have done when its last token leaves, of a decoding request.
    pub fn finish_step(&self) -> i64 {
        self.step_of(self.output)
    }

    /// Steps its replica will have done when its first token that is shown leaves, of a decoding
    /// request that hides some and has not shown any.
    pub fn show_step(&self) -> i64 {
        self.step_of(self.shown_with())
    }

    /// Steps its replica has done when this token is generated, of a decoding request.
    pub fn step_of(&self, token: u32) -> i64 {
        let generated = self.state.target - self.input + 1;
        self.state.since + i64::from(token) - i64::from(generated)
    }
}
