//! E2E = TTFT + (n − 1) · TPOT. A TPOT that breaks it was computed over something else than
//! tokens, or contains the first token.

use super::units::is_unit;
use crate::problem::Severity;
use crate::review::Finding;
use crate::review::subject::{Subject, mean};
use crate::review::words::{millis, number};

/// Ratio from which the two differ by more than the spread of lengths explains: a mean of products
/// is not the product of means.
const WARNING_RATIO: f64 = 1.25;
const NOTE_RATIO: f64 = 1.12;
/// The same of TPOT itself, which a long TTFT hides in the sum.
const WARNING_TPOT_RATIO: f64 = 1.5;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let stated = mean(subject.point.e2e.as_ref()).filter(|&ms| ms > 0.0)?;
    let ttft = mean(subject.point.ttft.as_ref())?;
    let tpot = mean(subject.point.tpot.as_ref()).filter(|&ms| ms > 0.0)?;
    let after_first = subject.mean_output()? - 1.0;
    let implied = (stated - ttft) / after_first;
    if after_first <= 0.0 || implied <= 0.0 {
        return None;
    }
    let sum = ttft + after_first * tpot;
    let apart = (stated / sum).max(sum / stated);
    if apart < NOTE_RATIO || is_unit(stated / sum) {
        return None;
    }
    let ratio = implied / tpot;
    let off = apart >= WARNING_RATIO || ratio.max(1.0 / ratio) >= WARNING_TPOT_RATIO;
    let severity = if off { Severity::Warning } else { Severity::Note };
    let cause = match ratio {
        _ if severity == Severity::Note => "lengths vary, or outputs were shorter than stated",
        _ if ratio > 1.5 => "it was divided by more than the tokens, such as stream events",
        _ if ratio < 1.0 => "the first token may be in it, or outputs were shorter than stated",
        _ => "one of the four numbers is of other requests",
    };
    Some(
        Finding::new(
            severity,
            "e2e_identity",
            format!(
                "TPOT {} contradicts E2E, TTFT and output length, which give {} ({} times): {cause}",
                millis(tpot),
                millis(implied),
                number(ratio)
            ),
        )
        .figure("TPOT as stated", tpot, "ms")
        .figure("(E2E − TTFT) ÷ (n − 1)", implied, "ms")
        .advice("plan with the recomputed TPOT"),
    )
}
