//! Numbers as people read them: one rounding, one spelling of each unit, the same everywhere.
//!
//! A narrow no-break space stands before units, a true minus before negative numbers, and a dash
//! where there is no value.

pub use goodput_engine::counted::{counted, plural};
use goodput_engine::math;
pub use goodput_engine::stats::apportion;

/// Between a number and its unit; thin, and no line breaks there.
pub const THIN: char = '\u{202f}';
/// A value that does not exist.
pub const NONE: &str = "–";

/// A whole number with thousands separators: `69,315`.
pub fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// Three significant digits, thousands separated, no trailing zeros: `57,300`, `1.23`, `0.0451`.
pub fn significant(x: f64) -> String {
    rounded(x, 3)
}

/// `digits` significant digits; whole numbers above that are rounded, never shown in powers of ten.
pub fn rounded(x: f64, digits: i32) -> String {
    if !x.is_finite() {
        return NONE.to_owned();
    }
    if x == 0.0 {
        return "0".to_owned();
    }
    let decimals = digits - 1 - decade(x);
    if decimals > 0 {
        return fixed(x, decimals.unsigned_abs() as usize);
    }
    let step = math::pow(10.0, f64::from(-decimals));
    fixed((x / step).round() * step, 0)
}

/// At most `decimals` decimals, trailing zeros dropped, thousands separated, true minus.
pub fn fixed(x: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", x.abs());
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    };
    let sign = if x < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) { "−" } else { "" };
    format!("{sign}{}", grouped(&text))
}

/// Exactly `decimals` decimals: for columns that line up.
pub fn aligned(x: f64, decimals: usize) -> String {
    let sign = if x < 0.0 { "−" } else { "" };
    format!("{sign}{}", grouped(&format!("{:.decimals$}", x.abs())))
}

/// A number for an axis or a narrow place: `950`, `57.3k`, `1.2M`.
pub fn short(x: f64) -> String {
    let size = x.abs();
    if size >= 999_500_000.0 {
        format!("{}G", significant(x / 1e9))
    } else if size >= 999_500.0 {
        format!("{}M", significant(x / 1e6))
    } else if size >= 1_000.0 {
        format!("{}k", significant(x / 1e3))
    } else {
        significant(x)
    }
}

/// A number and its unit.
pub fn with_unit(number: &str, unit: &str) -> String {
    format!("{number}{THIN}{unit}")
}

/// A share of one as per cent with one decimal: `44.9 %`; what rounds to nothing or to all, and is
/// not, says so.
pub fn percent(share: f64) -> String {
    if 0.0 < share && share < 0.000_5 {
        return format!("< {}", with_unit("0.1", "%"));
    }
    if (0.999_5..1.0).contains(&share) {
        return format!("> {}", with_unit("99.9", "%"));
    }
    with_unit(&fixed(share * 100.0, 1), "%")
}

/// Tokens per second.
pub fn tps(x: f64) -> String {
    with_unit(&significant(x), "tok/s")
}

/// Requests per second.
pub fn rps(x: f64) -> String {
    with_unit(&significant(x), "req/s")
}

/// A time given in milliseconds, in the unit that reads best: `45 ms`, `1.2 s`, `3.5 min`.
pub fn millis(ms: f64) -> String {
    if ms.abs() < 999.5 {
        return with_unit(&significant(ms), "ms");
    }
    seconds(ms / 1e3)
}

/// A time given in seconds: `350 ms`, `12 s`, `110 s`, `15 min`.
pub fn seconds(s: f64) -> String {
    if s != 0.0 && s.abs() < 0.9995 {
        return with_unit(&significant(s * 1e3), "ms");
    }
    if s.abs() < 599.5 {
        return with_unit(&significant(s), "s");
    }
    if s.abs() < 5_970.0 {
        return with_unit(&significant(s / 60.0), "min");
    }
    with_unit(&significant(s / 3_600.0), "h")
}

/// A time that may be absent.
pub fn millis_or_never(ms: Option<f64>) -> String {
    ms.map_or_else(|| "never".to_owned(), millis)
}

/// A moment as minutes and seconds, `24:30`, or with hours, `1:24:30`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "moments are between zero and thirty days"
)]
pub fn clock(s: f64) -> String {
    let whole = s.max(0.0).round() as u64;
    let (hours, minutes, seconds) = (whole / 3_600, whole / 60 % 60, whole % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// US dollars to three significant digits: `$0.442`, `$13.8`, `$15,700`.
pub fn usd(x: f64) -> String {
    let sign = if x < 0.0 { "−" } else { "" };
    format!("{sign}${}", significant(x.abs()))
}

/// US dollars and cents: `$13.75`.
pub fn usd_cents(x: f64) -> String {
    usd_fixed(x, 2)
}

/// US dollars with so many decimals.
pub fn usd_fixed(x: f64, decimals: u8) -> String {
    let sign = if x < 0.0 { "−" } else { "" };
    format!("{sign}${}", aligned(x.abs(), decimals.into()))
}

/// US dollars, whole: `$15,710`.
pub fn usd_whole(x: f64) -> String {
    let sign = if x < 0.0 { "−" } else { "" };
    format!("{sign}${}", fixed(x.abs(), 0))
}

/// US dollars for a narrow column: `$15.7k`.
pub fn usd_short(x: f64) -> String {
    format!("${}", short(x))
}

/// A change with its sign: `+51.2`, `−0.061`; nothing to sign at zero.
pub fn signed(x: f64, decimals: usize) -> String {
    let text = fixed(x, decimals);
    if x > 0.0 && text != "0" { format!("+{text}") } else { text }
}

/// A ratio: `× 2.2`.
pub fn factor(x: f64) -> String {
    format!("×{THIN}{}", rounded(x, 2))
}

/// Bytes in decimal units, as GPU vendors and model cards state them.
pub fn bytes(x: f64) -> String {
    let (scaled, unit) = match x.abs() {
        b if b >= 1e9 => (x / 1e9, "GB"),
        b if b >= 1e6 => (x / 1e6, "MB"),
        b if b >= 1e3 => (x / 1e3, "kB"),
        _ => (x, "B"),
    };
    with_unit(&significant(scaled), unit)
}

/// Power of ten of the leading digit of a non-zero number, after rounding to three digits.
#[expect(clippy::cast_possible_truncation, reason = "a decade of an f64 is between -324 and 308")]
fn decade(x: f64) -> i32 {
    math::log10(x.abs() * 1.000_5).floor() as i32
}

/// Thousands separators in the whole part of plain decimal text.
pub fn grouped(text: &str) -> String {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut out = String::with_capacity(text.len() + whole.len() / 3);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_carry_the_meaning() {
        for (x, expected) in [
            (0.0, "0"),
            (57_312.0, "57,300"),
            (99_960.0, "100,000"),
            (1.234, "1.23"),
            (0.999_6, "1"),
            (0.044_96, "0.045"),
            (12.0, "12"),
            (-42_700.0, "−42,700"),
            (1_999.0, "2,000"),
            (f64::NAN, NONE),
        ] {
            assert_eq!(significant(x), expected, "{x}");
        }
    }

    #[test]
    fn units_follow_a_thin_space() {
        assert_eq!(percent(0.4489), "44.9\u{202f}%");
        assert_eq!(tps(100_147.2), "100,000\u{202f}tok/s");
        assert_eq!(millis(2_000.0), "2\u{202f}s");
        assert_eq!(millis(7.23), "7.23\u{202f}ms");
        assert_eq!(seconds(0.0), "0\u{202f}s");
        assert_eq!(seconds(112.4), "112\u{202f}s");
        assert_eq!(seconds(900.0), "15\u{202f}min");
        assert_eq!(bytes(70_272.0), "70.3\u{202f}kB");
    }

    #[test]
    fn money_signs_and_factors() {
        assert_eq!(usd(0.442_1), "$0.442");
        assert_eq!(usd_cents(13.75), "$13.75");
        assert_eq!(usd_whole(15_709.6), "$15,710");
        assert_eq!(usd_short(15_710.0), "$15.7k");
        assert_eq!(signed(-51.2, 1), "−51.2");
        assert_eq!(signed(0.04, 1), "0");
        assert_eq!(factor(2.23), "×\u{202f}2.2");
        assert_eq!(clock(1_470.0), "24:30");
        assert_eq!(clock(5_070.4), "1:24:30");
    }
}
