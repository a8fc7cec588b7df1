//! Azure LLM inference traces: `TIMESTAMP,ContextTokens,GeneratedTokens`.
//!
//! Documented at <https://github.com/Azure/AzurePublicDataset> (the LLM inference traces
//! of 2023 and 2024). Stamps carry seven fractional digits; lines end in CRLF, the last often not at all.
//! Columns are found by name; others, such as `NumImages`, are named in the notes.

use crate::counted::plural;
use csv::ByteRecord;

use super::csv_table::{self, Delimiter, trimmed};
use super::parsed::{Contents, Notes};
use super::registry::{Body, FormatDescription, Head};
use super::{MAX_ROWS, Refusal, RequestTrace, timestamp};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "azure_llm_trace",
    title: "Azure LLM inference trace (CSV)",
    looks_for: "a CSV header with TIMESTAMP, ContextTokens and GeneratedTokens",
    docs: "https://github.com/Azure/AzurePublicDataset",
    sniff: |head| Columns::find(&cells(head)).is_some(),
    parse,
};

const DELIMITER: Delimiter = Delimiter::Comma;

fn cells(head: &Head) -> Vec<String> {
    csv_table::header_cells(head.first_line, DELIMITER)
}

struct Columns {
    stamp: usize,
    input: usize,
    output: usize,
    others: Vec<String>,
}

impl Columns {
    fn find(header: &[String]) -> Option<Self> {
        let place = |name: &str| header.iter().position(|cell| cell.eq_ignore_ascii_case(name));
        let (stamp, input, output) =
            (place("TIMESTAMP")?, place("ContextTokens")?, place("GeneratedTokens")?);
        let others = header
            .iter()
            .enumerate()
            .filter(|(column, _)| ![stamp, input, output].contains(column))
            .map(|(column, name)| {
                if name.is_empty() {
                    format!("column {} (unnamed)", column + 1)
                } else {
                    name.clone()
                }
            })
            .collect();
        Some(Self { stamp, input, output, others })
    }
}

/// One row: due in nanoseconds since 1970, prompt and output tokens.
type Request = (i64, u32, u32);

fn parse(text: &str) -> Result<Body, Refusal> {
    let mut header = None;
    let mut rows: Vec<Request> = Vec::new();
    let mut first_stamp = None;
    csv_table::for_each_row(text, DELIMITER, |record| match &header {
        None => {
            let names: Vec<String> = record.cells.iter().map(|c| trimmed(c).to_owned()).collect();
            header = Columns::find(&names);
            Ok(())
        }
        Some(columns) => {
            if rows.len() == MAX_ROWS {
                return Err(Refusal::too_large(rows.len() + 1, "rows or more", MAX_ROWS));
            }
            let row = read_row(columns, record.line, record.cells)?;
            if first_stamp.as_ref().is_none_or(|&(due, _)| row.0 < due) {
                let stamp = record.cells.get(columns.stamp).unwrap_or_default();
                first_stamp = Some((row.0, trimmed(stamp).to_owned()));
            }
            rows.push(row);
            Ok(())
        }
    })?;
    if rows.is_empty() {
        return Err(Refusal::empty("the trace has a header and no requests"));
    }
    let others = header.map(|columns| columns.others).unwrap_or_default();
    let mut notes = Notes::new("requests");
    notes.rows_read = rows.len() as u64;
    notes.rows_used = notes.rows_read;
    if !others.is_empty() {
        notes.remark(format!("columns not used: {}", others.join(", ")));
    }
    let late = rows.windows(2).filter(|pair| pair[1].0 < pair[0].0).count();
    if late > 0 {
        notes.remark(plural(
            late as u64,
            "row is stamped before the row above it: requests were sorted by time",
            "rows are stamped before the row above them: requests were sorted by time",
        ));
        rows.sort_by_key(|row| row.0);
    }
    let silent = rows.iter().filter(|row| row.2 == 0).count();
    if silent > 0 {
        notes.remark(plural(
            silent as u64,
            "request has no generated token; it was kept",
            "requests have no generated token; they were kept",
        ));
    }
    let trace = trace_of(&rows, first_stamp.map(|(_, stamp)| stamp));
    Ok(Body { tool_version: None, contents: Contents::Trace(trace), notes })
}

fn read_row(columns: &Columns, line: u64, cells: &ByteRecord) -> Result<Request, Refusal> {
    let cell = |column: usize| cells.get(column).unwrap_or_default().trim_ascii();
    let due = timestamp::parse_ns(cell(columns.stamp)).ok_or_else(|| {
        broken(line, "TIMESTAMP", cell(columns.stamp), "write it as 2024-05-10 00:00:00.0099300")
    })?;
    let tokens = |name: &str, column: usize| {
        let text = trimmed(cell(column));
        text.parse::<u32>().ok().ok_or_else(|| {
            broken(line, name, cell(column), "a whole number of tokens, at most 4294967295")
        })
    };
    Ok((due, tokens("ContextTokens", columns.input)?, tokens("GeneratedTokens", columns.output)?))
}

fn broken(line: u64, column: &str, cell: &[u8], hint: &str) -> Refusal {
    let shown: String = trimmed(cell).chars().take(40).collect();
    Refusal::broken(format!("line {line}: {column} is \"{shown}\""), hint).at_line(line)
}

fn trace_of(rows: &[Request], started_at: Option<String>) -> RequestTrace {
    let first = rows.first().map_or(0, |row| row.0);
    RequestTrace {
        // A difference of integers is exact; one of floats since 1970 is good to 200 ns only.
        due_s: rows.iter().map(|row| (row.0 - first) as f64 / 1e9).collect(),
        input_tokens: rows.iter().map(|row| row.1).collect(),
        output_tokens: rows.iter().map(|row| row.2).collect(),
        started_at,
    }
}
