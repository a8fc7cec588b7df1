//! A measured run, request by request, beside what the simulator makes of it.
//!
//! A per-request log says when every request was sent and how long prompt and answer were: enough
//! to simulate the very same run. What comes out can be held against what was measured, number by
//! number and request by request. With a fit, the step law is first fitted to every other request
//! (those with even numbers), and only the ones in between are compared: still the same run, so
//! that a small error says that scheduler, memory and law can explain it, not that another load
//! would be predicted as well.

mod compare;
mod fit;
mod run;

use serde::Serialize;

pub use compare::{Compared, GoodReplay, MeasureReplay, RequestReplay, Times};
pub use fit::LawFit;
use run::ReplayedRun;

use crate::accounts::{Unanswerable, replica_spec};
use crate::ingest::{Exclusion, RequestRecord};
use crate::problem::Problem;
use crate::scenario::Pool;
use crate::sim::FleetSpec;
use crate::slo::Contract;

/// What is supposed of every run.
const ASSUMPTIONS: [&str; 3] = [
    "every request was sent when the file says, whatever happened to those before it",
    "prompts share no prefix: what the cache held is not in the file",
    "the engine had the settings of the scenario's pool and was idle when the run began",
];

/// A file of requests replayed on a pool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReplayReport {
    /// One per run of the file that has requests to replay.
    pub runs: Vec<RunReport>,
    /// The step law fitted to the requests with even numbers; then only the others are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<LawFit>,
    /// What had to be supposed.
    pub assumptions: Vec<String>,
}

/// One run, predicted beside measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// Row of the run in its file, from one.
    pub row: u32,
    /// Requests simulated.
    pub simulated: u64,
    /// Requests compared: all, or every other one after a fit.
    pub compared: u64,
    /// Requests left out, by reason.
    pub excluded: Vec<Exclusion>,
    /// TTFT, TPOT and E2E.
    pub measures: Vec<MeasureReplay>,
    /// From the first request to the last token, seconds; over all requests.
    pub makespan_s: Compared,
    /// Output tokens over the makespan, per second; over all requests.
    pub output_tps: Compared,
    /// The most requests at one moment that were sent and had never been scheduled; absent where
    /// the file does not say when they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_peak: Option<Compared>,
    /// Preemptions predicted: no file says how many there were.
    pub predicted_preemptions: u64,
    /// Mean over the compared requests of how far TTFT (with 0.2 s beside it), TPOT and E2E are
    /// off, as a share: what a fit makes small.
    pub per_request_error: f64,
    /// Requests within the limits; absent without limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub good: Option<GoodReplay>,
    /// Every request, for tables.
    #[serde(skip)]
    pub requests: Vec<RequestReplay>,
}

/// Replays the runs of `records` on `pool`, whose law is fitted to half of them if `fits` says so.
/// `contract` says which requests are good.
///
/// # Errors
/// The pool has no step law or does not hold the model, or no request can be replayed.
pub fn replay(
    records: &[RequestRecord],
    pool: &Pool,
    contract: Option<&Contract>,
    fits: bool,
) -> Result<ReplayReport, Problem> {
    let replica = replica_spec(pool).map_err(|why| why.problem())?;
    let runs = ReplayedRun::of(records, &replica);
    // Everybody of the file was let in.
    let mut fleet = FleetSpec::open(replica, pool.replicas);
    if runs.iter().all(|run| run.requests.is_empty()) {
        return Err(nothing_to_replay(&runs));
    }
    let fit = if fits { Some(fitted(&runs, pool, &mut fleet)?) } else { None };
    let reports = runs.into_iter().filter(|run| !run.requests.is_empty());
    Ok(ReplayReport {
        runs: reports.map(|run| run.report(&fleet, contract, fits)).collect(),
        fit,
        assumptions: ASSUMPTIONS.map(str::to_owned).to_vec(),
    })
}

/// Fits the law, and puts it into `fleet`.
fn fitted(runs: &[ReplayedRun], pool: &Pool, fleet: &mut FleetSpec) -> Result<LawFit, Problem> {
    let unknown = || Unanswerable::DeclaredRatesOnly { pool: 0 }.problem();
    let step_time = pool.step_time().ok_or_else(unknown)?;
    let fit = fit::fit(runs, step_time, fleet)?;
    let budget = u64::from(pool.scheduler.max_num_batched_tokens);
    let law = fit.compile(budget, step_time.step_overhead_s);
    for pool in &mut fleet.pools {
        pool.replica.law.clone_from(&law);
    }
    Ok(fit)
}

fn nothing_to_replay(runs: &[ReplayedRun]) -> Problem {
    let why = runs.iter().flat_map(|run| &run.excluded).map(|excluded| excluded.reason.as_str());
    let why: Vec<&str> = why.collect();
    let why = if why.is_empty() { "it has none".to_owned() } else { why.join("; ") };
    Problem::error(
        "requests",
        format!("no request of the file can be replayed: {why}"),
        "give a per-request log with the moment each request was sent, its prompt and output \
         tokens, TTFT and E2E",
    )
}
