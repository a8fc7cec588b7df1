//! Predicted beside measured.

use serde::Serialize;

use crate::slo::Contract;
use crate::stats::{mean, nearest_rank};
use crate::units::Picos;

/// The latencies of one request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// From sending to the first token, seconds.
    pub ttft_s: f64,
    /// From sending to the last token, seconds.
    pub e2e_s: f64,
    /// Tokens generated.
    pub output_tokens: u32,
}

impl Times {
    /// (E2E − TTFT)/(n − 1), seconds; `None` of one token.
    pub fn tpot_s(self) -> Option<f64> {
        let gaps = self.output_tokens.checked_sub(1).filter(|gaps| *gaps > 0)?;
        Some((self.e2e_s - self.ttft_s) / f64::from(gaps))
    }
}

/// One request of a replayed run.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestReplay {
    /// Its place in the order of sending, from zero.
    pub number: u64,
    /// When it was sent, seconds after the first of the file.
    pub due_s: f64,
    /// Prompt tokens.
    pub input_tokens: u32,
    /// What the file says.
    pub measured: Times,
    /// What the simulation says; `None` if it does not complete there.
    pub predicted: Option<Times>,
    /// Whether it enters the comparison.
    pub compared: bool,
}

/// One number, predicted and measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Compared {
    /// What the simulation says; absent if that is infinite.
    pub predicted: Option<f64>,
    /// What the file says.
    pub measured: Option<f64>,
    /// predicted ÷ measured − 1.
    pub error: Option<f64>,
}

impl Compared {
    /// Both numbers; what is not finite counts as absent.
    pub fn new(predicted: f64, measured: f64) -> Self {
        let finite = |x: f64| x.is_finite().then_some(x);
        let error = finite(predicted / measured - 1.0);
        Self { predicted: finite(predicted), measured: finite(measured), error }
    }

    /// `amount` over these.
    #[must_use]
    pub fn reciprocal_of(self, amount: f64) -> Self {
        let over = |x: Option<f64>| x.map_or(f64::NAN, |x| amount / x);
        Self::new(over(self.predicted), over(self.measured))
    }
}

/// One latency over the compared requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasureReplay {
    /// `ttft_ms`, `tpot_ms` or `e2e_ms`.
    pub measure: &'static str,
    /// Mean.
    pub mean: Compared,
    /// Median.
    pub p50: Compared,
    /// 90th percentile.
    pub p90: Compared,
    /// 99th percentile.
    pub p99: Compared,
}

impl MeasureReplay {
    /// TTFT, TPOT and E2E.
    pub fn all(rows: &[&RequestReplay]) -> Vec<Self> {
        type Measure = (&'static str, fn(Times) -> Option<f64>);
        let measures: [Measure; 3] = [
            ("ttft_ms", |times| Some(times.ttft_s)),
            ("tpot_ms", Times::tpot_s),
            ("e2e_ms", |times| Some(times.e2e_s)),
        ];
        measures.map(|(name, of)| Self::of(name, rows, of)).to_vec()
    }

    fn of(measure: &'static str, rows: &[&RequestReplay], of: fn(Times) -> Option<f64>) -> Self {
        let millis = |times: Times| of(times).map(|seconds| 1e3 * seconds);
        // A request that has no such measure has none on either side; one that is predicted never
        // to complete would be late by any amount.
        let measured: Vec<f64> = rows.iter().filter_map(|row| millis(row.measured)).collect();
        let with_it = rows.iter().filter(|row| millis(row.measured).is_some());
        let predicted: Vec<f64> =
            with_it.map(|row| row.predicted.and_then(millis).unwrap_or(f64::INFINITY)).collect();
        let (predicted, measured) = (sorted(predicted), sorted(measured));
        let rank = |p: f64| {
            let of = |values: &[f64]| nearest_rank(values, p).unwrap_or(f64::NAN);
            Compared::new(of(&predicted), of(&measured))
        };
        let average = |values: &[f64]| mean(values).unwrap_or(f64::NAN);
        Self {
            measure,
            mean: Compared::new(average(&predicted), average(&measured)),
            p50: rank(0.5),
            p90: rank(0.9),
            p99: rank(0.99),
        }
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Seconds beside a TTFT before its error is taken as a share: of a first token after 30 ms, part
/// of the time passed outside the engine.
const TTFT_FLOOR_S: f64 = 0.2;

/// How far a prediction is off: the sum of the relative errors of TTFT, TPOT and E2E over three.
pub fn error_of(measured: Times, predicted: Option<Times>) -> f64 {
    let Some(predicted) = predicted else { return f64::INFINITY };
    let ttft = (predicted.ttft_s - measured.ttft_s).abs() / (measured.ttft_s + TTFT_FLOOR_S);
    let e2e = (predicted.e2e_s / measured.e2e_s - 1.0).abs();
    let tpot = match (predicted.tpot_s(), measured.tpot_s()) {
        (Some(predicted), Some(measured)) if measured > 0.0 => (predicted / measured - 1.0).abs(),
        _ => e2e, // one token: its time is all there is
    };
    (ttft + tpot + e2e) / 3.0
}

/// Requests within the limits, counted from the file and from the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct GoodReplay {
    /// Good by the file.
    pub measured: u64,
    /// Good by the simulation.
    pub predicted: u64,
    /// Judged differently by the two.
    pub differ: u64,
    /// Measured within one per cent of a limit: which side they fall on is chance.
    pub near_a_limit: u64,
}

impl GoodReplay {
    /// Counts `rows` by TTFT, TPOT and E2E; limits on stalls need more than such a file holds.
    pub fn of(rows: &[&RequestReplay], contract: &Contract) -> Self {
        let limits = [contract.ttft, contract.tpot, contract.e2e];
        let limits = limits.map(|limit| limit.map_or(f64::INFINITY, Picos::as_secs));
        let values = |times: Times| [times.ttft_s, times.tpot_s().unwrap_or(0.0), times.e2e_s];
        let good = |times: Times| values(times).iter().zip(limits).all(|(x, most)| *x <= most);
        let near = |times: Times| {
            let near = |(x, limit): (&f64, f64)| (x / limit - 1.0).abs() <= 0.01;
            values(times).iter().zip(limits).any(near)
        };
        let count = |holds: &dyn Fn(&RequestReplay) -> bool| {
            rows.iter().filter(|row| holds(row)).count() as u64
        };
        let predicted = |row: &RequestReplay| row.predicted.is_some_and(good);
        Self {
            measured: count(&|row| good(row.measured)),
            predicted: count(&predicted),
            differ: count(&|row| good(row.measured) != predicted(row)),
            near_a_limit: count(&|row| near(row.measured)),
        }
    }
}

/// The most spans `[from, to)` that are open at one moment.
pub fn most_between(from: &[Picos], to: &[Picos]) -> usize {
    let opened = from.iter().map(|at| (*at, 1_i64));
    let closed = to.iter().map(|at| (*at, -1_i64));
    let mut changes: Vec<(Picos, i64)> = opened.chain(closed).collect();
    changes.sort_unstable(); // at one moment, what closes comes first
    let (mut open, mut most) = (0_i64, 0_i64);
    for (_, change) in changes {
        open += change;
        most = most.max(open);
    }
    usize::try_from(most).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(ttft_s: f64, e2e_s: f64, output_tokens: u32) -> Times {
        Times { ttft_s, e2e_s, output_tokens }
    }

    fn row(measured: Times, predicted: Option<Times>) -> RequestReplay {
        RequestReplay {
            number: 0,
            due_s: 0.0,
            input_tokens: 1,
            measured,
            predicted,
            compared: true,
        }
    }

    #[test]
    fn spans_that_touch_are_not_open_together() {
        let picos = |values: &[i64]| values.iter().map(|at| Picos(*at)).collect::<Vec<_>>();
        assert_eq!(most_between(&picos(&[0, 1, 2, 9]), &picos(&[2, 5, 3, 9])), 2);
        assert_eq!(most_between(&[], &[]), 0);
    }

    #[test]
    fn what_never_completes_is_late_by_any_amount() {
        let measured = times(1.0, 2.0, 11);
        assert!(error_of(measured, None).is_infinite());
        assert!(error_of(measured, Some(measured)).abs() < 1e-15);
        let rows = [row(measured, None), row(measured, Some(measured))];
        let ttft = &MeasureReplay::all(&rows.iter().collect::<Vec<_>>())[0];
        assert_eq!(ttft.p99.predicted, None);
        assert_eq!(ttft.p50.error, Some(0.0));
    }

    #[test]
    fn limits_are_inclusive_and_one_token_passes_any_tpot() {
        let contract = Contract {
            ttft: Some(Picos::from_secs(1.0)),
            tpot: Some(Picos::from_millis(50.0)),
            ..Contract::default()
        };
        let rows = [
            row(times(1.0, 1.5, 11), Some(times(1.2, 1.6, 11))),
            row(times(0.5, 9.5, 1), Some(times(0.5, 9.5, 1))),
            row(times(0.5, 1.51, 11), Some(times(0.5, 1.0, 11))),
        ];
        let good = GoodReplay::of(&rows.iter().collect::<Vec<_>>(), &contract);
        assert_eq!((good.measured, good.predicted, good.differ), (2, 2, 2));
        assert_eq!(good.near_a_limit, 1, "the first one's TTFT, and its TPOT of 50 ms");
    }
}
