//! Little's law, N = X · W: in a closed loop the rate times the time in the system is the number
//! kept in flight; with a limit it cannot exceed it.

use super::units::is_unit;
use crate::problem::Severity;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{number, percent};

/// More than this much above N cannot be.
const MOST: f64 = 1.1;
/// Below this it is worth saying.
const NOTE_BELOW: f64 = 0.95;
/// A run of k waves loses about one to filling and draining, so k/(k + 1) of N is normal; below
/// this part of that it is not.
const WARNING_BELOW: f64 = 0.75;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let whole = subject.whole_request()?;
    let rate = subject.completed_rps().filter(|&rate| rate > 0.0)?;
    let in_flight = rate * whole.ms / 1e3;
    let closed = subject.closed_loop();
    let limit =
        closed.or_else(|| Some(subject.point.client_cap? as f64).filter(|&cap| cap > 0.0))?;
    let share = in_flight / limit;
    if is_unit(share) && closed.is_some() {
        return None;
    }
    let (severity, why) = if share > MOST {
        (Severity::Warning, "more than can be in flight: a unit or a denominator is wrong")
    } else if closed.is_none() || share >= NOTE_BELOW {
        return None;
    } else if share < WARNING_BELOW * filled_share(subject, limit) {
        (Severity::Warning, "the client did not keep them in flight, or a denominator is wrong")
    } else {
        (Severity::Note, "filling at the start and draining at the end are in the run")
    };
    Some(
        Finding::new(
            severity,
            "littles_law",
            format!(
                "rate × E2E is {} requests in flight, {} of {}: {why}",
                number(in_flight),
                percent(share),
                number(limit)
            ),
        )
        .figure("rate × E2E", in_flight, "requests")
        .figure("concurrency", limit, "requests")
        .advice("run longer, and compare the rate with completed ÷ duration"),
    )
}

fn filled_share(subject: &Subject, limit: f64) -> f64 {
    let waves = subject.point.completed.map_or(1.0, |completed| completed as f64 / limit);
    waves / (waves + 1.0)
}
