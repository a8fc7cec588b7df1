//! Published measurements as tables: rows by the names of their columns.

use std::path::{Path, PathBuf};

/// A table with named columns.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// One row of a [`Table`].
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    columns: &'a [String],
    cells: &'a [String],
}

impl Table {
    /// Reads comma-separated values under a header.
    ///
    /// # Errors
    /// It cannot be read, or a row has another number of cells than the header.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read(path).map_err(|why| format!("{}: {why}", path.display()))?;
        Self::parse(&text).map_err(|why| format!("{}: {why}", path.display()))
    }

    fn parse(text: &[u8]) -> Result<Self, String> {
        let mut reader = csv::Reader::from_reader(text);
        let cells = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
        let columns = reader.headers().map(cells).map_err(|why| why.to_string())?;
        let rows = reader.records().map(|record| record.as_ref().map(cells).map_err(described));
        Ok(Self { columns, rows: rows.collect::<Result<_, _>>()? })
    }

    /// Its rows, in the order of the file.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(|cells| Row { columns: &self.columns, cells })
    }
}

fn described(why: &csv::Error) -> String {
    why.to_string()
}

impl<'a> Row<'a> {
    /// A cell; empty where there is no such column.
    pub fn text(&self, column: &str) -> &'a str {
        let place = self.columns.iter().position(|name| name == column);
        place.and_then(|place| self.cells.get(place)).map_or("", String::as_str)
    }

    /// A cell that has to be a number.
    ///
    /// # Errors
    /// It is not.
    pub fn number(&self, column: &str) -> Result<f64, String> {
        let text = self.text(column);
        text.parse().map_err(|why| format!("column {column}: {text:?} is no number: {why}"))
    }

    /// A cell that has to be a whole number, also if written as `4.0`.
    ///
    /// # Errors
    /// It is not, or is below zero or above 2^32.
    pub fn count(&self, column: &str) -> Result<u32, String> {
        whole(self.number(column)?).map_err(|why| format!("column {column}: {why}"))
    }

    /// What stands behind `name=` in a `note` of such pairs between semicolons.
    pub fn noted(&self, name: &str) -> Option<&'a str> {
        let pairs = self.text("note").split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next()
    }
}

/// The whole number that `value` is.
///
/// # Errors
/// It is none, or is below zero or above 2^32.
pub fn whole(value: f64) -> Result<u32, String> {
    if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "just checked")]
        Ok(value as u32)
    } else {
        Err(format!("{value} is no count"))
    }
}

/// The whole number nearest to a length.
///
/// # Errors
/// As [`whole`].
pub fn rounded(value: f64) -> Result<u32, String> {
    whole(value.round())
}

/// The folder of published measurements.
#[derive(Debug, Clone)]
pub struct Published(pub PathBuf);

impl Published {
    /// One of its tables.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn table(&self, name: &str) -> Result<Table, String> {
        Table::read(&self.0.join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_found_by_name_and_notes_by_key() {
        let text = b"gpu,tp,note\nH100-SXM,4.0,\"exp=a; upstream=2026-01; tp=x\"\nL4,half,\n";
        let table = Table::parse(text).unwrap();
        let rows: Vec<Row> = table.rows().collect();
        assert_eq!((rows[0].text("gpu"), rows[0].count("tp")), ("H100-SXM", Ok(4)));
        assert_eq!(rows[0].noted("upstream"), Some("2026-01"));
        assert_eq!((rows[0].noted("up"), rows[1].noted("exp")), (None, None));
        assert!(rows[1].count("tp").unwrap_err().contains("column tp: \"half\""));
        assert_eq!(rows[0].text("no such column"), "");
        assert!(Table::parse(b"a,b\n1\n").is_err());
    }

    #[test]
    fn a_count_is_whole() {
        assert_eq!((whole(3.0), rounded(3.4)), (Ok(3), Ok(3)));
        assert!(whole(3.4).is_err() && whole(-1.0).is_err() && whole(f64::NAN).is_err());
    }
}
