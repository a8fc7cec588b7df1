//! Output tokens counted twice, once by the server or the request and once by tokenising the
//! answers again: where the two differ, TPOT and throughput depend on which is meant.

use crate::problem::Severity;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{number, percent};

/// Parts by which the two may differ: tokenisers are not exact inverses of themselves.
const NOTE_ABOVE: f64 = 0.02;
const WARNING_ABOVE: f64 = 0.1;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let counted = subject.mean_output().filter(|&tokens| tokens > 0.0)?;
    let again = subject.point.retokenized_output_tokens?;
    let apart = (again - counted).abs() / counted;
    if apart <= NOTE_ABOVE {
        return None;
    }
    let severity = if apart > WARNING_ABOVE { Severity::Warning } else { Severity::Note };
    let message = if again == 0.0 {
        format!("{} output tokens are counted per request, yet no text came back", number(counted))
    } else {
        format!(
            "{} output tokens per request are counted, and {} when the answers are tokenised \
             again ({} apart)",
            number(counted),
            number(again),
            percent(apart)
        )
    };
    Some(
        Finding::new(severity, "retokenized_counts", message)
            .figure("output tokens", counted, "tokens/request")
            .figure("tokenised again", again, "tokens/request")
            .advice("find out which count the rates use; the server's own usage is the one billed"),
    )
}
