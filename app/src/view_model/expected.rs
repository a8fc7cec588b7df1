//! What is expected of headline numbers, in words.

use goodput_engine::accounts::report::SimReport;

use crate::format;

/// One expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Whether it is so.
    pub met: bool,
    /// What is expected, and what is.
    pub text: String,
}

/// The expectations of a run, in the order of its document.
pub fn rows(report: &SimReport) -> Vec<Row> {
    let row = |expected: &goodput_engine::accounts::report::ExpectationResult| {
        let bound =
            |words: &str, x: Option<f64>| x.map(|x| format!("{words} {}", format::rounded(x, 4)));
        let bounds = [bound("at least", expected.at_least), bound("at most", expected.at_most)];
        let bounds: Vec<String> = bounds.into_iter().flatten().collect();
        let value = expected.value;
        let value = value.map_or_else(
            || "there is none".to_owned(),
            |x| format!("is {}", format::rounded(x, 4)),
        );
        Row {
            met: expected.met,
            text: format!("{} {}: {value}", expected.of, bounds.join(" and ")),
        }
    };
    report.expectations.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use goodput_engine::accounts::report::ExpectationResult;

    use super::*;
    use crate::state::edit::tests::{report_of, small_doc};

    #[test]
    fn what_is_expected_stands_beside_what_is() {
        let mut report = report_of(&small_doc());
        assert_eq!(rows(&report), []);
        let of = |value, met| ExpectationResult {
            of: "ttft_ms.p99".to_owned(),
            at_most: Some(1_000.0),
            at_least: None,
            value,
            met,
        };
        report.expectations = vec![of(Some(84.4), true), of(None, false)];
        let told: Vec<_> = rows(&report).into_iter().map(|row| (row.met, row.text)).collect();
        assert_eq!(told[0], (true, "ttft_ms.p99 at most 1,000: is 84.4".to_owned()));
        assert_eq!(told[1], (false, "ttft_ms.p99 at most 1,000: there is none".to_owned()));
    }
}
