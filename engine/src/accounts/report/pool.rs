//! One pool of several, alone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Cost, KvUse, Percentiles, Supply, VerdictState};
use crate::slo::Outcome;

/// One pool of several: what is routed to it, what it sustains and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PoolReport {
    /// By which routes name it.
    pub name: String,
    /// Its model.
    pub model: String,
    /// Its GPU.
    pub gpu: String,
    /// Replicas; where they come and go, the most that were there at once.
    pub replicas: u32,
    /// GPUs of so many.
    pub gpus: u32,
    /// The verdict on what is routed to it. The fleet's is that of the pool with the least to spare.
    pub state: VerdictState,
    /// Requests of the window that are routed to it.
    pub offered: u64,
    /// Every outcome with its count.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// good ÷ offered.
    pub attainment: f64,
    /// From due to first token.
    pub ttft_ms: Percentiles,
    /// Time per output token after the first.
    pub tpot_ms: Percentiles,
    /// From due to completion.
    pub e2e_ms: Percentiles,
    /// What is routed to it against what it sustains of that; `null` where nothing is asked of it,
    /// or nothing that fits.
    pub supply: Option<Supply>,
    /// Most requests in its queues at any moment.
    pub peak_waiting: u64,
    /// Most seconds of its work accepted and unfinished.
    pub peak_work_s: f64,
    /// Its KV memory and live sequences.
    pub kv: KvUse,
    /// Its own books; absent when it has no price.
    pub cost: Option<Cost>,
}

/// How the replicas of a pool came and went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplicaTurnover {
    /// Name of the pool; empty of one that has none.
    pub pool: String,
    /// The most that were there at once, starting and draining ones included.
    pub most: u32,
    /// The mean over the time that is paid for.
    pub mean: f64,
    /// Starts.
    pub ordered: u64,
    /// Failures; whoever took requests was replaced.
    pub crashed: u64,
    /// Let go when they had finished what they had.
    pub drained: u64,
    /// Let go before they were ready.
    pub cancelled: u64,
    /// Replica time paid for, hours.
    pub replica_hours: f64,
    /// The part of it in which they started, hours.
    pub start_up_hours: f64,
    /// Requests of the window that were due while at least one of them was starting, whatever the
    /// others did.
    #[serde(default)]
    pub due_while_starting: u64,
    /// Those of them that were not good.
    #[serde(default)]
    pub lost_while_starting: u64,
}
