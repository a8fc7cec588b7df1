//! From the rate that a benchmark reports to the rate that a plan may count on, one condition at a
//! time, every step simulated.
//!
//! A benchmark sends equal prompts in one way and counts tokens. Production sends a mix, in its own
//! rhythm, to people who wait only so long. The first row is what the file says, the second what the
//! simulator says of the file's own conditions (how far the two agree is what the rest is worth); then
//! each row takes one more condition from the scenario instead of the benchmark, until all are the
//! scenario's, and the last rate is the deliverable one of its plan.
//!
//! Rates are of as many replicas as the scenario has, so that rows compare.

mod benchmark;
mod conditions;

use serde::{Deserialize, Serialize};

use crate::accounts::report::MixRate;
use crate::accounts::words::{percent, three_digits};
use crate::accounts::{Unanswerable, replica_spec, sustainable};
use crate::ingest::ParsedFile;
use crate::planner::{Delivered, deliverable, of_constant_size};
use crate::problem::Problem;
use crate::scenario::Scenario;
use crate::sim::saturate_one_of;

use benchmark::Benchmark;
use conditions::{CONDITIONS, Condition};

/// The way from a benchmark to a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bridge {
    /// File of the benchmark.
    pub file: String,
    /// Its run in that file, from 1.
    pub row: Option<u64>,
    /// Replicas that all rates are of: the scenario's.
    pub replicas: u32,
    /// Replicas that served the benchmark.
    pub benchmark_replicas: u32,
    /// What remains of the benchmark's rate, in a sentence.
    pub sentence: String,
    /// One condition each, the benchmark's own first.
    pub steps: Vec<Step>,
    /// Conditions that are the same in both.
    pub alike: Vec<String>,
    /// What had to be supposed of the benchmark.
    pub assumptions: Vec<String>,
}

/// One more condition of production.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Kind of condition.
    pub id: String,
    /// In words.
    pub condition: String,
    /// What it was in the benchmark.
    pub benchmark: String,
    /// What it is in the scenario.
    pub production: String,
    /// How the rate is known.
    pub how: How,
    /// The rate; absent where there is none, for the reason beside.
    pub rate: Option<MixRate>,
    /// Why there is no rate, or what restricts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The true rate is this or more: no larger multiple of the mix is tried.
    #[serde(default)]
    pub is_least: bool,
    /// Output tokens/s over those of the last row before that has a rate, less 1; none where one of
    /// the two is only the least it may be.
    pub effect: Option<f64>,
}

/// How a rate is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The file says it.
    Measured,
    /// Simulated from first send to last finish, as the tool counts.
    Reproduced,
    /// Simulated with a queue that never empties: no latency is asked for.
    Sustained,
    /// The largest multiple of the mix at which a simulation holds the contract.
    Delivered,
}

/// The way from a point of `file` to `scenario`: from that row, or from the point with the highest
/// output rate.
///
/// # Errors
/// No point can be compared with the scenario's pool, or the scenario cannot be simulated.
pub fn bridge(
    file: &ParsedFile,
    row: Option<u64>,
    scenario: &Scenario,
) -> Result<Bridge, Vec<Problem>> {
    refuse_what_is_not_compared(scenario)?;
    // As a plan counts them.
    let scenario = &of_constant_size(scenario.clone());
    let benchmark = Benchmark::of(file, row, scenario)?;
    let mut way = Way { scenario, steps: benchmark.own_steps() };
    let mut alike = Vec::new();
    for (index, condition) in CONDITIONS.iter().enumerate() {
        // The first of each kind of rate is the change of what is counted.
        let counts_otherwise = way.steps.last().is_none_or(|step| step.how != condition.how);
        let before = stripped(scenario, &benchmark, &CONDITIONS[index..]);
        let after = stripped(scenario, &benchmark, &CONDITIONS[index + 1..]);
        if !counts_otherwise && conditions::same(&before, &after) {
            alike.push(condition.words.to_owned());
            continue;
        }
        way.take(condition, &benchmark, &after)?;
    }
    let Way { steps, .. } = way;
    Ok(Bridge {
        file: file.file.clone(),
        row: benchmark.point.row,
        replicas: scenario.pool.replicas,
        benchmark_replicas: benchmark.conditions.replicas,
        sentence: sentence(&steps, &benchmark),
        steps,
        alike,
        assumptions: benchmark.conditions.assumptions,
    })
}

fn refuse_what_is_not_compared(scenario: &Scenario) -> Result<(), Vec<Problem>> {
    if !scenario.has_several_pools() {
        return Ok(());
    }
    let message = "a benchmark is of one pool, and this fleet has several";
    let hint = "give a scenario of the pool that it measured and what is routed there";
    Err(vec![Problem::error("fleet.pools", message, hint)])
}

/// The scenario with `conditions` as they were in the benchmark.
fn stripped(scenario: &Scenario, benchmark: &Benchmark, conditions: &[Condition]) -> Scenario {
    let mut changed = scenario.clone();
    for condition in conditions.iter().rev() {
        (condition.as_in_benchmark)(&mut changed, benchmark);
    }
    changed
}

/// The rows so far.
struct Way<'a> {
    scenario: &'a Scenario,
    steps: Vec<Step>,
}

impl Way<'_> {
    fn take(
        &mut self,
        condition: &Condition,
        benchmark: &Benchmark,
        changed: &Scenario,
    ) -> Result<(), Vec<Problem>> {
        let (rate, is_least, note) = match condition.how {
            How::Sustained => {
                (Some(sustained(changed).map_err(|why| vec![why.problem()])?), false, None)
            }
            _ => delivered(changed),
        };
        let before = self.steps.iter().rev().find(|step| step.rate.is_some());
        let known = !is_least && before.is_some_and(|before| !before.is_least);
        self.steps.push(Step {
            id: condition.id.to_owned(),
            condition: condition.words.to_owned(),
            benchmark: (condition.of_benchmark)(benchmark),
            production: (condition.of_production)(self.scenario, benchmark),
            how: condition.how,
            effect: effect(before.and_then(|before| before.rate), rate).filter(|_| known),
            is_least,
            rate,
            note,
        });
        Ok(())
    }
}

fn effect(before: Option<MixRate>, after: Option<MixRate>) -> Option<f64> {
    let (before, after) = before.zip(after)?;
    (before.decode_tps > 0.0).then(|| after.decode_tps / before.decode_tps - 1.0)
}

/// What a fleet does of its mix while its queue never empties.
fn sustained(scenario: &Scenario) -> Result<MixRate, Unanswerable> {
    let spec = replica_spec(&scenario.pool)?;
    let mix = scenario.mix().map_err(Unanswerable::Workload)?;
    let replicas = scenario.pool.replicas;
    let saturation = saturate_one_of(&mix, (&spec, replicas)).ok_or(Unanswerable::NothingFits)?;
    Ok(sustainable(&saturation, replicas))
}

/// What it delivers at its contract, or why that is no rate.
/// And whether it may be more.
fn delivered(scenario: &Scenario) -> (Option<MixRate>, bool, Option<String>) {
    let none = |why: &str| (None, false, Some(why.to_owned()));
    match deliverable(scenario) {
        Err(why) => none(&why),
        Ok(None) => none("not decided within the budget of a plan"),
        Ok(Some(found)) => match found {
            Delivered { rate: Some(rate), .. } if found.is_least() => {
                let note = "at least: no more than 4 × the mix is tried";
                (Some(rate), true, Some(note.to_owned()))
            }
            Delivered { rate: Some(rate), .. } => (Some(rate), false, None),
            Delivered { alpha_steps: 0, .. } => {
                none("no multiple of the mix holds the contract, however small")
            }
            Delivered { .. } => {
                none("users who wait for answers ask as fast as they are served: no rate")
            }
        },
    }
}

/// What the plan may count on beside what the benchmark says, and the step that takes most where it
/// is less.
fn sentence(steps: &[Step], benchmark: &Benchmark) -> String {
    let Some(measured) = steps.first().and_then(|step| step.rate) else {
        return "the file states no output rate: the way begins with what is simulated".to_owned();
    };
    let Some(last) = steps.last() else { return String::new() };
    let says = format!("The benchmark says {}", benchmark.says(&measured));
    let Some(rate) = last.rate else {
        let why = last.note.as_deref().unwrap_or("it has no rate");
        return format!("{says}: no rate to plan with: {why}");
    };
    let ratio = rate.decode_tps / measured.decode_tps;
    let least = if last.is_least { "at least " } else { "" };
    let delivered = three_digits(rate.decode_tps);
    let sentence = format!(
        "{says}; of this workload at this contract it is {least}{delivered}, {} × as much",
        three_digits(ratio)
    );
    let simulated = steps.iter().filter(|step| step.how != How::Reproduced);
    let costs = simulated.filter_map(|step| Some((step.effect.filter(|by| *by < 0.0)?, step)));
    match costs.min_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((by, step)) if ratio < 1.0 => {
            format!("{sentence}; most is lost to the {} (−{})", step.condition, percent(-by))
        }
        _ => sentence,
    }
}
