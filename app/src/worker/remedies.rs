//! Remedies as they cross from the worker to the page: what a row of the page says, and the document
//! that applying it opens.

use goodput_engine::compare::Moved;
use goodput_engine::remedies::{RemedyReport, RemedyRow};
use goodput_engine::scenario::doc::ScenarioDoc;
use serde::{Deserialize, Serialize};

/// An edit that was simulated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remedy {
    /// In words.
    pub title: String,
    /// Whether every class then meets its targets.
    pub contract_holds: bool,
    /// Good requests more than without, in the window of the run.
    pub added_good: i64,
    /// USD for a further good request; absent without a price or a gain.
    pub cost_per_added_good: Option<f64>,
    /// Every headline number before and after.
    pub results: Vec<Change>,
    /// From outcome to outcome, on the same requests.
    pub moved: Option<Vec<Moved>>,
    /// What the simulation does not know about it.
    pub caveats: Vec<String>,
    /// The scenario with the edit.
    pub doc: Box<ScenarioDoc>,
}

/// A headline number before and after, by its name in reports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Name, with its unit.
    pub name: String,
    /// Before.
    pub before: Option<f64>,
    /// After.
    pub after: Option<f64>,
    /// Whether that is the worse.
    pub worsens: bool,
}

/// Every remedy for a scenario.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Remedies {
    /// Cheapest further good request first; then those that gain none.
    pub tried: Vec<Remedy>,
    /// Those that do not apply, each with why.
    pub not_applicable: Vec<(String, String)>,
}

impl From<RemedyReport> for Remedies {
    fn from(report: RemedyReport) -> Self {
        let absent = report.not_applicable.into_iter();
        Self {
            tried: report.remedies.into_iter().map(Remedy::from).collect(),
            not_applicable: absent.map(|absent| (absent.id.to_owned(), absent.why)).collect(),
        }
    }
}

impl From<RemedyRow> for Remedy {
    fn from(row: RemedyRow) -> Self {
        let results = row.results.into_iter().map(|change| Change {
            name: change.name.to_owned(),
            before: change.a,
            after: change.b,
            worsens: change.worsens,
        });
        Self {
            title: row.title,
            contract_holds: row.contract_holds,
            added_good: row.added_good,
            cost_per_added_good: row.cost_per_added_good,
            results: results.collect(),
            moved: row.moved,
            caveats: row.caveats,
            doc: Box::new(row.doc),
        }
    }
}
