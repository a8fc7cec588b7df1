//! A recorded trace as the workload of a class: replayed exactly, or told in a few numbers.

use serde::{Deserialize, Serialize};

use super::RequestTrace;
use crate::scenario::doc::{ArrivalsDoc, LengthsDoc, NoiseDoc, QuantileDoc, RatePointDoc};
use crate::stats::nearest_rank;

/// Spans that a rate profile has at most.
const MOST_SPANS: usize = 60;

/// Shares of a table of quantiles: dense where lengths are long.
const SHARES: [f64; 11] = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0];

/// What a trace says about a class of traffic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceWorkload {
    /// When requests are due.
    pub arrivals: ArrivalsDoc,
    /// Prompt lengths.
    pub input_tokens: LengthsDoc,
    /// Output lengths.
    pub output_tokens: LengthsDoc,
    /// The shortest whole number of seconds in which all requests are due.
    pub horizon_s: f64,
}

impl RequestTrace {
    /// Every request as it was recorded. `None` without requests.
    pub fn replayed(&self) -> Option<TraceWorkload> {
        Some(TraceWorkload {
            arrivals: ArrivalsDoc::Trace { due_s: self.due_s.clone() },
            input_tokens: LengthsDoc::Recorded { tokens: self.input_tokens.clone() },
            output_tokens: LengthsDoc::Recorded { tokens: self.output_tokens.clone() },
            horizon_s: self.horizon_s()?,
        })
    }

    /// The rate over time and tables of quantiles: small enough for a link. Bursts shorter than a
    /// span of the profile, and what prompt and answer have to do with each other, are lost.
    /// `None` without requests.
    pub fn as_profile(&self) -> Option<TraceWorkload> {
        let horizon_s = self.horizon_s()?;
        Some(TraceWorkload {
            arrivals: ArrivalsDoc::Profile {
                points: self.rate_points(horizon_s),
                noise: NoiseDoc::Poisson,
            },
            input_tokens: quantiles(&self.input_tokens)?,
            output_tokens: quantiles(&self.output_tokens)?,
            horizon_s,
        })
    }

    fn horizon_s(&self) -> Option<f64> {
        Some(self.due_s.last()?.floor() + 1.0)
    }

    /// The mean rate of each span as a plateau, with a short ramp to the next, so that the area
    /// below the line is the number of requests.
    fn rate_points(&self, horizon_s: f64) -> Vec<RatePointDoc> {
        // A span holds some dozens of requests on average, or the profile would draw noise.
        let spans = (self.len() / 50).clamp(1, MOST_SPANS);
        let span_s = horizon_s / spans as f64;
        let ramp_s = span_s * 0.01;
        let mut points = Vec::with_capacity(2 * spans);
        let mut from = 0;
        for i in 0..spans {
            let (start, end) = (span_s * i as f64, span_s * (i + 1) as f64);
            let to = self.due_s.partition_point(|due| *due < end);
            let rate_rps = tidy((to - from) as f64 / span_s);
            let begin = if i == 0 { 0.0 } else { start + ramp_s / 2.0 };
            points.push(RatePointDoc { t_s: tidy(begin), rate_rps });
            if i + 1 < spans {
                points.push(RatePointDoc { t_s: tidy(end - ramp_s / 2.0), rate_rps });
            }
            from = to;
        }
        points
    }
}

/// Four decimals are more than a trace knows, and short in a link.
fn tidy(x: f64) -> f64 {
    (x * 1e4).round() / 1e4
}

fn quantiles(tokens: &[u32]) -> Option<LengthsDoc> {
    // A length of zero tokens is no length a document may have.
    let mut sorted: Vec<f64> = tokens.iter().map(|tokens| f64::from((*tokens).max(1))).collect();
    sorted.sort_by(f64::total_cmp);
    let row = |p: f64| Some(QuantileDoc { p, tokens: nearest_rank(&sorted, p)? });
    let table: Option<Vec<QuantileDoc>> = SHARES.into_iter().map(row).collect();
    Some(LengthsDoc::Quantiles { table: table? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Lengths, RateProfile, shape};

    fn trace(requests: u32) -> RequestTrace {
        let due = |i: u32| f64::from(i) * 0.5 + if i % 100 > 50 { 0.2 } else { 0.0 };
        RequestTrace {
            due_s: (0..requests).map(due).collect(),
            input_tokens: (0..requests).map(|i| 100 + i % 900).collect(),
            output_tokens: (0..requests).map(|i| i % 50).collect(),
            started_at: None,
        }
    }

    #[test]
    fn a_replay_keeps_every_request() {
        let trace = trace(500);
        let workload = trace.replayed().unwrap();
        assert_eq!(workload.arrivals, ArrivalsDoc::Trace { due_s: trace.due_s.clone() });
        assert!(workload.horizon_s > *trace.due_s.last().unwrap());
        assert_eq!(RequestTrace::default().replayed(), None);
    }

    #[test]
    fn a_profile_keeps_how_many_and_how_long() {
        for requests in [1, 7, 500, 8_819] {
            let trace = trace(requests);
            let workload = trace.as_profile().unwrap();
            let ArrivalsDoc::Profile { points, .. } = &workload.arrivals else { panic!() };
            let points: Vec<_> = points.iter().map(|p| (p.t_s, p.rate_rps)).collect();
            let expected = RateProfile::new(&points).unwrap().count_at(workload.horizon_s);
            assert!((expected / f64::from(requests) - 1.0).abs() < 0.01, "{expected}");
            let LengthsDoc::Quantiles { table } = &workload.input_tokens else { panic!() };
            let rows: Vec<_> = table.iter().map(|row| (row.p, row.tokens)).collect();
            let told = shape(&Lengths::quantiles(&rows).unwrap(), 1).mean;
            let mean =
                trace.input_tokens.iter().map(|t| f64::from(*t)).sum::<f64>() / f64::from(requests);
            assert!((told / mean - 1.0).abs() < 0.05, "{told} for {mean}");
        }
    }
}
