//! What else would help: edits of a scenario, each simulated, each with what it makes worse.
//!
//! A remedy proposes edits of the document; every proposal is checked and simulated on the same
//! requests as the scenario itself, and what it moves is read off the comparison. None is advised:
//! they are ranked by what a further good request costs, and what gets worse stands beside.
//!
//! One file per remedy, and one line in the list of them.

mod kv_precision;
mod max_num_batched_tokens;
mod max_num_seqs;
mod output_budget;
mod queue_age;
mod queue_length;
mod replicas;
mod routing;
mod shedding;
mod start_up;
mod tensor_parallel;
mod weight_precision;

use std::cmp::Ordering;

use serde::Serialize;

use crate::accounts::{Simulated, Unanswerable};
use crate::compare::{Base, Comparison, InputChange, Moved, ResultChange, Side};
use crate::fleet::Scaling;
use crate::problem::{Problem, Severity};
use crate::scenario::doc::{PoolDoc, ScenarioDoc};
use crate::scenario::{Scenario, check};

/// A kind of edit.
struct Remedy {
    /// Its name in reports.
    id: &'static str,
    /// The edits it proposes for a scenario, or why there are none.
    propose: fn(&Situation<'_>) -> Result<Vec<Proposal>, String>,
}

const REMEDIES: [Remedy; 12] = [
    replicas::REMEDY,
    output_budget::REMEDY,
    queue_age::REMEDY,
    queue_length::REMEDY,
    shedding::REMEDY,
    max_num_batched_tokens::REMEDY,
    max_num_seqs::REMEDY,
    kv_precision::REMEDY,
    weight_precision::REMEDY,
    tensor_parallel::REMEDY,
    routing::REMEDY,
    start_up::REMEDY,
];

/// What a remedy may look at.
struct Situation<'a> {
    doc: &'a ScenarioDoc,
    scenario: &'a Scenario,
    simulated: &'a Simulated,
    /// What it is warned of as it is.
    warnings: Vec<Problem>,
}

/// An edit that might help.
struct Proposal {
    /// In words.
    title: String,
    /// The scenario with the edit.
    doc: ScenarioDoc,
    /// What the simulation does not know about it.
    caveats: Vec<String>,
}

impl Situation<'_> {
    /// The document with an edit.
    fn with(&self, title: impl Into<String>, edit: impl FnOnce(&mut ScenarioDoc)) -> Proposal {
        let mut doc = self.doc.clone();
        edit(&mut doc);
        Proposal { title: title.into(), doc, caveats: Vec::new() }
    }

    /// The pool of the document, whose settings a remedy changes.
    fn only_pool(&self) -> Result<&PoolDoc, String> {
        match self.doc.fleet.pools.as_slice() {
            [pool] => Ok(pool),
            several => Err(format!(
                "it changes the settings of a pool, and the fleet has {}: try it on a scenario of \
                 one pool and what is routed there",
                several.len()
            )),
        }
    }

    /// The same where as many replicas are there all the time.
    fn pool_of_constant_size(&self) -> Result<&PoolDoc, String> {
        let pool = self.only_pool()?;
        if self.scenario.pool.life.scaling != Scaling::Fixed {
            return Err("an autoscaler or a timetable says how many replicas there are".to_owned());
        }
        Ok(pool)
    }

    /// The tightest TTFT limit of a class that is offered, seconds.
    fn tightest_ttft_s(&self) -> Option<f64> {
        let limits = self.scenario.contracts.iter().filter_map(|contract| contract.ttft);
        limits.min().map(crate::units::Picos::as_secs)
    }
}

impl Proposal {
    fn but(mut self, caveat: impl Into<String>) -> Self {
        self.caveats.push(caveat.into());
        self
    }
}

/// Every remedy for a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RemedyReport {
    /// Those that were simulated, cheapest further good request first; then those that gain none.
    pub remedies: Vec<RemedyRow>,
    /// Those that do not apply, and why.
    pub not_applicable: Vec<NotApplicable>,
}

/// One edit, simulated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RemedyRow {
    /// Kind of edit.
    pub id: &'static str,
    /// In words.
    pub title: String,
    /// The inputs it changes.
    pub inputs: Vec<InputChange>,
    /// Whether every class then meets its targets.
    pub contract_holds: bool,
    /// Good requests more than without, in the window of the run.
    pub added_good: i64,
    /// USD more for the run; absent without a price.
    pub added_cost: Option<f64>,
    /// `added_cost` ÷ `added_good`; absent without a price or a gain. Negative: it saves money.
    pub cost_per_added_good: Option<f64>,
    /// Names of the results it makes worse.
    pub worsens: Vec<&'static str>,
    /// Every headline number before and after.
    pub results: Vec<ResultChange>,
    /// From outcome to outcome, on the same requests; absent where the edit changes the requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<Vec<Moved>>,
    /// What the simulation does not know about it.
    pub caveats: Vec<String>,
    /// The scenario with the edit.
    #[serde(skip)]
    pub doc: ScenarioDoc,
}

/// A remedy that cannot be tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotApplicable {
    /// Kind of edit.
    pub id: &'static str,
    /// Why.
    pub why: String,
}

/// Simulates every remedy for a scenario.
///
/// # Errors
/// The scenario itself cannot be simulated.
pub fn remedies(doc: &ScenarioDoc, scenario: &Scenario) -> Result<RemedyReport, Unanswerable> {
    let base = Base::new(Side { doc, scenario }, 1);
    let simulated = &base.runs().map_err(Clone::clone)?[0];
    let warnings = check(doc).map(|checked| checked.warnings).unwrap_or_default();
    let situation = Situation { doc, scenario, simulated, warnings };
    let mut report = RemedyReport { remedies: Vec::new(), not_applicable: Vec::new() };
    for remedy in &REMEDIES {
        let tried: Vec<Result<RemedyRow, String>> = match (remedy.propose)(&situation) {
            Ok(proposals) => {
                let proposals = proposals.into_iter();
                proposals.map(|proposal| try_out(remedy.id, &base, &situation, proposal)).collect()
            }
            Err(why) => vec![Err(why)],
        };
        for tried in tried {
            match tried {
                Ok(row) => report.remedies.push(row),
                Err(why) => report.not_applicable.push(NotApplicable { id: remedy.id, why }),
            }
        }
    }
    report.remedies.sort_by(cheapest_first);
    Ok(report)
}

fn try_out(
    id: &'static str,
    base: &Base<'_>,
    situation: &Situation<'_>,
    proposal: Proposal,
) -> Result<RemedyRow, String> {
    let Proposal { title, doc, mut caveats } = proposal;
    let problem = |problems: &[Problem]| {
        let grave = problems.iter().find(|problem| problem.severity == Severity::Error);
        grave.or(problems.first()).map_or_else(String::new, ToString::to_string)
    };
    let checked = check(&doc).map_err(|problems| format!("{title}: {}", problem(&problems)))?;
    let (comparison, after) =
        base.compare_and_keep(Side { doc: &doc, scenario: &checked.scenario });
    let after = after.map_err(|why| format!("{title}: {why}"))?;
    // What the scenario is warned of without it is no matter of the remedy.
    let new = checked.warnings.iter().filter(|warning| !situation.warnings.contains(warning));
    caveats.extend(new.map(ToString::to_string));
    Ok(row(id, title, (doc, caveats), comparison, (situation.simulated, &after)))
}

fn row(
    id: &'static str,
    title: String,
    (doc, caveats): (ScenarioDoc, Vec<String>),
    comparison: Comparison,
    (before, after): (&Simulated, &Simulated),
) -> RemedyRow {
    let good =
        |simulated: &Simulated| i64::try_from(simulated.report.goodput.good).unwrap_or(i64::MAX);
    let total = |simulated: &Simulated| simulated.report.cost.as_ref().map(|cost| cost.total);
    let added_good = good(after) - good(before);
    let added_cost = total(after).zip(total(before)).map(|(after, before)| after - before);
    let worse = comparison.results.iter().filter(|change| change.worsens);
    RemedyRow {
        id,
        title,
        contract_holds: after.report.contract_holds,
        added_good,
        added_cost,
        cost_per_added_good: added_cost
            .filter(|_| added_good > 0)
            .map(|cost| cost / added_good as f64),
        worsens: worse.map(|change| change.name).collect(),
        inputs: comparison.inputs,
        results: comparison.results,
        moved: comparison.moved,
        caveats,
        doc,
    }
}

/// What gains good requests before what does not; of those the cheapest for each first, and without
/// a price, and among equals, whatever gains most.
fn cheapest_first(a: &RemedyRow, b: &RemedyRow) -> Ordering {
    let gains = |row: &RemedyRow| row.added_good > 0;
    // What a fleet costs a month is its price; what a run costs also moves with how long it drains.
    let is_free = |row: &RemedyRow| {
        let per_month = row.results.iter().find(|change| change.name == "cost.per_month");
        per_month.is_none_or(|change| change.delta == Some(0.0))
    };
    let cost = |row: &RemedyRow| match row.cost_per_added_good {
        Some(cost) if !is_free(row) => cost,
        _ => 0.0,
    };
    let by_gain = gains(b).cmp(&gains(a));
    by_gain.then(cost(a).total_cmp(&cost(b))).then(b.added_good.cmp(&a.added_good))
}
