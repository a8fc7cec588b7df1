//! The client sent less than it was asked to: the point is not at the load its name says.

use crate::ingest::Load;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{number, percent};

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let Load::RequestRate { rps: requested } = subject.point.load else { return None };
    let sent = sent_rps(subject)?;
    let share = sent / requested;
    if share >= subject.least_rate_share() {
        return None;
    }
    Some(
        Finding::warning(
            "client_limited",
            format!(
                "the client sent {}/s of the {}/s it was asked for ({}): requests waited in the \
                 client, and that wait is in no latency",
                number(sent),
                number(requested),
                percent(share)
            ),
        )
        .figure("requested", requested, "requests/s")
        .figure("sent", sent, "requests/s")
        .advice(
            "leave the point out of latency curves; run again with more client workers or a \
             higher limit on concurrency",
        ),
    )
}

/// As stated, else from the times the requests were sent.
pub(super) fn sent_rps(subject: &Subject) -> Option<f64> {
    subject.point.sent_rps.or_else(|| {
        let times = || subject.records.iter().filter_map(|record| record.start_s);
        let gaps = times().count().checked_sub(1).filter(|&gaps| gaps > 0)?;
        let span_s = times().fold(0.0, f64::max);
        (span_s > 0.0).then(|| gaps as f64 / span_s)
    })
}
