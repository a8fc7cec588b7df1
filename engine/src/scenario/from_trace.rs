//! A request trace as the workload of a class: replayed as recorded, or summed up small enough
//! for a link.

use serde::{Deserialize, Serialize};

use super::doc::{ArrivalsDoc, LengthsDoc, NoiseDoc, QuantileDoc, RatePointDoc};
use crate::ingest::{LengthHistogram, RequestTrace, ServedLengths};
use crate::stats::nearest_rank;

/// The most points of a rate profile made from a trace: with its tables and an ordinary fleet it
/// stays below [`super::link::LONG_LINK_CHARS`].
const MAX_PROFILE_POINTS: usize = 160;

/// Spans of time over which rates are averaged, seconds: the finest that gives few enough points.
const SPANS_S: [u32; 18] =
    [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400];

/// Shares of requests at which lengths are taken, dense where a few long requests carry the mean.
const SHARES: [f64; 17] =
    [0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.0];

/// How a trace becomes a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceForm {
    /// Every request at its recorded moment with its recorded lengths. Exact, and too long for a
    /// link beyond some hundred requests.
    Replay,
    /// A rate profile with Poisson arrivals around it, and quantile tables of lengths. Fits in a
    /// link; loses bursts shorter than its spans and the relation of prompt and answer.
    Profile,
}

/// What a trace says about a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceWorkload {
    /// When requests are due.
    pub arrivals: ArrivalsDoc,
    /// Prompt lengths.
    pub input_tokens: LengthsDoc,
    /// Output lengths.
    pub output_tokens: LengthsDoc,
    /// The first whole second after the last request.
    pub horizon_s: f64,
    /// Span over which the profile averages, seconds; `None` in a replay.
    pub span_s: Option<u32>,
    /// What is not as in the trace, one sentence each.
    pub remarks: Vec<String>,
}

impl TraceWorkload {
    /// A trace in a form; `None` without requests.
    pub fn of(trace: &RequestTrace, form: TraceForm) -> Option<Self> {
        let horizon_s = trace.due_s.last()?.floor() + 1.0;
        let mut remarks = Vec::new();
        let input = at_least_one(&trace.input_tokens, "prompts", &mut remarks);
        let output = at_least_one(&trace.output_tokens, "outputs", &mut remarks);
        Some(match form {
            TraceForm::Replay => Self {
                arrivals: ArrivalsDoc::trace(trace.due_s.clone()),
                input_tokens: LengthsDoc::recorded(input),
                output_tokens: LengthsDoc::recorded(output),
                horizon_s,
                span_s: None,
                remarks,
            },
            TraceForm::Profile => {
                let (span_s, points) = rate_profile(&trace.due_s, horizon_s);
                remarks.push(format!(
                    "arrivals are Poisson around the mean rate of every {span_s} s: bursts that \
                     are shorter are smoothed out"
                ));
                remarks.push("prompt and output lengths are drawn apart from each other".into());
                Self {
                    arrivals: ArrivalsDoc::Profile { points, noise: NoiseDoc::Poisson },
                    input_tokens: LengthsDoc::Quantiles { table: quantiles(&input) },
                    output_tokens: LengthsDoc::Quantiles { table: quantiles(&output) },
                    horizon_s,
                    span_s: Some(span_s),
                    remarks,
                }
            }
        })
    }
}

/// Lengths of a running server as those of a class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LengthsWorkload {
    /// Requests that the server had finished.
    pub requests: u64,
    /// Prompt lengths.
    pub input_tokens: LengthsDoc,
    /// Output lengths.
    pub output_tokens: LengthsDoc,
    /// Mean prompt by the server's own sum; `null` without one.
    pub mean_input_tokens: Option<f64>,
    /// Mean output by the server's own sum; `null` without one.
    pub mean_output_tokens: Option<f64>,
    /// What is not as on the page, one sentence each.
    pub remarks: Vec<String>,
}

impl LengthsWorkload {
    /// Tables of quantiles that draw the histograms of a server.
    pub fn of(served: &ServedLengths) -> Self {
        let ServedLengths { input_tokens, output_tokens } = served;
        let table = |histogram: &LengthHistogram| {
            let row = |&(p, tokens): &(f64, f64)| QuantileDoc { p, tokens };
            LengthsDoc::Quantiles { table: histogram.rows.iter().map(row).collect() }
        };
        let of = |what: &'static str, histogram: &LengthHistogram| {
            let said = histogram.remarks.iter().map(move |remark| format!("{what}: {remark}"));
            said.collect::<Vec<_>>()
        };
        let mut remarks = of("prompts", input_tokens);
        remarks.extend(of("outputs", output_tokens));
        remarks.push("prompt and output lengths are drawn apart from each other".into());
        Self {
            requests: input_tokens.count,
            input_tokens: table(input_tokens),
            output_tokens: table(output_tokens),
            mean_input_tokens: input_tokens.mean,
            mean_output_tokens: output_tokens.mean,
            remarks,
        }
    }
}

/// A request without a token cannot be simulated: it counts as one token, and that is said.
fn at_least_one(tokens: &[u32], what: &str, remarks: &mut Vec<String>) -> Vec<u32> {
    let none = tokens.iter().filter(|length| **length == 0).count();
    if none > 0 {
        remarks.push(format!("{what} of no tokens count as one token each: {none} of them"));
    }
    tokens.iter().map(|length| (*length).max(1)).collect()
}

/// The finest profile with few enough points, and its span.
fn rate_profile(due_s: &[f64], horizon_s: f64) -> (u32, Vec<RatePointDoc>) {
    let mut found = (SPANS_S[SPANS_S.len() - 1], Vec::new());
    for span_s in SPANS_S {
        // Too fine for certain; a long trace would otherwise be cut into millions of spans.
        let is_last = span_s == SPANS_S[SPANS_S.len() - 1];
        if !is_last && horizon_s / f64::from(span_s) > 100.0 * MAX_PROFILE_POINTS as f64 {
            continue;
        }
        found = (span_s, profile_of_span(due_s, horizon_s, f64::from(span_s)));
        if found.1.len() <= MAX_PROFILE_POINTS {
            break;
        }
    }
    found
}

/// Steps of the mean rate in spans from the first request on: a pair of points at each change.
fn profile_of_span(due_s: &[f64], horizon_s: f64, span_s: f64) -> Vec<RatePointDoc> {
    let mut points: Vec<RatePointDoc> = Vec::new();
    let mut rest = due_s;
    let mut start_s = 0.0;
    while start_s < horizon_s {
        let end_s = (start_s + span_s).min(horizon_s);
        let (within, after) = rest.split_at(rest.partition_point(|due| *due < end_s));
        let rate_rps = four_digits(within.len() as f64 / (end_s - start_s));
        match points.last().copied() {
            Some(last) if last.rate_rps.total_cmp(&rate_rps).is_eq() => {}
            Some(last) => {
                points.push(RatePointDoc { t_s: start_s, ..last });
                points.push(RatePointDoc { t_s: start_s, rate_rps });
            }
            None => points.push(RatePointDoc { t_s: start_s, rate_rps }),
        }
        (rest, start_s) = (after, end_s);
    }
    points
}

/// A rate to four significant digits: what a link can carry, and closer than a count is known.
fn four_digits(rate_rps: f64) -> f64 {
    format!("{rate_rps:.3e}").parse().unwrap_or(rate_rps)
}

/// Shortest, the lengths at [`SHARES`], longest; rows that say nothing new are left out.
fn quantiles(tokens: &[u32]) -> Vec<QuantileDoc> {
    let mut sorted: Vec<f64> = tokens.iter().copied().map(f64::from).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let shortest = sorted.first().map(|tokens| QuantileDoc { p: 0.0, tokens: *tokens });
    let ranked = SHARES.into_iter().filter_map(|p| {
        let tokens = nearest_rank(&sorted, p)?;
        Some(QuantileDoc { p, tokens })
    });
    let rows: Vec<QuantileDoc> = shortest.into_iter().chain(ranked).collect();
    let same = |a: &QuantileDoc, b: &QuantileDoc| a.tokens.total_cmp(&b.tokens).is_eq();
    let between_equals = |i: usize| {
        i > 0 && i + 1 < rows.len() && same(&rows[i - 1], &rows[i]) && same(&rows[i], &rows[i + 1])
    };
    (0..rows.len()).filter(|i| !between_equals(*i)).map(|i| rows[i]).collect()
}

#[cfg(test)]
mod tests;
