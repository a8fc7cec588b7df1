//! Counts in words, for every sentence that has one: `1 request`, `12,000 requests`.

/// A whole number with thousands separators.
pub fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 { format!("−{text}") } else { text }
}

/// A number that somebody typed, as it is read best: `999,999,999,999`, `0.25`, `-2`; beyond what
/// anybody means, in powers of ten rather than in three hundred digits.
pub fn typed(value: f64) -> String {
    let size = value.abs();
    let text = if !value.is_finite() || value == 0.0 {
        return value.to_string();
    } else if !(1e-6..1e15).contains(&size) {
        format!("{size:e}")
    } else {
        let plain = size.to_string();
        let (whole, rest) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
        format!("{}{rest}", thousands(whole.parse().unwrap_or(size)))
    };
    // A minus as it was typed: it is looked for in a document.
    if value < 0.0 { format!("-{text}") } else { text }
}

/// A number of things: 1 replica; 2 replicas; 12,000 requests.
pub fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count as f64), if count == 1 { one } else { many })
}

/// A number of things whose name is known in the plural alone: `1 request`, `2 requests`.
pub fn counted(count: u64, things: &str) -> String {
    plural(count, things.strip_suffix('s').unwrap_or(things), things)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_number_is_read_without_counting_digits() {
        for (value, text) in [
            (999_999_999_999.0, "999,999,999,999"),
            (1e300, "1e300"),
            (-2.5e-9, "-2.5e-9"),
            (-2.0, "-2"),
            (0.25, "0.25"),
            (1234.5, "1,234.5"),
            (0.0, "0"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(typed(value), text);
        }
    }

    #[test]
    fn one_is_singular_and_nothing_else_is() {
        assert_eq!(plural(1, "replica", "replicas"), "1 replica");
        assert_eq!(plural(0, "replica", "replicas"), "0 replicas");
        assert_eq!(plural(12_000, "request", "requests"), "12,000 requests");
        assert_eq!(plural(1, "row was not read", "rows were not read"), "1 row was not read");
        assert_eq!(counted(1, "requests"), "1 request");
        assert_eq!(counted(3, "requests"), "3 requests");
    }
}
