//! Tables with one row per request: `arrival_s` (or `due_s`, as we write it), `input_tokens`,
//! `output_tokens`, `ttft_ms` and `e2e_ms`, `scheduled_s` where the engine stamped it, and
//! `cached_tokens` where it said them. `status`, `outcome` or `success` and `error` say how a request
//! ended ([`request_outcome`]); without them, an empty `ttft_ms` is a request that failed. `class`,
//! `tenant` and `model` break outcomes out. Names are ours; other columns are named in the notes.

use std::collections::BTreeMap;

use csv::ByteRecord;

use super::csv_table::{self, Delimiter, trimmed};
use super::parsed::Notes;
use super::quantity::{quantity, tokens};
use super::record::RecordClass;
use super::registry::{Body, FormatDescription};
use super::{
    Contents, MAX_ROWS, RecordOutcome, Refusal, RequestRecord, request_outcome, request_run,
};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "request_table",
    title: "table of requests (CSV)",
    looks_for: "a CSV header with arrival_s or due_s, input_tokens, output_tokens, ttft_ms and e2e_ms",
    docs: "https://docs.vllm.ai/en/latest/benchmarking/cli.html",
    sniff: |head| {
        let cells = csv_table::header_cells(head.first_line, DELIMITER);
        head.json.is_none() && Columns::find(&cells).is_some()
    },
    parse,
};

const DELIMITER: Delimiter = Delimiter::Comma;

/// More classes than these are no classes: a column of ids, say.
const MOST_CLASSES: usize = 100;

struct Columns {
    arrival: usize,
    input: usize,
    output: usize,
    ttft: usize,
    e2e: usize,
    scheduled: Option<usize>,
    cached: Option<usize>,
    /// The first of `status`, `outcome` and `success` that is there, and its name.
    status: Option<(usize, &'static str)>,
    error: Option<usize>,
    /// `class`, `tenant` and `model`.
    labels: [Option<usize>; 3],
    others: Vec<String>,
}

impl Columns {
    fn find(header: &[String]) -> Option<Self> {
        let place = |name: &str| header.iter().position(|cell| cell.eq_ignore_ascii_case(name));
        let known = ["input_tokens", "output_tokens", "ttft_ms", "e2e_ms"];
        let [input, output, ttft, e2e] = known.map(place);
        let arrival = place("arrival_s").or_else(|| place("due_s"))?;
        let (input, output, ttft, e2e) = (input?, output?, ttft?, e2e?);
        let (scheduled, cached) = (place("scheduled_s"), place("cached_tokens"));
        let status = ["status", "outcome", "success"];
        let status = status.into_iter().find_map(|name| Some((place(name)?, name)));
        let error = place("error");
        let labels = ["class", "tenant", "model"].map(place);
        let used = [Some(arrival), Some(input), Some(output), Some(ttft), Some(e2e)];
        let more = [scheduled, cached, status.map(|(at, _)| at), error];
        let used: Vec<Option<usize>> = used.into_iter().chain(more).chain(labels).collect();
        let others = header.iter().enumerate().filter(|(at, _)| !used.contains(&Some(*at)));
        let others = others.map(|(_, name)| name.clone()).collect();
        Some(Self {
            arrival,
            input,
            output,
            ttft,
            e2e,
            scheduled,
            cached,
            status,
            error,
            labels,
            others,
        })
    }

    /// What a row says it is of; `None` where no column does.
    fn class(&self, cells: &ByteRecord) -> Option<RecordClass> {
        let said = |column: Option<usize>| {
            let cell = trimmed(cells.get(column?).unwrap_or_default());
            (!cell.is_empty()).then(|| cell.to_owned())
        };
        let [name, tenant, model] = self.labels.map(said);
        let is_said = self.labels.iter().any(Option::is_some);
        is_said.then_some(RecordClass { name, tenant, model })
    }
}

fn parse(text: &str) -> Result<Body, Refusal> {
    let mut header = None;
    let mut records: Vec<RequestRecord> = Vec::new();
    let mut classes: BTreeMap<RecordClass, u32> = BTreeMap::new();
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
            let record = record(columns, row.line, row.cells)?;
            let class = columns.class(row.cells).filter(|_| classes.len() <= MOST_CLASSES);
            let next = u32::try_from(classes.len()).unwrap_or(u32::MAX);
            let class = class.map(|class| *classes.entry(class).or_insert(next));
            records.push(RequestRecord { class, ..record });
            Ok(())
        }
    })?;
    let mut notes = Notes::new("requests");
    if let Some(columns) = &header {
        remark_columns(columns, &mut notes);
    }
    if classes.len() > MOST_CLASSES {
        notes.remark(format!(
            "more than {MOST_CLASSES} different values of class, tenant and model together: they are \
             not told apart"
        ));
        classes.clear();
        for record in &mut records {
            record.class = None;
        }
    }
    body(records, classes, notes)
}

fn remark_columns(columns: &Columns, notes: &mut Notes) {
    if let (None, None) = (columns.status, columns.error) {
        notes.remark(
            "no column says how requests ended (status, outcome, success or error): who has a \
             ttft_ms counts as served",
        );
    }
    if !columns.others.is_empty() {
        notes.remark(format!("columns not used: {}", columns.others.join(", ")));
    }
}

fn body(
    mut records: Vec<RequestRecord>,
    classes: BTreeMap<RecordClass, u32>,
    mut notes: Notes,
) -> Result<Body, Refusal> {
    if records.is_empty() {
        return Err(Refusal::empty("the table has a header and no requests"));
    }
    let first = records.iter().filter_map(|record| record.start_s).fold(f64::INFINITY, f64::min);
    for record in &mut records {
        record.start_s = record.start_s.map(|start| start - first);
    }
    notes.rows_read = records.len() as u64;
    notes.rows_used = notes.rows_read;
    let mut body = request_run::of_records(records, notes);
    if let Contents::Benchmark { points, .. } = &mut body.contents
        && let Some(point) = points.first_mut()
    {
        let mut by_index: Vec<(u32, RecordClass)> =
            classes.into_iter().map(|(class, index)| (index, class)).collect();
        by_index.sort_unstable();
        point.record_classes = by_index.into_iter().map(|(_, class)| class).collect();
    }
    Ok(body)
}

/// How a request ended: by an error that is named, by its status, or by whether it has a first token.
fn outcome(
    columns: &Columns,
    (line, cells): (u64, &ByteRecord),
    had_first_token: bool,
) -> Result<RecordOutcome, Refusal> {
    let cell = |column: usize| trimmed(cells.get(column).unwrap_or_default());
    if columns.error.is_some_and(|column| request_outcome::is_error(cell(column))) {
        return Ok(RecordOutcome::Error);
    }
    let unsaid = if had_first_token { RecordOutcome::Ok } else { RecordOutcome::Error };
    let Some((column, name)) = columns.status else { return Ok(unsaid) };
    let said = cell(column);
    if said.is_empty() {
        return Ok(unsaid);
    }
    match request_outcome::of_status(said) {
        Some(RecordOutcome::Ok) if !had_first_token => Ok(RecordOutcome::EmptySuccess),
        Some(outcome) => Ok(outcome),
        None => {
            let shown: String = said.chars().take(40).collect();
            let message = format!("line {line}: {name} is \"{shown}\", which is not known");
            Err(Refusal::broken(message, request_outcome::KNOWN).at_line(line))
        }
    }
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
        outcome: outcome(columns, (line, cells), ttft_s.is_some())?,
        quality: None,
        class: None,
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
