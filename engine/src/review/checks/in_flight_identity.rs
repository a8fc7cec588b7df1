//! Rate × E2E is the number in flight that the tool itself measured.

use super::units::is_unit;
use crate::problem::Severity;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{number, percent};

/// Parts by which the two may differ: requests cut off at the ends of a window are in one and not
/// in the other.
const NOTE_ABOVE: f64 = 0.1;
const WARNING_ABOVE: f64 = 0.25;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let stated = subject.point.mean_in_flight.filter(|&requests| requests > 0.0)?;
    let rate = subject.completed_rps().filter(|&rate| rate > 0.0)?;
    let product = rate * subject.whole_request()?.ms / 1e3;
    let apart = (product / stated - 1.0).abs();
    if apart <= NOTE_ABOVE {
        return None;
    }
    let severity = if apart > WARNING_ABOVE { Severity::Warning } else { Severity::Note };
    let why = if is_unit(product / stated) {
        "seconds and milliseconds may be mixed up"
    } else {
        "failed or cut-off requests are in one of the two, or a denominator is wrong"
    };
    Some(
        Finding::new(
            severity,
            "in_flight_identity",
            format!(
                "{} requests are stated to be in flight where rate × E2E is {} ({} apart): {why}",
                number(stated),
                number(product),
                percent(apart)
            ),
        )
        .figure("in flight as stated", stated, "requests")
        .figure("rate × E2E", product, "requests")
        .advice("compare the rate with completed ÷ duration, and E2E with TTFT + (n − 1) · TPOT"),
    )
}
