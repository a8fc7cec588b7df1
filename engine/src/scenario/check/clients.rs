//! Checks of what clients do beside asking: when they leave, and when they ask again.

use super::findings::Findings;
use super::one;
use crate::problem::Problem;
use crate::scenario::doc::{ClassDoc, PatienceDoc, RetriesDoc, RetryOnDoc, ThinkTimeDoc};
use crate::workload::{ClientBehaviour, Patience, Retries, RetryOn, ThinkTime};

/// How the clients of a class behave, and how long they wait for a first token.
pub(super) fn check(
    class: &ClassDoc,
    path: &str,
    findings: &mut Findings,
) -> Option<(Option<Patience>, ClientBehaviour)> {
    let mut patience = |field: &str, doc: Option<PatienceDoc>| match doc.map(patience_of) {
        None => Some(None),
        Some(result) => findings.take(&format!("{path}.{field}"), result).map(Some),
    };
    let first = patience("patience", class.patience);
    let stall_patience = patience("stall_patience", class.stall_patience);
    let timeout = match class.timeout_s {
        None => Some(None),
        Some(seconds) => {
            findings.span(format!("{path}.timeout_s"), "the time-out", seconds).map(Some)
        }
    };
    let retries = match class.retries.as_ref().map(retries_of) {
        None => Some(None),
        Some(result) => findings.take(&format!("{path}.retries"), result).map(Some),
    };
    let clients =
        ClientBehaviour { stall_patience: stall_patience?, timeout: timeout?, retries: retries? };
    Some((first?, clients))
}

fn patience_of(doc: PatienceDoc) -> Result<Patience, Vec<Problem>> {
    match doc {
        PatienceDoc::Fixed { s } => one(Patience::fixed(s)),
        PatienceDoc::Lognormal { median_s, p90_s } => Patience::lognormal(median_s, p90_s),
    }
}

fn retries_of(doc: &RetriesDoc) -> Result<Retries, Vec<Problem>> {
    let on = doc.on.iter().map(|on| match on {
        RetryOnDoc::Rejected => RetryOn::Rejected,
        RetryOnDoc::Error => RetryOn::Error,
        RetryOnDoc::TimedOut => RetryOn::TimedOut,
        RetryOnDoc::CancelledBeforeFirst => RetryOn::CancelledBeforeFirst,
        RetryOnDoc::CancelledMidStream => RetryOn::CancelledMidStream,
    });
    if (1..doc.on.len()).any(|i| doc.on[..i].contains(&doc.on[i])) {
        return Err(vec![Problem::error(
            "on",
            "the same way to go wrong stands there twice",
            "name each once",
        )]);
    }
    let retries = Retries::new(doc.max_attempts, on).map_err(|problem| vec![problem])?;
    let back_off = (doc.backoff_base_s, doc.backoff_factor, doc.backoff_max_s);
    retries.with_back_off(back_off, doc.jitter)
}

/// How long users in a closed loop think.
pub(super) fn think_time_of(doc: ThinkTimeDoc) -> Result<ThinkTime, Vec<Problem>> {
    let think = match doc {
        ThinkTimeDoc::Fixed { s } => ThinkTime::fixed(s).map_err(|problem| vec![problem]),
        ThinkTimeDoc::Uniform { min_s, max_s } => ThinkTime::uniform(min_s, max_s),
        ThinkTimeDoc::Exponential { mean_s } => {
            ThinkTime::exponential(mean_s).map_err(|problem| vec![problem])
        }
    };
    think.map_err(|problems| problems.into_iter().map(|p| p.under("think_time")).collect())
}
