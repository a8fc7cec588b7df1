//! Counts that do not add up.

use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::count;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let point = subject.point;
    let attempted = point.num_prompts?;
    let cancelled = point.cancelled.unwrap_or(0);
    let ended = |completed: u64, failed: u64| completed.checked_add(failed)?.checked_add(cancelled);
    let (name, found) = match (point.completed, point.failed) {
        (Some(completed), Some(failed)) if ended(completed, failed) != Some(attempted) => {
            ("completed + failed", ended(completed, failed).unwrap_or(u64::MAX))
        }
        // What is left of `num_prompts` is derived, and there cannot be more than all.
        (Some(completed), None) if completed > attempted => ("completed", completed),
        _ if !subject.records.is_empty() && subject.records.len() as u64 != attempted => {
            ("requests listed", subject.records.len() as u64)
        }
        _ => return None,
    };
    Some(
        Finding::warning(
            "counts",
            format!("{name} is {} where {} were attempted", count(found), count(attempted)),
        )
        .figure(name, found as f64, "")
        .figure("attempted", attempted as f64, "")
        .advice("find out whether the rest was cut off, cancelled or a warm-up"),
    )
}
