//! Percentiles of too few requests.

use crate::counted::counted;
use crate::ingest::Latency;
use crate::problem::Severity;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::percentile;

/// Requests beyond a percentile that make it worth quoting.
const ENOUGH_BEYOND: f64 = 5.0;
/// Requests below which a run says nothing about any tail: even its p95 is its slowest. Tools
/// print p99.9 of every run, so a percentile alone is no more than a note.
const TOO_FEW: u64 = 20;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let completed = subject.point.completed.filter(|&completed| completed > 0)?;
    // ITL percentiles are over all gaps of all requests and have their own, larger number.
    let highest = [Latency::Ttft, Latency::Tpot, Latency::E2e]
        .iter()
        .filter_map(|&latency| subject.point.latency(latency)?.percentiles.last())
        .map(|stated| stated.share)
        .fold(0.5, f64::max);
    // A percentile is written with at most a few digits, so this is far from rounding trouble.
    let beyond = completed as f64 * (1.0 - highest) + 1e-9;
    if beyond >= ENOUGH_BEYOND {
        return None;
    }
    let name = percentile(highest);
    let severity = if completed < TOO_FEW { Severity::Warning } else { Severity::Note };
    let what =
        if beyond < 1.0 { "it is the slowest request" } else { "a handful of requests decide it" };
    Some(
        Finding::new(
            severity,
            "too_short",
            format!("{name} is quoted over {}: {what}", counted(completed, "requests")),
        )
        .figure("requests", completed as f64, "")
        .figure("requests needed", (ENOUGH_BEYOND / (1.0 - highest)).round(), "")
        .advice(format!("do not hold {name} against a limit; run more requests")),
    )
}
