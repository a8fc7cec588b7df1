//! Numbers in sentences: as many digits as matter.

/// Three significant digits below 1,000, whole numbers with thousands marks above.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 999.5 {
        return with_thousands(&format!("{value:.0}"));
    }
    let decimals = match size {
        _ if size >= 99.95 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.9995 => 2,
        _ if size >= 0.09995 => 3,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A count with thousands marks.
pub(super) fn count(value: u64) -> String {
    with_thousands(&value.to_string())
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", number(share * 100.0))
}

/// Milliseconds, or seconds from one second on.
pub(super) fn millis(ms: f64) -> String {
    if ms.abs() < 1e3 { format!("{} ms", number(ms)) } else { format!("{} s", number(ms / 1e3)) }
}

/// `p99`, `p99.9`.
pub(super) fn percentile(share: f64) -> String {
    format!("p{}", number(share * 100.0))
}

fn with_thousands(digits: &str) -> String {
    let (sign, digits) = digits.split_at(usize::from(digits.starts_with('-')));
    let mut out = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_end_where_meaning_does() {
        for (value, text) in [
            (0.0, "0"),
            (0.04321, "0.0432"),
            (0.5, "0.5"),
            (9.3756, "9.38"),
            (15.0734, "15.1"),
            (43.62, "43.6"),
            (375.6, "376"),
            (999.9, "1,000"),
            (1_234_567.0, "1,234,567"),
            (-12345.6, "-12,346"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!(millis(9375.6), "9.38 s");
        assert_eq!(millis(43.62), "43.6 ms");
        assert_eq!(percentile(0.999), "p99.9");
        assert_eq!(percent(0.378), "37.8 %");
    }
}
