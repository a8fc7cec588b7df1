//! A bounded queue age: who cannot be served in time is turned away at once.

use super::{Proposal, Remedy, Situation};
use crate::accounts::words::span_ms;

pub(super) const REMEDY: Remedy = Remedy { id: "max_queue_age", propose };

fn propose(situation: &Situation<'_>) -> Result<Vec<Proposal>, String> {
    if situation.doc.fleet.admission.max_queue_age_s.is_some() {
        return Err("the age of the queue is bounded already".to_owned());
    }
    let limit_s = situation.tightest_ttft_s().ok_or("no class has a TTFT limit to bound it by")?;
    // Half of what a user accepts is left for the prompt itself.
    let age_s = limit_s / 2.0;
    let title = format!("turn away who has queued for {}", span_ms(1e3 * age_s));
    let proposal = situation.with(title, |doc| {
        doc.fleet.admission.max_queue_age_s = Some(age_s);
        doc.fleet.admission.retry_after_s.get_or_insert(limit_s);
    });
    Ok(vec![retry_load(situation, proposal)])
}

/// What clients do who are turned away.
pub(super) fn retry_load(situation: &Situation<'_>, proposal: Proposal) -> Proposal {
    let retries = situation.doc.workload.classes.iter().any(|class| class.retries.is_some());
    if retries {
        proposal.but("clients that retry come back as load, which is in the numbers")
    } else {
        proposal.but("clients of this scenario never retry: who is turned away is lost")
    }
}
