//! The header of a benchmark table: which of its columns are used, and a row read by it.

use csv::ByteRecord;

use super::cells::{self, Cell};
use super::columns::{Field, Meaning, meaning};
use super::rows::Draft;
use super::table_reading::TableReading;
use crate::ingest::csv_table::trimmed;
use crate::ingest::parsed::{Notes, RowRemarks};
use crate::ingest::{BenchmarkPoint, Refusal};

/// What to do about a name that says too little or too much.
const HINT: &str = "rename the column, or say what it is with goodput review --column";

/// A column that is used.
struct Column {
    place: usize,
    name: String,
    field: Field,
    size: f64,
    /// An earlier column of the same field, with which its cells must agree.
    twin: Option<usize>,
}

pub(super) struct Header {
    columns: Vec<Column>,
    unused: Vec<String>,
    /// Columns that were to be read under another name, as the file has them, and are not there.
    not_found: Vec<String>,
    /// What a row and a column are called in this table.
    called: [&'static str; 2],
}

impl Header {
    pub(super) fn read(
        line: u64,
        cells: &ByteRecord,
        reading: &TableReading,
        called: [&'static str; 2],
    ) -> Result<Self, Refusal> {
        let own = |(place, cell)| reading.name_of(trimmed(cell), place).to_owned();
        let names: Vec<String> = cells.iter().enumerate().map(own).collect();
        let not_found = reading.not_among(&names).map(str::to_owned).collect();
        let mut header = Self { columns: Vec::new(), unused: Vec::new(), not_found, called };
        for (place, name) in names.into_iter().enumerate() {
            match meaning(&name) {
                Meaning::Known { field, size } => {
                    let twin = header.columns.iter().position(|earlier| earlier.field == field);
                    header.columns.push(Column { place, name, field, size, twin });
                }
                Meaning::Ask(question) => {
                    return Err(Refusal::ambiguous(question, HINT).at_line(line));
                }
                Meaning::WrongUnit(message) => {
                    return Err(Refusal::broken(message, HINT).at_line(line));
                }
                Meaning::Unknown if name.is_empty() => {
                    header.unused.push(format!("{} {} (unnamed)", called[1], place + 1));
                }
                Meaning::Unknown => header.unused.push(name),
            }
        }
        Ok(header)
    }

    pub(super) fn point(
        &self,
        line: u64,
        cells: &ByteRecord,
        reading: &TableReading,
        remarks: &mut RowRemarks,
    ) -> Result<BenchmarkPoint, Refusal> {
        let cells: Vec<Cell> = self
            .columns
            .iter()
            .map(|column| {
                let text = trimmed(cells.get(column.place).unwrap_or_default());
                let [along, across] = self.called;
                cells::read(text, column.field, column.size, reading.decimals).map_err(|trouble| {
                    let place = format!("{along} {line}, {across} \"{}\"", column.name);
                    trouble.refusal(&place, line, text)
                })
            })
            .collect::<Result<_, _>>()?;
        let mut contradicted = Vec::new();
        for (column, cell) in self.columns.iter().zip(&cells) {
            if *cell == Cell::NotFinite {
                remarks.add(line, format!("{} is not finite and was left out", column.name));
            }
            let Some(earlier) = column.twin else { continue };
            let both = *cell != Cell::Missing && cells[earlier] != Cell::Missing;
            if both && *cell != cells[earlier] {
                let (one, other) = (&self.columns[earlier].name, &column.name);
                remarks.add(line, format!("{one} and {other} differ: neither was taken"));
                contradicted.push(column.field);
            }
        }
        let mut draft = Draft::new(line, &contradicted);
        for (column, cell) in self.columns.iter().zip(&cells) {
            if !contradicted.contains(&column.field) {
                draft.set(column.field, cell);
            }
        }
        Ok(draft.finish())
    }

    pub(super) fn remark(self, notes: &mut Notes) {
        let called = self.called[1];
        for (words, names) in
            [("not used", self.unused), ("to be read, and not there", self.not_found)]
        {
            if !names.is_empty() {
                notes.remark(format!("{called}s {words}: {}", names.join(", ")));
            }
        }
    }
}
