//! Requests that waited in the client: TTFT counts from sending, users from when the request was
//! due.

use crate::problem::Severity;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{millis, percent, percentile};

/// Part of TTFT from which the wait is worth a word, and from which it misleads.
const NOTE_ABOVE: f64 = 0.05;
const WARNING_ABOVE: f64 = 0.5;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let (waited, ttft) = (subject.point.client_queue.as_ref()?, subject.point.ttft.as_ref()?);
    let (mean_wait, mean_ttft) = (waited.mean_ms?, ttft.mean_ms.filter(|&ms| ms > 0.0)?);
    let part = mean_wait / mean_ttft;
    if part <= NOTE_ABOVE {
        return None;
    }
    let severity = if part > WARNING_ABOVE { Severity::Warning } else { Severity::Note };
    let message = format!(
        "requests waited {} in the client on average, {} of the TTFT of {} in which that wait is \
         not",
        millis(mean_wait),
        percent(part),
        millis(mean_ttft)
    );
    let mut finding = Finding::new(severity, "client_wait", message)
        .figure("TTFT as stated", mean_ttft, "ms")
        .figure("wait before sending", mean_wait, "ms")
        .figure("TTFT from when requests were due", mean_ttft + mean_wait, "ms");
    // The highest percentile both state.
    let shared = ttft
        .percentiles
        .iter()
        .rev()
        .find_map(|stated| Some((stated.share, stated.ms, waited.percentile(stated.share)?)));
    if let Some((share, of_ttft, of_wait)) = shared {
        let name = percentile(share);
        finding = finding
            .figure(&format!("wait {name}, the least TTFT {name} from when due"), of_wait, "ms")
            .figure(&format!("sum of the two {name}s, an estimate of it"), of_wait + of_ttft, "ms");
    }
    Some(finding.advice("judge users' TTFT by the sum, and run again with a client that keeps up"))
}
