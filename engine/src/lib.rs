//! Goodput's engine: what a fleet of LLM servers can deliver for a workload under a latency
//! contract, and why each lost request was lost.

pub mod math;
pub mod problem;
pub mod rng;
pub mod stats;
pub mod units;
