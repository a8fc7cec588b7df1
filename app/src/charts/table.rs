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
    /// There is none.
    Nothing,
}

impl Cell {
    /// As people read it.
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(x) => format::rounded(*x, 4),
            Self::Nothing => format::NONE.to_owned(),
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
        Cell::Number(x) if x.is_finite() => x.to_string(),
        Cell::Number(_) | Cell::Nothing => String::new(),
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
