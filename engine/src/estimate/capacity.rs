//! Capacity is not a constant: what the fleet sustains and delivers of this mix as its answers or
//! prompts grow, or as its batches fill.
//!
//! A row scales every length of the mix by one factor, or caps the batch, and asks the mean field
//! again. All else stays as it is, so that a row says what that one thing does.

use serde::{Deserialize, Serialize};

use super::demand::{self, ClassDemand};
use super::latency;
use super::mean_field::{LengthMoments, MeanField, MeanShape, Operating};
use super::pools;
use super::service::ReplicaModel;
use crate::accounts::report::SaturatedBy;
use crate::problem::Problem;
use crate::scenario::Scenario;
use crate::slo::Contract;
use crate::units::Picos;

/// What is varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapacityAxis {
    /// Output lengths.
    Output,
    /// Prompt lengths.
    Prompt,
    /// Sequences that decode together on one replica.
    Batch,
}

/// The factors by which lengths are scaled.
const FACTORS: [f64; 9] = [0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0];

/// Capacity over one thing that is varied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// What.
    pub over: CapacityAxis,
    /// The pool that this is of, where there are several: the one with the least to spare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Rows in ascending order.
    pub points: Vec<CapacityPoint>,
    /// Rows that cannot be, in words.
    pub left_out: Vec<String>,
}

/// The fleet at one value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CapacityPoint {
    /// Mean output or prompt length, tokens; or sequences decoding on one replica.
    pub value: f64,
    /// Whether it is the scenario's own mix; of batches, whether it is the largest there is.
    pub is_present: bool,
    /// Sustained of this mix, requests per second.
    pub sustainable_rps: f64,
    /// The same in input tokens per second.
    pub sustainable_prefill_tps: f64,
    /// The same in output tokens per second.
    pub sustainable_decode_tps: f64,
    /// Delivered within the limits by the mean request of every class, requests per second; `null`
    /// where only token rates are declared.
    pub deliverable_rps: Option<f64>,
    /// The same in input tokens per second.
    pub deliverable_prefill_tps: Option<f64>,
    /// The same in output tokens per second.
    pub deliverable_decode_tps: Option<f64>,
    /// Time per output token at the sustained rate, milliseconds; `null` where every answer has
    /// one token, or only token rates are declared.
    pub tpot_ms: Option<f64>,
    /// Sequences decoding in the fleet at that rate.
    pub live_sequences: Option<f64>,
    /// KV token-steps that one request holds: output × (input + output / 2), mean over the mix.
    pub kv_token_steps_per_request: f64,
    /// What a replica runs out of.
    pub saturated_by: SaturatedBy,
}

/// Capacity of the fleet of `scenario` for its mix, over one axis; of several pools, that of the one
/// with the least to spare.
///
/// # Errors
/// The model does not fit, nothing of the mix fits, or batches of declared token rates are asked
/// for.
pub fn capacity(scenario: &Scenario, over: CapacityAxis) -> Result<Capacity, Problem> {
    if scenario.has_several_pools() {
        let part = pools::least_to_spare(scenario);
        let capacity = of_one_pool(&part, over)?;
        return Ok(Capacity { pool: Some(part.pool.name), ..capacity });
    }
    of_one_pool(scenario, over)
}

fn of_one_pool(scenario: &Scenario, over: CapacityAxis) -> Result<Capacity, Problem> {
    if scenario.pool.memory.does_not_fit.is_some() {
        return Err(Problem::error(
            "fleet.pools[0]",
            "the model does not fit in memory, so there is no capacity",
            "run the estimate: it names the smallest layout",
        ));
    }
    let classes = demand::classes(scenario);
    let mean = demand::between(&classes, Picos::ZERO, scenario.horizon);
    if mean.served_rps <= 0.0 {
        return Err(Problem::error(
            "workload.classes",
            "no request fits a replica, so there is no capacity",
            "shorter prompts and outputs, or a larger max_model_len",
        ));
    }
    let fleet = Fleet {
        model: ReplicaModel::of(&scenario.pool),
        replicas: f64::from(scenario.pool.most_replicas()),
        contracts: &scenario.contracts,
    };
    match over {
        CapacityAxis::Batch => fleet.over_batch(&mean.served, &classes, scenario),
        CapacityAxis::Output | CapacityAxis::Prompt => {
            Ok(fleet.over_lengths(&mean.served, &classes, (over, scenario)))
        }
    }
}

struct Fleet<'a> {
    model: ReplicaModel<'a>,
    replicas: f64,
    contracts: &'a [Contract],
}

impl Fleet<'_> {
    fn over_lengths(
        &self,
        mix: &LengthMoments,
        classes: &[ClassDemand],
        (over, scenario): (CapacityAxis, &Scenario),
    ) -> Capacity {
        let mut capacity = Capacity { over, pool: None, points: Vec::new(), left_out: Vec::new() };
        let longest = f64::from(scenario.pool.scheduler.max_model_len);
        for factor in FACTORS {
            let (input, output) = match over {
                CapacityAxis::Prompt => (factor, 1.0),
                _ => (1.0, factor),
            };
            let scaled = scale(mix, input, output);
            if scaled.input + scaled.output > longest {
                capacity.left_out.push(format!(
                    "{factor} × the lengths: the mean request of {:.0} tokens is longer than \
                     max_model_len {longest:.0}",
                    scaled.input + scaled.output
                ));
                continue;
            }
            if scaled.input < 1.0 || scaled.output < 1.0 {
                let what = "the mean length would be below one token";
                capacity.left_out.push(format!("{factor} × the lengths: {what}"));
                continue;
            }
            let mut classes = classes.to_vec();
            for class in &mut classes {
                class.lengths.served = scale(&class.lengths.served, input, output);
            }
            let value = if over == CapacityAxis::Prompt { scaled.input } else { scaled.output };
            let present = (factor - 1.0).abs() < 1e-12;
            capacity.points.push(self.at(&scaled, &classes, (value, present)));
        }
        capacity
    }

    fn at(
        &self,
        mix: &LengthMoments,
        classes: &[ClassDemand],
        (value, is_present): (f64, bool),
    ) -> CapacityPoint {
        let (rps, saturated_by) = self.model.sustainable(mix);
        let mut point = self.point(mix, (value, is_present), rps, saturated_by);
        if let Some(field) = self.model.steps(mix) {
            let holds = |at: &Operating| self.holds(&field, classes, at);
            let deliverable = field.fastest_where(holds).map_or(0.0, |at| at.rate_rps);
            self.deliver(&mut point, mix, deliverable);
            add_steps(&mut point, mix, &field.saturated().0, self.replicas);
        }
        point
    }

    fn over_batch(
        &self,
        mix: &LengthMoments,
        classes: &[ClassDemand],
        scenario: &Scenario,
    ) -> Result<Capacity, Problem> {
        let Some(field) = self.model.steps(mix) else {
            return Err(Problem::error(
                "fleet.pools[0].step_time.source",
                "declared token rates know no batches",
                "give a step law: catalog, physics, datasheet or coefficients",
            ));
        };
        let (full, by) = field.saturated();
        let mut capacity = Capacity {
            over: CapacityAxis::Batch,
            pool: None,
            points: Vec::new(),
            left_out: Vec::new(),
        };
        let seats = f64::from(scenario.pool.scheduler.max_num_seqs);
        let mut batch = 1.0;
        while batch < full.decode_seqs {
            let below = field.fastest_where(|at| at.decode_seqs <= batch);
            capacity.points.extend(below.map(|at| self.of_batch(&field, classes, (mix, &at, by))));
            batch *= 2.0;
        }
        let mut last = self.of_batch(&field, classes, (mix, &full, by));
        last.is_present = true;
        capacity.points.push(last);
        if full.decode_seqs < 0.99 * seats {
            capacity.left_out.push(format!(
                "batches above {:.0} of {seats:.0} seats: {} is used up first",
                full.decode_seqs,
                match by {
                    SaturatedBy::KvMemory => "KV memory",
                    SaturatedBy::TokenBudget => "max_num_batched_tokens",
                    // A seat is held for prefill and for a step of lag too.
                    SaturatedBy::Seats | SaturatedBy::DeclaredRate => "every seat, in prefill too,",
                }
            ));
        }
        Ok(capacity)
    }

    fn of_batch<F: Fn(MeanShape) -> f64>(
        &self,
        field: &MeanField<F>,
        classes: &[ClassDemand],
        (mix, at, by): (&LengthMoments, &Operating, SaturatedBy),
    ) -> CapacityPoint {
        let mut point = self.point(mix, (at.decode_seqs, false), at.rate_rps, by);
        let delivered = if self.holds(field, classes, at) { at.rate_rps } else { 0.0 };
        self.deliver(&mut point, mix, delivered);
        add_steps(&mut point, mix, at, self.replicas);
        point
    }

    fn holds<F: Fn(MeanShape) -> f64>(
        &self,
        field: &MeanField<F>,
        classes: &[ClassDemand],
        at: &Operating,
    ) -> bool {
        let served =
            classes.iter().zip(self.contracts).filter(|(c, _)| c.lengths.served_share > 0.0);
        served.into_iter().all(|(class, contract)| latency::within(field, class, contract, at))
    }

    fn point(
        &self,
        mix: &LengthMoments,
        (value, is_present): (f64, bool),
        rps_per_replica: f64,
        saturated_by: SaturatedBy,
    ) -> CapacityPoint {
        let sustainable_rps = rps_per_replica * self.replicas;
        CapacityPoint {
            value,
            is_present,
            sustainable_rps,
            sustainable_prefill_tps: sustainable_rps * mix.input,
            sustainable_decode_tps: sustainable_rps * mix.output,
            deliverable_rps: None,
            deliverable_prefill_tps: None,
            deliverable_decode_tps: None,
            tpot_ms: None,
            live_sequences: None,
            kv_token_steps_per_request: mix.kv_token_steps(),
            saturated_by,
        }
    }

    fn deliver(&self, point: &mut CapacityPoint, mix: &LengthMoments, rps_per_replica: f64) {
        let rps = rps_per_replica * self.replicas;
        point.deliverable_rps = Some(rps);
        point.deliverable_prefill_tps = Some(rps * mix.input);
        point.deliverable_decode_tps = Some(rps * mix.output);
    }
}

fn add_steps(point: &mut CapacityPoint, mix: &LengthMoments, at: &Operating, replicas: f64) {
    point.tpot_ms = (mix.output > 1.0).then_some(1e3 * at.step_s);
    point.live_sequences = Some(at.decode_seqs * replicas);
}

/// Every prompt and every answer times a factor.
fn scale(mix: &LengthMoments, input: f64, output: f64) -> LengthMoments {
    LengthMoments {
        input: mix.input * input,
        input_squared: mix.input_squared * input * input,
        output: mix.output * output,
        output_squared: mix.output_squared * output * output,
        input_output: mix.input_output * input * output,
        cached: mix.cached * input,
        cached_squared: mix.cached_squared * input * input,
    }
}
