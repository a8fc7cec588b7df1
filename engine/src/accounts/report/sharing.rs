//! What prompts share, as a report has it.

use serde::{Deserialize, Serialize};

use crate::sim::UnaskedTurns;

/// Prompt tokens and those of them that were found in the prefix cache.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct HitCounts {
    /// Prompt tokens of the requests of the window that a replica began with.
    pub prompt_tokens: u64,
    /// Those that were found cached when it began (of a request with several attempts, the last).
    pub cached_tokens: u64,
    /// `cached_tokens` ÷ `prompt_tokens`; `null` of none.
    pub hit_rate: Option<f64>,
}

/// What the prefix cache did. Absent where no prompts share anything.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PrefixCache {
    /// Whether replicas have one.
    pub enabled: bool,
    /// How much was found.
    #[serde(flatten)]
    pub counts: HitCounts,
    /// Prompt tokens due per second of the horizon.
    pub required_prefill_tps: f64,
    /// What prefix hits take off them.
    pub hits_tps: f64,
    /// What computing again after preemptions puts on.
    pub recomputed_tps: f64,
    /// What is left to compute: `required_prefill_tps` − `hits_tps` + `recomputed_tps`.
    pub computed_prefill_tps: f64,
}

/// What the prompts of one class share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClassSharing {
    /// How much was found.
    #[serde(flatten)]
    pub counts: HitCounts,
    /// Tokens of its shared prefix; `null` where it has none.
    pub shared_prefix_tokens: Option<u32>,
    /// Share of its prompts that are no longer than that, and share all but their last token.
    pub share_no_longer_than_prefix: f64,
    /// Its sessions; `null` where arrivals are single requests.
    pub session: Option<SessionReport>,
}

/// Sessions of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionReport {
    /// Sessions that began in the window.
    pub sessions: u64,
    /// Turns due in the window, the first ones included.
    pub turns: u64,
    /// Turns that were never asked, over the whole run, by why.
    pub unasked: UnaskedTurns,
}
