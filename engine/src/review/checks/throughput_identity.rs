//! Completed ÷ duration is the stated request throughput.

use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::number;

/// Part by which the two may differ, and the last printed digit.
const TOLERANCE: f64 = 0.05;
const PRINTED: f64 = 0.0051;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let stated = subject.point.completed_rps?;
    let counted = subject.counted_rps()?;
    if (stated - counted).abs() <= TOLERANCE * counted + PRINTED {
        return None;
    }
    Some(
        Finding::warning(
            "throughput_identity",
            format!(
                "{} requests/s are stated where completed ÷ duration is {}",
                number(stated),
                number(counted)
            ),
        )
        .figure("stated", stated, "requests/s")
        .figure("completed ÷ duration", counted, "requests/s")
        .advice("use completed ÷ duration, and find out which time the rate was divided by"),
    )
}
