//! One cell of a benchmark table.

use super::columns::Field;
use crate::ingest::Refusal;
use crate::ingest::quantity::{Unusable, count, quantity};

/// What a cell holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    /// Empty, or one of the words for it.
    Missing,
    /// In seconds, per second, tokens or a count.
    Number(f64),
    /// An infinite rate: as fast as the limit on concurrency lets.
    Unbounded,
    /// NaN, or infinite where that means nothing.
    NotFinite,
    Text(String),
}

/// What is wrong with a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// A comma in a number: of decimals or of thousands.
    Comma,
    /// No number.
    NotANumber,
    /// A number that cannot be.
    Unusable(Unusable),
    /// A share above one.
    AboveOne,
}

impl Trouble {
    /// The refusal that says where and what.
    pub(super) fn refusal(self, line: u64, column: &str, cell: &str) -> Refusal {
        let shown: String = cell.chars().take(40).collect();
        let place = format!("line {line}, column \"{column}\"");
        match self {
            Self::Comma => Refusal::ambiguous(
                format!("{place}: does the comma in \"{shown}\" part decimals or thousands?"),
                "write numbers with a decimal point and without thousands marks",
            ),
            Self::NotANumber => Refusal::broken(
                format!("{place}: \"{shown}\" is not a number"),
                "write the number alone; its unit belongs in the column name",
            ),
            Self::Unusable(why) => Refusal::broken(
                format!("{place}: \"{shown}\" is {}", why.words()),
                "leave the cell empty if there is no value",
            ),
            Self::AboveOne => Refusal::broken(
                format!("{place}: \"{shown}\" is above 1"),
                "give a share between 0 and 1, or name the column quality_rate_percent",
            ),
        }
        .at_line(line)
    }
}

/// Words for "no value".
const MISSING: [&str; 7] = ["", "-", "n/a", "na", "none", "null", "nil"];

/// Reads a cell of `field`, whose unit is `size` seconds, per second or tokens.
pub(super) fn read(text: &str, field: Field, size: f64) -> Result<Cell, Trouble> {
    if !field.is_text() && text.starts_with(|mark: char| mark.is_ascii_digit()) {
        return number(text, field, size);
    }
    let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(&MISSING) {
        Ok(Cell::Missing)
    } else if field.is_text() {
        Ok(Cell::Text(text.to_owned()))
    } else if field == Field::RequestRate && is(&["inf", "+inf", "infinity"]) {
        Ok(Cell::Unbounded)
    } else if is(&["nan", "inf", "+inf", "-inf", "infinity", "-infinity"]) {
        Ok(Cell::NotFinite)
    } else {
        number(text, field, size)
    }
}

fn number(text: &str, field: Field, size: f64) -> Result<Cell, Trouble> {
    if text.contains(',') {
        return Err(Trouble::Comma);
    }
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    let number: f64 = plain.then(|| text.parse().ok()).flatten().ok_or(Trouble::NotANumber)?;
    let value = if field.is_count() {
        count(number).map(|whole| whole as f64)
    } else {
        quantity(number).map(|value| value * size)
    }
    .map_err(Trouble::Unusable)?;
    if field == Field::QualityRate && value > 1.0 {
        return Err(Trouble::AboveOne);
    }
    Ok(Cell::Number(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_a_number_a_word_or_nothing() {
        for (text, field, size, expected) in [
            ("12.5", Field::Duration, 1.0, Cell::Number(12.5)),
            ("250", Field::Duration, 1e-3, Cell::Number(0.25)),
            ("2e3", Field::OutputRate, 1.0, Cell::Number(2000.0)),
            ("+4", Field::Completed, 1.0, Cell::Number(4.0)),
            ("", Field::Duration, 1.0, Cell::Missing),
            ("N/A", Field::Duration, 1.0, Cell::Missing),
            ("None", Field::Gpu, 1.0, Cell::Missing),
            ("8xH100", Field::Gpu, 1.0, Cell::Text("8xH100".to_owned())),
            ("inf", Field::RequestRate, 1.0, Cell::Unbounded),
            ("inf", Field::Duration, 1.0, Cell::NotFinite),
            ("NaN", Field::OutputRate, 1.0, Cell::NotFinite),
        ] {
            assert_eq!(read(text, field, size), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_could_be_two_numbers_or_none_is_never_taken() {
        for (text, field, expected) in [
            ("12,5", Field::Duration, Trouble::Comma),
            ("1,062.14", Field::Duration, Trouble::Comma),
            ("12.3 ms", Field::Duration, Trouble::NotANumber),
            ("0x10", Field::Duration, Trouble::NotANumber),
            ("fast", Field::Duration, Trouble::NotANumber),
            ("1.2.3", Field::Duration, Trouble::NotANumber),
            ("-1", Field::Goodput, Trouble::Unusable(Unusable::Negative)),
            ("1e308", Field::Duration, Trouble::Unusable(Unusable::TooLarge)),
            ("1.5", Field::GpuCount, Trouble::Unusable(Unusable::NotWhole)),
            ("95", Field::QualityRate, Trouble::AboveOne),
        ] {
            assert_eq!(read(text, field, 1.0), Err(expected), "{text}");
        }
    }
}
