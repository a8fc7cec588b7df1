//! Nobody checked the answers.

use crate::review::Finding;
use crate::review::subject::Subject;

pub(super) fn check(subjects: &[Subject]) -> Vec<Finding> {
    let unchecked = subjects
        .iter()
        .filter(|subject| {
            subject.point.quality_rate.is_none()
                && subject.records.iter().all(|record| record.quality.is_none())
        })
        .count();
    if unchecked == 0 {
        return Vec::new();
    }
    vec![
        Finding::note(
            "quality_not_checked",
            "the file says nothing about the quality of answers: a goodput from it is latency-only",
        )
        .figure("points without quality", unchecked as f64, "")
        .figure("points", subjects.len() as f64, "")
        .advice("add a quality column, or state an assumed rate and who assumed it"),
    ]
}
