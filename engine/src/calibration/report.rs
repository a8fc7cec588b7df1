//! The fit of one scalar: plain data.

use serde::{Deserialize, Serialize};

use crate::scenario::doc::FittedScaleDoc;

/// What the benchmark says about the step time, and how far to trust it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationReport {
    /// Factor on the step time of the pool's source; above 1 is slower. `null` when no point could
    /// be used.
    pub step_time_scale: Option<f64>,
    /// Why there is no factor; `null` when there is one.
    pub undetermined: Option<String>,
    /// Ready to be put into a pool's `step_time.fitted`.
    pub fitted: Option<FittedScaleDoc>,
    /// Median absolute relative error after the fit, each number with its weight in it.
    pub residual: Option<f64>,
    /// The same with the factor the pool had before, i.e. 1 without an earlier fit.
    pub residual_before: Option<f64>,
    /// The factor before.
    pub scale_before: f64,
    /// Every point used, with what was measured and what is predicted under its own conditions.
    pub points: Vec<PointFit>,
    /// Every point not used, and why.
    pub excluded: Vec<ExcludedPoint>,
    /// What the points cover; outside of it the factor is an extrapolation.
    pub range_of_trust: Option<TrustRange>,
    /// What had to be supposed about the benchmark, each once.
    pub assumptions: Vec<String>,
    /// How predictions were made, in words.
    pub method: String,
}

/// One point under its own conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointFit {
    /// Name of its file.
    pub file: String,
    /// Line in the file, where it has one.
    pub row: Option<u64>,
    /// The run's own name.
    pub label: Option<String>,
    /// The load in words, e.g. "8 requests/s, Poisson".
    pub load: String,
    /// Offered rate of one replica, requests per second; `null` for closed loops and bursts.
    pub rate_rps: Option<f64>,
    /// Requests in flight that one replica's clients keep up; `null` where nothing limits them.
    pub concurrency: Option<u64>,
    /// Mean prompt, tokens.
    pub input_tokens: f64,
    /// Mean output, tokens.
    pub output_tokens: f64,
    /// What was compared.
    pub statistics: Vec<StatisticFit>,
}

/// One number of a point: measured, and predicted under the same conditions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatisticFit {
    /// Which: `tpot_mean_ms`, `ttft_p50_ms`, `output_tps` …
    pub name: String,
    /// As reported.
    pub measured: f64,
    /// With the fitted factor.
    pub predicted: f64,
    /// With the factor before.
    pub predicted_before: f64,
    /// predicted ÷ measured − 1.
    pub error: f64,
    /// Factor at which this number alone would be met; `null` if none from 0.2 to 5.
    pub alone: Option<f64>,
    /// Its weight in the median, 0 to 1: how much of a change in step time shows in it.
    pub weight: f64,
}

/// A point that was not used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExcludedPoint {
    /// Name of its file.
    pub file: String,
    /// Line in the file, where it has one.
    pub row: Option<u64>,
    /// The run's own name.
    pub label: Option<String>,
    /// Why, and what would make it usable.
    pub reason: String,
}

/// Smallest and largest values among the points used.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrustRange {
    /// Mean prompts, tokens.
    pub input_tokens: (f64, f64),
    /// Mean outputs, tokens.
    pub output_tokens: (f64, f64),
    /// Mean sequences decoding in a batch, by the prediction.
    pub decode_seqs: (f64, f64),
    /// Output tokens per second of one replica.
    pub output_tps: (f64, f64),
}
