//! Requests that all start at one instant: of the whole run, or of its first wave.

use crate::ingest::Load;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{count, percent, percentile};

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    match subject.point.load {
        Load::Unbounded => Some(whole_run(subject)),
        Load::Concurrency { requests } => first_wave(subject, requests),
        Load::RequestRate { .. } | Load::Ramp { .. } | Load::Unstated => None,
    }
}

fn whole_run(subject: &Subject) -> Finding {
    let all = subject.attempted();
    let what = all.map_or_else(|| "all".to_owned(), |all| format!("all {}", count(all)));
    let finding = Finding::warning(
        "start_burst",
        format!(
            "{what} requests were sent at once with no limit: a burst that drains, not a steady \
             load, and its latencies depend on how many there were"
        ),
    )
    .advice("use its throughput as an upper bound only; leave it out of latency curves");
    match all {
        Some(all) => finding.figure("requests at once", all as f64, ""),
        None => finding,
    }
}

/// A closed loop sends its first wave at one instant; percentiles beyond its share are its own.
fn first_wave(subject: &Subject, requests: u64) -> Option<Finding> {
    let completed = subject.point.completed.filter(|&completed| completed > 0)?;
    let share = requests as f64 / completed as f64;
    let highest = subject.point.ttft.as_ref()?.percentiles.last()?.share;
    if requests < 2 || share <= 1.0 - highest {
        return None;
    }
    let share = share.min(1.0);
    Some(
        Finding::note(
            "start_burst",
            format!(
                "the first {} requests ({} of the run) start at one instant; TTFT {} is theirs \
                 rather than the steady state's",
                count(requests.min(completed)),
                percent(share),
                percentile(highest)
            ),
        )
        .figure("share of the first wave", share, "")
        .figure("share beyond the percentile", 1.0 - highest, "")
        .advice("run longer, or read the median"),
    )
}
