//! One scalar on the step time, fitted from benchmark points.
//!
//! Each point is simulated under its *own* conditions (its load, its mean lengths, the pool's
//! scheduler settings), step by step, and compared with what it reported, in its own definitions.
//! The scalar makes the Huber loss of the logarithms of predicted ÷ measured smallest, so that
//! twice as slow counts like twice as fast and one broken row does not decide.
//!
//! A scalar is what aggregates of one load determine ("overall slowness", to about 1 %); the
//! balance of prefill and decode needs more than that and stays the source's.

mod conditions;
mod observed;
mod predict;
pub mod report;
mod search;
mod sha256;

pub use conditions::{BenchmarkedPool, Conditions, same_name};
pub use predict::Prediction;
pub use report::CalibrationReport;
pub use search::{huber, smallest};
pub use sha256::sha256_hex;

use observed::Observation;
use report::{ExcludedPoint, PointFit, StatisticFit, TrustRange};

use crate::accounts::{Unanswerable, fleet_spec};
use crate::ingest::{BenchmarkPoint, Parsed, ParsedFile};
use crate::problem::Severity;
use crate::review::{Finding, review};
use crate::scenario::Pool;
use crate::scenario::doc::FittedScaleDoc;
use crate::sim::ReplicaSpec;
use crate::stats;

/// The factors tried; outside of them a benchmark and a source are not about the same thing.
const SMALLEST_SCALE: f64 = 0.2;
/// See [`SMALLEST_SCALE`].
const LARGEST_SCALE: f64 = 5.0;
/// Relative precision of the factor.
const TOLERANCE: f64 = 2e-3;
/// Relative errors beyond this are outliers.
const HUBER_DELTA: f64 = 0.1;

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
    let spec = fleet_spec(pool)?.replica;
    let step_time = pool.step_time().ok_or(Unanswerable::DeclaredRatesOnly)?;
    let budget = u64::from(pool.scheduler.max_num_batched_tokens);
    let replica = |scale: f64| ReplicaSpec {
        law: step_time.resolved.compile(budget, scale, step_time.step_overhead_s),
        ..spec.clone()
    };
    let identity = BenchmarkedPool {
        model: pool.model.name.clone(),
        gpu: pool.gpu.name.clone(),
        tensor_parallel: pool.layout.tensor_parallel,
    };
    Ok(calibrate(files, &CalibratedPool { identity, scale: step_time.scale, replica: &replica }))
}

/// Fits the step time of `pool` to `files`. A report without a factor says why in `excluded`.
pub fn calibrate(files: &[BenchmarkFile], pool: &CalibratedPool) -> CalibrationReport {
    let spec = (pool.replica)(pool.scale);
    let (used, excluded) = usable(files, pool, &spec);
    let mut report = CalibrationReport {
        step_time_scale: None,
        fitted: None,
        residual: None,
        residual_before: None,
        scale_before: pool.scale,
        points: Vec::new(),
        excluded,
        range_of_trust: None,
        assumptions: assumptions(&used),
        method: "each point is simulated step by step under its own load and mean lengths; the \
                 factor makes the Huber loss of log(predicted ÷ measured) over TPOT (else E2E), \
                 TTFT (200 ms added to both sides) and output tokens/s smallest"
            .to_owned(),
    };
    if used.is_empty() {
        return report;
    }
    let loss = |scale: f64| {
        let spec = (pool.replica)(scale);
        used.iter().map(|used| used.loss(&used.predict(&spec))).sum()
    };
    let scale = smallest(SMALLEST_SCALE, LARGEST_SCALE, TOLERANCE, loss);
    let before: Vec<Prediction> = used.iter().map(|used| used.predict(&spec)).collect();
    let spec = (pool.replica)(scale);
    let after: Vec<Prediction> = used.iter().map(|used| used.predict(&spec)).collect();
    report.points = used
        .iter()
        .zip(before.iter().zip(&after))
        .map(|(used, (before, after))| used.fit(before, after))
        .collect();
    report.step_time_scale = Some(scale);
    report.residual = median_error(&report.points, |s| s.predicted);
    report.residual_before = median_error(&report.points, |s| s.predicted_before);
    report.range_of_trust = Some(trust(&used, &after));
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
    findings.iter().find(|finding| {
        finding.severity == Severity::Error
            && finding.file == file.file.file
            && (finding.row.is_none() || finding.row == point.row)
    })
}

impl Used<'_> {
    fn predict(&self, spec: &ReplicaSpec) -> Prediction {
        Prediction::of(&self.conditions, spec)
    }

    fn loss(&self, prediction: &Prediction) -> f64 {
        let residual = |o: &Observation| o.predicted(prediction).map(|p| o.residual(p));
        self.observations.iter().filter_map(residual).map(|r| huber(r, HUBER_DELTA)).sum()
    }

    fn fit(&self, before: &Prediction, after: &Prediction) -> PointFit {
        let statistics = self.observations.iter().filter_map(|observation| {
            let predicted = observation.predicted(after)?;
            Some(StatisticFit {
                name: observation.name(),
                measured: observation.measured,
                predicted,
                predicted_before: observation.predicted(before)?,
                error: predicted / observation.measured - 1.0,
            })
        });
        PointFit {
            file: self.file.to_owned(),
            row: self.point.row,
            label: self.point.label.clone(),
            load: self.conditions.load.clone(),
            rate_rps: self.conditions.rate_rps,
            concurrency: self.conditions.cap.map(u64::from),
            input_tokens: self.conditions.input_tokens,
            output_tokens: self.conditions.output_tokens,
            statistics: statistics.collect(),
        }
    }
}

fn median_error(points: &[PointFit], predicted: impl Fn(&StatisticFit) -> f64) -> Option<f64> {
    let statistics = points.iter().flat_map(|point| &point.statistics);
    let mut errors: Vec<f64> =
        statistics.map(|s| (predicted(s) / s.measured - 1.0).abs()).collect();
    errors.sort_unstable_by(f64::total_cmp);
    stats::nearest_rank(&errors, 0.5)
}

fn assumptions(used: &[Used]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for assumption in used.iter().flat_map(|used| &used.conditions.assumptions) {
        if !all.contains(assumption) {
            all.push(assumption.clone());
        }
    }
    all
}

fn trust(used: &[Used], after: &[Prediction]) -> TrustRange {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)))
    };
    TrustRange {
        input_tokens: range(&mut used.iter().map(|used| used.conditions.input_tokens)),
        output_tokens: range(&mut used.iter().map(|used| used.conditions.output_tokens)),
        decode_seqs: range(&mut after.iter().map(|prediction| prediction.mean_in_flight)),
        output_tps: range(&mut after.iter().map(|prediction| prediction.replica_output_tps)),
    }
}

/// SHA-256 digests of the files, each as `sha256sum` prints it, in the order given.
fn fingerprint(files: &[BenchmarkFile]) -> String {
    let digests: Vec<&str> = files.iter().map(|file| file.sha256.as_str()).collect();
    format!("sha256:{}", digests.join(","))
}
