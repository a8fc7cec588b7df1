//! The plan in words: the sentence, and why no count helps.

use super::alone::{Caps, caps};
use super::report::{FleetRow, PlanAnswer};
use super::variant::{ALPHA_STEPS, Constraint, Variant};
use crate::accounts::fleet_spec;
use crate::accounts::words::{percent, span_ms};
use crate::estimate::report::SupplyEstimate;
use crate::scenario::Scenario;
use crate::slo::Contract;
use crate::units::Picos;

/// The answer in one sentence with its window and number of runs.
pub fn sentence(scenario: &Scenario, answer: &PlanAnswer, fleets: &[FleetRow]) -> String {
    let window = span_ms((scenario.horizon - scenario.warmup).as_millis());
    match answer {
        PlanAnswer::Replicas { replicas, gpus, gpus_per_replica } => {
            let found = fleets.iter().find(|row| row.replicas == *replicas);
            let runs = found.map_or(String::new(), |row| {
                format!(" in {} of {} simulated windows of {window}", row.holds_in, row.runs)
            });
            let fewer = fleets.iter().find(|row| row.replicas + 1 == *replicas);
            let fewer = fewer.map_or(String::new(), |row| {
                format!(", {} in {} of {}", row.replicas, row.holds_in, row.runs)
            });
            format!(
                "{} ({gpus} GPUs = {replicas} × TP{gpus_per_replica}) hold the contract{runs}{fewer}",
                plural(*replicas)
            )
        }
        PlanAnswer::Infeasible { reason, .. } => format!("No number of replicas helps: {reason}"),
        PlanAnswer::NotFound { tried } => {
            format!("No fleet of up to {} holds the contract in every run", plural(*tried))
        }
    }
}

fn plural(replicas: u32) -> String {
    if replicas == 1 { "1 replica".to_owned() } else { format!("{replicas} replicas") }
}

/// What the next simulation is for.
pub fn next(variant: Variant) -> String {
    let fleet = plural(variant.replicas);
    let relaxed = variant.relaxed.map_or("", Constraint::label);
    match (variant.alpha_steps, relaxed) {
        (ALPHA_STEPS, "") => format!("{fleet}, seed +{}", variant.seed_offset),
        (_, "") => format!("{fleet} at {:.2} × this mix", variant.alpha()),
        (_, relaxed) => format!("{fleet} at {:.2} × this mix, {relaxed}", variant.alpha()),
    }
}

/// Why no count of replicas helps, if so: the model does not fit, only rates are declared, or
/// requests would not be good even alone.
pub fn beyond_count(scenario: &Scenario, supply: Option<&SupplyEstimate>) -> Option<PlanAnswer> {
    let Some(supply) = supply else {
        let does_not_fit = scenario.pool.memory.does_not_fit.as_ref();
        return Some(PlanAnswer::Infeasible {
            limit: "memory".to_owned(),
            reason: does_not_fit.map_or(String::new(), |reason| reason.message.clone()),
            lever: "more GPUs per replica, smaller weights, or another model".to_owned(),
        });
    };
    if supply.simplified {
        return Some(PlanAnswer::Infeasible {
            limit: "declared_rate".to_owned(),
            reason: format!(
                "only token rates are declared, and they say nothing about latency (by supply \
                 alone, at least {})",
                plural(supply.replicas_floor)
            ),
            lever: "use a step-time source from the catalogue, or calibrate one".to_owned(),
        });
    }
    let requests = scenario.offered().ok()?;
    let spec = fleet_spec(&scenario.pool).ok()?.replica;
    let classes = scenario.classes.iter().zip(&scenario.contracts);
    let capped = classes
        .zip(caps(scenario, &spec, &requests))
        .find(|((_, contract), caps)| caps.attainment() < contract.attainment_target);
    let ((class, contract), caps) = capped?;
    let named = caps.named();
    let (limit, _) = named.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (reason, lever) = why(limit, &caps, &class.name, contract);
    Some(PlanAnswer::Infeasible {
        limit: (*limit).to_owned(),
        reason: format!(
            "{reason}; at most {} of class {} can be good, the target is {}",
            percent(caps.attainment()),
            class.name,
            percent(contract.attainment_target)
        ),
        lever: lever.to_owned(),
    })
}

fn why(limit: &str, caps: &Caps, class: &str, contract: &Contract) -> (String, &'static str) {
    let limit_text = |limit: Option<Picos>| {
        limit.map_or_else(|| "its user's patience".to_owned(), |l| span_ms(l.as_millis()))
    };
    let faster = "a larger tensor_parallel, a faster GPU, lower precision, or a looser limit";
    match limit {
        "quality" => (
            format!("quality caps attainment at {}", percent(1.0 - caps.quality)),
            "better answers (another model, prompt or decoding), or a lower target",
        ),
        "errors" => (
            format!("errors cap attainment at {}", percent(1.0 - caps.errors)),
            "fix what fails, or lower the target",
        ),
        "too_long" => (
            format!("{} of class {class} fit no replica", percent(caps.too_long)),
            "a larger max_model_len or more KV memory, or shorter prompts and outputs",
        ),
        "zero_load_ttft" => (
            format!(
                "{} of class {class} wait longer than {} for the first token even on an idle \
                 replica",
                percent(caps.ttft),
                limit_text(contract.ttft)
            ),
            "shorter prompts, a larger tensor_parallel, a faster GPU, or a looser limit",
        ),
        "zero_load_tpot" => (
            format!(
                "{} of class {class} stream slower than {} per token even alone on a replica",
                percent(caps.tpot),
                limit_text(contract.tpot.or(contract.longest_stall))
            ),
            faster,
        ),
        _ => (
            format!(
                "{} of class {class} take longer than {} even alone on a replica",
                percent(caps.e2e),
                limit_text(contract.e2e)
            ),
            faster,
        ),
    }
}
