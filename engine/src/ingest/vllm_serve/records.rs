//! The per-request lists of a run as records.

use super::run::{Gaps, Lists, Run};
use crate::counted::plural;
use crate::ingest::json::Number;
use crate::ingest::parsed::RowRemarks;
use crate::ingest::quantity::{quantity, tokens};
use crate::ingest::{GapSummary, RecordOutcome, RequestRecord};

/// One record per request; none for a run without lists, a reason for lists that disagree.
pub(super) fn of_run(
    run: &Run,
    point: u32,
    line: u64,
    remarks: &mut RowRemarks,
) -> Result<Vec<RequestRecord>, String> {
    let lists = &run.lists;
    // Without these two nothing says how a request ended.
    if lists.output_lens.is_none() && lists.ttfts.is_none() {
        return Ok(Vec::new());
    }
    let requests = lists.longest();
    if let Some(reason) = unequal(lists, requests) {
        return Err(reason);
    }
    let first_start = lists.start_times.iter().flatten().map(|start| start.0).fold(
        f64::INFINITY,
        // min() passes over NaN.
        f64::min,
    );
    let records: Vec<RequestRecord> =
        (0..requests).map(|index| record(lists, index, first_start, point)).collect();
    remark_on_odd_values(lists, &records, line, remarks);
    Ok(records)
}

fn unequal(lists: &Lists, requests: usize) -> Option<String> {
    let lengths = lists.lengths();
    if lengths.iter().all(|&(_, length)| length == requests) {
        return None;
    }
    let told: Vec<String> =
        lengths.iter().map(|(name, length)| format!("{name} {length}")).collect();
    Some(format!("per-request lists differ in length ({}): none was used", told.join(", ")))
}

fn record(lists: &Lists, index: usize, first_start: f64, point: u32) -> RequestRecord {
    let output_tokens = at(lists.output_lens.as_ref(), index).and_then(|n| tokens(n).ok());
    let ttft = seconds(lists.ttfts.as_ref(), index);
    let failed = lists.errors.as_ref().and_then(|errors| errors.get(index)).is_some_and(|e| e.0);
    let no_token = output_tokens == Some(0) || ttft == Some(0.0);
    let outcome = match (failed, no_token) {
        (true, _) => RecordOutcome::Error,
        (false, true) => RecordOutcome::EmptySuccess,
        (false, false) => RecordOutcome::Ok,
    };
    // Without a token, 0.0 means no data, and anything else is when the headers came.
    let ttft_s = ttft.filter(|_| !no_token);
    let gaps = lists.itls.as_ref().and_then(|itls| itls.get(index)).copied();
    RequestRecord {
        point,
        start_s: at(lists.start_times.as_ref(), index)
            .and_then(|start| quantity(start - first_start).ok()),
        input_tokens: at(lists.input_lens.as_ref(), index).and_then(|n| tokens(n).ok()),
        cached_tokens: None,
        output_tokens,
        ttft_s,
        ttfvt_s: None,
        e2e_s: ttft_s.and_then(|ttft| whole(lists, index, ttft, gaps)),
        client_queue_s: seconds(lists.queue_times.as_ref(), index),
        queue_wait_s: None,
        gaps: gaps.map(|gaps| gaps.summary).filter(|_| !no_token),
        outcome,
        quality: None,
        class: None,
    }
}

/// E2E: the list of latencies where there is one, else the first token plus all gaps.
fn whole(lists: &Lists, index: usize, ttft_s: f64, gaps: Option<Gaps>) -> Option<f64> {
    let stated = seconds(lists.latencies.as_ref(), index).filter(|&latency| latency > 0.0);
    let summed = gaps
        .filter(|gaps| gaps.unusable == 0)
        .map(|Gaps { summary: GapSummary { sum_s, .. }, .. }| ttft_s + sum_s);
    stated.or(summed)
}

fn at(list: Option<&Vec<Number>>, index: usize) -> Option<f64> {
    list?.get(index).map(|number| number.0)
}

fn seconds(list: Option<&Vec<Number>>, index: usize) -> Option<f64> {
    at(list, index).and_then(|value| quantity(value).ok())
}

fn remark_on_odd_values(
    lists: &Lists,
    records: &[RequestRecord],
    line: u64,
    remarks: &mut RowRemarks,
) {
    let odd_gaps: u64 = lists.itls.iter().flatten().map(|gaps| u64::from(gaps.unusable)).sum();
    if odd_gaps > 0 {
        remarks.add(line, format!("{odd_gaps} gaps in itls are not finite or negative: left out"));
    }
    for (name, list) in [
        ("ttfts", &lists.ttfts),
        ("latencies", &lists.latencies),
        ("queue_times", &lists.queue_times),
        ("input_lens", &lists.input_lens),
        ("output_lens", &lists.output_lens),
    ] {
        let whole = name.ends_with("lens");
        let unusable =
            |n: &&Number| if whole { tokens(n.0).is_err() } else { quantity(n.0).is_err() };
        let odd = list.iter().flatten().filter(unusable).count();
        if odd > 0 {
            remarks
                .add(line, format!("{odd} values in {name} are missing or impossible: left out"));
        }
    }
    let headers_only = records
        .iter()
        .zip(lists.ttfts.iter().flatten())
        .filter(|(record, ttft)| record.output_tokens == Some(0) && ttft.0 > 0.0)
        .count();
    if headers_only > 0 {
        remarks.add(
            line,
            plural(
                headers_only as u64,
                "request has a TTFT and no token: its TTFT was left out",
                "requests have a TTFT and no token: their TTFT was left out",
            ),
        );
    }
}
