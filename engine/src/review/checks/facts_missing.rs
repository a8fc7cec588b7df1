//! What has to be asked before the points can be compared or fitted.

use std::collections::BTreeSet;

use crate::ingest::MissingFact;
use crate::review::Finding;
use crate::review::subject::Subject;

pub(super) fn check(subjects: &[Subject]) -> Vec<Finding> {
    let missing: BTreeSet<MissingFact> =
        subjects.iter().flat_map(|subject| subject.point.missing.iter().copied()).collect();
    // Quality has a finding of its own.
    let named: Vec<&str> = missing.into_iter().filter_map(name).collect();
    if named.is_empty() {
        return Vec::new();
    }
    vec![
        Finding::note("facts_missing", format!("the file does not say: {}", named.join(", ")))
            .advice("add them before comparing or fitting; none of them is assumed"),
    ]
}

fn name(fact: MissingFact) -> Option<&'static str> {
    match fact {
        MissingFact::Gpu => Some("GPU"),
        MissingFact::GpuCount => Some("number of GPUs"),
        MissingFact::TensorParallel => Some("tensor-parallel size"),
        MissingFact::Model => Some("model"),
        MissingFact::EngineVersion => Some("engine version"),
        MissingFact::Load => Some("request rate or concurrency"),
        MissingFact::InputTokens => Some("prompt length"),
        MissingFact::OutputTokens => Some("output length"),
        MissingFact::Quality => None,
    }
}
