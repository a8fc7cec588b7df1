//! What is sized for.

use super::Findings;
use crate::scenario::doc::TargetsDoc;

/// How sure a plan may be asked to be. What is surer takes more windows than a plan simulates, and
/// what holds every other time is no fleet to run.
pub const CONFIDENCES: std::ops::RangeInclusive<f64> = 0.5..=0.99;

/// The share of windows in which a fleet has to hold; an error leaves none.
pub fn check(doc: &TargetsDoc, findings: &mut Findings) -> Option<f64> {
    let confidence = doc.confidence;
    if CONFIDENCES.contains(&confidence) {
        return Some(confidence);
    }
    findings.error(
        "targets.confidence",
        format!("the confidence is {}", crate::counted::typed(confidence)),
        format!(
            "give the share of windows in which the contract must hold, {} to {}: 0.95 is 95 % of \
             them",
            CONFIDENCES.start(),
            CONFIDENCES.end()
        ),
    );
    None
}
