//! One scalar on the step time, fitted from benchmark points.
//!
//! Each point is simulated under its *own* conditions (its load, its mean lengths, the pool's
//! scheduler settings), step by step, at many step times. Each number it reports, in its own
//! definition, then says at which factor it would be met, and the fit is the weighted median of
//! what they say: near saturation a wait moves far more than the step time, but has one vote; an
//! output rate below saturation is the offered one and has none.
//!
//! A scalar is what aggregates of one load determine ("overall slowness", to about 1 %); the
//! balance of prefill and decode needs more than that and stays the source's.

mod conditions;
mod curves;
pub mod law;
mod names;
mod observed;
mod over_load;
mod predict;
pub mod replay;
pub mod report;
mod sha256;
mod votes;

pub use conditions::{BenchmarkedPool, Conditions};
pub use names::{same_gpu, same_model};
pub use observed::Observation;
pub use over_load::{CurvePoint, CurveStatistic, LoadCurve, load_curves};
pub use predict::Prediction;
pub use report::CalibrationReport;
pub use sha256::sha256_hex;

use curves::Curves;
use report::{ExcludedPoint, PointFit, StatisticFit, TrustRange};
use votes::{scales, weighted_median};

use crate::accounts::{Unanswerable, replica_spec};
use crate::ingest::{BenchmarkPoint, Parsed, ParsedFile};
use crate::review::{Finding, review};
use crate::scenario::Pool;
use crate::scenario::doc::FittedScaleDoc;
use crate::sim::ReplicaSpec;

/// The factors tried; outside of them a benchmark and a source are not about the same thing.
const SMALLEST_SCALE: f64 = 0.2;
/// See [`SMALLEST_SCALE`].
const LARGEST_SCALE: f64 = 5.0;
/// Scales of the first look, over the whole range.
const COARSE: u32 = 13;
/// Scales of the second look, around what the first found.
const FINE: u32 = 9;
/// How far the second look reaches to either side, as a ratio.
const FINE_REACH: f64 = 1.2;
/// How predictions are made and compared, in words.
const METHOD: &str = "each point is simulated step by step under its own load and mean lengths at \
                      many step times; every number reported says at which it would be met, and \
                      the factor is their median, weighted by how much a number depends on the \
                      step time (first-token times with 200 ms beside them, since part of them \
                      passes outside the engine)";
const NOTHING_DEPENDS: &str = "nothing in these points depends on the step time: below saturation \
                               the output rate is the offered one; give TPOT, or a run near \
                               saturation";
const OUT_OF_RANGE: &str = "no factor from 0.2 to 5 explains these points: is it the same GPU, \
                            model, precision and parallelism?";

/// A file that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkFile {
    /// Its name and contents.
    pub file: ParsedFile,
    /// [`sha256_hex`] of its bytes.
    pub sha256: String,
}

/// A pool whose step time is being fitted.
pub struct CalibratedPool<'a> {
    /// What the benchmark must agree with.
    pub identity: BenchmarkedPool,
    /// The factor it has now, 1 without an earlier fit.
    pub scale: f64,
    /// One replica at a factor.
    pub replica: &'a dyn Fn(f64) -> ReplicaSpec,
}

/// Fits the step time of a checked pool to `files`; see [`calibrate`].
///
/// # Errors
/// The model does not fit, or only token rates are declared: there is no step time to scale.
pub fn calibrate_pool(
    files: &[BenchmarkFile],
    pool: &Pool,
) -> Result<CalibrationReport, Unanswerable> {
    with_pool(pool, |pool| calibrate(files, pool))
}

/// [`calibrate_pool`] with the curves to draw the points over; see [`load_curves`].
///
/// # Errors
/// As [`calibrate_pool`].
pub fn calibrate_pool_with_curves(
    files: &[BenchmarkFile],
    pool: &Pool,
) -> Result<(CalibrationReport, Vec<LoadCurve>), Unanswerable> {
    with_pool(pool, |pool| {
        let report = calibrate(files, pool);
        let curves = load_curves(files, pool, &report);
        (report, curves)
    })
}

/// How many points of `files` can serve a fit of a checked pool, and why the others cannot: known
/// before anything is simulated.
///
/// # Errors
/// As [`calibrate_pool`].
pub fn usable_points(
    files: &[BenchmarkFile],
    pool: &Pool,
) -> Result<(u64, Vec<ExcludedPoint>), Unanswerable> {
    with_pool(pool, |pool| {
        let (used, excluded) = usable(files, pool, &(pool.replica)(pool.scale));
        (used.len() as u64, excluded)
    })
}

fn with_pool<T>(pool: &Pool, fit: impl FnOnce(&CalibratedPool) -> T) -> Result<T, Unanswerable> {
    let spec = replica_spec(pool)?;
    let step_time = pool.step_time().ok_or(Unanswerable::DeclaredRatesOnly { pool: 0 })?;
    let budget = u64::from(pool.scheduler.max_num_batched_tokens);
    let replica = |scale: f64| ReplicaSpec {
        law: step_time.resolved.compile(budget, scale, step_time.step_overhead_s),
        ..spec.clone()
    };
    let identity = BenchmarkedPool::of(pool);
    Ok(fit(&CalibratedPool { identity, scale: step_time.scale, replica: &replica }))
}

/// Fits the step time of `pool` to `files`. A report without a factor says why, in `undetermined`
/// and in `excluded`.
pub fn calibrate(files: &[BenchmarkFile], pool: &CalibratedPool) -> CalibrationReport {
    let (used, excluded) = usable(files, pool, &(pool.replica)(pool.scale));
    let mut report = CalibrationReport {
        step_time_scale: None,
        undetermined: None,
        fitted: None,
        residual: None,
        residual_before: None,
        scale_before: pool.scale,
        points: Vec::new(),
        excluded,
        range_of_trust: None,
        assumptions: assumptions(&used),
        method: METHOD.to_owned(),
    };
    if used.is_empty() {
        report.undetermined = Some("no point can be used".to_owned());
        return report;
    }
    let mut curves = Curves { used: &used, replica: pool.replica, by_scale: Vec::new() };
    curves.add(&scales(SMALLEST_SCALE, LARGEST_SCALE, COARSE));
    let Some(coarse) = curves.median() else {
        report.points = curves.points(pool.scale, pool.scale);
        report.undetermined = Some(NOTHING_DEPENDS.to_owned());
        return report;
    };
    // Once more where the answer is, so that straight lines between scales are short.
    curves.add(&scales(coarse / FINE_REACH, coarse * FINE_REACH, FINE));
    let scale = curves.median().unwrap_or(coarse);
    report.points = curves.points(pool.scale, scale);
    if !(SMALLEST_SCALE * 1.02..LARGEST_SCALE / 1.02).contains(&scale) {
        report.undetermined = Some(OUT_OF_RANGE.to_owned());
        return report;
    }
    report.step_time_scale = Some(scale);
    report.residual = median_error(&report.points, |s| s.predicted);
    report.residual_before = median_error(&report.points, |s| s.predicted_before);
    let conditions: Vec<&Conditions> = used.iter().map(|used| &used.conditions).collect();
    report.range_of_trust = Some(trust_in(&conditions, &curves.predict(scale)));
    report.fitted = Some(FittedScaleDoc {
        step_time_scale: scale,
        files: files.iter().map(|file| file.file.file.clone()).collect(),
        fingerprint: fingerprint(files),
        points: u32::try_from(used.len()).unwrap_or(u32::MAX),
        residual: report.residual.unwrap_or(0.0),
    });
    report
}

/// A point with its conditions and what it reported.
struct Used<'a> {
    file: &'a str,
    point: &'a BenchmarkPoint,
    conditions: Conditions,
    observations: Vec<Observation>,
}

fn usable<'a>(
    files: &'a [BenchmarkFile],
    pool: &CalibratedPool,
    spec: &ReplicaSpec,
) -> (Vec<Used<'a>>, Vec<ExcludedPoint>) {
    let (mut used, mut excluded) = (Vec::new(), Vec::new());
    let findings = review(&files.iter().map(|file| file.file.clone()).collect::<Vec<_>>());
    for (file, point) in files.iter().flat_map(points) {
        let observations = Observation::all(point);
        let conditions = if let Some(finding) = disproved(&findings, file, point) {
            Err(format!("review: {}", finding.message))
        } else if observations.is_empty() {
            Err("it states no TPOT, TTFT, E2E or output rate under a known definition".to_owned())
        } else {
            Conditions::of(point, &pool.identity, spec)
        };
        match conditions {
            Ok(conditions) => {
                used.push(Used { file: &file.file.file, point, conditions, observations });
            }
            Err(reason) => excluded.push(ExcludedPoint {
                file: file.file.file.clone(),
                row: point.row,
                label: point.label.clone(),
                reason,
            }),
        }
    }
    (used, excluded)
}

fn points(file: &BenchmarkFile) -> impl Iterator<Item = (&BenchmarkFile, &BenchmarkPoint)> {
    let parsed = file.file.parsed.as_ref();
    parsed.map(Parsed::points).unwrap_or_default().iter().map(move |point| (file, point))
}

/// An error that the review found in a point, or in all of its file.
fn disproved<'a>(
    findings: &'a [Finding],
    file: &BenchmarkFile,
    point: &BenchmarkPoint,
) -> Option<&'a Finding> {
    findings.iter().find(|finding| finding.disproves(&file.file.file, point.row))
}

/// Median absolute relative error, each number with its weight in the fit.
fn median_error(points: &[PointFit], predicted: impl Fn(&StatisticFit) -> f64) -> Option<f64> {
    let statistics = points.iter().flat_map(|point| &point.statistics);
    let error = |s: &StatisticFit| ((predicted(s) / s.measured - 1.0).abs(), s.weight);
    weighted_median(&statistics.map(error).collect::<Vec<_>>())
}

fn assumptions(used: &[Used]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let of_definitions = used.iter().flat_map(|used| Observation::assumptions(used.point));
    let of_conditions = used.iter().flat_map(|used| used.conditions.assumptions.clone());
    for assumption in of_conditions.chain(of_definitions) {
        if !all.contains(&assumption) {
            all.push(assumption);
        }
    }
    all
}

/// What points cover, and what of one replica they are predicted to use.
fn trust_in(points: &[&Conditions], after: &[Prediction]) -> TrustRange {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)))
    };
    TrustRange {
        input_tokens: range(&mut points.iter().map(|point| point.input_tokens)),
        output_tokens: range(&mut points.iter().map(|point| point.output_tokens)),
        decode_seqs: range(&mut after.iter().map(|prediction| prediction.mean_in_flight)),
        output_tps: range(&mut after.iter().map(|prediction| prediction.replica_output_tps)),
    }
}

/// SHA-256 digests of the files, each as `sha256sum` prints it, in the order given.
fn fingerprint(files: &[BenchmarkFile]) -> String {
    let digests: Vec<&str> = files.iter().map(|file| file.sha256.as_str()).collect();
    format!("sha256:{}", digests.join(","))
}
