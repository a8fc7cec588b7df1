//! Fewer requests came back per second than were asked for, and the file does not say how many
//! were sent: an overloaded server, a limited client, or only the tail in which the run drains.

use super::client_limited::sent_rps;
use crate::ingest::Load;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{number, percent};

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let point = subject.point;
    let Load::RequestRate { rps: requested } = point.load else { return None };
    if !subject.answered() || sent_rps(subject).is_some() {
        return None;
    }
    let done = match (subject.attempted(), point.duration_s.filter(|&duration| duration > 0.0)) {
        // Failed requests were load too.
        (Some(attempted), Some(duration)) => attempted as f64 / duration,
        _ => subject.completed_rps()?,
    };
    let share = done / requested;
    if share >= subject.least_rate_share() {
        return None;
    }
    let finding = if drains_only(subject, requested) {
        Finding::note(
            "drain_in_window",
            format!(
                "{}/s over the whole run is {} of the {}/s sent because the time the last \
                 requests took to finish is counted in",
                number(done),
                percent(share),
                number(requested)
            ),
        )
        .advice("run longer if you need the throughput")
    } else {
        Finding::warning(
            "load_not_reached",
            format!(
                "{}/s were done of the {}/s asked for ({}): the server was overloaded or the \
                 client held requests back, and the file does not say which",
                number(done),
                number(requested),
                percent(share)
            ),
        )
        .advice("leave the point out of latency curves, or label it as overload")
    };
    Some(finding.figure("requested", requested, "requests/s").figure("done", done, "requests/s"))
}

/// Sending all at the asked rate and then waiting for the slowest explains the duration. A wait
/// longer than the sending is no tail but a queue.
fn drains_only(subject: &Subject, requested: f64) -> bool {
    let slowest = subject.point.e2e.as_ref().and_then(|stats| {
        stats.max_ms.or_else(|| stats.percentiles.last().map(|p| p.ms)).or(stats.mean_ms)
    });
    let Some(drain_ms) = slowest.or_else(|| subject.sum_of_parts_ms()) else { return false };
    let (Some(attempted), Some(duration_s)) = (subject.attempted(), subject.point.duration_s)
    else {
        return false;
    };
    let sending_s = attempted as f64 / requested;
    let drain_s = drain_ms / 1e3;
    drain_s <= sending_s && duration_s <= sending_s / subject.least_rate_share().max(0.5) + drain_s
}
