//! The plan in words.

use super::report::{FleetRow, PlanAnswer};
use super::variant::{ALPHA_STEPS, Constraint, Variant};
use crate::accounts::words::span_ms;
use crate::scenario::Scenario;

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

/// A number of replicas.
pub fn plural(replicas: u32) -> String {
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
