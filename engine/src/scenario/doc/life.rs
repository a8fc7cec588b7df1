//! How the replicas of a pool come and go.

use serde::{Deserialize, Serialize};

use super::defaults::{self, is_default};

/// An autoscaler: at every interval so many replicas are wanted that each would have its target of
/// the signal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an autoscaler")]
pub struct AutoscalerDoc {
    /// What it looks at.
    #[serde(default, skip_serializing_if = "is_default")]
    pub signal: SignalDoc,
    /// What each replica should have of it, above 0: requests, or a share up to 1.
    pub target: f64,
    /// Never fewer replicas.
    #[serde(default = "defaults::min_replicas", skip_serializing_if = "defaults::is_min_replicas")]
    pub min_replicas: u32,
    /// Never more.
    pub max_replicas: u32,
    /// Between two looks, seconds.
    #[serde(
        default = "defaults::autoscaler_interval_s",
        skip_serializing_if = "defaults::is_autoscaler_interval_s"
    )]
    pub interval_s: f64,
    /// From a decision to the order of replicas, which then start up, seconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay_s: f64,
    /// After a decision for more, none for more until then, seconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scale_up_cooldown_s: f64,
    /// After any decision, none for fewer until then, seconds.
    #[serde(
        default = "defaults::scale_down_cooldown_s",
        skip_serializing_if = "defaults::is_scale_down_cooldown_s"
    )]
    pub scale_down_cooldown_s: f64,
}

/// What an autoscaler looks at, summed over the replicas that take requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignalDoc {
    /// Requests queued or running.
    #[default]
    Outstanding,
    /// Requests in queues.
    Waiting,
    /// Share of the KV blocks in use.
    KvUsage,
    /// Share of `max_num_seqs` in use.
    SeatUsage,
}

/// An entry of a timetable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an entry of a timetable")]
pub struct ScheduledReplicasDoc {
    /// From when on, seconds.
    pub at_s: f64,
    /// How many replicas are wanted.
    pub replicas: u32,
}

/// How replicas fail.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "failures")]
pub struct FailuresDoc {
    /// Mean time that a replica takes requests before it fails by chance, hours.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mean_time_between_h: Option<f64>,
    /// Failures at given moments.
    #[serde(default, skip_serializing_if = "is_default")]
    pub crashes: Vec<CrashDoc>,
}

/// One failure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a failure")]
pub struct CrashDoc {
    /// When, seconds.
    pub at_s: f64,
    /// Number of the replica in its pool, from 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replica: u32,
}
