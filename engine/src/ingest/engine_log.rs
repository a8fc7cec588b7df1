//! Per-request logs of an engine's own stamps, one JSON object a line: `queued_ts`,
//! `scheduled_ts`, `first_token_ts`, `last_token_ts` in seconds of one monotonic clock, and
//! `input_toks` and `output_toks`.
//!
//! Written by the vLLM benchmark of LLMServingSim
//! (<https://github.com/casys-kaist/LLMServingSim>, read in 2026). Its `arrival_time` is of
//! another clock, so every span counts from `queued_ts`. A request without a first token failed.

use serde::Deserialize;

use super::parsed::{Notes, RowRemarks};
use super::quantity::{quantity, tokens};
use super::registry::{Body, FormatDescription, Head};
use super::{MAX_ROWS, RecordOutcome, Refusal, RequestRecord, json, request_run};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "engine_request_log",
    title: "engine request log (JSON lines)",
    looks_for: "a JSON object a line with queued_ts, first_token_ts and last_token_ts",
    docs: "https://github.com/casys-kaist/LLMServingSim",
    sniff,
    parse,
};

fn sniff(head: &Head) -> bool {
    head.json.as_ref().is_some_and(|keys| {
        ["queued_ts", "first_token_ts", "last_token_ts"].iter().all(|key| keys.has(key))
    })
}

/// One line; other keys are passed over.
#[derive(Deserialize)]
struct Line {
    queued_ts: json::Number,
    scheduled_ts: Option<json::Number>,
    first_token_ts: Option<json::Number>,
    last_token_ts: Option<json::Number>,
    input_toks: Option<json::Number>,
    output_toks: Option<json::Number>,
}

fn parse(text: &str) -> Result<Body, Refusal> {
    let text = json::quote_not_finite(text);
    let mut lines: Vec<Line> = Vec::new();
    let mut remarks = RowRemarks::default();
    json::for_each_value(&text, |at, line: Line| {
        if lines.len() == MAX_ROWS {
            return Err(Refusal::too_large(MAX_ROWS + 1, "requests or more", MAX_ROWS));
        }
        if quantity(line.queued_ts.0).is_err() {
            remarks.add(at, "queued_ts is missing or impossible: the request has no start");
        }
        lines.push(line);
        Ok(())
    })?;
    let queued = lines.iter().map(|line| line.queued_ts.0);
    // min() passes over NaN.
    let first = queued.fold(f64::INFINITY, f64::min);
    let records: Vec<RequestRecord> = lines.iter().map(|line| record(line, first)).collect();
    let mut notes = Notes::new("requests");
    notes.rows_read = records.len() as u64;
    notes.rows_used = notes.rows_read;
    notes.remark("TTFT and E2E count from queued_ts: what came before is of another clock");
    notes.remark_all(remarks);
    Ok(request_run::of_records(records, notes))
}

fn record(line: &Line, first: f64) -> RequestRecord {
    let since_queued = |stamp: Option<&json::Number>| {
        stamp.and_then(|stamp| quantity(stamp.0 - line.queued_ts.0).ok())
    };
    let count = |number: Option<&json::Number>| number.and_then(|number| tokens(number.0).ok());
    let (ttft_s, e2e_s) =
        (since_queued(line.first_token_ts.as_ref()), since_queued(line.last_token_ts.as_ref()));
    RequestRecord {
        point: 0,
        start_s: quantity(line.queued_ts.0 - first).ok(),
        input_tokens: count(line.input_toks.as_ref()),
        cached_tokens: None,
        output_tokens: count(line.output_toks.as_ref()),
        ttft_s,
        ttfvt_s: None,
        e2e_s,
        client_queue_s: None,
        queue_wait_s: since_queued(line.scheduled_ts.as_ref()),
        gaps: None,
        outcome: if ttft_s.is_some() { RecordOutcome::Ok } else { RecordOutcome::Error },
        quality: None,
        class: None,
    }
}
