//! Numbers as the verdict speaks them.

pub use crate::counted::{counted, plural, thousands};

/// Three significant digits with thousands separators: 57,300; 12.3; 0.0451.
pub fn three_digits(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned(); // a negative zero too
    }
    if !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = crate::math::log10(value.abs()).floor();
    if magnitude >= 2.0 {
        let unit = crate::math::pow(10.0, magnitude - 2.0);
        return thousands((value / unit).round() * unit);
    }
    let decimals = if magnitude >= 1.0 {
        1
    } else if magnitude >= 0.0 {
        2
    } else {
        3
    };
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A share in percent: 96.1 %. What rounds to nothing or to all, and is not, says so.
pub fn percent(share: f64) -> String {
    if 0.0 < share && share < 0.000_5 {
        return "< 0.1 %".to_owned();
    }
    if (0.999_5..1.0).contains(&share) {
        return "> 99.9 %".to_owned();
    }
    let text = format!("{:.1}", share * 100.0 + 0.0); // the sum is no negative zero
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The same with its first letter a capital.
pub fn capital(clause: &str) -> String {
    let mut letters = clause.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// A span in a unit that suits it: 350 ms, 2 s, 12 min.
pub fn span_ms(ms: f64) -> String {
    if ms < 1000.0 {
        format!("{} ms", three_digits(ms))
    } else if ms < 600_000.0 {
        format!("{} s", three_digits(ms / 1e3))
    } else {
        format!("{} min", three_digits(ms / 60_000.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (value, text) in [
            (57_312.0, "57,300"),
            (100_147.0, "100,000"),
            (999.6, "1,000"),
            (12.34, "12.3"),
            (2.0, "2"),
            (0.0451, "0.045"),
            (0.0, "0"),
            (-0.0, "0"),
        ] {
            assert_eq!(three_digits(value), text);
        }
        assert_eq!(thousands(1_234_567.0), "1,234,567");
        assert_eq!(thousands(-1234.0), "−1,234");
        assert_eq!(percent(0.961), "96.1 %");
        assert_eq!(percent(0.9), "90 %");
        let edges = [0.0, 0.000_4, 0.000_5, 0.999_4, 0.999_6, 1.0].map(percent);
        assert_eq!(edges, ["0 %", "< 0.1 %", "0.1 %", "99.9 %", "> 99.9 %", "100 %"]);
        assert_eq!(percent(-0.0), "0 %");
        assert_eq!(capital("no request is good"), "No request is good");
        assert_eq!(span_ms(2000.0), "2 s");
        assert_eq!(span_ms(35.26), "35.3 ms");
    }
}
