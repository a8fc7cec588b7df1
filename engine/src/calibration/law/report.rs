//! The fit of a law in plain data: coefficients, what each load says, what was left out and why, and
//! what one more measurement would help most.

use serde::Serialize;

use super::next::{self, NextMeasurement};
use super::rows::{INCONSISTENT, Row, consistent, leave_out, left_out, residuals};
use super::{PointLaw, Question, question, source};
use crate::accounts::{Unanswerable, replica_spec};
use crate::calibration::conditions::Conditions;
use crate::calibration::predict::Prediction;
use crate::calibration::report::{ExcludedPoint, TrustRange};
use crate::calibration::{BenchmarkFile, assumptions, trust_in, usable, with_pool};
use crate::scenario::Pool;
use crate::scenario::doc::StepTimeSourceDoc;
use crate::stats;

/// How it was done, in words.
const METHOD: &str = "each point is simulated step by step under its own load and mean lengths; the \
                      law is the most likely one given what they reported and how far its source \
                      may be off, each coefficient by a factor of its own; numbers that no law \
                      explains lose weight; intervals hold in 90 % of cases";

/// What came of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The points determine at least one coefficient.
    Converged,
    /// They determine none: the law of the pool stays.
    NotIdentifiable,
    /// No law explains most of them: the law of the pool stays.
    Inconsistent,
}

/// A law fitted to benchmark points, and how far to trust it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LawReport {
    /// What came of it.
    pub outcome: Outcome,
    /// The same in a sentence.
    pub because: String,
    /// Ready to be put into a pool's `step_time.source`; `null` where the pool's law stays.
    pub source: Option<StepTimeSourceDoc>,
    /// Every coefficient.
    pub coefficients: Vec<CoefficientFit>,
    /// Time before a first token beyond what the pool says (server, tokeniser, client), milliseconds;
    /// may go into `step_time.api_overhead_ms`. `null` without a fit.
    pub outside_ms: Option<f64>,
    /// Half of its 90 % interval.
    pub outside_ms_half_width: Option<f64>,
    /// Every point used, by load.
    pub points: Vec<PointResiduals>,
    /// Median absolute relative error of all numbers with the fit.
    pub residual: Option<f64>,
    /// The same with the law of the pool.
    pub residual_before: Option<f64>,
    /// How well points are predicted that a fit to the others has not seen; `null` with one.
    pub left_out: Option<LeftOut>,
    /// Every point not used, and why.
    pub excluded: Vec<ExcludedPoint>,
    /// What the points cover; outside of it the law is an extrapolation.
    pub range_of_trust: Option<TrustRange>,
    /// The load that would narrow the coefficients most.
    pub measure_next: Option<NextMeasurement>,
    /// What had to be supposed about the benchmark, each once.
    pub assumptions: Vec<String>,
    /// How it was done, in words.
    pub method: String,
}

/// A coefficient with its interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoefficientFit {
    /// As documents name it: `c0_s`, `c4_s_per_kv_token` …
    pub name: &'static str,
    /// Most likely value, seconds (per what the name says); the exponent has none.
    pub value: f64,
    /// What the pool's law says.
    pub prior: f64,
    /// In 90 % of cases it is not below this …
    pub low: f64,
    /// … and not above this.
    pub high: f64,
    /// Whether the points determine it; else it is assumed to be near the prior.
    pub measured: bool,
}

/// One point under its own conditions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointResiduals {
    /// Name of its file.
    pub file: String,
    /// Line in the file, where it has one.
    pub row: Option<u64>,
    /// The load in words.
    pub load: String,
    /// Mean prompt, tokens.
    pub input_tokens: f64,
    /// Mean output, tokens.
    pub output_tokens: f64,
    /// What was compared.
    pub statistics: Vec<StatisticResidual>,
}

/// One number of a point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatisticResidual {
    /// Which: `tpot_mean_ms`, `output_tps` …
    pub name: String,
    /// As reported.
    pub measured: f64,
    /// With the fitted law; `null` where it predicts none.
    pub predicted: Option<f64>,
    /// predicted ÷ measured − 1.
    pub error: Option<f64>,
    /// With the law of the pool.
    pub predicted_before: Option<f64>,
    /// With a law fitted to other points alone; `null` with one point.
    pub predicted_left_out: Option<f64>,
}

/// How well a fit predicts points it has not seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LeftOut {
    /// Numbers predicted.
    pub numbers: u64,
    /// Median absolute relative error.
    pub median_error: f64,
    /// The largest.
    pub worst_error: f64,
    /// Share of them within their 90 % interval.
    pub covered: f64,
}

/// Fits the law of a checked pool to `files` and says everything about it.
///
/// # Errors
/// The model does not fit, or only token rates are declared.
pub fn law_report(files: &[BenchmarkFile], pool: &Pool) -> Result<LawReport, Unanswerable> {
    let replica = replica_spec(pool)?;
    let (mut rows, mut excluded, assumptions) = with_pool(pool, |calibrated| {
        let (used, excluded) = usable(files, calibrated, &replica);
        let assumptions = assumptions(&used);
        let row = |used: crate::calibration::Used<'_>| Row {
            place: ExcludedPoint {
                file: used.file.to_owned(),
                row: used.point.row,
                label: used.point.label.clone(),
                reason: String::new(),
            },
            conditions: used.conditions,
            observations: used.observations,
        };
        (used.into_iter().map(row).collect::<Vec<_>>(), excluded, assumptions)
    })?;
    let given = rows.len();
    let law = consistent(&mut rows, &mut excluded, pool)?;
    let mut report = LawReport {
        outcome: Outcome::NotIdentifiable,
        because: "no point can be used".to_owned(),
        source: None,
        coefficients: Vec::new(),
        outside_ms: None,
        outside_ms_half_width: None,
        points: Vec::new(),
        residual: None,
        residual_before: None,
        left_out: None,
        excluded,
        range_of_trust: None,
        measure_next: None,
        assumptions,
        method: METHOD.to_owned(),
    };
    let Some(law) = law else { return Ok(report) };
    (report.outcome, report.because) = outcome(&law, rows.len(), given);
    report.coefficients = coefficients(&law);
    report.outside_ms = Some(law.outside_ms);
    report.outside_ms_half_width = Some(law.outside_ms_half_width);
    let question = question(pool, &replica)?;
    report.points = rows.iter().map(|row| residuals(&question, &law, row)).collect();
    let banded = leave_out(&rows, pool, &mut report.points)?;
    report.left_out = left_out(&banded);
    let median = |of: fn(&StatisticResidual) -> Option<f64>| median_error(&report.points, of);
    (report.residual, report.residual_before) =
        (median(|s| s.predicted), median(|s| s.predicted_before));
    report.range_of_trust = Some(trusted(&question, &law, &rows));
    report.measure_next = next::best(&question, &law, &rows_conditions(&rows), &replica);
    if report.outcome == Outcome::Converged {
        report.source = Some(source::of(files, &law, &report, &rows, &replica));
    }
    Ok(report)
}

fn rows_conditions(rows: &[Row]) -> Vec<&Conditions> {
    rows.iter().map(|row| &row.conditions).collect()
}

fn outcome(law: &PointLaw, left: usize, given: usize) -> (Outcome, String) {
    let measured: Vec<&str> =
        law.terms.iter().filter(|term| term.measured).map(|term| term.term).collect();
    let assumed: Vec<&str> =
        law.terms.iter().filter(|term| !term.measured).map(|term| term.term).collect();
    if law.residual > INCONSISTENT || (given > 1 && 2 * (given - left) >= given) {
        let because = format!(
            "no law explains more than half of the {given} points: are they of the same GPU, model, \
             engine and settings? The pool keeps its law"
        );
        return (Outcome::Inconsistent, because);
    }
    if measured.is_empty() {
        let because = "the points say how slow the law is as a whole at most, and determine no \
                       coefficient of its own: the pool keeps its law. `goodput calibrate` without \
                       `--law` gives the one factor"
            .to_owned();
        return (Outcome::NotIdentifiable, because);
    }
    let measured = measured.join(", ");
    let because = if assumed.is_empty() {
        format!("measured are {measured}")
    } else {
        format!("measured are {measured}; assumed near the pool's law: {}", assumed.join(", "))
    };
    (Outcome::Converged, because)
}

/// The coefficients, each with the interval of its term; the exponent is not fitted.
fn coefficients(law: &PointLaw) -> Vec<CoefficientFit> {
    let (found, prior) = (&law.coefficients, &law.prior);
    let of = |name, term: usize, value: f64, prior: f64| {
        let term = &law.terms[term];
        let (low, high) = (prior * term.low, prior * term.high);
        CoefficientFit { name, value, prior, low, high, measured: term.measured }
    };
    let mut all = vec![
        of("c0_s", 0, found.c0_s, prior.c0_s),
        of("cw_s", 0, found.cw_s, prior.cw_s),
        of("cw_experts_s", 0, found.cw_experts_s, prior.cw_experts_s),
        of("c1_s_per_token", 1, found.c1_s_per_token, prior.c1_s_per_token),
        of("c2_s_per_pair", 2, found.c2_s_per_pair, prior.c2_s_per_pair),
        of("c3_s_per_decode_seq", 3, found.c3_s_per_decode_seq, prior.c3_s_per_decode_seq),
        of("c4_s_per_kv_token", 4, found.c4_s_per_kv_token, prior.c4_s_per_kv_token),
    ];
    all.retain(|coefficient| coefficient.prior > 0.0);
    all
}

fn median_error(
    points: &[PointResiduals],
    predicted: impl Fn(&StatisticResidual) -> Option<f64>,
) -> Option<f64> {
    let statistics = points.iter().flat_map(|point| &point.statistics);
    let mut errors: Vec<f64> =
        statistics.filter_map(|s| Some((predicted(s)? / s.measured - 1.0).abs())).collect();
    errors.sort_by(f64::total_cmp);
    stats::nearest_rank(&errors, 0.5)
}

fn trusted(question: &Question<'_>, law: &PointLaw, rows: &[Row]) -> TrustRange {
    let predictions: Vec<Prediction> =
        rows.iter().map(|row| question.run(&row.conditions, &law.logs)).collect();
    trust_in(&rows_conditions(rows), &predictions)
}
