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
    fn one_is_singular_and_nothing_else_is() {
        assert_eq!(plural(1, "replica", "replicas"), "1 replica");
        assert_eq!(plural(0, "replica", "replicas"), "0 replicas");
        assert_eq!(plural(12_000, "request", "requests"), "12,000 requests");
        assert_eq!(plural(1, "row was not read", "rows were not read"), "1 row was not read");
        assert_eq!(counted(1, "requests"), "1 request");
        assert_eq!(counted(3, "requests"), "3 requests");
    }
}
