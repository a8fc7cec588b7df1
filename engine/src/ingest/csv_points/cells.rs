//! One cell of a benchmark table.

use std::borrow::Cow;

use super::columns::Field;
use super::table_reading::Decimals;
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
    /// Marks of thousands that do not part thousands.
    Thousands,
    /// No number.
    NotANumber,
    /// A number that cannot be.
    Unusable(Unusable),
    /// A share above one.
    AboveOne,
}

impl Trouble {
    /// The refusal that says where and what.
    pub(super) fn refusal(self, place: &str, line: u64, cell: &str) -> Refusal {
        let shown: String = cell.chars().take(40).collect();
        match self {
            Self::Comma => Refusal::ambiguous(
                format!("{place}: does the comma in \"{shown}\" part decimals or thousands?"),
                "write numbers with a decimal point and without thousands marks, or say which with \
                 goodput review --decimals",
            ),
            Self::Thousands => Refusal::broken(
                format!("{place}: the marks in \"{shown}\" do not part thousands"),
                "check which mark parts decimals",
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
pub(super) fn read(
    text: &str,
    field: Field,
    size: f64,
    decimals: Option<Decimals>,
) -> Result<Cell, Trouble> {
    if !field.is_text() && text.starts_with(|mark: char| mark.is_ascii_digit()) {
        return number(&pointed(text, decimals)?, field, size);
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
        number(&pointed(text, decimals)?, field, size)
    }
}

/// The number with a point before its decimals and no other marks, if the user said which is which.
fn pointed(text: &str, decimals: Option<Decimals>) -> Result<Cow<'_, str>, Trouble> {
    let (decimal, thousands) = match decimals {
        None => return Ok(Cow::Borrowed(text)),
        Some(Decimals::Point) => ('.', ','),
        Some(Decimals::Comma) => (',', '.'),
    };
    let (whole, rest) = text.split_once(decimal).unwrap_or((text, ""));
    let mut groups = whole.split(thousands);
    let first = groups.next().unwrap_or_default();
    let mut marked = false;
    for group in groups {
        marked = true;
        if group.len() != 3 {
            return Err(Trouble::Thousands);
        }
    }
    let first_digits = first.trim_start_matches(['+', '-']).len();
    if rest.contains([decimal, thousands]) || (marked && !(1..=3).contains(&first_digits)) {
        return Err(Trouble::Thousands);
    }
    let whole = whole.replace(thousands, "");
    Ok(Cow::Owned(if rest.is_empty() { whole } else { format!("{whole}.{rest}") }))
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
            assert_eq!(read(text, field, size, None), Ok(expected), "{text}");
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
            assert_eq!(read(text, field, 1.0, None), Err(expected), "{text}");
        }
    }

    #[test]
    fn marks_are_read_as_the_user_says() {
        let read = |text, decimals| read(text, Field::Duration, 1.0, Some(decimals));
        for (text, decimals, value) in [
            ("12,5", Decimals::Comma, 12.5),
            ("1.234,5", Decimals::Comma, 1234.5),
            ("1.234", Decimals::Comma, 1234.0),
            ("1,062.14", Decimals::Point, 1062.14),
            ("12,345,678", Decimals::Point, 12_345_678.0),
            ("12.5", Decimals::Point, 12.5),
        ] {
            assert_eq!(read(text, decimals), Ok(Cell::Number(value)), "{text}");
        }
        for (text, decimals) in [
            ("12,5", Decimals::Point),
            ("12.5", Decimals::Comma),
            ("1234,567", Decimals::Point),
            ("1,5,2", Decimals::Comma),
            ("1.5.2", Decimals::Point),
        ] {
            assert_eq!(read(text, decimals), Err(Trouble::Thousands), "{text}");
        }
    }
}
