//! One request of a benchmark.

use serde::{Deserialize, Serialize};

use crate::slo::GapPercentile;
use crate::stats;

/// One measured request. What the file does not hold, or holds as a zero that means "no data",
/// is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// Index of its point.
    pub point: u32,
    /// When it was sent, seconds after the first of its point.
    pub start_s: Option<f64>,
    /// Prompt tokens.
    pub input_tokens: Option<u32>,
    /// Generated tokens.
    pub output_tokens: Option<u32>,
    /// Prompt tokens found in the prefix cache.
    #[serde(default)]
    pub cached_tokens: Option<u32>,
    /// From sending to the first token, seconds.
    pub ttft_s: Option<f64>,
    /// From sending to the first token that is shown, after those of its reasoning, seconds.
    #[serde(default)]
    pub ttfvt_s: Option<f64>,
    /// From sending to the last token, seconds.
    pub e2e_s: Option<f64>,
    /// Wait in the client before sending, seconds.
    pub client_queue_s: Option<f64>,
    /// From sending to being first scheduled by the engine, seconds.
    pub queue_wait_s: Option<f64>,
    /// Gaps between its stream events.
    pub gaps: Option<GapSummary>,
    /// How it ended.
    pub outcome: RecordOutcome,
    /// Quality score, where the file has one.
    pub quality: Option<f64>,
    /// Index into the [`record_classes`](super::BenchmarkPoint::record_classes) of its point, where
    /// the file says which class of traffic it was of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<u32>,
}

/// What a file says about the requests of one class.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RecordClass {
    /// Its name, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// What served it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl RequestRecord {
    /// An error of the first point, of which nothing else is known.
    pub(super) fn untimed() -> Self {
        Self {
            point: 0,
            start_s: None,
            input_tokens: None,
            output_tokens: None,
            cached_tokens: None,
            ttft_s: None,
            ttfvt_s: None,
            e2e_s: None,
            client_queue_s: None,
            queue_wait_s: None,
            gaps: None,
            outcome: RecordOutcome::Error,
            quality: None,
            class: None,
        }
    }

    /// (E2E − TTFT) ÷ (n − 1) in seconds, for answers of at least two tokens.
    pub fn tpot_s(&self) -> Option<f64> {
        let n = self.output_tokens.filter(|&n| n >= 2)?;
        Some((self.e2e_s? - self.ttft_s?) / f64::from(n - 1))
    }
}

/// The gaps between the stream events of one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct GapSummary {
    /// How many gaps.
    pub count: u32,
    /// Their sum, seconds.
    pub sum_s: f64,
    /// The longest, seconds.
    pub longest_s: f64,
    /// Those of [`GapPercentile::ALL`], nearest rank, seconds.
    pub percentiles_s: [f64; GapPercentile::ALL.len()],
}

impl GapSummary {
    /// Of the gaps of one request in seconds, which it sorts; `None` of none.
    pub fn of(gaps_s: &mut [f64]) -> Option<Self> {
        let sum_s = gaps_s.iter().sum();
        gaps_s.sort_unstable_by(f64::total_cmp);
        let at = |percentile: GapPercentile| stats::nearest_rank(gaps_s, percentile.share());
        let percentiles_s = GapPercentile::ALL.map(|percentile| at(percentile).unwrap_or(0.0));
        Some(Self {
            count: u32::try_from(gaps_s.len()).ok()?,
            sum_s,
            longest_s: *gaps_s.last()?,
            percentiles_s,
        })
    }
}

/// How a request of a benchmark ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordOutcome {
    /// Answered with at least one token.
    Ok,
    /// The tool recorded an error.
    Error,
    /// Cancelled by the client or cut off by the end of the run.
    Cancelled,
    /// No error and no token: the tool counts it as completed.
    EmptySuccess,
}
