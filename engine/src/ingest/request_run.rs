//! A run told by its requests alone: the point that a list of records makes.

use super::parsed::{Contents, Notes};
use super::registry::Body;
use super::{BenchmarkPoint, DeclaredContext, Length, LengthSource, RecordOutcome, RequestRecord};

/// One point over all `records`, which are in any order of sending.
pub(super) fn of_records(mut records: Vec<RequestRecord>, notes: Notes) -> Body {
    records.sort_by(|a, b| {
        let start = |record: &RequestRecord| record.start_s.unwrap_or(f64::INFINITY);
        start(a).total_cmp(&start(b))
    });
    let answered = || records.iter().filter(|record| record.outcome == RecordOutcome::Ok);
    let completed = answered().count() as u64;
    let ends = records.iter().filter_map(|record| Some(record.start_s? + record.e2e_s?));
    let duration_s =
        ends.fold(None, |last: Option<f64>, end| Some(last.map_or(end, |l| l.max(end))));
    let mean = |tokens: fn(&RequestRecord) -> Option<u32>| {
        let lengths: Vec<f64> = answered().filter_map(tokens).map(f64::from).collect();
        let mean_tokens = crate::stats::mean(&lengths)?;
        Some(Length { mean_tokens, source: LengthSource::Measured })
    };
    let mut point = BenchmarkPoint {
        row: Some(1),
        num_prompts: Some(records.len() as u64),
        completed: Some(completed),
        failed: Some(records.len() as u64 - completed),
        duration_s,
        completed_rps: duration_s.filter(|s| *s > 0.0).map(|s| completed as f64 / s),
        input: mean(|record| record.input_tokens),
        output: mean(|record| record.output_tokens),
        context: DeclaredContext::default(),
        ..BenchmarkPoint::default()
    };
    point.list_missing();
    let contents = Contents::Benchmark { points: vec![point], records };
    Body { tool_version: None, contents, notes }
}
