//! Goodput's engine: what a fleet of LLM servers can deliver for a workload under a latency
//! contract, and why each lost request was lost.

// Layer 0
pub mod counted;
pub mod math;
mod nearest;
pub mod problem;
pub mod rng;
pub mod stats;
pub mod units;
// Layer 1
pub mod fleet;
pub mod slo;
pub mod what_if;
pub mod workload;
// Layer 2
pub mod catalog;
pub mod step_time;
// Layer 3
pub mod ingest;
pub mod scenario;
// Layer 4
pub mod accounts;
pub mod estimate;
pub mod sim;
// Layer 5
pub mod calibration;
pub mod compare;
pub mod remedies;
pub mod rerun;
pub mod review;
// Layer 6
pub mod planner;
// Layer 7
pub mod bridge;
