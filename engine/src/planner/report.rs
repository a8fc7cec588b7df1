//! The plan: plain data.

use serde::{Deserialize, Serialize};

use crate::accounts::report::MixRate;

/// How many replicas hold the contract, how far the present fleet is from the cliff, what binds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanReport {
    /// One sentence with its window and number of runs.
    pub sentence: String,
    /// What the search found.
    pub answer: PlanAnswer,
    /// The pool that this is the plan of, where there are several: the one with the least to spare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// The plans of the others, in the order of the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_pools: Vec<PlanReport>,
    /// What of the scenario the plan sees otherwise, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The present fleet, N − 1, N and N + 1, without repeats, ascending.
    pub fleets: Vec<FleetRow>,
    /// Required ÷ per-replica sustainable, rounded up: a floor, never the plan.
    pub replicas_floor: u32,
    /// Largest multiple of this mix at which the present fleet holds the contract, in [0, 4]: of
    /// rates, and of the users of closed loops.
    pub alpha: Option<f64>,
    /// It holds at the largest multiple that is tried: `alpha` is that or more.
    pub alpha_is_least: bool,
    /// That multiple of the demand at its peak, as rates that can last: a short peak may hold the
    /// contract above what is sustainable, a rate cannot. Demand and sustainable supply are those
    /// of the simulation (`sustainable_at_peak`), so it is never more. `null` when no multiple
    /// holds, and beside closed loops, where so many times the users do not ask so many times as
    /// often.
    pub deliverable: Option<MixRate>,
    /// Each constraint relaxed alone, largest gain first. Empty where `alpha_is_least`: what a
    /// constraint gains lies beyond what is tried.
    pub binding: Vec<Relaxation>,
    /// Seeds each fleet was run with.
    pub seeds: Vec<u64>,
    /// Simulations run.
    pub simulations: u32,
    /// What was left open when the budget ended: `replicas`, `fleets`, `alpha`, or the name of a
    /// constraint. Empty of a whole plan.
    pub undecided: Vec<String>,
    /// What the simulations took and might take.
    pub budget: PlanBudget,
}

/// The work that the simulations of a plan did and might do. A unit is one boundary of a replica
/// that a simulation visits; an attempt of a request counts as 4 beside: what they take to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanBudget {
    /// Done.
    pub spent_work: u64,
    /// When as much is done, what is not decided stays open.
    pub max_work: u64,
}

/// The count, or why no count helps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlanAnswer {
    /// The smallest N such that N and N + 1 hold in every seed.
    Replicas {
        /// Replicas.
        replicas: u32,
        /// GPUs = replicas × GPUs of one.
        gpus: u32,
        /// GPUs of one replica.
        gpus_per_replica: u32,
    },
    /// No count helps: why, and what would.
    Infeasible {
        /// `zero_load_ttft`, `zero_load_tpot`, `quality`, `errors`, `too_long` …
        limit: String,
        /// In words, with numbers.
        reason: String,
        /// What lifts it.
        lever: String,
    },
    /// Only token rates are declared: a count by supply, and nothing about latency.
    SupplyOnly {
        /// Replicas, at least.
        replicas: u32,
        /// GPUs = replicas × GPUs of one.
        gpus: u32,
        /// GPUs of one replica.
        gpus_per_replica: u32,
        /// What gives a whole answer.
        lever: String,
    },
    /// The budget ended before an answer.
    Undecided {
        /// The largest fleet that is known not to hold, below `holds`.
        fails: Option<u32>,
        /// The smallest fleet that is known to hold, in the first seed at least.
        holds: Option<u32>,
    },
    /// The search ended without an answer: what was tried.
    NotFound {
        /// Largest count tried.
        tried: u32,
    },
}

/// What one fleet size does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FleetRow {
    /// Replicas.
    pub replicas: u32,
    /// The present fleet of the document.
    pub is_present: bool,
    /// The answer.
    pub is_answer: bool,
    /// Mean attainment over the seeds decided.
    pub attainment: f64,
    /// Seeds in which the contract held.
    pub holds_in: u32,
    /// Seeds in which it was decided.
    pub runs: u32,
    /// Seeds in which the budget ended first; they are in no other number.
    pub undecided: u32,
    /// Mean p95 of TTFT over seeds; `null` when it is never in any.
    pub ttft_p95_ms: Option<f64>,
    /// Mean of the peak debt, seconds of fleet work.
    pub peak_debt_s: f64,
    /// USD per good request.
    pub cost_per_good_request: Option<f64>,
    /// USD per 30-day month.
    pub cost_per_month: Option<f64>,
    /// Largest multiple of the mix at which this fleet holds, where it was searched.
    pub alpha: Option<f64>,
    /// It is that or more.
    pub alpha_is_least: bool,
}

/// One constraint relaxed alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relaxation {
    /// `step_time`, `kv_memory`, `seats`, `token_budget`, `even_arrivals`, `errors_and_quality`.
    pub constraint: String,
    /// What was changed, in words.
    pub label: String,
    /// Gain in α, e.g. 0.24.
    pub gain: f64,
    /// The contract then holds at the largest multiple that is tried: the gain is that or more.
    pub gain_is_least: bool,
    /// It has the largest gain, and it is known which has.
    pub binds: bool,
}
