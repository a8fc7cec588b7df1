//! The catalogue's own tables: a header and rows of comma-separated cells, without quoting (a
//! cell with a comma is an error, not a surprise).

/// A parsed table.
pub(super) struct Table<'a> {
    columns: Vec<&'a str>,
    rows: Vec<Vec<&'a str>>,
}

/// One row, read by column name.
#[derive(Clone, Copy)]
pub(super) struct Row<'t, 'a> {
    table: &'t Table<'a>,
    number: usize,
}

impl<'a> Table<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, String> {
        let mut lines = text.lines();
        let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
        match rows.iter().position(|row| row.len() != columns.len()) {
            Some(index) => Err(format!("row {}: {} cells", index + 1, rows[index].len())),
            None => Ok(Self { columns, rows }),
        }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_, 'a>> {
        (0..self.rows.len()).map(|number| Row { table: self, number })
    }
}

impl<'a> Row<'_, 'a> {
    /// The cell of a column.
    pub(super) fn text(self, column: &str) -> Result<&'a str, String> {
        let index = self.table.columns.iter().position(|name| *name == column);
        index.map(|index| self.table.rows[self.number][index]).ok_or(format!("no column {column}"))
    }

    /// A number.
    pub(super) fn number(self, column: &str) -> Result<f64, String> {
        self.optional(column)?.ok_or_else(|| format!("row {}: no {column}", self.number + 1))
    }

    /// A number, or none of an empty cell.
    pub(super) fn optional(self, column: &str) -> Result<Option<f64>, String> {
        match self.text(column)? {
            "" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Some(value)),
                _ => Err(format!("row {}: {column} is {text}", self.number + 1)),
            },
        }
    }

    /// A count, or none of an empty cell.
    pub(super) fn count(self, column: &str) -> Result<Option<u32>, String> {
        match self.text(column)? {
            "" => Ok(None),
            text => text
                .parse()
                .map(Some)
                .map_err(|why| format!("row {}: {column} is {text}: {why}", self.number + 1)),
        }
    }
}
