//! Checks of what clients do beside asking: when they leave, and when they ask again.

use super::findings::Findings;
use super::one;
use crate::problem::Problem;
use crate::scenario::doc::{ClassDoc, PatienceDoc};
use crate::workload::{ClientBehaviour, Patience};

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
    let clients = ClientBehaviour { stall_patience: stall_patience?, timeout: timeout? };
    Some((first?, clients))
}

fn patience_of(doc: PatienceDoc) -> Result<Patience, Vec<Problem>> {
    match doc {
        PatienceDoc::Fixed { s } => one(Patience::fixed(s)),
        PatienceDoc::Lognormal { median_s, p90_s } => Patience::lognormal(median_s, p90_s),
    }
}
