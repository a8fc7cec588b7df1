//! The coefficients of the step law from aggregates, as far as they determine them.
//!
//! Each coefficient may lie off its prior by a factor of its own, and all of them by a common one; how
//! far is a question of who says what they are. The fit is the most likely law, given what every
//! point reported under its own conditions, its noise, and that prior: a few simulations per step of
//! a Gauss–Newton search in logarithms. Numbers that no law explains lose weight (Huber). Where the
//! likelihood bends little the prior stays, and is named *assumed*. The bend itself (the inverse of
//! the posterior's curvature) gives the intervals, of coefficients and of predictions alike.

mod linear;
mod next;
mod report;
mod rows;
mod source;
mod terms;

pub use next::{Narrowed, NextMeasurement};
pub use report::{
    CoefficientFit, LawReport, LeftOut, Outcome, PointResiduals, StatisticResidual, law_report,
};

use serde::Serialize;

use self::linear::{Matrix, diagonal, inverse, quadratic};
use self::terms::{Logs, OUTSIDE, OUTSIDE_UNIT_MS, TERMS, moved, prior_sds};
use super::conditions::Conditions;
use super::observed::Observation;
use super::predict::Prediction;
use super::report::ExcludedPoint;
use super::{BenchmarkFile, usable, with_pool};
use crate::accounts::{Unanswerable, replica_spec};
use crate::math;
use crate::scenario::Pool;
use crate::sim::ReplicaSpec;
use crate::step_time::{CompiledLaw, StepCoefficients};

/// Half of the width of an interval that holds in 90 % of cases, in standard deviations.
const Z90: f64 = 1.645;
/// Noise of a mean over a run, as a share.
const NOISE: f64 = 0.02;
/// Noise of a first-token time beside that: a fraction of a step, milliseconds.
const OUTSIDE_MS: f64 = 3.0;
/// How far a law that explains one load is off at another beyond what its coefficients say, as a
/// share: batches of other sizes take other kernels. Set so that published sweeps are covered
/// (`docs/accuracy.md`).
const BETWEEN_LOADS: f64 = 0.1;
/// Steps of the search.
const STEPS: usize = 6;
/// Distance of a difference that stands for a derivative, as a logarithm: wide, because a run is
/// rugged (a request more or less in a batch).
const REACH: f64 = 0.1;
/// Beyond so many standard deviations a number pulls no harder.
const HUBER: f64 = 1.5;
/// A coefficient is measured if its standard deviation is below this share of it …
const MEASURED: f64 = 0.15;
/// … and the data, not the prior, made it so small.
const LEARNT: f64 = 0.7;

/// A law fitted to points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PointLaw {
    /// The coefficients; as `step_time.source` of kind `coefficients` they make a scenario of it.
    pub coefficients: StepCoefficients,
    /// Where the search began.
    pub prior: StepCoefficients,
    /// What became of each term.
    pub terms: Vec<TermFit>,
    /// Time before a first token that passes outside the engine (server, tokeniser, client), beyond
    /// what the pool says, milliseconds.
    pub outside_ms: f64,
    /// Half of its 90 % interval.
    pub outside_ms_half_width: f64,
    /// Points used.
    pub points: u64,
    /// Points not used, and why.
    pub excluded: Vec<ExcludedPoint>,
    /// Median absolute relative error of what the points reported.
    pub residual: f64,
    /// Most likely logarithms of the factors.
    #[serde(skip)]
    logs: Logs,
    /// Their covariance.
    #[serde(skip)]
    covariance: Matrix,
}

/// One term of the law.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermFit {
    /// Which.
    pub term: &'static str,
    /// Factor on the prior.
    pub factor: f64,
    /// In 90 % of cases the factor is not below this …
    pub low: f64,
    /// … and not above this.
    pub high: f64,
    /// Whether the points determine it; else it is assumed to be what the prior says.
    pub measured: bool,
}

/// A number that is predicted of a point, with its interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Banded {
    /// Which: `tpot_mean_ms`, `output_tps` …
    pub name: String,
    /// What the point reported.
    pub measured: f64,
    /// Most likely value.
    pub predicted: f64,
    /// In 90 % of cases it is not below this …
    pub low: f64,
    /// … and not above this.
    pub high: f64,
}

/// What a fit needs to simulate.
struct Question<'a> {
    prior: StepCoefficients,
    replica: &'a ReplicaSpec,
    step_overhead_s: f64,
}

impl Question<'_> {
    /// What is predicted under `conditions` with `logs`, without the time outside the engine.
    fn run(&self, conditions: &Conditions, logs: &Logs) -> Prediction {
        let law = moved(&self.prior, logs).law();
        let budget = u64::from(self.replica.max_num_batched_tokens);
        let law = CompiledLaw::new(&law, budget, 1.0, self.step_overhead_s);
        Prediction::of(conditions, &ReplicaSpec { law, ..self.replica.clone() })
    }

    /// Logarithms of what is predicted of `observations` under `conditions`, each with `logs`.
    fn answers(
        &self,
        (conditions, observations): (&Conditions, &[Observation]),
        logs: &Logs,
    ) -> Vec<f64> {
        let run = self.run(conditions, logs);
        let value = |o: &Observation| {
            let outside =
                if o.outside_engine() > 0.0 { OUTSIDE_UNIT_MS * logs[OUTSIDE] } else { 0.0 };
            o.predicted(&run).map(|value| value + outside).filter(|value| *value > 0.0)
        };
        observations.iter().map(|o| value(o).map_or(f64::NAN, math::ln)).collect()
    }

    /// The same, with how it changes with each logarithm.
    fn slopes(&self, of: (&Conditions, &[Observation]), at: &Logs) -> (Vec<f64>, Vec<Logs>) {
        let here = self.answers(of, at);
        let mut slopes = vec![[0.0; TERMS]; here.len()];
        for term in 0..TERMS {
            let mut there = *at;
            there[term] += REACH;
            for (slope, (there, here)) in
                slopes.iter_mut().zip(self.answers(of, &there).iter().zip(&here))
            {
                slope[term] = (there - here) / REACH;
            }
        }
        (here, slopes)
    }
}

/// A number with what is predicted of it.
struct Residual {
    /// Logarithm of measured over predicted, in standard deviations.
    off: f64,
    slope: Logs,
    sd: f64,
}

/// Standard deviation of the logarithm of a reported number.
fn noise(observation: &Observation) -> f64 {
    let outside = if observation.outside_engine() > 0.0 { OUTSIDE_MS } else { 0.0 };
    let outside = outside / observation.measured;
    (NOISE * NOISE + outside * outside).sqrt()
}

/// Fits the law of a checked pool to the points of `files`. `None` where no point can be used; the
/// reasons are then those of [`super::usable_points`].
///
/// # Errors
/// The model does not fit, or only token rates are declared.
pub fn calibrate_law(
    files: &[BenchmarkFile],
    pool: &Pool,
) -> Result<Option<PointLaw>, Unanswerable> {
    let replica = replica_spec(pool)?;
    let (used, excluded) = with_pool(pool, |calibrated| {
        let (used, excluded) = usable(files, calibrated, &replica);
        let of = used.into_iter().map(|used| (used.conditions, used.observations));
        (of.collect::<Vec<_>>(), excluded)
    })?;
    let law = fit_law(&used, pool)?;
    Ok(law.map(|law| PointLaw { excluded, ..law }))
}

/// The same of runs whose conditions are known better than a file tells; `None` of none.
///
/// # Errors
/// As [`calibrate_law`].
pub fn fit_law(
    of: &[(Conditions, Vec<Observation>)],
    pool: &Pool,
) -> Result<Option<PointLaw>, Unanswerable> {
    if of.is_empty() {
        return Ok(None);
    }
    let replica = replica_spec(pool)?;
    let question = question(pool, &replica)?;
    let sds = prior_sds(pool);
    let (logs, covariance) = most_likely(&question, of, &sds);
    let off = |residual: &Residual| (math::exp(residual.off * residual.sd) - 1.0).abs();
    let mut errors: Vec<f64> = residuals(&question, of, &logs).iter().map(off).collect();
    errors.sort_by(f64::total_cmp);
    Ok(Some(PointLaw {
        coefficients: moved(&question.prior, &logs),
        terms: terms::fits(&logs, &covariance, &sds),
        prior: question.prior,
        outside_ms: OUTSIDE_UNIT_MS * logs[OUTSIDE],
        outside_ms_half_width: OUTSIDE_UNIT_MS * Z90 * covariance[OUTSIDE][OUTSIDE].sqrt(),
        points: of.len() as u64,
        excluded: Vec::new(),
        residual: errors.get(errors.len() / 2).copied().unwrap_or(0.0),
        logs,
        covariance,
    }))
}

fn question<'a>(pool: &Pool, replica: &'a ReplicaSpec) -> Result<Question<'a>, Unanswerable> {
    let step_time = pool.step_time().ok_or(Unanswerable::DeclaredRatesOnly { pool: 0 })?;
    let prior = terms::prior(&step_time.resolved).scaled(step_time.scale);
    Ok(Question { prior, replica, step_overhead_s: step_time.step_overhead_s })
}

fn residuals(
    question: &Question<'_>,
    of: &[(Conditions, Vec<Observation>)],
    at: &Logs,
) -> Vec<Residual> {
    let mut all = Vec::new();
    for point in of {
        let (answers, slopes) = question.slopes((&point.0, &point.1), at);
        for ((observation, answer), slope) in point.1.iter().zip(answers).zip(slopes) {
            let sd = noise(observation);
            let off = (math::ln(observation.measured) - answer) / sd;
            if off.is_finite() && slope.iter().all(|slope| slope.is_finite()) {
                all.push(Residual { off, slope, sd });
            }
        }
    }
    all
}

/// What the numbers and the prior cost at a place: squares, but for what is far off.
fn loss(residuals: &[Residual], at: &Logs, sds: &Logs) -> f64 {
    let huber = |off: f64| {
        if off.abs() <= HUBER { off * off } else { 2.0 * HUBER * off.abs() - HUBER * HUBER }
    };
    let departed: f64 = at.iter().zip(sds).map(|(log, sd)| log * log / (sd * sd)).sum();
    residuals.iter().map(|residual| huber(residual.off)).sum::<f64>() + departed
}

/// The most likely logarithms and their covariance.
fn most_likely(
    question: &Question<'_>,
    of: &[(Conditions, Vec<Observation>)],
    sds: &Logs,
) -> (Logs, Matrix) {
    let mut at = [0.0; TERMS];
    let mut here = residuals(question, of, &at);
    for _ in 0..STEPS {
        let Some(step) = newton_step(&here, &at, sds) else { break };
        // Half the way, and half of that, while the whole way is worse.
        let better = [1.0, 0.5, 0.25].into_iter().find_map(|share| {
            let mut there = at;
            for (log, step) in there.iter_mut().zip(&step) {
                *log += share * step.clamp(-1.0, 1.0);
            }
            let residuals = residuals(question, of, &there);
            let is_better = loss(&residuals, &there, sds) < loss(&here, &at, sds);
            is_better.then_some((there, residuals))
        });
        let Some((there, residuals)) = better else { break };
        let moved_by = there.iter().zip(&at).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        (at, here) = (there, residuals);
        if moved_by < 1e-3 {
            break;
        }
    }
    let weighted: f64 =
        here.iter().map(|residual| weight(residual) * residual.off * residual.off).sum();
    // What the law cannot explain makes every number as uncertain as that.
    let excess = (weighted / here.len().max(1) as f64).max(1.0);
    // With the prior in it the curvature has an inverse, unless numbers overflow: then nothing was
    // learnt, which is the prior's own.
    let covariance = inverse(&curvature(&here, sds, excess));
    (at, covariance.unwrap_or_else(|| diagonal(sds.map(|sd| sd * sd))))
}

fn weight(residual: &Residual) -> f64 {
    (HUBER / residual.off.abs().max(1e-12)).min(1.0)
}

fn curvature(residuals: &[Residual], sds: &Logs, excess: f64) -> Matrix {
    let mut curvature = diagonal(sds.map(|sd| 1.0 / (sd * sd)));
    for residual in residuals {
        let scale = weight(residual) / (excess * residual.sd * residual.sd);
        for (row, a) in curvature.iter_mut().zip(residual.slope) {
            for (cell, b) in row.iter_mut().zip(residual.slope) {
                *cell += scale * a * b;
            }
        }
    }
    curvature
}

fn newton_step(residuals: &[Residual], at: &Logs, sds: &Logs) -> Option<Logs> {
    let mut pull = [0.0; TERMS];
    for (pull, (log, sd)) in pull.iter_mut().zip(at.iter().zip(sds)) {
        *pull = -log / (sd * sd);
    }
    for residual in residuals {
        let by = weight(residual) * residual.off / residual.sd;
        for (pull, slope) in pull.iter_mut().zip(residual.slope) {
            *pull += by * slope;
        }
    }
    let inverse = inverse(&curvature(residuals, sds, 1.0))?;
    Some(inverse.map(|row| row.iter().zip(pull).map(|(cell, pull)| cell * pull).sum()))
}

impl PointLaw {
    /// What the law predicts of a run that it was not fitted to, beside what that reported.
    ///
    /// # Errors
    /// As [`calibrate_law`].
    pub fn predict(
        &self,
        (conditions, observations): (&Conditions, &[Observation]),
        pool: &Pool,
    ) -> Result<Vec<Banded>, Unanswerable> {
        let replica = replica_spec(pool)?;
        let question = question(pool, &replica)?;
        let (answers, slopes) = question.slopes((conditions, observations), &self.logs);
        let banded = |((observation, answer), slope): ((&Observation, f64), Logs)| {
            let of_law = quadratic(&self.covariance, &slope);
            let beside = noise(observation);
            let sd = (of_law + BETWEEN_LOADS * BETWEEN_LOADS + beside * beside).sqrt();
            Banded {
                name: observation.name(),
                measured: observation.measured,
                predicted: math::exp(answer),
                low: math::exp(answer - Z90 * sd),
                high: math::exp(answer + Z90 * sd),
            }
        };
        Ok(observations.iter().zip(answers).zip(slopes).map(banded).collect())
    }
}

#[cfg(test)]
mod tests;
