//! A fit of the step time: which points go into it, and whether its result still applies.

use std::sync::Arc;

use goodput_engine::calibration::report::ExcludedPoint;
use goodput_engine::calibration::{CalibrationReport, LoadCurve};
use goodput_engine::ingest::Contents;
use goodput_engine::scenario::doc::{PoolDoc, ScenarioDoc};

use super::{Fact, Upload, Uploads};
use crate::state::edit::pools::always_there;
use crate::worker::protocol::PointsOfFile;

/// The points of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitRequest {
    /// Index of the pool.
    pub pool: usize,
    /// Files with the points that go into it, completed by what was told.
    pub files: Vec<PointsOfFile>,
    /// Points that do not, and why.
    pub left_out: Vec<ExcludedPoint>,
}

impl FitRequest {
    /// Points that go into it.
    pub fn points(&self) -> usize {
        let count = |file: &PointsOfFile| file.file.parsed.as_ref().map_or(0, |p| p.points().len());
        self.files.iter().map(count).sum()
    }
}

/// The result of a fit and what it was made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// Its points.
    pub request: Arc<FitRequest>,
    /// What they say.
    pub report: CalibrationReport,
    /// Predictions around them.
    pub curves: Vec<LoadCurve>,
}

/// A file of which something has to be told first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotReady {
    /// Its name.
    pub file: String,
    /// What.
    pub facts: Vec<Fact>,
}

/// The points for a fit of a pool, or what is still to be told; `None` without a benchmark file.
pub fn fit_request(uploads: &Uploads, pool: usize) -> Option<Result<FitRequest, Vec<NotReady>>> {
    let benchmarks: Vec<&Arc<Upload>> =
        uploads.files().iter().filter(|file| !file.points().is_empty()).collect();
    if benchmarks.is_empty() {
        return None;
    }
    let mut request = FitRequest { pool, files: Vec::new(), left_out: Vec::new() };
    let mut open = Vec::new();
    for file in benchmarks {
        let chosen = chosen(file, &mut request.left_out);
        let points: Vec<_> = chosen.iter().map(|index| file.points()[*index].clone()).collect();
        let facts = file.facts.unanswered(&points);
        if !facts.is_empty() {
            open.push(NotReady { file: file.name.clone(), facts });
        }
        if let Some(read) = file.read().filter(|_| !points.is_empty()) {
            let mut parsed = read.file.clone();
            parsed.file.clone_from(&file.name);
            if let Some(parsed) = &mut parsed.parsed {
                let points = points.iter().map(|point| file.facts.complete(point)).collect();
                parsed.contents = Contents::Benchmark { points, records: Vec::new() };
            }
            let sha256 = read.sha256.clone().unwrap_or_default();
            request.files.push(PointsOfFile { file: parsed, sha256 });
        }
    }
    Some(if open.is_empty() { Ok(request) } else { Err(open) })
}

/// Indices of the points that go into a fit; the others are added to `left_out`.
fn chosen(file: &Upload, left_out: &mut Vec<ExcludedPoint>) -> Vec<usize> {
    let disproved = file.disproved();
    let mut chosen = Vec::new();
    for (index, point) in file.points().iter().enumerate() {
        let reason = match disproved.get(&index) {
            Some(finding) => Some(format!("review: {finding}")),
            None => file.left_out.contains(&index).then(|| "left out by you".to_owned()),
        };
        match reason {
            Some(reason) => left_out.push(ExcludedPoint {
                file: file.name.clone(),
                row: point.row,
                label: point.label.clone(),
                reason,
            }),
            None => chosen.push(index),
        }
    }
    chosen
}

/// Whether a fit made for a pool of one document says something about that of another: their
/// replicas are alike but for an earlier fit, and have other names, prices or numbers at most, or
/// come and go otherwise.
pub fn applies(made_for: &ScenarioDoc, doc: &ScenarioDoc, pool: usize) -> bool {
    let replica = |doc: &ScenarioDoc| {
        doc.fleet.pools.get(pool).map(|pool| {
            let mut step_time = pool.step_time.clone();
            step_time.fitted = None;
            PoolDoc {
                name: String::new(),
                replicas: 1,
                price_per_gpu_hour: None,
                price_in_currency: None,
                price_source: String::new(),
                step_time,
                ..always_there(pool)
            }
        })
    };
    replica(made_for).is_some() && replica(made_for) == replica(doc)
}
