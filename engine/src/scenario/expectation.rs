//! What whoever reviews a scenario expects of its headline numbers.

/// The headline numbers of a simulation, each with its unit.
pub const HEADLINES: [&str; 23] = [
    "attainment",
    "good_rps",
    "good_per_gpu_hour",
    "output_tps",
    "input_tps",
    "ttft_ms.p50",
    "ttft_ms.p95",
    "ttft_ms.p99",
    "tpot_ms.p50",
    "tpot_ms.p95",
    "tpot_ms.p99",
    "longest_stall_ms.p99",
    "e2e_ms.p95",
    "required_peak.rps",
    "sustainable.rps",
    "debt.peak_waiting",
    "debt.peak_work_s",
    "debt.drain_s",
    "attempts.per_request",
    "kv.peak_share",
    "kv.preemptions",
    "cost.per_good_request",
    "cost.per_month",
];

/// A headline number and its bounds, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// One of [`HEADLINES`].
    pub of: String,
    /// The most that it may be.
    pub at_most: Option<f64>,
    /// The least that it may be.
    pub at_least: Option<f64>,
}
