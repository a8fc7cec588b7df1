//! A goodput that reads as a share of what completed, where requests failed.

use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::percent;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let point = subject.point;
    let goodput_rps = point.goodput_rps?;
    let completed_rps = subject.completed_rps().filter(|&rate| rate > 0.0)?;
    let completed = point.completed.filter(|&completed| completed > 0)?;
    let offered = subject.attempted().filter(|&offered| offered > completed)?;
    let of_completed = goodput_rps / completed_rps;
    let of_offered = of_completed * completed as f64 / offered as f64;
    Some(
        Finding::warning(
            "goodput_denominator",
            format!(
                "goodput is {} of what completed but {} of what was offered",
                percent(of_completed),
                percent(of_offered)
            ),
        )
        .figure("share of completed", of_completed, "")
        .figure("share of offered", of_offered, "")
        .advice("compare the share of offered requests with the attainment target"),
    )
}
