//! Latency over load: what is predicted between and around the points of a fit.
//!
//! A file's points stand at the loads that somebody chose; a curve through predictions at those
//! loads alone would hide where it bends. Points of like lengths and like clients share a curve.

use serde::{Deserialize, Serialize};

use super::{
    BenchmarkFile, CalibratedPool, CalibrationReport, Conditions, Observation, Prediction, Used,
    usable,
};
use crate::ingest::{BenchmarkPoint, Load};
use crate::math;
use crate::sim::ReplicaSpec;

/// Lengths this near, relative to each other, are alike.
const ALIKE: f64 = 0.1;
/// A curve begins at this share of its lowest load.
const BEGIN: f64 = 0.5;
/// And ends at this multiple of its highest.
const END: f64 = 1.15;
/// Loads between the ends, beside those that were measured.
const STEPS: u32 = 8;
/// With more measured loads than this, they alone make the curve.
const MANY: usize = 12;

/// Predictions over load, everything else as in the points of a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadCurve {
    /// Whether the load is requests in flight; else it is requests per second.
    pub closed_loop: bool,
    /// Mean prompt, tokens.
    pub input_tokens: f64,
    /// Mean output, tokens.
    pub output_tokens: f64,
    /// In ascending order of load.
    pub points: Vec<CurvePoint>,
}

/// What is predicted at one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// Requests per second or in flight, of one replica.
    pub load: f64,
    /// The statistics that the points of the group reported.
    pub statistics: Vec<CurveStatistic>,
}

/// One number at one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CurveStatistic {
    /// Which: `tpot_mean_ms`, `ttft_p50_ms`, `output_tps` …
    pub name: String,
    /// With the fitted factor.
    pub predicted: f64,
    /// With the factor before.
    pub predicted_before: f64,
}

/// The curves of a fit, one per group of like points that have a load; none without a factor.
pub fn load_curves(
    files: &[BenchmarkFile],
    pool: &CalibratedPool,
    report: &CalibrationReport,
) -> Vec<LoadCurve> {
    let Some(scale) = report.step_time_scale else { return Vec::new() };
    let (before, after) = ((pool.replica)(pool.scale), (pool.replica)(scale));
    let (used, _) = usable(files, pool, &before);
    let specs = Specs { pool, before: &before, after: &after };
    groups(&used).iter().map(|group| specs.curve(group)).collect()
}

/// Like points in ascending order of load.
fn groups<'u, 'a>(used: &'u [Used<'a>]) -> Vec<Vec<&'u Used<'a>>> {
    let mut groups: Vec<Vec<&Used>> = Vec::new();
    for point in used.iter().filter(|point| load_of(&point.conditions).is_some()) {
        match groups.iter_mut().find(|group| alike(group[0], point)) {
            Some(group) => group.push(point),
            None => groups.push(vec![point]),
        }
    }
    for group in &mut groups {
        group.sort_by(|a, b| {
            load_of(&a.conditions)
                .partial_cmp(&load_of(&b.conditions))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
    }
    groups
}

/// Load of one replica.
fn load_of(conditions: &Conditions) -> Option<f64> {
    conditions.rate_rps.or_else(|| conditions.cap.map(f64::from))
}

fn alike(a: &Used, b: &Used) -> bool {
    let near = |x: f64, y: f64| (x - y).abs() <= ALIKE * x.max(y);
    let (one, other) = (&a.conditions, &b.conditions);
    one.rate_rps.is_some() == other.rate_rps.is_some()
        && one.replicas == other.replicas
        && near(one.input_tokens, other.input_tokens)
        && near(one.output_tokens, other.output_tokens)
        && (one.rate_rps.is_none() || one.cap == other.cap)
        && a.point.burstiness == b.point.burstiness
}

struct Specs<'a> {
    pool: &'a CalibratedPool<'a>,
    before: &'a ReplicaSpec,
    after: &'a ReplicaSpec,
}

impl Specs<'_> {
    fn curve(&self, group: &[&Used]) -> LoadCurve {
        let closed_loop = group[0].conditions.rate_rps.is_none();
        let measured: Vec<f64> = group.iter().filter_map(|p| load_of(&p.conditions)).collect();
        let observations = observations(group);
        let mean = |value: fn(&Conditions) -> f64| {
            group.iter().map(|point| value(&point.conditions)).sum::<f64>() / group.len() as f64
        };
        let points = loads(&measured, closed_loop).into_iter().filter_map(|load| {
            let like = nearest(group, load)?;
            let conditions = self.at(like, load, closed_loop)?;
            Some(CurvePoint { load, statistics: self.statistics(&conditions, &observations) })
        });
        LoadCurve {
            closed_loop,
            input_tokens: mean(|conditions| conditions.input_tokens),
            output_tokens: mean(|conditions| conditions.output_tokens),
            points: points.collect(),
        }
    }

    /// The conditions of a point, but for its load.
    fn at(&self, like: &Used, load: f64, closed_loop: bool) -> Option<Conditions> {
        let total = load * f64::from(like.conditions.replicas);
        let load = if closed_loop {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let requests = total.round() as u64;
            Load::Concurrency { requests }
        } else {
            Load::RequestRate { rps: total }
        };
        let point = BenchmarkPoint { load, ..like.point.clone() };
        Conditions::of(&point, &self.pool.identity, self.before).ok()
    }

    fn statistics(
        &self,
        conditions: &Conditions,
        observations: &[Observation],
    ) -> Vec<CurveStatistic> {
        let before = Prediction::of(conditions, self.before);
        let after = Prediction::of(conditions, self.after);
        let statistic = |observation: &Observation| {
            Some(CurveStatistic {
                name: observation.name(),
                predicted: observation.predicted(&after)?,
                predicted_before: observation.predicted(&before)?,
            })
        };
        observations.iter().filter_map(statistic).collect()
    }
}

/// One observation of each name in a group.
fn observations(group: &[&Used]) -> Vec<Observation> {
    let mut found: Vec<Observation> = Vec::new();
    for observation in group.iter().flat_map(|point| &point.observations) {
        if found.iter().all(|known| known.name() != observation.name()) {
            found.push(*observation);
        }
    }
    found
}

fn nearest<'g, 'a>(group: &[&'g Used<'a>], load: f64) -> Option<&'g Used<'a>> {
    let distance = |point: &Used| {
        load_of(&point.conditions).map_or(f64::INFINITY, |own| math::ln(own / load).abs())
    };
    group.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Loads of a curve: those measured, and evenly spaced ones in the logarithm around them.
fn loads(measured: &[f64], whole: bool) -> Vec<f64> {
    let (Some(low), Some(high)) = (measured.first(), measured.last()) else { return Vec::new() };
    let (low, high) = (low * BEGIN, high * END);
    let between = (0..=STEPS)
        .map(|i| low * math::exp(math::ln(high / low) * f64::from(i) / f64::from(STEPS)));
    let mut all: Vec<f64> = if measured.len() > MANY { vec![low, high] } else { between.collect() };
    all.extend(measured);
    if whole {
        for load in &mut all {
            *load = load.round().max(1.0);
        }
    }
    all.sort_by(f64::total_cmp);
    // A measured load and a grid load next to it are one.
    all.dedup_by(|b, a| (*b - *a).abs() <= 1e-9 * *a);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_passes_through_the_measured_loads_and_reaches_beyond_both_ends() {
        let all = loads(&[1.0, 4.0], false);
        assert!(all.contains(&1.0) && all.contains(&4.0), "{all:?}");
        assert!((all[0] - 0.5).abs() < 1e-12 && (all[all.len() - 1] - 4.6).abs() < 1e-9);
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{all:?}");
    }

    #[test]
    fn requests_in_flight_are_whole() {
        let all = loads(&[1.0, 2.0], true);
        assert_eq!(all, [1.0, 2.0]);
        let all = loads(&[64.0], true);
        assert!(all.len() > 5 && all.iter().all(|load| load.fract() == 0.0), "{all:?}");
        assert_eq!(loads(&[], true), Vec::<f64>::new());
    }
}
