//! Tables with one row per request: `arrival_s`, `input_tokens`, `output_tokens`, `ttft_ms` and
//! `e2e_ms`, `scheduled_s` where the engine stamped it, and `cached_tokens` where it said them. Names are ours; other columns are
//! named in the notes. An empty `ttft_ms` is a request that never got a first token.

use csv::ByteRecord;

use super::csv_table::{self, Delimiter, trimmed};
use super::parsed::Notes;
use super::quantity::{quantity, tokens};
use super::registry::{Body, FormatDescription};
use super::{MAX_ROWS, RecordOutcome, Refusal, RequestRecord, request_run};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "request_table",
    title: "table of requests (CSV)",
    looks_for: "a CSV header with arrival_s, input_tokens, output_tokens, ttft_ms and e2e_ms",
    docs: "https://docs.vllm.ai/en/latest/benchmarking/cli.html",
    sniff: |head| {
        let cells = csv_table::header_cells(head.first_line, DELIMITER);
        head.json.is_none() && Columns::find(&cells).is_some()
    },
    parse,
};

const DELIMITER: Delimiter = Delimiter::Comma;

struct Columns {
    arrival: usize,
    input: usize,
    output: usize,
    ttft: usize,
    e2e: usize,
    scheduled: Option<usize>,
    cached: Option<usize>,
    others: Vec<String>,
}

impl Columns {
    fn find(header: &[String]) -> Option<Self> {
        let place = |name: &str| header.iter().position(|cell| cell.eq_ignore_ascii_case(name));
        let known = ["arrival_s", "input_tokens", "output_tokens", "ttft_ms", "e2e_ms"];
        let [arrival, input, output, ttft, e2e] = known.map(place);
        let (arrival, input, output) = (arrival?, input?, output?);
        let (ttft, e2e, scheduled) = (ttft?, e2e?, place("scheduled_s"));
        let cached = place("cached_tokens");
        let used =
            [Some(arrival), Some(input), Some(output), Some(ttft), Some(e2e), scheduled, cached];
        let others = header.iter().enumerate().filter(|(at, _)| !used.contains(&Some(*at)));
        let others = others.map(|(_, name)| name.clone()).collect();
        Some(Self { arrival, input, output, ttft, e2e, scheduled, cached, others })
    }
}

fn parse(text: &str) -> Result<Body, Refusal> {
    let mut header = None;
    let mut records: Vec<RequestRecord> = Vec::new();
    csv_table::for_each_row(text, DELIMITER, |row| match &header {
        None => {
            let names: Vec<String> = row.cells.iter().map(|c| trimmed(c).to_owned()).collect();
            header = Columns::find(&names);
            Ok(())
        }
        Some(_) if records.len() == MAX_ROWS => {
            Err(Refusal::too_large(MAX_ROWS + 1, "rows or more", MAX_ROWS))
        }
        Some(columns) => {
            records.push(record(columns, row.line, row.cells)?);
            Ok(())
        }
    })?;
    if records.is_empty() {
        return Err(Refusal::empty("the table has a header and no requests"));
    }
    let first = records.iter().filter_map(|record| record.start_s).fold(f64::INFINITY, f64::min);
    for record in &mut records {
        record.start_s = record.start_s.map(|start| start - first);
    }
    let mut notes = Notes::new("requests");
    notes.rows_read = records.len() as u64;
    notes.rows_used = notes.rows_read;
    let others = header.map(|columns| columns.others).unwrap_or_default();
    if !others.is_empty() {
        notes.remark(format!("columns not used: {}", others.join(", ")));
    }
    Ok(request_run::of_records(records, notes))
}

fn record(columns: &Columns, line: u64, cells: &ByteRecord) -> Result<RequestRecord, Refusal> {
    let number = |name: &str, column: usize| -> Result<Option<f64>, Refusal> {
        let cell = trimmed(cells.get(column).unwrap_or_default());
        if cell.is_empty() {
            return Ok(None);
        }
        let value = cell.parse::<f64>().ok().and_then(|value| quantity(value).ok());
        value.map(Some).ok_or_else(|| broken(line, name, cell))
    };
    let count = |name: &str, column: usize| -> Result<Option<u32>, Refusal> {
        let value = number(name, column)?;
        let whole =
            |value| tokens(value).map_err(|_unusable| broken(line, name, &format!("{value}")));
        value.map(whole).transpose()
    };
    let arrival_s = number("arrival_s", columns.arrival)?;
    let scheduled_s = match columns.scheduled {
        Some(column) => number("scheduled_s", column)?,
        None => None,
    };
    let seconds = |ms: Option<f64>| ms.map(|ms| ms / 1e3);
    let ttft_s = seconds(number("ttft_ms", columns.ttft)?);
    Ok(RequestRecord {
        point: 0,
        start_s: arrival_s,
        input_tokens: count("input_tokens", columns.input)?,
        output_tokens: count("output_tokens", columns.output)?,
        cached_tokens: match columns.cached {
            Some(column) => count("cached_tokens", column)?,
            None => None,
        },
        ttft_s,
        ttfvt_s: None,
        e2e_s: seconds(number("e2e_ms", columns.e2e)?),
        client_queue_s: None,
        queue_wait_s: scheduled_s.zip(arrival_s).and_then(|(s, a)| quantity(s - a).ok()),
        gaps: None,
        outcome: if ttft_s.is_some() { RecordOutcome::Ok } else { RecordOutcome::Error },
        quality: None,
    })
}

fn broken(line: u64, column: &str, cell: &str) -> Refusal {
    let shown: String = cell.chars().take(40).collect();
    Refusal::broken(
        format!("line {line}: {column} is \"{shown}\""),
        "write a plain number of zero or more, tokens as whole numbers, or leave the cell empty",
    )
    .at_line(line)
}
