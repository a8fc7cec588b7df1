//! Units that may follow a number, by what the field measures.

use super::{NotANumber, Quantity, is_space};

/// Power of ten and factor that turn the unit after a number into the field's own.
pub(super) fn unit(tail: &str, quantity: Quantity) -> Result<(i32, f64), NotANumber> {
    let (multiplier, rest) = multiplier(tail, quantity);
    let rest = rest.trim();
    let known = known_units(quantity);
    if rest.is_empty() {
        return Ok((multiplier + bare_power(quantity), 1.0));
    }
    let found = || NotANumber::Unit { found: tail.to_owned(), known };
    let lower = rest.to_lowercase();
    let (power, factor) = match (quantity, lower.as_str()) {
        (Quantity::Millis | Quantity::SecondsInMillis, _) => time(&lower, 0).ok_or_else(found)?,
        (Quantity::Seconds, _) => time(&lower, -3).ok_or_else(found)?,
        (Quantity::Share, "%" | "percent" | "per cent") => (bare_power(quantity), 1.0),
        (Quantity::Usd, "$" | "usd" | "/h" | "$/h" | "usd/h")
        | (Quantity::Tokens, "tokens" | "token" | "tok" | "t")
        | (Quantity::TokenRate, "tok/s" | "tokens/s" | "tps" | "/s")
        | (Quantity::Rate, "req/s" | "rps" | "/s" | "requests/s" | "qps")
        | (Quantity::Count, "seats" | "replicas" | "gpus" | "blocks" | "x" | "×") => (0, 1.0),
        (Quantity::Rate, "/min" | "req/min" | "rpm" | "requests/min") => (0, 1.0 / 60.0),
        (Quantity::Rate, "/h" | "req/h" | "requests/h") => (0, 1.0 / 3_600.0),
        _ => return Err(found()),
    };
    Ok((multiplier + power, factor))
}

/// Power of ten from the unit that a bare number has on the page to the unit it is kept in.
fn bare_power(quantity: Quantity) -> i32 {
    match quantity {
        Quantity::SecondsInMillis => 3,
        Quantity::Share => -2,
        _ => 0,
    }
}

/// `k`, `M` and `G` straight after the number; not for times, where `m` is no million.
fn multiplier(tail: &str, quantity: Quantity) -> (i32, &str) {
    use Quantity::{Millis, Seconds, SecondsInMillis, Share};
    if matches!(quantity, Millis | Seconds | SecondsInMillis | Share) {
        return (0, tail);
    }
    let rest = |skip: usize| &tail[skip..];
    let stands_alone = |skip: usize| {
        rest(skip).chars().next().is_none_or(|c| !c.is_alphabetic() || is_space(c))
            || matches!(quantity, Quantity::Tokens) && rest(skip).starts_with("tok")
    };
    match tail.chars().next() {
        Some('k' | 'K') if stands_alone(1) => (3, rest(1)),
        Some('M') if stands_alone(1) => (6, rest(1)),
        Some('G' | 'B') if stands_alone(1) => (9, rest(1)),
        _ => (0, tail),
    }
}

/// A unit of time in milliseconds, shifted by a power of ten.
fn time(unit: &str, shift: i32) -> Option<(i32, f64)> {
    Some(match unit {
        "us" | "µs" | "μs" => (shift - 3, 1.0),
        "ms" => (shift, 1.0),
        "s" | "sec" => (shift + 3, 1.0),
        "min" | "m" => (shift + 3, 60.0),
        "h" => (shift + 3, 3_600.0),
        "d" | "days" | "day" => (shift + 3, 86_400.0),
        _ => return None,
    })
}

fn known_units(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Count | Quantity::Priority => "a plain number",
        Quantity::Tokens => "tokens, such as 2k or 2,000",
        Quantity::Rate => "req/s, /min or /h",
        Quantity::Millis | Quantity::Seconds | Quantity::SecondsInMillis => "ms, s, min or h",
        Quantity::Share => "per cent, such as 95",
        Quantity::Usd => "dollars, such as 2.69",
        Quantity::TokenRate => "tok/s",
        Quantity::Plain => "a plain number in the unit shown",
        Quantity::Burstiness => "a plain number, or inf",
        Quantity::Correlation => "a plain number from -1 to 1",
    }
}
