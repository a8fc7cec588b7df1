//! Latencies by the server's clock: the way to the client and its queue are not in them.

use crate::ingest::Definition;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::millis;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let ttft = subject.point.ttft.as_ref()?;
    if ttft.definition != Definition::ArrivalToFirstToken {
        return None;
    }
    let typical = ttft.typical_ms()?;
    Some(
        Finding::note(
            "server_clock",
            format!(
                "TTFT {} is by the server's clock, from the arrival of a request: network and \
                 client queue are not in it",
                millis(typical)
            ),
        )
        .figure("TTFT by the server", typical, "ms")
        .figure("requests", subject.point.completed.unwrap_or(0) as f64, "")
        .advice("compare it with other servers' own figures, not with a client's"),
    )
}
