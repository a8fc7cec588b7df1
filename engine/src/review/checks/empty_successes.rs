//! Requests without an error and without a token, which the tool counts as completed with a TTFT
//! of 0. They pull every mean and percentile down.

use crate::counted::plural;
use crate::ingest::RecordOutcome;
use crate::problem::Severity;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{count, millis};
use crate::stats::mean;

/// From this share of what counts as completed on the stated latencies cannot be used.
const ERROR_SHARE: f64 = 0.05;

const ADVICE: &str = "use the figures over requests that answered, count the empty ones as lost, \
                      and find out why the server ended them";

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    if subject.records.is_empty() { from_totals(subject) } else { from_records(subject) }
}

fn from_records(subject: &Subject) -> Option<Finding> {
    let empty = subject.ending(RecordOutcome::EmptySuccess).count();
    if empty == 0 {
        return None;
    }
    let offered = subject.records.len();
    let answers: Vec<f64> =
        subject.ending(RecordOutcome::Ok).filter_map(|record| record.ttft_s).collect();
    let completed = empty + subject.ending(RecordOutcome::Ok).count();
    let severity = if empty as f64 >= ERROR_SHARE * completed as f64 {
        Severity::Error
    } else {
        Severity::Warning
    };
    let counts = format!(
        "{} of {} {} no error and no token, yet {} as completed",
        count(empty as u64),
        plural(offered as u64, "request", "requests"),
        if empty == 1 { "has" } else { "have" },
        if empty == 1 { "counts" } else { "count" }
    );
    let stated_ms = subject.point.ttft.as_ref().and_then(|stats| stats.mean_ms);
    let (Some(stated_ms), Some(true_s)) = (stated_ms, mean(&answers)) else {
        return Some(
            Finding::new(severity, "empty_successes", counts)
                .figure("empty successes", empty as f64, "")
                .figure("offered", offered as f64, "")
                .advice(ADVICE),
        );
    };
    let message = format!(
        "{counts}: mean TTFT is {} over the {} that answered, not {}",
        millis(true_s * 1e3),
        count(answers.len() as u64),
        millis(stated_ms)
    );
    Some(
        Finding::new(severity, "empty_successes", message)
            .figure("mean TTFT as stated", stated_ms / 1e3, "s")
            .figure("mean TTFT over requests that answered", true_s, "s")
            .figure("empty successes", empty as f64, "")
            .figure("answered", answers.len() as f64, "")
            .figure("offered", offered as f64, "")
            .advice(ADVICE),
    )
}

/// Without records only the extreme case shows: completed requests and not one token.
fn from_totals(subject: &Subject) -> Option<Finding> {
    let completed = subject.point.completed.filter(|&completed| completed > 0)?;
    if subject.mean_output()? > 0.0 {
        return None;
    }
    Some(
        Finding::error(
            "empty_successes",
            plural(
                completed,
                "request counts as completed and no token came",
                "requests count as completed and no token came",
            ),
        )
        .figure("completed", completed as f64, "")
        .figure("output tokens", 0.0, "")
        .advice("read this run as failed"),
    )
}
