//! What the engine said about itself: gauges that were never filled, and prompts it did not have
//! to read.

use crate::counted::counted;
use crate::problem::Severity;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::percent;

/// Part of the prompt tokens out of the cache from which latencies are those of a warm server.
const WARM: f64 = 0.2;

/// KV usage of zero while requests ran.
pub(super) fn unfilled(subject: &Subject) -> Option<Finding> {
    let gauges = subject.point.engine;
    let usage = gauges.kv_usage_peak.or(gauges.kv_usage)?;
    let completed = subject.point.completed.filter(|&completed| completed > 0)?;
    if usage > 0.0 {
        return None;
    }
    let also = match gauges.preemptions {
        Some(0.0) => " and preemptions as 0",
        _ => "",
    };
    Some(
        Finding::warning(
            "gauges_unfilled",
            format!(
                "KV cache usage is written as 0{also}, though {} ran: it was not scraped",
                counted(completed, "requests")
            ),
        )
        .figure("KV cache usage", usage, "")
        .figure("completed", completed as f64, "")
        .advice("read it as not measured; check the metric's name in the engine's version"),
    )
}

/// Prompt tokens out of the prefix cache.
pub(super) fn warm_prefix(subject: &Subject) -> Option<Finding> {
    let share = subject.point.engine.prefix_hit_share.filter(|&share| share > 0.0)?;
    let severity = if share > WARM { Severity::Warning } else { Severity::Note };
    let ttft = subject.point.ttft.as_ref().and_then(|ttft| ttft.mean_ms);
    let mut finding = Finding::new(
        severity,
        "warm_prefix",
        format!("{} of the prompt tokens came out of the prefix cache", percent(share)),
    )
    .figure("share out of the cache", share, "")
    .figure("share read", 1.0 - share, "");
    if let Some(ttft) = ttft {
        finding = finding.figure("TTFT", ttft, "ms");
    }
    Some(finding.advice(
        "plan with this TTFT only if production has the same share; otherwise restart the server \
         and give every run its own seed",
    ))
}
