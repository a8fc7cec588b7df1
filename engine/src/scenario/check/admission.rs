//! Checks of whom the fleet lets in.

use super::findings::Findings;
use crate::fleet::{Admission, Shedding, TokenBucket};
use crate::scenario::doc::{AdmissionDoc, WorkloadDoc};

const PATH: &str = "fleet.admission";

pub(super) fn check(doc: &AdmissionDoc, findings: &mut Findings) -> Option<Admission> {
    let mut span = |field: &str, what: &str, seconds: Option<f64>| match seconds {
        None => Some(None),
        Some(seconds) => findings.span(format!("{PATH}.{field}"), what, seconds).map(Some),
    };
    let max_queue_age = span("max_queue_age_s", "the longest wait in a queue", doc.max_queue_age_s);
    let retry_after = span("retry_after_s", "what Retry-After says", doc.retry_after_s);
    let token_bucket = match doc.token_bucket {
        None => Some(None),
        Some(bucket) => {
            let bucket = TokenBucket::new(bucket.rate_rps, bucket.burst);
            findings.take(&format!("{PATH}.token_bucket"), bucket).map(Some)
        }
    };
    let admission = Admission {
        max_waiting: doc.max_waiting,
        max_queue_age: max_queue_age?,
        token_bucket: token_bucket?,
        shedding: doc.shedding.map(|shedding| Shedding {
            max_waiting: shedding.max_waiting,
            above_priority: shedding.above_priority,
        }),
        retry_after: retry_after?,
    };
    nobody_queues(&admission, findings);
    if admission.retry_after.is_some() && !admission.is_limited() {
        findings.warning(
            format!("{PATH}.retry_after_s"),
            "nobody is turned away, so nobody is told to come back",
            "give a limit beside it, e.g. `max_queue_age_s`, or leave it out",
        );
    }
    Some(admission)
}

/// A request joins a queue before the engine looks at it, so a queue without a place serves nobody.
fn nobody_queues(admission: &Admission, findings: &mut Findings) {
    if admission.max_waiting == Some(0) {
        findings.error(
            format!("{PATH}.max_waiting"),
            "no request may wait, so none is let in: each joins a queue before it is scheduled",
            "give 1 or more, or leave it out",
        );
    }
}

/// Shedding that no class is subject to.
pub(super) fn warn_about_shedding(
    doc: &AdmissionDoc,
    workload: &WorkloadDoc,
    findings: &mut Findings,
) {
    let Some(shedding) = doc.shedding else { return };
    let mut enabled = workload.classes.iter().filter(|class| class.enabled);
    if enabled.all(|class| class.priority <= shedding.above_priority) {
        // A step on the way: shedding is switched on before priorities are given.
        findings.note(
            format!("{PATH}.shedding.above_priority"),
            format!("no class has a priority above {}: nobody is shed", shedding.above_priority),
            "raise the `priority` of the classes that may be shed (a higher number is less urgent)",
        );
    }
}
