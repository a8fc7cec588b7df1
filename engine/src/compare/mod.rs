//! Two scenarios side by side: which inputs differ, what that does to every headline number, and
//! what became of each request in one and in the other.
//!
//! Random numbers are keyed by identity, so both fleets meet the same requests as far as their
//! workloads agree: a difference is the edit's and not chance. With several seeds the differences
//! are taken seed by seed before they are averaged.

mod inputs;
mod moved;
mod results;

use serde::Serialize;

pub use inputs::{InputChange, inputs};
pub use moved::Moved;
pub use results::{Better, ResultChange, headline};

use crate::accounts::{Simulated, Unanswerable, answer};
use crate::scenario::Scenario;
use crate::scenario::doc::ScenarioDoc;

/// A scenario as it was written and as it was checked.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The document.
    pub doc: &'a ScenarioDoc,
    /// The same, checked.
    pub scenario: &'a Scenario,
}

/// Two scenarios compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Names of the two.
    pub names: [String; 2],
    /// Every input that differs.
    pub inputs: Vec<InputChange>,
    /// Every headline number of both; empty where one of them cannot be simulated.
    pub results: Vec<ResultChange>,
    /// Why there are no results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<Unanswered>,
    /// What became of the requests, outcome by outcome; absent where the two did not offer the
    /// same requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<Vec<Moved>>,
    /// Runs of each, with consecutive seeds from its own on.
    pub runs: u32,
    /// What changed, in a sentence.
    pub sentence: String,
}

/// A side that cannot be simulated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unanswered {
    /// `a` or `b`.
    pub side: &'static str,
    /// Why.
    pub why: String,
}

/// Compares two scenarios over `runs` seeds each, at least one.
pub fn compare(a: Side<'_>, b: Side<'_>, runs: u32) -> Comparison {
    let mut comparison = Comparison {
        names: [a, b].map(|side| side.scenario.name.clone()),
        inputs: inputs(a.doc, b.doc),
        results: Vec::new(),
        unanswered: Vec::new(),
        moved: None,
        runs: runs.max(1),
        sentence: String::new(),
    };
    let mut pairs: Vec<(Simulated, Simulated)> = Vec::new();
    for offset in 0..u64::from(comparison.runs) {
        match (of_seed(a.scenario, offset), of_seed(b.scenario, offset)) {
            (Ok(of_a), Ok(of_b)) => pairs.push((of_a, of_b)),
            (of_a, of_b) => {
                let sides = [("a", of_a.err()), ("b", of_b.err())];
                comparison.unanswered = sides
                    .into_iter()
                    .filter_map(|(side, why)| Some(Unanswered { side, why: why?.to_string() }))
                    .collect();
                break;
            }
        }
    }
    if comparison.unanswered.is_empty() {
        comparison.moved = pairs
            .first()
            .and_then(|(of_a, of_b)| moved::moved((of_a, a.scenario), (of_b, b.scenario)));
        comparison.results = results::results(&pairs);
    }
    comparison.sentence = results::sentence(&comparison);
    comparison
}

fn of_seed(scenario: &Scenario, offset: u64) -> Result<Simulated, Unanswerable> {
    let seed = scenario.seed.wrapping_add(offset);
    answer(&Scenario { seed, ..scenario.clone() })
}
