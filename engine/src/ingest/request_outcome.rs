//! How a request of a table ended, by what its row says in words: the tools' and our own.

use super::RecordOutcome;

/// Words that mean that it was served to the end. Ours are outcomes of a simulation: a late answer is
/// an answer, and whether it is good the limits say.
const OK: &[&str] = &[
    "ok",
    "success",
    "successful",
    "succeeded",
    "completed",
    "complete",
    "finished",
    "done",
    "true",
    "1",
    "stop",
    "length",
    "good",
    "late_first_token",
    "late_and_slow",
    "stalled",
    "slow_tokens",
    "late_completion",
    "low_quality",
];
/// That it was not.
const ERROR: &[&str] = &[
    "error",
    "errored",
    "fail",
    "failed",
    "failure",
    "timeout",
    "timed_out",
    "rejected",
    "too_long",
    "false",
    "0",
];
/// That its client or the end of the run cut it off.
const CANCELLED: &[&str] = &[
    "cancelled",
    "canceled",
    "abort",
    "aborted",
    "incomplete",
    "unfinished",
    "cancelled_before_first",
    "cancelled_mid_stream",
];
/// What stands in a column of errors where there is none.
const NO_ERROR: &[&str] = &["", "0", "false", "no", "none", "null", "nan", "{}", "[]"];

/// What a status says: a word, in any case and with spaces or hyphens for underscores, or an HTTP
/// code. `None` of a word that is not known.
pub fn of_status(cell: &str) -> Option<RecordOutcome> {
    if let Ok(code @ 100..=599) = cell.parse::<u32>() {
        return Some(match code {
            200..=299 => RecordOutcome::Ok,
            499 => RecordOutcome::Cancelled, // nginx: the client closed the connection
            _ => RecordOutcome::Error,
        });
    }
    let word = cell.to_ascii_lowercase().replace([' ', '-'], "_");
    let is_in = |words: &[&str]| words.contains(&word.as_str());
    if is_in(OK) {
        Some(RecordOutcome::Ok)
    } else if is_in(ERROR) {
        Some(RecordOutcome::Error)
    } else {
        is_in(CANCELLED).then_some(RecordOutcome::Cancelled)
    }
}

/// Whether a cell of a column of errors names one.
pub fn is_error(cell: &str) -> bool {
    !NO_ERROR.contains(&cell.to_ascii_lowercase().as_str())
}

/// What a status may be, for whoever wrote another.
pub const KNOWN: &str = "write ok, success, completed or an HTTP code from 200 to 299 of what was \
                         served; error, failed, timed_out or rejected, or cancelled or aborted, of \
                         what was not; or leave the cell empty, and who has a first token counts as \
                         served";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slo::Outcome;

    #[test]
    fn words_and_codes_say_how_a_request_ended() {
        use RecordOutcome::{Cancelled, Error, Ok};
        for (cell, outcome) in [
            ("OK", Some(Ok)),
            ("Completed", Some(Ok)),
            ("200", Some(Ok)),
            ("timed out", Some(Error)),
            ("Timed-Out", Some(Error)),
            ("429", Some(Error)),
            ("503", Some(Error)),
            ("499", Some(Cancelled)),
            ("canceled", Some(Cancelled)),
            ("sideways", None),
            ("7", None),
        ] {
            assert_eq!(of_status(cell), outcome, "{cell}");
        }
        for (cell, is) in [("", false), ("None", false), ("{}", false), ("connection reset", true)]
        {
            assert_eq!(is_error(cell), is, "{cell}");
        }
    }

    #[test]
    fn every_outcome_of_a_simulation_is_known() {
        for outcome in Outcome::ALL {
            assert!(of_status(outcome.name()).is_some(), "{}", outcome.name());
        }
    }
}
