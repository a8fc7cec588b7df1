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
    /// What is meant by holding, and how it was made sure of.
    #[serde(default)]
    pub sizing: Sizing,
    /// The pool that this is the plan of, where there are several: the one with the least to spare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// The plans of the others, in the order of the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_pools: Vec<PlanReport>,
    /// What of the scenario the plan sees otherwise, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The present fleet is taken at its most: an autoscaler or a timetable decides how many replicas
    /// it has when.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub present_is_most: bool,
    /// The present fleet, N − 1, N and N + 1, without repeats, ascending.
    pub fleets: Vec<FleetRow>,
    /// What each step from one of those fleets to the next larger one costs and adds.
    #[serde(default)]
    pub marginal: Vec<MarginalStep>,
    /// The answer with none, one and two spare replicas while some fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureRow>,
    /// Mean required ÷ per-replica sustainable, rounded up: a floor for a load that lasts, never the
    /// plan. An answer below it says in its sentence why it may be.
    pub replicas_floor: u32,
    /// The same for the busiest minute and the busiest ten seconds of the first window, at the mean
    /// lengths of the mix. A queue may carry a short peak, so a plan may be below these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peak_floors: Vec<PeakFloor>,
    /// Largest multiple of this mix at which the present fleet holds the contract, in [0, 4]: of
    /// rates, and of the users of closed loops.
    pub alpha: Option<f64>,
    /// It holds at the largest multiple that is tried: `alpha` is that or more.
    pub alpha_is_least: bool,
    /// Seed of the one window in which `alpha` and `binding` were looked for; `null` where they were
    /// not. At another the multiple is another, also where most windows hold and this one does not.
    pub alpha_seed: Option<u64>,
    /// That multiple of the demand at its peak, as rates that can last: a short peak may hold the
    /// contract above what is sustainable, a rate cannot. Demand and sustainable supply are those
    /// of the simulation (`sustainable_at_peak`), so it is never more. `null` when no multiple
    /// holds, and beside closed loops, where so many times the users do not ask so many times as
    /// often.
    pub deliverable: Option<MixRate>,
    /// Each constraint relaxed alone, largest gain first. Empty where `alpha_is_least`: what a
    /// constraint gains lies beyond what is tried.
    pub binding: Vec<Relaxation>,
    /// What the present fleet could do, where it is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inverse: Option<Inverse>,
    /// Seeds over which the means of the fleets' rows are taken.
    pub seeds: Vec<u64>,
    /// Simulations run.
    pub simulations: u32,
    /// What was left open when the budget ended: `replicas`, `confirmation`, `fleets`, `alpha`, or
    /// the name of a constraint. Empty of a whole plan.
    pub undecided: Vec<String>,
    /// What the simulations took and might take.
    pub budget: PlanBudget,
}

impl PlanReport {
    /// Windows that say how often the answer holds; where there is none, the most of any fleet.
    pub fn windows(&self) -> u32 {
        let answer = self.fleets.iter().find(|row| row.is_answer);
        let most = || self.fleets.iter().map(|row| row.runs).max();
        answer.map(|row| row.runs).or_else(most).unwrap_or(0)
    }
}

/// What is meant by holding, and how it was made sure of.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sizing {
    /// The share of windows in which a fleet has to hold, asked for by the document
    /// (`targets.confidence`).
    pub confidence: f64,
    /// A window: from warm-up to horizon, seconds.
    pub window_s: f64,
    /// Windows that had no part in the choice have confirmed it. Until then the answer is what the
    /// choosing windows say.
    pub is_confirmed: bool,
    /// The rule by which windows decide, in words.
    pub rule: String,
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
    /// The smallest N such that N and N + 1 hold in the share of windows asked for.
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
#[expect(clippy::struct_excessive_bools, reason = "roles of a row, which go together in any way")]
pub struct FleetRow {
    /// Replicas.
    pub replicas: u32,
    /// The present fleet of the document.
    pub is_present: bool,
    /// The answer.
    pub is_answer: bool,
    /// The probability that it holds the contract in a window: `holds_in` ÷ `runs`.
    #[serde(default)]
    pub probability: f64,
    /// Lower end of its 95 % Wilson interval; the probability itself where nothing is drawn.
    #[serde(default)]
    pub probability_low: f64,
    /// Upper end.
    #[serde(default)]
    pub probability_high: f64,
    /// Windows in which the contract held.
    pub holds_in: u32,
    /// Windows seen.
    pub runs: u32,
    /// The interval lies wholly on one side of the confidence asked for.
    #[serde(default)]
    pub is_settled: bool,
    /// Mean attainment over the windows measured.
    pub attainment: f64,
    /// Mean of the good requests per second over the windows measured.
    #[serde(default)]
    pub good_rps: f64,
    /// Windows measured: those whose runs went to their end, the first of `runs`.
    #[serde(default)]
    pub measured_runs: u32,
    /// Windows to be measured in which the budget ended first; they are in no mean.
    pub undecided: u32,
    /// Mean p95 of TTFT over the windows measured; `null` when it is never in any.
    pub ttft_p95_ms: Option<f64>,
    /// Mean of the peak debt, seconds of fleet work.
    pub peak_debt_s: f64,
    /// USD per good request.
    pub cost_per_good_request: Option<f64>,
    /// USD per month of 730 hours, a twelfth of a year.
    pub cost_per_month: Option<f64>,
    /// All windows that judged it, of which those of `probability` are the last: one fewer than the
    /// answer was refused in earlier ones where it holds in these often enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
    /// Largest multiple of the mix at which this fleet holds, where it was searched.
    pub alpha: Option<f64>,
    /// It is that or more.
    pub alpha_is_least: bool,
}

/// Windows in which a fleet was simulated to judge it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// It held.
    pub holds_in: u32,
    /// Of so many.
    pub runs: u32,
}

/// What the busiest moments of a load would take if they lasted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PeakFloor {
    /// Width of the window, seconds.
    pub window_s: f64,
    /// Most requests due in any such window, per second of it.
    pub rps: f64,
    /// That ÷ what one replica sustains of the mix, rounded up.
    pub replicas: u32,
}

/// A fleet of which some replicas fail at the worst moment: the middle of the busiest window, or of
/// the measurement window where all are alike. Each is replaced at once by one that starts up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailureRow {
    /// Replicas, the spare ones and those that fail included.
    pub replicas: u32,
    /// How many more they are than the answer.
    pub spare: u32,
    /// How many of them fail at once.
    pub failing: u32,
    /// When, seconds.
    pub at_s: f64,
    /// Until those that replace them take requests, seconds: what the pool says (`start_up_s`).
    pub start_up_s: f64,
    /// The probability that the contract holds in a window with that failure.
    pub probability: f64,
    /// Lower end of its 95 % Wilson interval; the probability itself where nothing is drawn.
    pub probability_low: f64,
    /// Upper end.
    pub probability_high: f64,
    /// Windows in which the contract held.
    pub holds_in: u32,
    /// Windows seen.
    pub runs: u32,
    /// It is the share of windows that was asked for, or more.
    pub holds: bool,
}

/// The marginal cost of attainment: what the replicas between two fleets cost over what they add.
/// Replicas come whole, so that it is the mean over the step, not a derivative; the step that ends
/// at the answer is what the last per cent costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MarginalStep {
    /// Replicas of the smaller fleet.
    pub from_replicas: u32,
    /// Replicas of the larger one.
    pub to_replicas: u32,
    /// It ends at the answer.
    pub reaches_answer: bool,
    /// Attainment that it adds, percentage points: 100 × (larger − smaller).
    pub adds_points: f64,
    /// Good requests per second that it adds.
    pub adds_good_rps: f64,
    /// USD per month that it adds; `null` without a price.
    pub usd_per_month: Option<f64>,
    /// `usd_per_month` ÷ `adds_points`; `null` without a price, and where nothing is added.
    pub usd_per_month_per_point: Option<f64>,
    /// USD per good request that it adds: `usd_per_month` over the good requests it adds in a month
    /// at this load; `null` as above.
    pub usd_per_added_good_request: Option<f64>,
}

/// One constraint relaxed alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Relaxation {
    /// `step_time`, `kv_memory`, `seats`, `token_budget`, `start_up_lag` (where replicas start),
    /// `even_arrivals`, `errors_and_quality`.
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

/// What the present fleet could do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inverse {
    /// Its replicas.
    pub replicas: u32,
    /// Distances to the cliff: in rate, in output length, in bunching of arrivals.
    pub stretches: Vec<StretchRow>,
    /// Users whom it serves within the contract, all closed loops together, in their present
    /// proportion; absent without closed loops.
    pub users: Option<u32>,
    /// Growth of the load that `months_of_headroom` supposes, a month: 0.1 is 10 %.
    pub growth_per_month: f64,
    /// Months until the largest rate is asked for; `null` where that is asked already, and at no
    /// growth.
    pub months_of_headroom: Option<f64>,
    /// Limits that it could promise, class by class.
    pub tightest: Vec<TightestRow>,
}

/// How far one thing may grow before the contract breaks in more windows than it may.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StretchRow {
    /// `rate`, `outputs` or `burst`.
    pub of: String,
    /// What is multiplied, in words.
    pub label: String,
    /// The largest multiple at which the contract holds in the share of windows asked for, in
    /// (0, 4] by fiftieths.
    pub alpha: Option<f64>,
    /// It is that or more.
    pub alpha_is_least: bool,
    /// What it is then, in `unit`; `null` where that is an outcome.
    pub value: Option<f64>,
    /// Unit of `value`: of a rate, what arrives, which is a session where a class has them.
    pub unit: String,
    /// The share of windows in which it holds there.
    pub probability: Option<f64>,
    /// Of so many.
    pub runs: u32,
    /// Why there is none, where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// The tightest limits at which as many requests of a class are good as its target asks for, in the
/// share of windows asked for, each with the other limits as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TightestRow {
    /// The class.
    pub class: String,
    /// Its attainment target.
    pub attainment_target: f64,
    /// On the first token; `null` where none does.
    pub ttft_ms: Option<f64>,
    /// What its contract says.
    pub ttft_limit_ms: Option<f64>,
    /// On the average time per token; `null` where none does.
    pub tpot_ms: Option<f64>,
    /// What its contract says.
    pub tpot_limit_ms: Option<f64>,
    /// Windows seen.
    pub runs: u32,
}
