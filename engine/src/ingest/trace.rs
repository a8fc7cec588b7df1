//! A request trace: when each request was due and how long it was, and what that looks like.

use serde::{Deserialize, Serialize};

use crate::stats::{mean, nearest_rank, peak_rate};

/// Requests by due time, earliest first. The three columns have one entry per request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestTrace {
    /// Seconds after the first request.
    pub due_s: Vec<f64>,
    /// Prompt tokens.
    pub input_tokens: Vec<u32>,
    /// Generated tokens.
    pub output_tokens: Vec<u32>,
    /// The first request's own time stamp, as the file writes it.
    pub started_at: Option<String>,
}

impl RequestTrace {
    /// Requests.
    pub fn len(&self) -> usize {
        self.due_s.len()
    }

    /// No requests.
    pub fn is_empty(&self) -> bool {
        self.due_s.is_empty()
    }

    /// What a planner asks of a trace; `None` without requests.
    pub fn summary(&self) -> Option<TraceSummary> {
        let span_s = *self.due_s.last()?;
        Some(TraceSummary {
            requests: self.len() as u64,
            span_s,
            mean_rate_rps: (span_s > 0.0).then(|| self.len() as f64 / span_s),
            gap_cv: gap_cv(&self.due_s),
            peak_minute_rps: peak_rate(&self.due_s, 60.0),
            peak_10s_rps: peak_rate(&self.due_s, 10.0),
            peak_minute_bin_rps: binned_peak(&self.due_s, 60.0),
            peak_10s_bin_rps: binned_peak(&self.due_s, 10.0),
            input_tokens: LengthSummary::of(&self.input_tokens)?,
            output_tokens: LengthSummary::of(&self.output_tokens)?,
        })
    }
}

/// What a trace looks like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceSummary {
    /// Requests.
    pub requests: u64,
    /// From the first to the last request, seconds.
    pub span_s: f64,
    /// Requests ÷ span; `None` when all are due at one instant.
    pub mean_rate_rps: Option<f64>,
    /// Coefficient of variation of the gaps between requests; 1 is Poisson, 0 evenly spaced.
    pub gap_cv: Option<f64>,
    /// Most requests in any 60 s, per second.
    pub peak_minute_rps: f64,
    /// Most requests in any 10 s, per second.
    pub peak_10s_rps: f64,
    /// The same in fixed minutes counted from the first request, as many tools report it: it can
    /// cut a burst in two, and is never above the sliding peak.
    pub peak_minute_bin_rps: f64,
    /// The same in fixed spans of 10 s.
    pub peak_10s_bin_rps: f64,
    /// Prompt lengths.
    pub input_tokens: LengthSummary,
    /// Output lengths.
    pub output_tokens: LengthSummary,
}

/// Lengths in tokens; nearest-rank percentiles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LengthSummary {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Longest.
    pub max: f64,
}

impl LengthSummary {
    /// Of at least one length.
    pub fn of(tokens: &[u32]) -> Option<Self> {
        let mut sorted: Vec<f64> = tokens.iter().copied().map(f64::from).collect();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            mean: mean(&sorted)?,
            p50: nearest_rank(&sorted, 0.5)?,
            p90: nearest_rank(&sorted, 0.9)?,
            p99: nearest_rank(&sorted, 0.99)?,
            max: *sorted.last()?,
        })
    }
}

/// Coefficient of variation of the gaps of rising times; `None` without two different times.
fn gap_cv(due_s: &[f64]) -> Option<f64> {
    let gaps: Vec<f64> = due_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let centre = mean(&gaps).filter(|&centre| centre > 0.0)?;
    let variance =
        mean(&gaps.iter().map(|gap| (gap - centre) * (gap - centre)).collect::<Vec<_>>())?;
    Some(variance.sqrt() / centre)
}

/// Most arrivals in one of the fixed windows that start at the first arrival, per second of it.
fn binned_peak(due_s: &[f64], window_s: f64) -> f64 {
    let bin = |due: &f64| (due / window_s).floor();
    let most = due_s.chunk_by(|a, b| bin(a) >= bin(b)).map(<[f64]>::len).max().unwrap_or(0);
    most as f64 / window_s
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(due_s: &[f64]) -> RequestTrace {
        RequestTrace {
            due_s: due_s.to_vec(),
            input_tokens: vec![10; due_s.len()],
            output_tokens: vec![2; due_s.len()],
            started_at: None,
        }
    }

    #[test]
    fn evenly_spaced_requests_have_no_variation_and_no_peak() {
        let due: Vec<f64> = (0..241).map(|i| f64::from(i) * 0.5).collect();
        let summary = trace(&due).summary().unwrap();
        assert!(summary.gap_cv.unwrap() < 1e-9);
        for peak in [
            summary.peak_minute_rps,
            summary.peak_10s_rps,
            summary.peak_minute_bin_rps,
            summary.peak_10s_bin_rps,
        ] {
            assert!((peak - 2.0).abs() < 1e-12, "{peak}");
        }
        assert!((summary.mean_rate_rps.unwrap() - 241.0 / 120.0).abs() < 1e-12);
    }

    #[test]
    fn a_burst_across_a_bin_border_shows_in_the_sliding_peak_only() {
        let mut due = vec![0.0];
        due.extend((0..20).map(|i| 55.0 + f64::from(i) * 0.5));
        let summary = trace(&due).summary().unwrap();
        assert!((summary.peak_minute_rps - 20.0 / 60.0).abs() < 1e-12);
        assert!((summary.peak_10s_rps - 2.0).abs() < 1e-12);
        assert!((summary.peak_minute_bin_rps - 11.0 / 60.0).abs() < 1e-12);
        assert!((summary.peak_10s_bin_rps - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_request_has_no_rate_and_no_gaps() {
        let summary = trace(&[0.0]).summary().unwrap();
        assert_eq!((summary.mean_rate_rps, summary.gap_cv), (None, None));
        assert_eq!(trace(&[]).summary(), None);
    }

    #[test]
    fn lengths_are_ranked_not_interpolated() {
        let lengths: Vec<u32> = (1..=100).collect();
        let summary = LengthSummary::of(&lengths).unwrap();
        assert_eq!((summary.p50, summary.p90, summary.p99, summary.max), (50.0, 90.0, 99.0, 100.0));
        assert!((summary.mean - 50.5).abs() < 1e-12);
    }
}
