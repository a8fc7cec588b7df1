//! The numbers behind a chart: a table on the page, a CSV file for elsewhere.

use crate::format;

/// Columns with units, and rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Heads.
    pub columns: Vec<Column>,
    /// Each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
}

/// Head of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// What it holds.
    pub name: &'static str,
    /// In which unit; empty for text.
    pub unit: &'static str,
}

impl Column {
    /// A head.
    pub fn new(name: &'static str, unit: &'static str) -> Self {
        Self { name, unit }
    }

    /// `required, tok/s`.
    pub fn head(&self) -> String {
        if self.unit.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}, {}", self.name, self.unit)
        }
    }
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number in the unit of its column.
    Number(f64),
    /// A number of things, never rounded.
    Count(u64),
    /// There is none.
    Nothing,
}

impl Cell {
    /// As people read it.
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(x) => format::rounded(*x, 4),
            Self::Count(n) => format::count(*n),
            Self::Nothing => format::NONE.to_owned(),
        }
    }

    /// In full, as a machine reads it; `None` for what is no number.
    pub fn exact(&self) -> Option<String> {
        match self {
            Self::Number(x) if x.is_finite() => Some(x.to_string()),
            Self::Count(n) => Some(n.to_string()),
            Self::Text(_) | Self::Number(_) | Self::Nothing => None,
        }
    }
}

impl Table {
    /// As a CSV file: full numbers, a byte-order mark is not needed as it is plain ASCII but for
    /// names.
    pub fn csv(&self) -> String {
        let head = self.columns.iter().map(|c| quoted(&c.head())).collect::<Vec<_>>().join(",");
        let rows =
            self.rows.iter().map(|row| row.iter().map(csv_cell).collect::<Vec<_>>().join(","));
        std::iter::once(head).chain(rows).map(|line| line + "\r\n").collect()
    }
}

fn csv_cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => quoted(text),
        number => number.exact().unwrap_or_default(),
    }
}

/// Quotes where needed; a leading `=`, `+`, `-` or `@` is kept from becoming a formula.
fn quoted(text: &str) -> String {
    let guarded = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if guarded.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_shown_in_full_and_other_numbers_to_four_digits() {
        assert_eq!(Cell::Count(69_315).shown(), "69,315");
        assert_eq!(Cell::Number(69_315.4).shown(), "69,320");
        assert_eq!(Cell::Number(69_315.4).exact().as_deref(), Some("69315.4"));
        assert_eq!(Cell::Number(f64::NAN).exact(), None);
    }

    #[test]
    fn csv_quotes_and_defuses() {
        let table = Table {
            columns: vec![Column::new("class", ""), Column::new("rate", "req/s")],
            rows: vec![
                vec![Cell::Text("=SUM(A1)".into()), Cell::Number(1.5)],
                vec![Cell::Text("chat, \"fast\"".into()), Cell::Nothing],
            ],
        };
        let expected = "class,\"rate, req/s\"\r\n'=SUM(A1),1.5\r\n\"chat, \"\"fast\"\"\",\r\n";
        assert_eq!(table.csv(), expected);
    }
}
