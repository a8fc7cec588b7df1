//! The plan in words.

use super::report::{FleetRow, PlanAnswer, PlanReport};
use super::variant::{ALPHA_STEPS, Constraint, Variant};
use crate::accounts::proviso;
use crate::accounts::words::{plural, span_ms};
use crate::fleet::Scaling;
use crate::scenario::Scenario;
use crate::workload::TrafficClass;

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
            let verb = if *replicas == 1 { "holds" } else { "hold" };
            let fleet = with_gpus(*replicas, *gpus, *gpus_per_replica);
            let proviso = proviso(scenario).map_or(String::new(), |text| format!(", {text}"));
            format!("{fleet} {verb} the contract{runs}{fewer}{proviso}")
        }
        PlanAnswer::SupplyOnly { replicas, gpus, gpus_per_replica, .. } => format!(
            "By supply alone, at least {}; whether anybody waits too long, declared token rates do \
             not say",
            with_gpus(*replicas, *gpus, *gpus_per_replica)
        ),
        PlanAnswer::Undecided { fails, holds } => undecided(*fails, *holds),
        PlanAnswer::Infeasible { reason, .. } => format!("No number of replicas helps: {reason}"),
        PlanAnswer::NotFound { tried } => {
            format!("No fleet of up to {} holds the contract in every run", fleet_of(*tried))
        }
    }
}

/// The answers for all pools in one sentence.
pub fn of_pools(plans: &[PlanReport]) -> String {
    let of = |plan: &PlanReport| {
        let name = plan.pool.as_deref().unwrap_or_default();
        format!("pool {name}: {}", plan.sentence)
    };
    plans.iter().map(of).collect::<Vec<_>>().join("; ")
}

/// What of a scenario its plan sees otherwise.
pub fn notes(scenario: &Scenario) -> Vec<String> {
    let mut notes = Vec::new();
    if scenario.has_several_pools() {
        let split =
            |class: &TrafficClass| class.route.is_split() && class.arrivals.closed_loop().is_some();
        notes.push(
            "each pool is planned for its part of every class, and that part alone has to meet the \
             contract of the class"
                .to_owned(),
        );
        if scenario.classes.iter().any(split) {
            notes.push(
                "users of a closed loop who are routed to several pools are a crowd of its own in \
                 each"
                    .to_owned(),
            );
        }
        if scenario.admission.is_limited() {
            notes.push("the limits at the door are held by each pool for itself".to_owned());
        }
    }
    if scenario.pools().any(|pool| pool.life.scaling != Scaling::Fixed) {
        notes.push(
            "a constant number of replicas is planned; where an autoscaler or a timetable decides, \
             the present fleet is taken at its most"
                .to_owned(),
        );
    }
    notes
}

/// A number of replicas.
fn fleet_of(replicas: u32) -> String {
    plural(u64::from(replicas), "replica", "replicas")
}

/// A fleet and its GPUs.
fn with_gpus(replicas: u32, gpus: u32, gpus_per_replica: u32) -> String {
    let gpus = plural(u64::from(gpus), "GPU", "GPUs");
    format!("{} ({gpus} = {replicas} × TP{gpus_per_replica})", fleet_of(replicas))
}

/// What the next simulation is for.
pub fn next(variant: Variant) -> String {
    let fleet = fleet_of(variant.replicas);
    let relaxed = variant.relaxed.map_or("", Constraint::label);
    match (variant.alpha_steps, relaxed) {
        (ALPHA_STEPS, "") => format!("{fleet}, seed +{}", variant.seed_offset),
        (_, "") => format!("{fleet} at {:.2} × this mix", variant.alpha()),
        (_, relaxed) => format!("{fleet} at {:.2} × this mix, {relaxed}", variant.alpha()),
    }
}

/// What is known of a search that the budget ended.
fn undecided(fails: Option<u32>, holds: Option<u32>) -> String {
    let verb =
        |n: u32, one: &str, many: &str| if n == 1 { one.to_owned() } else { many.to_owned() };
    let fails = fails.map(|n| format!("{} {} not", fleet_of(n), verb(n, "does", "do")));
    let holds = holds.map(|n| format!("{} {} with one seed", fleet_of(n), verb(n, "does", "do")));
    let known: Vec<String> = fails.into_iter().chain(holds).collect();
    let known = if known.is_empty() {
        "no fleet was simulated to its end".to_owned()
    } else {
        known.join(", ")
    };
    format!(
        "How many replicas hold the contract was not decided within the budget of a plan ({known}): \
         shorten the horizon"
    )
}
