//! The step law that replays half of the requests best.
//!
//! The form of the law is the pool's own; its coefficients are the prior. Each is moved by a
//! factor of its own, searched in logarithms from several starts, since there may be two optima
//! (a slower prefill or a slower step may explain the same waits). What the run does not determine
//! stays near the prior.

use rand::RngExt;
use serde::Serialize;

use super::ReplayedRun;
use super::compare::error_of;
use crate::math::{self, simplex};
use crate::problem::Problem;
use crate::rng::{Key, Stream, keyed};
use crate::scenario::StepTime;
use crate::sim::FleetSpec;
use crate::step_time::{CompiledLaw, StepCoefficients};

/// Starts of the search: the prior, and places around it.
const STARTS: u64 = 6;
/// Simulations from each start.
const EVALUATIONS: usize = 500;
/// How far the other starts lie from the prior, and the first steps reach: e^±0.5 ≈ 1.6.
const REACH: f64 = 0.5;
/// What it costs to depart from the prior by a standard deviation: an error of 0.1 %. The error of
/// a run is rugged to about that (a request more or less is preempted), so that less says nothing.
const PRIOR: f64 = 1e-3;
/// How far the logarithms of what is moved may well lie from the prior: of the whole law, c0, the
/// weights, c1, c2, c3, c4 and p − 1. A law is often wrong as a whole and its parts in proportion;
/// attention pairs and the share of a sequence are known least.
const SPREAD: [f64; 8] = [0.5, 0.3, 0.3, 0.35, 0.7, 1.0, 0.4, 0.5];
/// No factor is beyond e^±4.
const FARTHEST: f64 = 4.0;

/// A step law fitted to a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LawFit {
    /// The coefficients; as `step_time.source` of kind `coefficients` they make a scenario of it.
    pub coefficients: StepCoefficients,
    /// The prior.
    pub prior: StepCoefficients,
    /// Which requests it was fitted to.
    pub fitted_on: &'static str,
    /// How many they are.
    pub requests: u64,
    /// Mean error of the requests it was fitted to, with the prior.
    pub error_before: f64,
    /// The same with the fit.
    pub error_after: f64,
    /// Simulations it took.
    pub simulations: u64,
}

impl LawFit {
    /// The law as a replica uses it.
    pub fn compile(&self, max_tokens: u64, step_overhead_s: f64) -> CompiledLaw {
        CompiledLaw::new(&self.coefficients.law(), max_tokens, 1.0, step_overhead_s)
    }
}

/// Fits the law of `step_time` to the requests with even numbers.
pub fn fit(
    runs: &[ReplayedRun],
    step_time: &StepTime,
    fleet: &FleetSpec,
) -> Result<LawFit, Problem> {
    let prior = StepCoefficients::like(&step_time.resolved.law).scaled(step_time.scale);
    let mut fleet = fleet.clone();
    let budget = u64::from(fleet.pools[0].replica.max_num_batched_tokens);
    let mut error = |coefficients: &StepCoefficients| {
        fleet.pools[0].replica.law =
            CompiledLaw::new(&coefficients.law(), budget, 1.0, step_time.step_overhead_s);
        error_on_even(runs, &fleet)
    };
    let error_before = error(&prior);
    let mut loss = |logs: &[f64]| {
        if logs.iter().any(|log| log.abs() > FARTHEST) {
            return f64::INFINITY;
        }
        let departed: f64 = logs.iter().zip(SPREAD).map(|(log, sd)| log * log / (sd * sd)).sum();
        error(&moved(&prior, logs)) + PRIOR * departed
    };
    let found = (0..STARTS).map(|start| search(&mut loss, start)).collect::<Vec<_>>();
    let simulations = 1 + found.iter().map(|minimum| minimum.evaluations as u64).sum::<u64>();
    let best = found.into_iter().min_by(|a, b| a.value.total_cmp(&b.value));
    let best = best.filter(|best| best.value.is_finite()).ok_or_else(|| {
        Problem::error(
            "fleet.pools[0]",
            "no step law makes this pool complete the requests of the run",
            "give the pool the KV blocks (num_gpu_blocks) and limits of the engine that ran it",
        )
    })?;
    let coefficients = moved(&prior, &best.at);
    Ok(LawFit {
        error_after: error(&coefficients),
        coefficients,
        prior,
        fitted_on: "requests with even numbers, from zero, in order of sending",
        requests: runs.iter().map(|run| run.requests.len().div_ceil(2) as u64).sum(),
        error_before,
        simulations,
    })
}

fn search(loss: &mut dyn FnMut(&[f64]) -> f64, start: u64) -> simplex::Minimum {
    let key = Key { seed: 1, stream: Stream::Fit, class: 0, request: start, attempt: 0 };
    let mut random = keyed(key);
    let reach = if start == 0 { 0.0 } else { REACH };
    let place: Vec<f64> =
        SPREAD.iter().map(|_| reach * (2.0 * random.random::<f64>() - 1.0)).collect();
    simplex::minimize(loss, &place, REACH, EVALUATIONS)
}

/// `prior` with each coefficient at e^log of what it is; see [`SPREAD`].
fn moved(prior: &StepCoefficients, logs: &[f64]) -> StepCoefficients {
    let factor = |at: usize| math::exp(logs[0] + logs[at]);
    StepCoefficients {
        c0_s: prior.c0_s * factor(1),
        cw_s: prior.cw_s * factor(2),
        cw_experts_s: prior.cw_experts_s * factor(2),
        expert_share: prior.expert_share,
        c1_s_per_token: prior.c1_s_per_token * factor(3),
        c2_s_per_pair: prior.c2_s_per_pair * factor(4),
        c3_s_per_decode_seq: prior.c3_s_per_decode_seq * factor(5),
        c4_s_per_kv_token: prior.c4_s_per_kv_token * factor(6),
        p: (1.0 + (prior.p - 1.0) * math::exp(logs[7])).min(StepCoefficients::LARGEST_P),
    }
}

/// Mean error over the requests with even numbers of all runs.
fn error_on_even(runs: &[ReplayedRun], fleet: &FleetSpec) -> f64 {
    let (mut sum, mut count) = (0.0, 0_u64);
    for run in runs {
        let simulated = run.simulate(fleet);
        for index in (0..run.requests.len()).step_by(2) {
            sum += error_of(run.measured[index], run.predicted(&simulated, index));
            count += 1;
        }
    }
    sum / count.max(1) as f64
}
