//! Latencies over successes only, in a run where requests failed.

use crate::counted::counted;
use crate::ingest::Latency;
use crate::problem::Severity;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{count, percent, percentile};

/// Below this share of failures the latencies hardly move.
const WARNING_SHARE: f64 = 0.01;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let point = subject.point;
    let completed = point.completed.filter(|&completed| completed > 0)?;
    let failed = point.failed.filter(|&failed| failed > 0)?;
    let offered = completed.checked_add(failed)?;
    let lost = failed as f64 / offered as f64;
    let beyond = Latency::ALL
        .iter()
        .filter_map(|&latency| point.latency(latency))
        .flat_map(|stats| &stats.percentiles)
        .map(|stated| stated.share)
        .filter(|share| 1.0 - share < lost)
        .fold(None, |least: Option<f64>, share| Some(least.map_or(share, |l| l.min(share))));
    let message = format!(
        "latencies are over the {} that completed: {} of {} ({}) {} missing from them{}",
        counted(completed, "requests"),
        count(failed),
        count(offered),
        percent(lost),
        if failed == 1 { "is" } else { "are" },
        beyond.map_or_else(String::new, |share| {
            format!("; over all offered requests {} has no value", percentile(share))
        })
    );
    let severity = if lost < WARNING_SHARE { Severity::Note } else { Severity::Warning };
    Some(
        Finding::new(severity, "failures_left_out", message)
            .figure("completed", completed as f64, "")
            .figure("offered", offered as f64, "")
            .advice("count failed requests as never answered when you compare with a limit"),
    )
}
