//! Nothing completed: tools then write 0.0 for every latency.

use crate::counted::counted;
use crate::review::Finding;
use crate::review::subject::Subject;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let attempted = subject.attempted().unwrap_or(0);
    if subject.point.completed != Some(0) {
        return None;
    }
    Some(
        Finding::error(
            "all_failed",
            format!(
                "none of {} completed: there is no latency to read",
                counted(attempted, "requests")
            ),
        )
        .figure("completed", 0.0, "")
        .figure("attempted", attempted as f64, "")
        .advice("look at the server's log, mend the cause and run it again"),
    )
}
