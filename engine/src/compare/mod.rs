//! Two scenarios side by side: which inputs differ, what that does to every headline number, and
//! what became of each request in one and in the other.
//!
//! Random numbers are keyed by identity, so both fleets meet the same requests as far as their
//! workloads agree: a difference is the edit's and not chance. With several seeds the differences
//! are taken seed by seed before they are averaged.

mod inputs;
mod lifted;
mod moved;
mod results;

use serde::Serialize;

pub use inputs::{InputChange, inputs};
pub use lifted::{Setting, SettingLifted, lift_settings};
pub use moved::{Moved, Served};
pub use results::ResultChange;

pub use crate::accounts::headline::{Better, headline};
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
    Base::new(a, runs).compare(b)
}

/// The first of two scenarios, simulated once and compared with as many others as wanted.
#[derive(Debug)]
pub struct Base<'a> {
    side: Side<'a>,
    /// One run a seed; none where it cannot be simulated.
    runs: Result<Vec<Simulated>, Unanswerable>,
    seeds: u32,
}

impl<'a> Base<'a> {
    /// Simulates a scenario over `seeds` seeds, at least one.
    pub fn new(side: Side<'a>, seeds: u32) -> Self {
        let seeds = seeds.max(1);
        Self { side, runs: over_seeds(side.scenario, seeds), seeds }
    }

    /// Its runs.
    ///
    /// # Errors
    /// It cannot be simulated.
    pub fn runs(&self) -> Result<&[Simulated], &Unanswerable> {
        self.runs.as_ref().map(Vec::as_slice)
    }

    /// Compares another scenario with it.
    pub fn compare(&self, other: Side<'_>) -> Comparison {
        self.compare_and_keep(other).0
    }

    /// The same, with the first run of the other.
    pub fn compare_and_keep(
        &self,
        other: Side<'_>,
    ) -> (Comparison, Result<Simulated, Unanswerable>) {
        let others = over_seeds(other.scenario, self.seeds);
        let mut comparison = Comparison {
            names: [self.side, other].map(|side| side.scenario.name.clone()),
            inputs: inputs(self.side.doc, other.doc),
            results: Vec::new(),
            unanswered: Vec::new(),
            moved: None,
            runs: self.seeds,
            sentence: String::new(),
        };
        match (&self.runs, &others) {
            (Ok(runs), Ok(others)) => {
                comparison.moved = moved::moved(
                    Served::of(self.side.scenario, &runs[0]),
                    Served::of(other.scenario, &others[0]),
                );
                comparison.results = results::results(runs, others);
            }
            (a, b) => {
                let sides = [("a", a.as_ref().err()), ("b", b.as_ref().err())];
                comparison.unanswered = sides
                    .into_iter()
                    .filter_map(|(side, why)| Some(Unanswered { side, why: why?.to_string() }))
                    .collect();
            }
        }
        comparison.sentence = results::sentence(&comparison);
        (comparison, others.map(|mut runs| runs.swap_remove(0)))
    }
}

/// Runs with consecutive seeds from the scenario's own on, at least one.
fn over_seeds(scenario: &Scenario, seeds: u32) -> Result<Vec<Simulated>, Unanswerable> {
    let of_seed = |offset: u32| {
        let seed = scenario.seed.wrapping_add(u64::from(offset));
        answer(&Scenario { seed, ..scenario.clone() })
    };
    (0..seeds).map(of_seed).collect()
}
