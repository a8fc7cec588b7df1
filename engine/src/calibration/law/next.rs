//! Which measurement would narrow the coefficients of a fitted law most: every candidate is simulated
//! with the law, and what its two means would add to what is known is added up.

use serde::Serialize;

use super::linear::{Matrix, inverse};
use super::terms::{NAMES, OUTSIDE, TERMS, term_sd};
use super::{PointLaw, Question, Z90, noise};
use crate::calibration::conditions::Conditions;
use crate::calibration::observed::Observation;
use crate::math;
use crate::sim::ReplicaSpec;

/// Clients of the candidates.
const CLIENTS: [u32; 6] = [1, 4, 16, 64, 128, 256];
/// Prompts of the candidates, as multiples of the mean one of the points.
const LONGER: [f64; 2] = [1.0, 4.0];
/// Requests of a candidate: so many rounds of its clients …
const ROUNDS: u32 = 6;
/// … and no fewer than this.
const FEWEST: u32 = 64;
/// A term is named if its interval would become this part of what it is, or less.
const NARROWER: f64 = 0.9;

/// A closed loop to measure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NextMeasurement {
    /// Requests in flight.
    pub clients: u32,
    /// Requests in all.
    pub requests: u32,
    /// Mean prompt, tokens.
    pub input_tokens: u32,
    /// Mean output, tokens.
    pub output_tokens: u32,
    /// What it would narrow, most first.
    pub narrows: Vec<Narrowed>,
}

/// A term before and after another measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Narrowed {
    /// Which.
    pub term: &'static str,
    /// Factor either way that holds in 90 % of cases now …
    pub factor_before: f64,
    /// … and with the measurement.
    pub factor_after: f64,
}

/// The candidate that narrows the terms most; `None` if none narrows any.
pub fn best(
    question: &Question<'_>,
    law: &PointLaw,
    measured: &[&Conditions],
    replica: &ReplicaSpec,
) -> Option<NextMeasurement> {
    let first = measured.first()?.requests.first()?;
    let mut best: Option<(f64, NextMeasurement)> = None;
    for longer in LONGER {
        let input = scaled(first.input_tokens, longer);
        let output = first.output_tokens;
        if replica.can_never_fit(input, output) {
            continue;
        }
        for clients in CLIENTS.into_iter().filter(|clients| *clients <= replica.max_num_seqs) {
            if measured.iter().any(|known| is_like(known, clients, input)) {
                continue;
            }
            let requests = (ROUNDS * clients).max(FEWEST);
            let conditions = Conditions::closed_loop(clients, requests, (input, output));
            let Some(after) = with(question, law, &conditions) else { continue };
            let gained = gained(&law.covariance, &after);
            if best.as_ref().is_none_or(|(most, _)| gained > *most) {
                let narrows = narrowed(&law.covariance, &after);
                let next = NextMeasurement {
                    clients,
                    requests,
                    input_tokens: input,
                    output_tokens: output,
                    narrows,
                };
                best = Some((gained, next));
            }
        }
    }
    best.map(|(_, next)| next).filter(|next| !next.narrows.is_empty())
}

/// A whole number of at least zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
pub fn whole(value: f64) -> u64 {
    value.max(0.0) as u64
}

fn scaled(tokens: u32, factor: f64) -> u32 {
    u32::try_from(whole(factor * f64::from(tokens))).unwrap_or(u32::MAX)
}

/// Whether a point was measured at about this load.
fn is_like(known: &Conditions, clients: u32, input: u32) -> bool {
    let same = |a: f64, b: f64| (math::ln(a / b)).abs() < math::ln(1.5);
    known.cap.is_some_and(|cap| same(f64::from(cap), f64::from(clients)))
        && same(known.input_tokens, f64::from(input))
}

/// The covariance with what a candidate would report added.
fn with(question: &Question<'_>, law: &PointLaw, conditions: &Conditions) -> Option<Matrix> {
    let reported = Observation::means(&question.run(conditions, &law.logs));
    let (_, slopes) = question.slopes((conditions, &reported), &law.logs);
    let mut curvature = inverse(&law.covariance)?;
    for (observation, slope) in reported.iter().zip(slopes) {
        if slope.iter().any(|slope| !slope.is_finite()) {
            return None;
        }
        let sd = noise(observation);
        for (row, a) in curvature.iter_mut().zip(slope) {
            for (cell, b) in row.iter_mut().zip(slope) {
                *cell += a * b / (sd * sd);
            }
        }
    }
    inverse(&curvature)
}

/// How much narrower all terms become, as a sum of logarithms.
fn gained(before: &Matrix, after: &Matrix) -> f64 {
    (1..OUTSIDE).map(|term| math::ln(term_sd(before, term) / term_sd(after, term))).sum()
}

fn narrowed(before: &Matrix, after: &Matrix) -> Vec<Narrowed> {
    let mut all: Vec<(f64, Narrowed)> = (1..TERMS - 1)
        .map(|term| {
            let (before, after) = (term_sd(before, term), term_sd(after, term));
            let factor = |sd: f64| math::exp(Z90 * sd);
            let narrowed = Narrowed {
                term: NAMES[term],
                factor_before: factor(before),
                factor_after: factor(after),
            };
            (after / before, narrowed)
        })
        .filter(|(share, _)| *share < NARROWER)
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all.into_iter().map(|(_, narrowed)| narrowed).collect()
}
