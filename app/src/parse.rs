//! Text to numbers, strictly: what is not plainly one number is refused, never guessed.
//!
//! Accepts `1.5k`, `2e3`, `1,000,000`, `250 ms`, `30/min`; refuses `1.234,5`, `NaN`, digits of
//! other scripts, and units that do not belong to the field.

mod units;

use std::fmt;

use units::unit;

/// What a field measures; decides which units may follow the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Things: replicas, seats, blocks, seeds.
    Count,
    /// Tokens.
    Tokens,
    /// Requests per second.
    Rate,
    /// Milliseconds; other units of time are converted.
    Millis,
    /// Seconds; other units of time are converted.
    Seconds,
    /// Typed in seconds, kept in milliseconds.
    SecondsInMillis,
    /// Typed in per cent, kept as a share of one.
    Share,
    /// US dollars.
    Usd,
    /// Tokens per second.
    TokenRate,
    /// A number with a unit of its own in the label, e.g. TB/s.
    Plain,
    /// The shape of a gamma law, which may be infinite.
    Burstiness,
    /// From −1 to 1.
    Correlation,
    /// How urgent: the only count with a sign.
    Priority,
}

/// Why a text is not a number of the wanted kind; reads after the text itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotANumber {
    /// Nothing was typed.
    Empty,
    /// Decimal comma or thousands separator: two readings.
    Ambiguous {
        /// The readings.
        readings: Vec<String>,
    },
    /// Digits of another script.
    ForeignDigits,
    /// A unit that this field does not know.
    Unit {
        /// What followed the number.
        found: String,
        /// What may follow.
        known: &'static str,
    },
    /// No number at all.
    Malformed,
    /// Below zero.
    Negative,
    /// Has a fraction where only whole numbers make sense.
    NotWhole,
    /// Too large to be meant.
    TooLarge,
}

impl fmt::Display for NotANumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("is empty: type a number"),
            Self::Ambiguous { readings } => {
                write!(f, "is ambiguous: write {}", readings.join(" or "))
            }
            Self::ForeignDigits => f.write_str("has digits of another script: write 0 to 9"),
            Self::Unit { found, known } => {
                write!(f, "has the unit “{found}”, which does not fit here: write {known}")
            }
            Self::Malformed => {
                f.write_str("is not a number: write for example 1500, 1.5k or 1,500")
            }
            Self::Negative => f.write_str("is negative, which no such number is"),
            Self::NotWhole => f.write_str("is not whole: write a number without a fraction"),
            Self::TooLarge => f.write_str("is too large to be meant"),
        }
    }
}

/// The number in `text`, in the unit in which `quantity` is kept.
pub fn number(text: &str, quantity: Quantity) -> Result<f64, NotANumber> {
    let text = text.trim();
    if text.is_empty() {
        return Err(NotANumber::Empty);
    }
    if quantity == Quantity::Burstiness && matches!(text, "inf" | "Inf" | "infinity" | "∞") {
        return Ok(f64::INFINITY);
    }
    if text.chars().any(|c| c.is_numeric() && !c.is_ascii_digit()) {
        return Err(NotANumber::ForeignDigits);
    }
    let text = if quantity == Quantity::Usd { text.trim_start_matches('$').trim() } else { text };
    let (negative, text) = match text.strip_prefix(['-', '−', '–']) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, exponent, tail) = split_number(text)?;
    let plain = ungrouped(digits)?;
    let (power, factor) = unit(tail.trim(), quantity)?;
    // The exponent is part of the text, so that 2.3 s become exactly 2300 ms.
    let value: f64 = format!("{plain}e{}", exponent.saturating_add(power))
        .parse()
        .map_err(|_malformed: std::num::ParseFloatError| NotANumber::Malformed)?;
    let value = value * factor;
    if !value.is_finite() || value > 1e15 {
        return Err(NotANumber::TooLarge);
    }
    if !negative || value <= 0.0 {
        return Ok(value);
    }
    match quantity {
        Quantity::Correlation | Quantity::Priority => Ok(-value),
        _ => Err(NotANumber::Negative),
    }
}

/// As [`number`], refusing fractions.
pub fn whole(text: &str, quantity: Quantity) -> Result<f64, NotANumber> {
    let value = number(text, quantity)?;
    if value.fract() == 0.0 { Ok(value) } else { Err(NotANumber::NotWhole) }
}

/// The text that [`number`] reads back as `value`: as short as can be, thousands separated.
pub fn text(value: f64, quantity: Quantity) -> String {
    let shown = match quantity {
        Quantity::SecondsInMillis => value / 1e3,
        Quantity::Share => value * 100.0,
        _ => value,
    };
    // Twelve digits hide what multiplying by 100 adds to 0.07.
    let rounded: f64 = format!("{shown:.11e}").parse().unwrap_or(shown);
    crate::format::grouped(&rounded.to_string())
}

/// Digits with separators, a decimal exponent, and what follows.
fn split_number(text: &str) -> Result<(&str, i32, &str), NotANumber> {
    let separator = |c: char| c == ',' || c == '.' || c == '_' || is_space(c);
    let end = text.find(|c: char| !c.is_ascii_digit() && !separator(c)).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let digits = digits.trim_end_matches(is_space);
    if !digits.bytes().any(|b| b.is_ascii_digit()) {
        return Err(NotANumber::Malformed);
    }
    let Some(after_e) = rest.strip_prefix(['e', 'E']) else { return Ok((digits, 0, rest)) };
    let sign_len = usize::from(after_e.starts_with(['+', '-']));
    let len = sign_len + after_e[sign_len..].bytes().take_while(u8::is_ascii_digit).count();
    if len == sign_len {
        return Err(NotANumber::Malformed);
    }
    let exponent = after_e[..len]
        .parse()
        .map_err(|_too_long: std::num::ParseIntError| NotANumber::TooLarge)?;
    Ok((digits, exponent, &after_e[len..]))
}

/// Digits without thousands separators and with a decimal point, or why they can be read twice.
fn ungrouped(digits: &str) -> Result<String, NotANumber> {
    let commas = digits.matches(',').count();
    let points = digits.matches('.').count();
    let has_spaces = digits.contains(|c: char| is_space(c) || c == '_');
    if points > 1 {
        return Err(if commas == 0 && thousands(digits, '.') {
            let joined: String = digits.chars().filter(char::is_ascii_digit).collect();
            NotANumber::Ambiguous { readings: vec![joined] }
        } else {
            NotANumber::Malformed
        });
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if fraction.contains(',') {
        // 1.234,5: a comma after a point is a decimal comma elsewhere and a slip here.
        let (group, rest) = fraction.split_once(',').unwrap_or((fraction, ""));
        return Err(NotANumber::Ambiguous {
            readings: vec![format!("{whole}{group}.{rest}"), format!("{whole},{group}.{rest}")],
        });
    }
    if fraction.contains(|c: char| !c.is_ascii_digit()) {
        return Err(NotANumber::Malformed);
    }
    if commas > 0 && (has_spaces || !thousands(whole, ',')) {
        let (head, tail) = whole.split_once(',').unwrap_or((whole, ""));
        let readable = commas == 1 && points == 0 && !has_spaces;
        return Err(if readable && !head.is_empty() && !tail.is_empty() {
            NotANumber::Ambiguous {
                readings: vec![format!("{head}.{tail}"), format!("{head}{tail}")],
            }
        } else {
            NotANumber::Malformed
        });
    }
    let normal: String = whole.chars().map(|c| if is_space(c) { '_' } else { c }).collect();
    if has_spaces && !thousands(&normal, '_') {
        return Err(NotANumber::Malformed);
    }
    let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
    Ok(format!("{}.{}", if whole.is_empty() { "0" } else { &whole }, or_zero(fraction)))
}

fn or_zero(digits: &str) -> &str {
    if digits.is_empty() { "0" } else { digits }
}

/// One to three digits, then groups of exactly three.
fn thousands(text: &str, separator: char) -> bool {
    let mut groups = text.split(separator);
    let digits = |g: &str| g.bytes().all(|b| b.is_ascii_digit());
    let first = groups.next().unwrap_or("");
    (1..=3).contains(&first.len()) && digits(first) && groups.all(|g| g.len() == 3 && digits(g))
}

/// Spaces that people put between groups of digits.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E8: what is typed is read as it is meant, or refused.
    #[test]
    fn reads_what_people_write() {
        use Quantity::{
            Burstiness, Correlation, Count, Millis, Priority, Rate, Seconds, SecondsInMillis,
            Share, TokenRate, Tokens, Usd,
        };
        for (text, quantity, expected) in [
            ("1.5", Count, 1.5),
            ("34.5", Rate, 34.5),
            ("2e3", Tokens, 2_000.0),
            ("1,000,000", Tokens, 1e6),
            ("1 000 000", Tokens, 1e6),
            ("1.5k", Tokens, 1_500.0),
            ("2k tokens", Tokens, 2_000.0),
            ("2ktok", Tokens, 2_000.0),
            ("1.2M", Tokens, 1.2e6),
            ("1,234.5", Usd, 1_234.5),
            (".5", Rate, 0.5),
            ("5.", Rate, 5.0),
            ("250ms", Millis, 250.0),
            ("2.3 s", Millis, 2_300.0),
            ("250 ms", Seconds, 0.25),
            ("2 min", Seconds, 120.0),
            ("30", Seconds, 30.0),
            ("0.5 rps", Rate, 0.5),
            ("30/min", Rate, 0.5),
            ("2.3", SecondsInMillis, 2_300.0),
            ("350 ms", SecondsInMillis, 350.0),
            ("95 %", Share, 0.95),
            ("0.7", Share, 0.007),
            ("$2.69", Usd, 2.69),
            ("120k tok/s", TokenRate, 120_000.0),
            ("-0", Count, 0.0),
            ("−0.4", Correlation, -0.4),
            ("-3", Priority, -3.0),
            ("inf", Burstiness, f64::INFINITY),
        ] {
            assert_eq!(number(text, quantity), Ok(expected), "{text}");
        }
    }

    /// E8: never silently a different number.
    #[test]
    fn refuses_rather_than_guesses() {
        let ambiguous = |readings: &[&str]| NotANumber::Ambiguous {
            readings: readings.iter().map(|&r| r.to_owned()).collect(),
        };
        for (text, expected) in [
            ("", NotANumber::Empty),
            ("   ", NotANumber::Empty),
            ("1.234,5", ambiguous(&["1234.5", "1,234.5"])),
            ("1,5", ambiguous(&["1.5", "15"])),
            ("1.234.567", ambiguous(&["1234567"])),
            ("1,0000", ambiguous(&["1.0000", "10000"])),
            ("٣", NotANumber::ForeignDigits),
            ("NaN", NotANumber::Malformed),
            ("inf", NotANumber::Malformed),
            ("twelve", NotANumber::Malformed),
            ("-5", NotANumber::Negative),
            ("2e", NotANumber::Malformed),
            ("1..5", NotANumber::Malformed),
            ("1e99", NotANumber::TooLarge),
            ("1e99999999999", NotANumber::TooLarge),
            ("1 2", NotANumber::Malformed),
            ("1,,000", NotANumber::Malformed),
        ] {
            assert_eq!(number(text, Quantity::Tokens), Err(expected), "{text:?}");
        }
    }

    #[test]
    fn a_foreign_unit_names_the_right_ones() {
        let error = number("5 GB", Quantity::Millis).expect_err("gigabytes are no time");
        assert_eq!(
            error.to_string(),
            "has the unit “GB”, which does not fit here: write ms, s, min or h"
        );
        assert!(number("5 m", Quantity::Tokens).is_err(), "no silent million");
    }

    #[test]
    fn what_is_shown_reads_back_as_it_was() {
        use Quantity::{Millis, SecondsInMillis, Share, Tokens};
        for (value, quantity, expected) in [
            (2_391.0, Tokens, "2,391"),
            (1_234_567.25, Tokens, "1,234,567.25"),
            (0.07, Share, "7"),
            (0.008, Share, "0.8"),
            (2_300.0, SecondsInMillis, "2.3"),
            (33.3, Millis, "33.3"),
            (0.0, Tokens, "0"),
        ] {
            assert_eq!(text(value, quantity), expected);
            assert_eq!(number(expected, quantity), Ok(value), "{expected}");
        }
    }

    #[test]
    fn whole_numbers_have_no_fraction() {
        assert_eq!(whole("8", Quantity::Count), Ok(8.0));
        assert_eq!(whole("1.5k", Quantity::Tokens), Ok(1_500.0));
        assert_eq!(whole("-2", Quantity::Priority), Ok(-2.0));
        assert_eq!(whole("1.5", Quantity::Count), Err(NotANumber::NotWhole));
    }
}
