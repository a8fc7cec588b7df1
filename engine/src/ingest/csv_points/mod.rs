//! Benchmark rows in a table: our own template, hand-made tables, and exports of vLLM's keys, with a
//! point per row or, transposed, per column; also the same names as keys of flat JSON objects.
//!
//! The template is [`TEMPLATE`]. Columns are found by name in any order; those not known are named
//! in the notes. A column without a unit, a semicolon and a decimal comma are asked about, and
//! [`TableReading`] is the answer.

mod cells;
mod columns;
mod header;
mod rows;
mod source;
mod table_reading;
mod units;

use self::columns::{Meaning, is_request_id, meaning};
use self::header::Header;
pub use self::table_reading::{Decimals, TableReading};
use super::csv_table::{self, Delimiter};
use super::parsed::{Contents, Notes, RowRemarks};
use super::registry::{Body, FormatDescription, Head};
use super::{MAX_ROWS, Refusal};
use crate::counted::plural;

/// A table to fill in, with its explanation in comments.
pub const TEMPLATE: &str = include_str!("template.csv");

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "benchmark_csv",
    title: "benchmark rows (CSV)",
    looks_for: "a CSV header, a first column or JSON keys with at least three known names, one of \
                them a latency or a throughput, such as request_rate_rps, ttft_p99_ms, output_tps",
    docs: "https://docs.vllm.ai/en/latest/benchmarking/cli.html",
    sniff: |head| fits(head, &TableReading::default()),
    parse: |text| parse_as(text, &TableReading::default()),
};

/// A table of benchmark rows, when it is read like that.
pub(super) fn fits(head: &Head, reading: &TableReading) -> bool {
    match &head.json {
        Some(keys) => known(&keys.keys, reading, false),
        None => layout(head.first_line, head.text, reading).is_some(),
    }
}

/// How the rows of a table lie.
#[derive(Clone, Copy, PartialEq)]
struct Layout {
    delimiter: Delimiter,
    /// A point is a column, and the first column holds the names.
    transposed: bool,
}

/// The delimiter with which the header makes sense, if any; else the one with which the first
/// column does.
fn layout(first_line: &str, text: &str, reading: &TableReading) -> Option<Layout> {
    let across = |&delimiter: &Delimiter| {
        known(&csv_table::header_cells(first_line, delimiter), reading, true)
    };
    let down =
        |&delimiter: &Delimiter| known(&source::first_column(text, delimiter), reading, false);
    let all = || Delimiter::ALL.into_iter();
    let straight = all().find(across).map(|delimiter| Layout { delimiter, transposed: false });
    straight.or_else(|| all().find(down).map(|delimiter| Layout { delimiter, transposed: true }))
}

/// Three names that are known, one of them a measure; `asking` counts what has to be asked.
fn known(names: &[String], reading: &TableReading, asking: bool) -> bool {
    let own = names.iter().enumerate().map(|(place, name)| reading.name_of(name, place));
    let meanings: Vec<Meaning> = own.map(meaning).collect();
    let known = meanings.iter().filter(|meaning| **meaning != Meaning::Unknown).count();
    let is_measure = |meaning: &Meaning| match meaning {
        Meaning::Known { field, .. } => field.is_measure(),
        Meaning::Ask(_) | Meaning::WrongUnit(_) => asking,
        Meaning::Unknown => false,
    };
    let of_requests = names.iter().any(|name| is_request_id(name));
    known >= 3 && meanings.iter().any(is_measure) && !of_requests
}

/// The points of a table, read as the user says.
pub(super) fn parse_as(text: &str, reading: &TableReading) -> Result<Body, Refusal> {
    let mut table =
        Table { reading, header: None, points: Vec::new(), remarks: RowRemarks::default() };
    let mut notes = Notes::new("rows");
    if text.trim_start().starts_with(['{', '[']) {
        source::for_each_object(text, |line, names, cells| {
            table.header = None;
            table.row(line, names, "line", "key")?;
            table.row(line, cells, "line", "key")
        })?;
    } else {
        let first_line = csv_table::first_line(text);
        let layout = layout(first_line, text, reading)
            .unwrap_or(Layout { delimiter: Delimiter::Comma, transposed: false });
        if layout.delimiter == Delimiter::Semicolon && reading.decimals.is_none() {
            return Err(Refusal::ambiguous(
                "the cells are separated by semicolons: is 1,5 one and a half or fifteen?",
                "export with commas between cells and points in decimals, or say which with \
                 goodput review --decimals",
            ));
        }
        if layout.transposed {
            notes = Notes::new("columns");
            notes.remark(
                "the table is transposed: every column after the first was read as a point",
            );
            source::for_each_column(text, layout.delimiter, |column, cells| {
                table.row(column, cells, "column", "row")
            })?;
        } else {
            csv_table::for_each_row(text, layout.delimiter, |row| {
                table.row(row.line, row.cells, "line", "column")
            })?;
        }
    }
    table.finish(text, notes)
}

/// A table while its rows come.
struct Table<'r> {
    reading: &'r TableReading,
    header: Option<Header>,
    points: Vec<super::BenchmarkPoint>,
    remarks: RowRemarks,
}

impl Table<'_> {
    /// The header, then a point each. `along` and `across` are what rows and columns are called.
    fn row(
        &mut self,
        line: u64,
        cells: &csv::ByteRecord,
        along: &'static str,
        across: &'static str,
    ) -> Result<(), Refusal> {
        let Some(header) = &self.header else {
            self.header = Some(Header::read(line, cells, self.reading, [along, across])?);
            return Ok(());
        };
        if self.points.len() == MAX_ROWS {
            return Err(Refusal::too_large(MAX_ROWS + 1, "rows or more", MAX_ROWS));
        }
        self.points.push(header.point(line, cells, self.reading, &mut self.remarks)?);
        Ok(())
    }

    fn finish(self, text: &str, mut notes: Notes) -> Result<Body, Refusal> {
        if self.points.is_empty() {
            return Err(Refusal::empty("the table has a header and no rows"));
        }
        notes.rows_read = self.points.len() as u64;
        notes.rows_used = notes.rows_read;
        if let Some(header) = self.header {
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
        notes.remark_all(self.remarks);
        let contents = Contents::Benchmark { points: self.points, records: Vec::new() };
        Ok(Body { tool_version: None, contents, notes })
    }
}
