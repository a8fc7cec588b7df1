//! Names and cells where they do not stand in a header and rows: columns, and keys of objects.

use csv::ByteRecord;

use crate::ingest::csv_table::{self, Delimiter, trimmed};
use crate::ingest::tree::Node;
use crate::ingest::{Refusal, json};

/// The most rows of a transposed table: each is a name.
const MOST_NAMES: usize = 1_000;

/// The first cells of the rows, as far as rows of one width go.
pub(super) fn first_column(text: &str, delimiter: Delimiter) -> Vec<String> {
    let mut names = Vec::new();
    // What cannot be read ends the column: it is asked whether this is a table at all.
    let read = csv_table::for_each_row(text, delimiter, |row| {
        if names.len() == MOST_NAMES || row.cells.len() < 2 {
            return Err(Refusal::empty("no transposed table"));
        }
        names.push(trimmed(row.cells.get(0).unwrap_or_default()).to_owned());
        Ok(())
    });
    if read.is_err() && names.len() == MOST_NAMES { Vec::new() } else { names }
}

/// Calls `visit` with every column and its number, counted from 1; the first holds the names.
pub(super) fn for_each_column(
    text: &str,
    delimiter: Delimiter,
    mut visit: impl FnMut(u64, &ByteRecord) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut columns: Vec<ByteRecord> = Vec::new();
    csv_table::for_each_row(text, delimiter, |row| {
        columns.resize_with(row.cells.len(), ByteRecord::new);
        for (column, cell) in columns.iter_mut().zip(row.cells) {
            column.push_field(cell);
        }
        Ok(())
    })?;
    (1..).zip(&columns).try_for_each(|(number, column)| visit(number, column))
}

/// Calls `visit` with the line, the keys and the single values of every object, which follow one
/// another or stand in a list.
pub(super) fn for_each_object(
    text: &str,
    mut visit: impl FnMut(u64, &ByteRecord, &ByteRecord) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let text = json::quote_not_finite(text);
    json::for_each_value(&text, |line, document: Node| {
        let objects = match &document {
            Node::List(objects) => objects.as_slice(),
            one => std::slice::from_ref(one),
        };
        objects.iter().try_for_each(|object| {
            let (mut names, mut cells) = (ByteRecord::new(), ByteRecord::new());
            for (name, value) in object.entries() {
                names.push_field(name.as_bytes());
                let cell = match value {
                    Node::Number(value) => value.to_string(),
                    Node::Text(text) if text == "N" => "NaN".to_owned(),
                    value => value.words().unwrap_or_default(),
                };
                cells.push_field(cell.as_bytes());
            }
            visit(line, &names, &cells)
        })
    })
}
