//! What is sized for.

use super::Findings;
use crate::counted::typed;
use crate::nearest::nearest;
use crate::scenario::doc::{ExpectationDoc, TargetsDoc};
use crate::scenario::{Expectation, HEADLINES};

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
        format!("the confidence is {}", typed(confidence)),
        format!(
            "give the share of windows in which the contract must hold, {} to {}: 0.95 is 95 % of \
             them",
            CONFIDENCES.start(),
            CONFIDENCES.end()
        ),
    );
    None
}

/// What is expected; of what is wrong there is nothing.
pub fn expectations(docs: &[ExpectationDoc], findings: &mut Findings) -> Vec<Expectation> {
    let mut expectations = Vec::new();
    for (i, doc) in docs.iter().enumerate() {
        let path = format!("targets.expectations[{i}]");
        let ExpectationDoc { of, at_most, at_least } = doc.clone();
        let known = HEADLINES.contains(&of.as_str());
        if !known {
            let meant =
                nearest(&of, HEADLINES).map_or_else(String::new, |it| format!("; is it {it}?"));
            findings.error(
                format!("{path}.of"),
                format!("“{of}” is no headline number{meant}"),
                format!("give one of {}", HEADLINES.join(", ")),
            );
        }
        if at_most.is_none() && at_least.is_none() {
            findings.error(
                path.clone(),
                format!("nothing is expected of {of}"),
                "give `at_most`, `at_least` or both".to_owned(),
            );
        }
        for (name, bound) in [("at_most", at_most), ("at_least", at_least)] {
            if bound.is_some_and(|bound| !bound.is_finite()) {
                findings.error(
                    format!("{path}.{name}"),
                    "this bound is no finite number".to_owned(),
                    "give a number in the unit of what is expected".to_owned(),
                );
            }
        }
        if let (Some(most), Some(least)) = (at_most, at_least)
            && most < least
        {
            findings.error(
                path,
                format!("no {of} is at most {} and at least {}", typed(most), typed(least)),
                "give `at_most` that is not below `at_least`".to_owned(),
            );
        }
        expectations.push(Expectation { of, at_most, at_least });
    }
    expectations
}
