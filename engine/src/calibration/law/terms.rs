//! The terms of a law that a fit moves, and how far they may lie from what is known of them.

use super::{LEARNT, MEASURED, TermFit, Z90};
use crate::calibration::law::linear::{Matrix, quadratic};
use crate::math;
use crate::scenario::Pool;
use crate::step_time::{Origin, ResolvedStepTime, StepCoefficients};

/// The whole law, its fixed part, tokens, attention pairs, sequences and cached tokens; last, what
/// passes outside the engine.
pub const TERMS: usize = 7;
/// A logarithm of a factor for each; of the last, its time over [`OUTSIDE_UNIT_MS`].
pub type Logs = [f64; TERMS];
/// Where the time outside the engine is.
pub const OUTSIDE: usize = TERMS - 1;
/// Server, tokeniser and client before a first token: so many milliseconds are ordinary.
pub const OUTSIDE_UNIT_MS: f64 = 15.0;

/// The terms in words; the first moves all others with it.
pub const NAMES: [&str; OUTSIDE] = [
    "the whole law",
    "fixed time and weights (c0, cw)",
    "arithmetic per token (c1)",
    "attention of prompts (c2)",
    "time per sequence (c3)",
    "reading the cache (c4)",
];

/// Standard deviations of the logarithms where nothing but a datasheet is known. A law is often wrong
/// as a whole; attention pairs and the share of a sequence are known least.
const WIDE: [f64; OUTSIDE] = [0.5, 0.3, 0.35, 0.7, 1.0, 0.4];
/// Part of [`WIDE`] for a library row, fitted to kernels of this very configuration.
const LIBRARY: f64 = 0.6;
/// The same for the law of a GPU, fitted to kernels of other models.
const PHYSICS: f64 = 0.8;

/// How far the terms of a pool's law may lie from what its source says.
pub fn prior_sds(pool: &Pool) -> Logs {
    let origin = pool.step_time().map(|step_time| step_time.resolved.provenance.origin);
    let share = match origin {
        Some(Origin::Library) => LIBRARY,
        Some(Origin::Physics) => PHYSICS,
        _ => 1.0,
    };
    let mut sds = [1.0; TERMS];
    for (sd, wide) in sds.iter_mut().zip(WIDE) {
        *sd = share * wide;
    }
    sds
}

/// Coefficients of a law, each large enough to be moved by a factor.
pub fn prior(resolved: &ResolvedStepTime) -> StepCoefficients {
    let Some(known) = &resolved.coefficients else { return StepCoefficients::like(&resolved.law) };
    let least = StepCoefficients::like(&known.law());
    StepCoefficients {
        c1_s_per_token: least.c1_s_per_token,
        c2_s_per_pair: least.c2_s_per_pair,
        c3_s_per_decode_seq: least.c3_s_per_decode_seq,
        c4_s_per_kv_token: least.c4_s_per_kv_token,
        ..known.clone()
    }
}

/// `prior` with each term at e^log of what it is.
pub fn moved(prior: &StepCoefficients, logs: &Logs) -> StepCoefficients {
    let factor = |at: usize| math::exp(logs[0] + logs[at]);
    StepCoefficients {
        c0_s: prior.c0_s * factor(1),
        cw_s: prior.cw_s * factor(1),
        cw_experts_s: prior.cw_experts_s * factor(1),
        expert_share: prior.expert_share,
        c1_s_per_token: prior.c1_s_per_token * factor(2),
        c2_s_per_pair: prior.c2_s_per_pair * factor(3),
        c3_s_per_decode_seq: prior.c3_s_per_decode_seq * factor(4),
        c4_s_per_kv_token: prior.c4_s_per_kv_token * factor(5),
        p: prior.p,
    }
}

/// Standard deviation of the logarithm of a term's factor, the common one in it.
pub fn term_sd(covariance: &Matrix, term: usize) -> f64 {
    let mut direction = [0.0; TERMS];
    direction[0] = 1.0;
    direction[term] = 1.0;
    quadratic(covariance, &direction).sqrt()
}

/// What became of each term: its factor with the common one in it.
pub fn fits(logs: &Logs, covariance: &Matrix, sds: &Logs) -> Vec<TermFit> {
    let fit = |term: usize| {
        let log = logs[0] + logs[term];
        let sd = term_sd(covariance, term);
        let before = (sds[0] * sds[0] + sds[term] * sds[term]).sqrt();
        TermFit {
            term: NAMES[term],
            factor: math::exp(log),
            low: math::exp(log - Z90 * sd),
            high: math::exp(log + Z90 * sd),
            measured: sd < MEASURED && sd < LEARNT * before,
        }
    };
    (1..OUTSIDE).map(fit).collect()
}
