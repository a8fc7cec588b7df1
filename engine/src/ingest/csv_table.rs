//! Delimited text with one header row: the syntax shared by every tabular format.

use csv::ByteRecord;

use super::Refusal;

/// Delimiters that may stand in a file of ours. A semicolon is read only to recognise a table:
/// with it usually goes a decimal comma, and that has to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delimiter {
    Comma,
    Tab,
    Semicolon,
}

impl Delimiter {
    pub(super) const ALL: [Self; 3] = [Self::Comma, Self::Tab, Self::Semicolon];

    fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Tab => b'\t',
            Self::Semicolon => b';',
        }
    }
}

/// The first line that is neither blank nor a comment: of a table, its header.
pub(super) fn first_line(text: &str) -> &str {
    text.lines()
        .map(str::trim_end)
        .find(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .unwrap_or_default()
}

/// The cells of a header line.
pub(super) fn header_cells(line: &str, delimiter: Delimiter) -> Vec<String> {
    let mut record = ByteRecord::new();
    let read = builder(delimiter).from_reader(line.as_bytes()).read_byte_record(&mut record);
    match read {
        Ok(true) => record.iter().map(|cell| trimmed(cell).to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// One row of a table.
pub(super) struct Row<'a> {
    /// Line of the file it begins on, counted from 1.
    pub line: u64,
    pub cells: &'a ByteRecord,
    text: &'a str,
    /// Byte after it.
    end: u64,
}

impl Row<'_> {
    /// Nothing but blanks comes after it.
    fn is_last(&self) -> bool {
        rest_is_blank(self.text, self.end)
    }
}

/// Calls `visit` with the header and with every row after it, all of them as wide as the header.
///
/// Blank lines and `#` comments are passed over. A row with another number of cells ends the
/// reading: as a truncation when it is the last of the file and too short, otherwise as broken.
pub(super) fn for_each_row(
    text: &str,
    delimiter: Delimiter,
    mut visit: impl FnMut(&Row) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut columns = None;
    for_each_row_of_any_width(text, delimiter, |row| {
        let columns = *columns.get_or_insert(row.cells.len());
        if row.cells.len() != columns {
            return Err(wrong_width(row.line, row.cells.len(), columns, row.is_last()));
        }
        visit(row)
    })
}

/// The same for tables stacked above each other: every row as wide as it is.
pub(super) fn for_each_row_of_any_width(
    text: &str,
    delimiter: Delimiter,
    mut visit: impl FnMut(&Row) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut reader = builder(delimiter).from_reader(text.as_bytes());
    let mut cells = ByteRecord::new();
    let mut lines = LineCounter { text: text.as_bytes(), counted: 0, line: 1 };
    loop {
        let more = reader.read_byte_record(&mut cells).map_err(|error| {
            Refusal::broken(format!("the table cannot be read: {error}"), "export it again")
        })?;
        if !more {
            return Ok(());
        }
        if is_blank(&cells) {
            continue;
        }
        let line = lines.line_of(cells.position().map_or(0, csv::Position::byte));
        let end = reader.position().byte();
        visit(&Row { line, cells: &cells, text, end })?;
    }
}

/// The cell as text, without blanks around it; never fails, since the text was UTF-8 before.
pub(super) fn trimmed(cell: &[u8]) -> &str {
    std::str::from_utf8(cell).unwrap_or_default().trim()
}

/// Lines as an editor counts them. The reader's own count is of the place where the record before
/// ended, which with CRLF, blank lines or comments is not yet the line the record begins on.
struct LineCounter<'a> {
    text: &'a [u8],
    counted: usize,
    line: u64,
}

impl LineCounter<'_> {
    /// The line of the first cell at or after byte `from`; called with rising places.
    fn line_of(&mut self, from: u64) -> u64 {
        let from = usize::try_from(from).unwrap_or(usize::MAX).min(self.text.len());
        while self.counted < from || self.at_skipped_line() {
            let rest = &self.text[self.counted..];
            if self.counted >= from && rest[0] == b'#' {
                self.counted += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
                continue;
            }
            self.line += u64::from(rest[0] == b'\n');
            self.counted += 1;
        }
        self.line
    }

    fn at_skipped_line(&self) -> bool {
        matches!(self.text.get(self.counted), Some(b'\r' | b'\n' | b'#'))
    }
}

fn builder(delimiter: Delimiter) -> csv::ReaderBuilder {
    let mut builder = csv::ReaderBuilder::new();
    builder.has_headers(false).flexible(true).comment(Some(b'#')).delimiter(delimiter.byte());
    builder
}

fn is_blank(record: &ByteRecord) -> bool {
    record.len() == 1 && record.iter().all(|cell| cell.trim_ascii().is_empty())
}

fn rest_is_blank(text: &str, from: u64) -> bool {
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    text.as_bytes().get(from..).is_none_or(|rest| rest.trim_ascii().is_empty())
}

fn wrong_width(line: u64, cells: usize, columns: usize, last: bool) -> Refusal {
    let what = format!("line {line} has {cells} cells where the header has {columns}");
    let refusal = if last && cells < columns {
        Refusal::truncated(format!("the table stops in the middle of a row: {what}"))
    } else {
        Refusal::broken(what, "check for a delimiter or a quote inside a cell")
    };
    refusal.at_line(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::RefusalKind;

    fn rows(text: &str) -> Result<Vec<(u64, String)>, Refusal> {
        let mut rows = Vec::new();
        for_each_row(text, Delimiter::Comma, |row| {
            let cells: Vec<&str> = row.cells.iter().map(trimmed).collect();
            rows.push((row.line, cells.join("|")));
            Ok(())
        })?;
        Ok(rows)
    }

    #[test]
    fn rows_know_the_line_an_editor_shows() {
        let expected = [(2, "a|b"), (3, "1|2"), (6, "x\ny|#4"), (9, "5|6")];
        let text = "# note, with, commas\na,b\n1,2\n\n#3,4\n\"x\ny\",#4\n\n5 , 6";
        for ends in ["\n", "\r\n"] {
            let found = rows(&text.replace('\n', ends)).unwrap();
            let expected = expected.map(|(line, cells)| (line, cells.replace('\n', ends)));
            assert_eq!(found, expected, "{ends:?}");
        }
    }

    #[test]
    fn a_short_last_row_is_a_truncation_and_any_other_is_broken() {
        for (text, kind, line) in [
            ("a,b\n1,2\n3", RefusalKind::Truncated, 3),
            ("a,b\n1,2\n3\n\n", RefusalKind::Truncated, 3),
            ("a,b\n1\n3,4\n", RefusalKind::Broken, 2),
            ("a,b\n1,2,3", RefusalKind::Broken, 2),
            ("a,b\n1,2\n\"3,4\n5,6\n", RefusalKind::Truncated, 3),
        ] {
            let refusal = rows(text).unwrap_err();
            assert_eq!((refusal.kind, refusal.line), (kind, Some(line)), "{text}");
        }
    }
}
