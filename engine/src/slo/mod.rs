//! What counts: the limits of a class, what became of a request, and its one outcome.
//!
//! Moments of a request: **a** due, **q** accepted into a replica's queue, **s** first scheduled,
//! **f** first token leaves, **c** completion; n output tokens. All limits are inclusive.

mod classify;
mod itl;
mod limits_text;
mod measures;
mod percentiles;

pub use classify::{
    MissedLimits, Tpot, classify, e2e, missed_limits, outcome_of, queue_wait, tpot, ttft, ttfvt,
};
pub use itl::{GapPercentile, GapsSeen, ItlLimit};
pub use limits_text::parse_limits;
pub use measures::{Limit, Measures, Seen};
pub use percentiles::{PercentileTarget, Ranked};
use serde::{Deserialize, Serialize};

use crate::units::Picos;

/// Inclusive limits of a class; an absent one always passes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Contract {
    /// From due to first token.
    pub ttft: Option<Picos>,
    /// From due to the first token that is shown: the first after those that a reasoning model
    /// hides.
    pub ttfvt: Option<Picos>,
    /// Average time per output token after the first, for two or more tokens.
    pub tpot: Option<Picos>,
    /// Longest gap between two stream events.
    pub longest_stall: Option<Picos>,
    /// A percentile of each request's own gaps between stream events.
    pub itl: Option<ItlLimit>,
    /// From due to completion.
    pub e2e: Option<Picos>,
    /// Share of offered requests that must be good, 0 to 1.
    pub attainment_target: f64,
    /// Percentiles over offered requests that must be within a limit, beside the attainment.
    pub percentile_targets: Vec<PercentileTarget>,
}

impl Contract {
    /// The limit of this kind, if the contract sets one.
    pub fn limit(&self, limit: Limit) -> Option<Picos> {
        match limit {
            Limit::Ttft => self.ttft,
            Limit::Ttfvt => self.ttfvt,
            Limit::Tpot => self.tpot,
            Limit::Stall => self.longest_stall,
            Limit::Itl => self.itl.map(|limit| limit.at),
            Limit::E2e => self.e2e,
        }
    }
}

/// The limits above which gaps of each class are counted.
pub fn gap_limits(contracts: &[Contract]) -> Vec<Option<Picos>> {
    contracts.iter().map(|contract| contract.limit(Limit::Itl)).collect()
}

/// How a request left the system, before any limit is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// All its tokens were streamed.
    Completed,
    /// Served, then failed by the server.
    Failed,
    /// Its user gave up, before or after the first token.
    Cancelled,
    /// A time-out of its client or of a gateway ended it.
    TimedOut,
    /// Turned away: at the door, or after too long in a queue.
    Rejected,
    /// Could never fit: longer than `max_model_len` or than all KV blocks.
    TooLong,
    /// The run ended first.
    Unfinished,
}

/// Everything that happened to one offered request. Times are simulated time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RequestStamps {
    /// How it left.
    pub fate: Fate,
    /// Replica that served it.
    pub replica: u32,
    /// How long the router held it, before any queue, since no replica took requests; of the last
    /// attempt. Of one that no queue ever took, until it ended.
    pub held: Picos,
    /// When its replica's queue took it.
    pub queued: Option<Picos>,
    /// Start of the first step that worked on it.
    pub scheduled: Option<Picos>,
    /// When its first token left.
    pub first_token: Option<Picos>,
    /// When the first token after its hidden ones left; `None` of a request that hides none.
    pub first_visible: Option<Picos>,
    /// When it completed, failed or was cancelled; of an unfinished request, when the run was cut
    /// off: up to then nothing more had happened to it.
    pub ended: Option<Picos>,
    /// Tokens generated.
    pub generated: u32,
    /// Tokens of one event of its stream, after the first, which leaves alone; the last event has
    /// what is left.
    pub stream_interval: u16,
    /// Longest gap between two events of its stream; of an unfinished request, the gap that was open
    /// when the run was cut off counts too.
    pub longest_stall: Picos,
    /// Gaps between two events of its stream above the limit that its class had when the run was
    /// made; of an unfinished request, the open gap counts too.
    pub gaps_above: u32,
    /// Attempts of its client, the first included. Moments and tokens are those of the last one;
    /// preemptions, what was kept through them and replica time are of all.
    pub attempts: u32,
    /// Times it lost its KV blocks and had to be computed again.
    pub preemptions: u32,
    /// Prompt tokens found in the prefix cache when it was first scheduled, as vLLM's
    /// `num_cached_tokens`.
    pub cached_tokens: u32,
    /// Tokens found there when it was scheduled again after a preemption.
    pub kept_tokens: u32,
    /// Replica time spent on it, by the marginal terms of the step law.
    pub busy: Picos,
    /// The part of `busy` spent on tokens that had been computed before.
    pub recomputed: Picos,
    /// The part of `busy` spent on attempts before the last one, on tokens computed for the first
    /// time in their attempt.
    pub retried: Picos,
    /// What slowed its stream down.
    pub stream: StreamTime,
}

impl RequestStamps {
    /// Of a request that nobody has seen yet.
    pub const UNSEEN: Self = Self {
        fate: Fate::Unfinished,
        replica: 0,
        held: Picos::ZERO,
        queued: None,
        scheduled: None,
        first_token: None,
        first_visible: None,
        ended: None,
        generated: 0,
        stream_interval: 1,
        longest_stall: Picos::ZERO,
        gaps_above: 0,
        attempts: 1,
        preemptions: 0,
        cached_tokens: 0,
        kept_tokens: 0,
        busy: Picos::ZERO,
        recomputed: Picos::ZERO,
        retried: Picos::ZERO,
        stream: StreamTime::NONE,
    };

    /// The same request when this is its next attempt after `earlier` ones.
    #[must_use]
    pub fn after(self, earlier: &Self) -> Self {
        Self {
            attempts: earlier.attempts + self.attempts,
            preemptions: earlier.preemptions + self.preemptions,
            kept_tokens: earlier.kept_tokens + self.kept_tokens,
            busy: earlier.busy + self.busy,
            recomputed: earlier.recomputed + self.recomputed,
            retried: earlier.busy - earlier.recomputed + self.retried,
            ..self
        }
    }

    /// A step from `now` on works on it, of which `cached` tokens were found in the prefix cache.
    /// Whether it is the first.
    pub fn schedule(&mut self, now: Picos, cached: u32) -> bool {
        let first = self.scheduled.is_none();
        if first {
            self.scheduled = Some(now);
            self.cached_tokens = cached;
        } else {
            self.kept_tokens += cached;
        }
        first
    }

    /// The token that leaves with the `token`-th of `output`, in one event: the last of that event.
    pub fn sent_with(&self, token: u32, output: u32) -> u32 {
        if self.stream_interval == 1 {
            return token;
        }
        let interval = u32::from(self.stream_interval);
        let events = (token - 1).div_ceil(interval);
        events.saturating_mul(interval).saturating_add(1).min(output)
    }

    /// Gaps between the events of a stream of `output` tokens up to its `generated`-th.
    pub fn event_gaps(&self, generated: u32, output: u32) -> u32 {
        let gaps = generated.saturating_sub(1);
        match u32::from(self.stream_interval) {
            1 => gaps,
            interval if generated == output => gaps.div_ceil(interval),
            interval => gaps / interval,
        }
    }

    /// A gap between two events of its stream, or the longest of several, with or without a
    /// preemption in it.
    pub fn add_gap(&mut self, gap: Picos, spans_preemption: bool) {
        if gap > self.longest_stall {
            self.longest_stall = gap;
            self.stream.stalled_by_preemption = spans_preemption;
        }
    }
}

/// The parts of the time from first token to last that others took, and what made its longest gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamTime {
    /// In gaps between tokens that span a preemption: it waited, and was computed again.
    pub preempted: Picos,
    /// By which the steps it decoded in were longer for the prompts computed beside it; gaps that
    /// span a preemption are left out.
    pub beside_prefill: Picos,
    /// Its longest gap spans a preemption.
    pub stalled_by_preemption: bool,
}

impl StreamTime {
    /// Nothing slowed it down.
    pub const NONE: Self =
        Self { preempted: Picos::ZERO, beside_prefill: Picos::ZERO, stalled_by_preemption: false };
}

/// What became of an offered request: exactly one each, in the order of the waterfall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Turned away: at the door, or after too long in a queue.
    Rejected,
    /// Could never fit.
    TooLong,
    /// The server failed it.
    Error,
    /// A time-out of its client or of a gateway ended it.
    TimedOut,
    /// Its user gave up waiting for the first token.
    CancelledBeforeFirst,
    /// Its user left while tokens were streaming.
    CancelledMidStream,
    /// Only the first token was late.
    LateFirstToken,
    /// The first token and something else were late.
    LateAndSlow,
    /// A gap between tokens was too long.
    Stalled,
    /// Tokens came too slowly on average.
    SlowTokens,
    /// Only the completion was late.
    LateCompletion,
    /// In time, but the answer was not acceptable.
    LowQuality,
    /// Cut off by the end of the run, undecided.
    Unfinished,
    /// Within every limit, with an acceptable answer.
    Good,
}

impl Outcome {
    /// All outcomes in waterfall order.
    pub const ALL: [Self; 14] = [
        Self::Rejected,
        Self::TooLong,
        Self::Error,
        Self::TimedOut,
        Self::CancelledBeforeFirst,
        Self::CancelledMidStream,
        Self::LateFirstToken,
        Self::LateAndSlow,
        Self::Stalled,
        Self::SlowTokens,
        Self::LateCompletion,
        Self::LowQuality,
        Self::Unfinished,
        Self::Good,
    ];

    /// Its name in documents and exports, as serde writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rejected => "rejected",
            Self::TooLong => "too_long",
            Self::Error => "error",
            Self::TimedOut => "timed_out",
            Self::CancelledBeforeFirst => "cancelled_before_first",
            Self::CancelledMidStream => "cancelled_mid_stream",
            Self::LateFirstToken => "late_first_token",
            Self::LateAndSlow => "late_and_slow",
            Self::Stalled => "stalled",
            Self::SlowTokens => "slow_tokens",
            Self::LateCompletion => "late_completion",
            Self::LowQuality => "low_quality",
            Self::Unfinished => "unfinished",
            Self::Good => "good",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn names_are_what_serde_writes() {
        for outcome in Outcome::ALL {
            let json = serde_json::to_string(&outcome).expect("a unit variant");
            assert_eq!(json, format!("\"{}\"", outcome.name()));
        }
    }
}
