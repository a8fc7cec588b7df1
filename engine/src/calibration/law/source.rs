//! A fitted law as a scenario carries it: with its fingerprint, its error and where it was measured.

use super::report::LawReport;
use super::rows::Row;
use super::{PointLaw, next};
use crate::calibration::{BenchmarkFile, fingerprint};
use crate::scenario::doc::{FittedLawDoc, StepTimeSourceDoc};
use crate::sim::ReplicaSpec;
use crate::step_time::Hull;
use crate::workload::OfferedRequest;

/// The law as a pool carries it.
pub fn of(
    files: &[BenchmarkFile],
    law: &PointLaw,
    report: &LawReport,
    rows: &[Row],
    replica: &ReplicaSpec,
) -> StepTimeSourceDoc {
    let assumed = report.coefficients.iter().filter(|coefficient| !coefficient.measured);
    // What a fit has not seen says more about the next load than what it was fitted to.
    let residual = report.left_out.map_or(law.residual, |left_out| left_out.median_error);
    StepTimeSourceDoc::Coefficients {
        coefficients: law.coefficients.clone(),
        by: "goodput calibrate --law".to_owned(),
        fitted: Some(Box::new(FittedLawDoc {
            files: files.iter().map(|file| file.file.file.clone()).collect(),
            fingerprint: fingerprint(files),
            points: u32::try_from(rows.len()).unwrap_or(u32::MAX),
            residual,
            assumed: assumed.map(|coefficient| coefficient.name.to_owned()).collect(),
            range: hull(rows, report, replica),
        })),
    }
}

/// The batch shapes that the points went through, as far as their loads say.
fn hull(rows: &[Row], report: &LawReport, replica: &ReplicaSpec) -> Hull {
    let longest = |of: fn(&OfferedRequest) -> u64| {
        rows.iter().flat_map(|row| &row.conditions.requests).map(of).max().unwrap_or(0)
    };
    let shortest = rows.iter().flat_map(|row| &row.conditions.requests);
    let shortest = shortest.map(|request| u64::from(request.input_tokens)).min().unwrap_or(0);
    let in_flight = report.range_of_trust.map_or(1.0, |trust| trust.decode_seqs.1).ceil();
    let in_flight = next::whole(in_flight).clamp(1, u64::from(replica.max_num_seqs));
    let prompt = longest(|request| u64::from(request.input_tokens));
    let sequence = longest(|r| u64::from(r.input_tokens) + u64::from(r.output_tokens));
    let prefill = (in_flight * prompt).min(u64::from(replica.max_num_batched_tokens));
    Hull {
        max_prefill_tokens: prefill,
        max_prefill_context: prompt,
        max_decode_seqs: in_flight,
        min_kv_per_seq: shortest,
        max_kv_per_seq: sequence,
        max_mixed_prefill_tokens: prefill,
        max_mixed_decode_seqs: in_flight,
        max_mixed_kv_per_seq: sequence,
    }
}
