//! How often users in closed loops ask: the rate at which users = rate · (response + think time).
//!
//! The response is that of the mean field, without queueing. Where even the sustainable rate leaves
//! users over, they queue: their wait is what makes up the balance.

use super::demand::{self, ClassDemand};
use super::mean_field::{LengthMoments, MeanField, MeanShape, Operating};
use super::service::ReplicaModel;
use crate::scenario::Scenario;
use crate::units::Picos;
use crate::workload::ClosedLoop;

/// Halvings of the interval in which the rate is sought.
const HALVINGS: u32 = 40;
/// A share of users in queues below which the loop counts as not saturated: rounding of the search.
const NOBODY: f64 = 1e-3;

/// Gives each closed loop among `classes` its rate. Returns how long its users queue on average
/// where the fleet cannot keep up with them, seconds.
pub fn settle(
    scenario: &Scenario,
    classes: &mut [ClassDemand],
    model: &ReplicaModel,
) -> Option<f64> {
    let crowds: Vec<(usize, ClosedLoop)> = classes
        .iter()
        .enumerate()
        .filter_map(|(i, c)| Some((i, *c.class.arrivals.closed_loop()?)))
        .collect();
    let users: f64 = crowds.iter().map(|(_, crowd)| f64::from(crowd.users)).sum();
    if users <= 0.0 {
        return None;
    }
    // As often as each would ask if nobody else were there; all slow down by one factor.
    let alone: Vec<f64> = crowds
        .iter()
        .map(|(i, crowd)| {
            let response_s = alone_s(model, &classes[*i].lengths.served);
            f64::from(crowd.users) / (crowd.think.mean_s() + response_s).max(1e-9)
        })
        .collect();
    let mut busy_at = |factor: f64| {
        for ((i, _), rate) in crowds.iter().zip(&alone) {
            classes[*i].closed_loop_rps = Some(factor * rate);
        }
        occupied(scenario, classes, &crowds, model)
    };
    let (mut low, mut high) = (0.0, 1.0);
    if busy_at(1.0).is_some_and(|busy| busy <= users * (1.0 + NOBODY)) {
        return None;
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        let fits = busy_at(middle).is_some_and(|busy| busy <= users);
        *(if fits { &mut low } else { &mut high }) = middle;
    }
    let queueing = users - busy_at(low)?;
    let rate: f64 = alone.iter().sum::<f64>() * low;
    (queueing > NOBODY * users && rate > 0.0).then(|| queueing / rate)
}

/// Users who think or are served at the rates of `classes`; `None` above what is sustained.
fn occupied(
    scenario: &Scenario,
    classes: &[ClassDemand],
    crowds: &[(usize, ClosedLoop)],
    model: &ReplicaModel,
) -> Option<f64> {
    let mean = demand::between(classes, Picos::ZERO, scenario.horizon);
    let per_replica = mean.served_rps / f64::from(scenario.pool.most_replicas());
    if per_replica <= 0.0 {
        return Some(0.0);
    }
    let field = model.steps(&mean.served);
    let at = match &field {
        Some(field) => Some(field.at_rate(per_replica)?),
        None if per_replica > model.sustainable(&mean.served).0 => return None,
        None => None,
    };
    let busy = crowds.iter().map(|(i, crowd)| {
        let class = &classes[*i];
        let response_s = match (&field, &at) {
            (Some(field), Some(at)) => response_s(field, &class.lengths.served, at),
            _ => alone_s(model, &class.lengths.served),
        };
        class.closed_loop_rps.unwrap_or(0.0) * (crowd.think.mean_s() + response_s)
    });
    Some(busy.sum())
}

fn response_s<F: Fn(MeanShape) -> f64>(
    field: &MeanField<F>,
    lengths: &LengthMoments,
    at: &Operating,
) -> f64 {
    field.ttft_s(lengths, at) + (lengths.output - 1.0).max(0.0) * at.step_s
}

/// From due to completion of a request that is alone; where only rates are declared, the work it
/// is.
fn alone_s(model: &ReplicaModel, lengths: &LengthMoments) -> f64 {
    match model.steps(lengths) {
        Some(field) => {
            field.zero_load_ttft_s(lengths)
                + (lengths.output - 1.0).max(0.0) * field.zero_load_tpot_s()
        }
        None => 1.0 / model.sustainable(lengths).0,
    }
}
