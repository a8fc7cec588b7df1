//! A TTFT that is mostly waiting for admission: by Little's law, rate × TTFT requests are waiting
//! for their first token at any time, more than are ever in prefill.

use crate::review::Finding;
use crate::review::subject::{Subject, mean};
use crate::review::words::{millis, number, percent};

/// Part of E2E, and requests waiting at once, from which TTFT is a queue. A long prompt with a
/// short answer may spend most of its time in prefill, but ten of them never do at once.
const SHARE_OF_E2E: f64 = 0.5;
const WAITING: f64 = 10.0;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let ttft = mean(subject.point.ttft.as_ref()).filter(|&ms| ms > 0.0)?;
    let whole = subject.whole_request()?.ms;
    let waiting = subject.completed_rps()? * ttft / 1e3;
    if ttft < SHARE_OF_E2E * whole || waiting < WAITING {
        return None;
    }
    Some(
        Finding::warning(
            "admission_dominated",
            format!(
                "TTFT is {} of E2E ({} of {}) and {} requests wait for their first token at any \
                 time: the server is beyond its capacity, and TTFT measures its queue",
                percent(ttft / whole),
                millis(ttft),
                millis(whole),
                number(waiting)
            ),
        )
        .figure("TTFT", ttft, "ms")
        .figure("E2E", whole, "ms")
        .figure("waiting for a first token", waiting, "requests")
        .advice("read capacity from this point, not latency; measure TTFT below it"),
    )
}
