//! What clients do beside asking: they try again, and they think.

use serde::{Deserialize, Serialize};

use super::defaults::{self, is_default};

/// Trying again with exponential back-off: after the i-th attempt, from 1, a client waits
/// min(base · factor^(i − 1), max), less a random share of it of up to `jitter`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "retries")]
pub struct RetriesDoc {
    /// Attempts in all, the first included.
    pub max_attempts: u32,
    /// Wait after the first attempt, seconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub backoff_base_s: f64,
    /// Growth of the wait from one attempt to the next.
    #[serde(
        default = "defaults::backoff_factor",
        skip_serializing_if = "defaults::is_backoff_factor"
    )]
    pub backoff_factor: f64,
    /// The longest wait, seconds.
    #[serde(
        default = "defaults::backoff_max_s",
        skip_serializing_if = "defaults::is_backoff_max_s"
    )]
    pub backoff_max_s: f64,
    /// Share of each wait that is left out at random, 0 to 1; 1 is "full jitter".
    #[serde(default, skip_serializing_if = "is_default")]
    pub jitter: f64,
    /// What is tried again.
    #[serde(default = "on_what", skip_serializing_if = "is_on_what")]
    pub on: Vec<RetryOnDoc>,
}

/// How an attempt may go wrong so that trying again makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryOnDoc {
    /// It was turned away.
    Rejected,
    /// The server failed it.
    Error,
    /// A time-out cut it off.
    TimedOut,
    /// Its user lost patience before the first token.
    CancelledBeforeFirst,
    /// Its user lost patience while tokens were streaming.
    CancelledMidStream,
}

/// From the end of a user's request to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ThinkTimeDoc {
    /// Always as long; zero asks again at once.
    Fixed {
        /// Seconds.
        s: f64,
    },
    /// Evenly distributed.
    Uniform {
        /// The shortest, seconds.
        min_s: f64,
        /// The longest, seconds.
        max_s: f64,
    },
    /// Exponentially distributed.
    Exponential {
        /// Mean, seconds.
        mean_s: f64,
    },
}

impl RetriesDoc {
    /// Up to `max_attempts` attempts, everything else at its default.
    pub fn new(max_attempts: u32) -> Self {
        Self {
            max_attempts,
            backoff_base_s: 0.0,
            backoff_factor: defaults::backoff_factor(),
            backoff_max_s: defaults::backoff_max_s(),
            jitter: 0.0,
            on: on_what(),
        }
    }
}

/// What software tries again by itself: everything but a user who left.
fn on_what() -> Vec<RetryOnDoc> {
    vec![RetryOnDoc::Rejected, RetryOnDoc::Error, RetryOnDoc::TimedOut]
}

fn is_on_what(on: &[RetryOnDoc]) -> bool {
    on == on_what()
}
