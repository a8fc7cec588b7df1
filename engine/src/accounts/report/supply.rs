//! Token demand against supply, as a report has them.

use serde::{Deserialize, Serialize};

/// Prefill and decode rates of one mix: both at once.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct MixRate {
    /// Requests per second.
    pub rps: f64,
    /// Input tokens per second.
    pub prefill_tps: f64,
    /// Output tokens per second.
    pub decode_tps: f64,
}

impl MixRate {
    /// Tokens of one kind per second.
    pub fn tps(&self, kind: TokenKind) -> f64 {
        match kind {
            TokenKind::Prefill => self.prefill_tps,
            TokenKind::Decode => self.decode_tps,
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            rps: self.rps + other.rps,
            prefill_tps: self.prefill_tps + other.prefill_tps,
            decode_tps: self.decode_tps + other.decode_tps,
        }
    }

    /// `factor` times as much.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        Self {
            rps: factor * self.rps,
            prefill_tps: factor * self.prefill_tps,
            decode_tps: factor * self.decode_tps,
        }
    }
}

/// Token demand against supply. Neither supply is a constant of the fleet: both are for this mix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Supply {
    /// Mean demand over the horizon.
    pub required: MixRate,
    /// Expected demand in every window of `peak_window_s`, from the start on: the rates of the
    /// arrival processes at the mean lengths that were drawn.
    pub demand: Vec<MixRate>,
    /// Demand in the busiest of them, after the warm-up: the one with most work.
    pub required_peak: MixRate,
    /// When that window starts, seconds.
    pub peak_from_s: f64,
    /// Length of a window, seconds.
    pub peak_window_s: f64,
    /// Measured in a run that never starves: above this rate work accumulates without bound. Of
    /// the mix of the whole horizon.
    pub sustainable: MixRate,
    /// The same of the mix in the busiest window, which is what `required_peak` is held against;
    /// equal to `sustainable` where classes keep their shares.
    pub sustainable_at_peak: MixRate,
    /// The kind of token that takes most of a saturated replica's time at the peak.
    pub binds: TokenKind,
    /// Standard error of `sustainable`, relative: its run ends at 1 %, or when its budget is spent.
    /// `null` where too little was seen to tell.
    pub sustainable_relative_error: Option<f64>,
    /// What was done in the horizon.
    pub completed: MixRate,
    /// Mean requests in a batch of one replica while saturated.
    pub saturated_batch: f64,
    /// What stops a saturated replica from taking one more: seats, KV memory or token budget.
    pub saturated_by: SaturatedBy,
    /// What is sustained once a queue stands, requests per second, where that is less: what runs then
    /// takes the memory of what was cached. Above it the fleet may be well and not recover from a
    /// queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sustainable_once_queued_rps: Option<f64>,
    /// Share of a saturated replica's prompt tokens that it finds cached.
    #[serde(default)]
    pub saturated_hit_rate: f64,
    /// Share of a saturated replica's time that goes to prefill, by the marginal terms.
    pub prefill_time_share: f64,
    /// Only declared token rates are known: supply and debt, never a latency.
    pub simplified: bool,
    /// What took requests when; absent where all there are to be did all the time. The rates above
    /// are those of the most replicas that there are to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_time: Option<SupplyOverTime>,
}

/// What took requests when, where replicas come and go; of several pools, of the one with the least
/// to spare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SupplyOverTime {
    /// The most replicas that there are to be: `sustainable` is theirs.
    pub most_replicas: u32,
    /// Replicas that took requests, mean over each window of `peak_window_s`, from the start on.
    pub replicas: Vec<f64>,
    /// The same over the horizon.
    pub mean_replicas: f64,
    /// What these sustain of the mix.
    pub sustainable: MixRate,
    /// Start of the window in which most was asked of each replica that took requests, seconds.
    pub tightest_from_s: f64,
    /// Replicas that took requests in it.
    pub tightest_replicas: f64,
    /// Demand in it that does not yield to waiting: all but that of closed loops.
    pub tightest_required: MixRate,
    /// What these replicas sustain of it.
    pub tightest_sustainable: MixRate,
    /// When none took requests; absent where at least one always did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<WithoutReplicas>,
}

impl SupplyOverTime {
    /// Required over sustainable where that is most; infinite where nothing takes what is asked.
    pub fn load(&self) -> f64 {
        if self.tightest_required.rps > 0.0 {
            self.tightest_required.rps / self.tightest_sustainable.rps
        } else {
            0.0
        }
    }

    /// Whether no replica takes requests when the horizon ends.
    pub fn ends_without(&self, horizon_s: f64) -> bool {
        self.without.is_some_and(|without| without.longest_to_s >= horizon_s)
    }
}

/// The time within the horizon in which no replica took requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WithoutReplicas {
    /// In all, seconds.
    pub total_s: f64,
    /// Begin of the longest such span, seconds.
    pub longest_from_s: f64,
    /// Its end; the horizon where none came any more, seconds.
    pub longest_to_s: f64,
}

impl Supply {
    /// Nothing is asked and nothing done.
    pub fn of_nothing() -> Self {
        let nothing = MixRate::default();
        Self {
            required: nothing,
            demand: Vec::new(),
            required_peak: nothing,
            peak_from_s: 0.0,
            peak_window_s: 0.0,
            sustainable: nothing,
            sustainable_at_peak: nothing,
            binds: TokenKind::Decode,
            sustainable_relative_error: None,
            completed: nothing,
            saturated_batch: 0.0,
            saturated_by: SaturatedBy::TokenBudget,
            sustainable_once_queued_rps: None,
            saturated_hit_rate: 0.0,
            prefill_time_share: 0.0,
            simplified: false,
            over_time: None,
        }
    }

    /// What is asked for and what is sustained of it in the window with the least to spare: the
    /// busiest one, or where replicas come and go the one in which most is asked of each.
    pub fn at_tightest(&self) -> (&MixRate, &MixRate) {
        match &self.over_time {
            Some(over_time) => (&over_time.tightest_required, &over_time.tightest_sustainable),
            None => (&self.required_peak, &self.sustainable_at_peak),
        }
    }

    /// Whether the mix in the busiest window is another than that of the whole horizon.
    pub fn is_another_mix_at_peak(&self) -> bool {
        self.sustainable_at_peak != self.sustainable
    }
}

/// Prompts or outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// Prompt tokens.
    Prefill,
    /// Output tokens.
    Decode,
}

/// What a saturated replica runs out of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaturatedBy {
    /// `max_num_seqs`.
    Seats,
    /// KV blocks.
    KvMemory,
    /// `max_num_batched_tokens`.
    TokenBudget,
    /// Declared token rates.
    DeclaredRate,
}
