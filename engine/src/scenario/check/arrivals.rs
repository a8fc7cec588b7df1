//! From the document's arrivals to those of the engine.

use super::one;
use crate::counted::typed;
use crate::problem::Problem;
use crate::scenario::doc::{ArrivalsDoc, Burstiness, GammaNoiseDoc, NoiseDoc};
use crate::workload::{
    Arrivals, Bursts, ClosedLoop, RateProfile, Replay, Spacing, days, ramp, sinusoid, spike, weeks,
};

/// The arrivals that a document describes; problems have paths relative to it.
pub fn arrivals_of(doc: &ArrivalsDoc) -> Result<Arrivals, Vec<Problem>> {
    match doc {
        ArrivalsDoc::Poisson { rate_rps } => {
            one(RateProfile::constant(*rate_rps)).map(Arrivals::Poisson)
        }
        ArrivalsDoc::Constant { rate_rps } => {
            one(RateProfile::constant(*rate_rps)).map(Arrivals::Even)
        }
        ArrivalsDoc::Gamma { rate_rps, cv, burstiness } => {
            both(one(RateProfile::constant(*rate_rps)), one(spacing(*cv, *burstiness)))
        }
        ArrivalsDoc::Bursts { quiet_rps, burst_rps, mean_quiet_s, mean_burst_s } => {
            Bursts::new(*quiet_rps, *burst_rps, *mean_quiet_s, *mean_burst_s).map(Arrivals::Bursts)
        }
        ArrivalsDoc::Trace { due_s, time_factor, rate_factor, loop_every_s } => {
            replay(due_s, *time_factor, *rate_factor, *loop_every_s).map(Arrivals::Trace)
        }
        ArrivalsDoc::ClosedLoop { users, think_time } => {
            let think = super::clients::think_time_of(*think_time)?;
            one(ClosedLoop::new(*users, think)).map(Arrivals::ClosedLoop)
        }
        shape => shaped(shape),
    }
}

/// Rates that change over time, with noise around them.
fn shaped(doc: &ArrivalsDoc) -> Result<Arrivals, Vec<Problem>> {
    let (profile, noise) = match doc {
        ArrivalsDoc::Profile { points, noise } => {
            let points: Vec<_> = points.iter().map(|point| (point.t_s, point.rate_rps)).collect();
            (RateProfile::new(&points), noise)
        }
        ArrivalsDoc::Sinusoid { min_rps, max_rps, period_s, phase, noise } => {
            (sinusoid(*min_rps, *max_rps, *period_s, *phase), noise)
        }
        ArrivalsDoc::Spike { base_rps, peak_rps, start_s, duration_s, ramp_s, noise } => {
            (spike(*base_rps, *peak_rps, *start_s, *duration_s, *ramp_s), noise)
        }
        ArrivalsDoc::Ramp { from_rps, to_rps, start_s, duration_s, noise } => {
            (ramp(*from_rps, *to_rps, *start_s, *duration_s), noise)
        }
        ArrivalsDoc::Day { mean_rps, peak_over_mean, peak_hour, noise } => {
            (days(*mean_rps, *peak_over_mean, *peak_hour), noise)
        }
        ArrivalsDoc::Week { mean_rps, peak_over_mean, peak_hour, weekend_factor, noise } => {
            (weeks(*mean_rps, *peak_over_mean, *peak_hour, *weekend_factor), noise)
        }
        ArrivalsDoc::Poisson { .. }
        | ArrivalsDoc::Constant { .. }
        | ArrivalsDoc::Gamma { .. }
        | ArrivalsDoc::Bursts { .. }
        | ArrivalsDoc::Trace { .. }
        | ArrivalsDoc::ClosedLoop { .. } => return arrivals_of(doc),
    };
    let spacing = match noise {
        NoiseDoc::Poisson => Ok(Spacing::Poisson),
        NoiseDoc::None => Ok(Spacing::Even),
        NoiseDoc::Gamma(GammaNoiseDoc { cv, burstiness }) => {
            one(spacing(*cv, *burstiness).map_err(|problem| problem.under("noise.gamma")))
        }
    };
    both(profile, spacing)
}

fn both(
    profile: Result<RateProfile, Vec<Problem>>,
    spacing: Result<Spacing, Vec<Problem>>,
) -> Result<Arrivals, Vec<Problem>> {
    match (profile, spacing) {
        (Ok(profile), Ok(spacing)) => Ok(spacing.along(profile)),
        (profile, spacing) => {
            let problems = profile.err().into_iter().chain(spacing.err());
            Err(problems.flatten().collect())
        }
    }
}

fn spacing(cv: Option<f64>, burstiness: Option<Burstiness>) -> Result<Spacing, Problem> {
    match (cv, burstiness) {
        (Some(cv), None) => Spacing::of_cv(cv),
        (None, Some(Burstiness(k))) => Spacing::of_burstiness(k),
        (None, None) => Err(Problem::error(
            "cv",
            "a gamma law needs to know how much the gaps vary",
            "give `cv` or `burstiness` (k = 1/cv²)",
        )),
        (Some(cv), Some(Burstiness(k))) => Err(Problem::error(
            "burstiness",
            format!(
                "the gaps are described twice, by cv {cv} and by burstiness {k}",
                cv = typed(cv),
                k = typed(k)
            ),
            "give one of them: burstiness is 1/cv²",
        )),
    }
}

fn replay(
    due_s: &[f64],
    time_factor: f64,
    rate_factor: f64,
    loop_every_s: Option<f64>,
) -> Result<Replay, Vec<Problem>> {
    let mut replay = Replay::new(due_s)?;
    let mut problems = Vec::new();
    let mut apply =
        |change: &dyn Fn(Replay) -> Result<Replay, Problem>| match change(replay.clone()) {
            Ok(changed) => replay = changed,
            Err(problem) => problems.push(problem),
        };
    // A plain replay is not copied, whatever its length.
    if let Some(seconds) = loop_every_s {
        apply(&|replay| replay.looped(seconds));
    }
    if !time_factor.total_cmp(&1.0).is_eq() {
        apply(&|replay| replay.stretched(time_factor));
    }
    if !rate_factor.total_cmp(&1.0).is_eq() {
        apply(&|replay| replay.at_rate(rate_factor));
    }
    if problems.is_empty() { Ok(replay) } else { Err(problems) }
}
