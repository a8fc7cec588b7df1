//! Whom the fleet lets in: limits at the door and in the queue.

use serde::{Deserialize, Serialize};

use super::defaults::is_default;

/// Limits on what is let in and on how long it may queue. Every limit that is given applies; with
/// none everybody is let in and waits.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an admission policy")]
pub struct AdmissionDoc {
    /// Turn arrivals away while so many requests wait in the queues of all replicas.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_waiting: Option<u32>,
    /// Turn a request away once it has waited so long without being scheduled, seconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_queue_age_s: Option<f64>,
    /// Turn away what exceeds a rate for long.
    #[serde(default, skip_serializing_if = "is_default")]
    pub token_bucket: Option<TokenBucketDoc>,
    /// Turn less urgent classes away first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shedding: Option<SheddingDoc>,
    /// Tell those who are turned away to come back after so long (HTTP 429 with Retry-After),
    /// seconds. Clients that retry wait at least this long.
    #[serde(default, skip_serializing_if = "is_default")]
    pub retry_after_s: Option<f64>,
}

/// A token bucket: each request takes a token or is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a token bucket")]
pub struct TokenBucketDoc {
    /// Tokens that come per second.
    pub rate_rps: f64,
    /// Tokens the bucket holds; it is full at the start.
    pub burst: u32,
}

/// Shedding by priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a shedding policy")]
pub struct SheddingDoc {
    /// Shed while so many requests wait in the queues of all replicas.
    pub max_waiting: u32,
    /// Shed classes whose `priority` is above this; a lower number is more urgent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub above_priority: i32,
}
