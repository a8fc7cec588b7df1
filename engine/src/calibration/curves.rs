//! Predictions of every point at many step times, and what they say together.

use super::observed::Observation;
use super::predict::Prediction;
use super::report::{PointFit, StatisticFit};
use super::votes::{Crossing, crossing, weighted_median};
use super::{LARGEST_SCALE, SMALLEST_SCALE, Used};
use crate::math;
use crate::sim::ReplicaSpec;

/// What changes by less than this share of the change in step time says nothing about it.
const LEAST_WEIGHT: f64 = 0.2;
/// A dependence is measured over this ratio to either side, wider than the noise of one run.
const REACH: f64 = 1.3;

/// Points with their predictions by ascending scale.
pub struct Curves<'a> {
    /// The points.
    pub used: &'a [Used<'a>],
    /// One replica at a scale.
    pub replica: &'a dyn Fn(f64) -> ReplicaSpec,
    /// Predictions of all points at each scale.
    pub by_scale: Vec<(f64, Vec<Prediction>)>,
}

/// What one number says.
#[derive(Debug, Clone, Copy)]
struct Vote {
    crossing: Crossing,
    weight: f64,
}

impl Vote {
    /// Its scale, at the nearest end where that lies outside of what was tried.
    fn scale(&self) -> f64 {
        match self.crossing {
            Crossing::At(scale) => scale,
            Crossing::Below => SMALLEST_SCALE,
            Crossing::Above => LARGEST_SCALE,
        }
    }
}

impl Curves<'_> {
    /// Predictions of all points at a scale.
    pub fn predict(&self, scale: f64) -> Vec<Prediction> {
        let spec = (self.replica)(scale);
        self.used.iter().map(|used| Prediction::of(&used.conditions, &spec)).collect()
    }

    /// Adds predictions at `scales`.
    pub fn add(&mut self, scales: &[f64]) {
        for &scale in scales {
            let predictions = self.predict(scale);
            self.by_scale.push((scale, predictions));
        }
        self.by_scale.sort_by(|a, b| a.0.total_cmp(&b.0));
    }

    /// The median of what all numbers say; `None` when none of them depends on the step time.
    pub fn median(&self) -> Option<f64> {
        let votes: Vec<Vote> = (self.used.iter().enumerate())
            .flat_map(|(point, used)| used.observations.iter().map(move |o| (point, o)))
            .filter_map(|(point, observation)| self.vote(point, observation))
            .collect();
        let tells = votes.iter().any(|vote| vote.weight >= LEAST_WEIGHT);
        let weighted: Vec<(f64, f64)> = votes.iter().map(|v| (v.scale(), v.weight)).collect();
        weighted_median(&weighted).filter(|_| tells)
    }

    /// Every point with what was measured, predicted and said.
    pub fn points(&self, before: f64, after: f64) -> Vec<PointFit> {
        let (before, after) = (self.predict(before), self.predict(after));
        let points = self.used.iter().enumerate();
        points.map(|(i, used)| self.point(i, used, &before[i], &after[i])).collect()
    }

    fn point(
        &self,
        index: usize,
        used: &Used,
        before: &Prediction,
        after: &Prediction,
    ) -> PointFit {
        let statistics = used.observations.iter().filter_map(|observation| {
            let predicted = observation.predicted(after)?;
            let vote = self.vote(index, observation)?;
            Some(StatisticFit {
                name: observation.name(),
                measured: observation.measured,
                predicted,
                predicted_before: observation.predicted(before)?,
                error: predicted / observation.measured - 1.0,
                alone: match vote.crossing {
                    Crossing::At(scale) => Some(scale),
                    Crossing::Below | Crossing::Above => None,
                },
                weight: vote.weight,
            })
        });
        PointFit {
            file: used.file.to_owned(),
            row: used.point.row,
            label: used.point.label.clone(),
            load: used.conditions.load.clone(),
            rate_rps: used.conditions.rate_rps,
            concurrency: used.conditions.cap.map(u64::from),
            input_tokens: used.conditions.input_tokens,
            output_tokens: used.conditions.output_tokens,
            statistics: statistics.collect(),
        }
    }

    fn vote(&self, point: usize, observation: &Observation) -> Option<Vote> {
        let at = |(scale, predictions): &(f64, Vec<Prediction>)| {
            Some((*scale, observation.predicted(&predictions[point])?))
        };
        let curve: Vec<(f64, f64)> = self.by_scale.iter().filter_map(at).collect();
        let crossing = crossing(&curve, observation.measured)?;
        let scale = Vote { crossing, weight: 0.0 }.scale();
        let weight = dependence(&curve, scale, observation.outside_engine()).min(1.0);
        Some(Vote { crossing, weight })
    }
}

/// How much of a change in step time shows in a curve with `beside` added to it.
fn dependence(curve: &[(f64, f64)], scale: f64, beside: f64) -> f64 {
    let (low, high) = (value_at(curve, scale / REACH), value_at(curve, scale * REACH));
    let change = math::ln((high.1 + beside) / (low.1 + beside));
    if high.0 > low.0 { (change / math::ln(high.0 / low.0)).abs() } else { 0.0 }
}

/// The point of a curve nearest to `scale` from below, or its first.
fn value_at(curve: &[(f64, f64)], scale: f64) -> (f64, f64) {
    let next = curve.partition_point(|(s, _)| *s <= scale * (1.0 + 1e-9));
    curve[next.saturating_sub(1)]
}
