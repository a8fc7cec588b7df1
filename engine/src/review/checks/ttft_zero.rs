//! A first token that took no time: it was not measured.

use crate::review::Finding;
use crate::review::subject::{Subject, mean};
use crate::review::words::millis;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let ttft = subject.point.ttft.as_ref()?;
    let zero = ttft.mean_ms == Some(0.0) || ttft.percentile(0.5) == Some(0.0);
    // Empty successes have a finding of their own.
    if !zero || !subject.answered() || !subject.records.is_empty() {
        return None;
    }
    let why = whole_in_tpot(subject).map_or_else(String::new, |(tpot, e2e)| {
        format!(
            ": TPOT {} is E2E {} over the output tokens, so the first token was not timed",
            millis(tpot),
            millis(e2e)
        )
    });
    let message = format!("TTFT 0 ms is impossible{why}");
    let mut finding = Finding::error("ttft_zero", message).figure("TTFT", 0.0, "ms");
    if let Some(e2e) = mean(subject.point.e2e.as_ref()) {
        finding = finding.figure("E2E", e2e, "ms");
    }
    Some(finding.advice("do not use this row for TTFT; run again with streaming on"))
}

/// TPOT and E2E when TPOT is all of E2E spread over n − 1 tokens.
fn whole_in_tpot(subject: &Subject) -> Option<(f64, f64)> {
    let tpot = mean(subject.point.tpot.as_ref())?;
    let e2e = mean(subject.point.e2e.as_ref())?;
    let spread = e2e / (subject.mean_output()? - 1.0);
    ((tpot / spread - 1.0).abs() < 0.02).then_some((tpot, e2e))
}
