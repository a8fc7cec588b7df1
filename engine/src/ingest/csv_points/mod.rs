//! Benchmark rows in a CSV: our own template, hand-made tables, and exports of vLLM's keys.
//!
//! The template is [`TEMPLATE`]. Columns are found by name in any order; those not known are named
//! in the notes. A column without a unit, a semicolon and a decimal comma are asked about.

mod cells;
mod columns;
mod rows;
mod units;

use self::cells::Cell;
use self::columns::{Field, Meaning, is_request_id, meaning};
use self::rows::Draft;
use super::csv_table::{self, Delimiter, Row, trimmed};
use super::parsed::{Contents, Notes, RowRemarks};
use super::registry::{Body, FormatDescription, Head};
use super::{BenchmarkPoint, MAX_ROWS, Refusal};
use crate::counted::plural;

/// A table to fill in, with its explanation in comments.
pub const TEMPLATE: &str = include_str!("template.csv");

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "benchmark_csv",
    title: "benchmark rows (CSV)",
    looks_for: "a CSV header with at least three known columns, one of them a latency or a \
                throughput, such as request_rate_rps, ttft_p99_ms, output_tps",
    docs: "https://docs.vllm.ai/en/latest/benchmarking/cli.html",
    sniff: |head| head.json.is_none() && delimiter_of(head).is_some(),
    parse,
};

/// The delimiter with which the header makes sense, if any.
fn delimiter_of(head: &Head) -> Option<Delimiter> {
    Delimiter::ALL.into_iter().find(|&delimiter| {
        let cells = csv_table::header_cells(head.first_line, delimiter);
        let meanings: Vec<Meaning> = cells.iter().map(|cell| meaning(cell)).collect();
        let known = meanings.iter().filter(|meaning| **meaning != Meaning::Unknown).count();
        let of_requests = cells.iter().any(|cell| is_request_id(cell));
        known >= 3 && meanings.iter().any(is_measure) && !of_requests
    })
}

fn is_measure(meaning: &Meaning) -> bool {
    match meaning {
        Meaning::Known { field, .. } => field.is_measure(),
        Meaning::Ask(_) | Meaning::WrongUnit(_) => true,
        Meaning::Unknown => false,
    }
}

fn parse(text: &str) -> Result<Body, Refusal> {
    let first_line = csv_table::first_line(text);
    let delimiter =
        delimiter_of(&Head { first_line, json: None, text }).unwrap_or(Delimiter::Comma);
    if delimiter == Delimiter::Semicolon {
        return Err(Refusal::ambiguous(
            "the cells are separated by semicolons: is 1,5 one and a half or fifteen?",
            "export with commas between cells and points in decimals",
        ));
    }
    let mut table: Option<Header> = None;
    let mut points = Vec::new();
    let mut remarks = RowRemarks::default();
    csv_table::for_each_row(text, delimiter, |row| match &table {
        None => {
            table = Some(Header::read(row)?);
            Ok(())
        }
        Some(header) if points.len() < MAX_ROWS => {
            points.push(header.point(row, &mut remarks)?);
            Ok(())
        }
        Some(_) => Err(Refusal::too_large(MAX_ROWS + 1, "rows or more", MAX_ROWS)),
    })?;
    if points.is_empty() {
        return Err(Refusal::empty("the table has a header and no rows"));
    }
    let mut notes = Notes::new("rows");
    notes.rows_read = points.len() as u64;
    notes.rows_used = notes.rows_read;
    if let Some(header) = table {
        header.remark(&mut notes);
    }
    let comments = text.lines().filter(|line| line.starts_with('#')).count();
    if comments > 0 {
        notes.remark(plural(
            comments as u64,
            "line that starts with # was not read",
            "lines that start with # were not read",
        ));
    }
    notes.remark_all(remarks);
    Ok(Body {
        tool_version: None,
        contents: Contents::Benchmark { points, records: Vec::new() },
        notes,
    })
}

/// A column that is used.
struct Column {
    place: usize,
    name: String,
    field: Field,
    size: f64,
    /// An earlier column of the same field, with which its cells must agree.
    twin: Option<usize>,
}

struct Header {
    columns: Vec<Column>,
    unused: Vec<String>,
}

impl Header {
    fn read(row: &Row) -> Result<Self, Refusal> {
        let mut header = Self { columns: Vec::new(), unused: Vec::new() };
        for (place, cell) in row.cells.iter().enumerate() {
            let name = trimmed(cell).to_owned();
            match meaning(&name) {
                Meaning::Known { field, size } => {
                    let twin = header.columns.iter().position(|earlier| earlier.field == field);
                    header.columns.push(Column { place, name, field, size, twin });
                }
                Meaning::Ask(question) => {
                    return Err(Refusal::ambiguous(question, "rename the column").at_line(row.line));
                }
                Meaning::WrongUnit(message) => {
                    return Err(Refusal::broken(message, "rename the column").at_line(row.line));
                }
                Meaning::Unknown if name.is_empty() => {
                    header.unused.push(format!("column {} (unnamed)", place + 1));
                }
                Meaning::Unknown => header.unused.push(name),
            }
        }
        Ok(header)
    }

    fn point(&self, row: &Row, remarks: &mut RowRemarks) -> Result<BenchmarkPoint, Refusal> {
        let cells: Vec<Cell> = self
            .columns
            .iter()
            .map(|column| {
                let text = trimmed(row.cells.get(column.place).unwrap_or_default());
                cells::read(text, column.field, column.size)
                    .map_err(|trouble| trouble.refusal(row.line, &column.name, text))
            })
            .collect::<Result<_, _>>()?;
        let mut contradicted = Vec::new();
        for (column, cell) in self.columns.iter().zip(&cells) {
            if *cell == Cell::NotFinite {
                remarks.add(row.line, format!("{} is not finite and was left out", column.name));
            }
            let Some(earlier) = column.twin else { continue };
            let both = *cell != Cell::Missing && cells[earlier] != Cell::Missing;
            if both && *cell != cells[earlier] {
                let (one, other) = (&self.columns[earlier].name, &column.name);
                remarks.add(row.line, format!("{one} and {other} differ: neither was taken"));
                contradicted.push(column.field);
            }
        }
        let mut draft = Draft::new(row.line, &contradicted);
        for (column, cell) in self.columns.iter().zip(&cells) {
            if !contradicted.contains(&column.field) {
                draft.set(column.field, cell);
            }
        }
        Ok(draft.finish())
    }

    fn remark(self, notes: &mut Notes) {
        if !self.unused.is_empty() {
            notes.remark(format!("columns not used: {}", self.unused.join(", ")));
        }
    }
}
