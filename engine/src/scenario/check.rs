//! From a document to a scenario, or to everything that is wrong with it at once.
//!
//! Types of lower layers check themselves; what is checked here is what a document can get wrong
//! beyond one type: names, settings that exclude each other, references into the catalogue.

mod admission;
mod arrivals;
mod classes;
mod clients;
mod clip;
mod contract;
mod findings;
mod fitted_law;
mod lengths;
mod life;
mod pool;
mod route;
mod scheduler;
mod sharing;
mod step_time;
mod targets;
mod workload;

use findings::Findings;

use super::Scenario;
use super::doc::{ScenarioDoc, VERSION};
use crate::problem::Problem;

pub use arrivals::arrivals_of;
pub use contract::contract_of;
pub use lengths::lengths_of;
pub use pool::{MAX_POOLS, MAX_REPLICAS};
pub use targets::CONFIDENCES;
pub use workload::MAX_CLASSES;

/// A scenario, and what may mislead in it though it can be computed.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The scenario.
    pub scenario: Scenario,
    /// Problems that are no errors.
    pub warnings: Vec<Problem>,
}

/// Checks a document.
///
/// That the model does not fit in memory is no problem of the document: it is a state of the pool
/// (`scenario.pool.memory.does_not_fit`) that the estimate reports.
///
/// # Errors
/// Every problem of the document, errors and warnings, in the order of the document.
pub fn check(doc: &ScenarioDoc) -> Result<Checked, Vec<Problem>> {
    let mut findings = Findings::default();
    if doc.version != VERSION {
        findings.error(
            "version",
            format!("this document is of version {}", doc.version),
            format!("this Goodput reads version {VERSION}"),
        );
    }
    let workload = workload::check(doc, &mut findings);
    let fleet = pool::check(&doc.fleet, &mut findings);
    admission::warn_about_shedding(&doc.fleet.admission, &doc.workload, &mut findings);
    scheduler::warn_about_priorities(&doc.fleet, &doc.workload, &mut findings);
    let confidence = targets::check(&doc.targets, &mut findings);
    let expectations = targets::expectations(&doc.targets.expectations, &mut findings);
    match (workload, fleet, confidence) {
        (Some(workload), Some(fleet), Some(confidence)) if !findings.any_error() => {
            classes::warn_about_lengths(&workload, &fleet.pool, &fleet.beside, &mut findings);
            life::warn_about_crashes(&doc.fleet, doc.workload.horizon_s, &mut findings);
            route::warn_about_idle_pools(&doc.fleet, &workload.classes, &mut findings);
            let pool::Fleet { pool, beside, routing, admission } = fleet;
            let scenario = Scenario {
                name: doc.name.clone(),
                seed: doc.workload.seed,
                horizon: workload.horizon,
                warmup: workload.warmup,
                classes: workload.classes,
                contracts: workload.contracts,
                pool,
                beside,
                routing,
                admission,
                confidence,
                expectations,
            };
            Ok(Checked { scenario, warnings: findings.into_problems() })
        }
        _ => Err(findings.into_problems()),
    }
}

/// One problem where a constructor reports one.
fn one<T>(result: Result<T, Problem>) -> Result<T, Vec<Problem>> {
    result.map_err(|problem| vec![problem])
}

#[cfg(test)]
mod tests;
