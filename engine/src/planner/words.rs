//! The plan in words.

use super::odds::{Odds, Standing};
use super::report::{FleetRow, Judged, PlanAnswer, PlanReport};
use super::search::{Block, Search};
use super::variant::{ALPHA_STEPS, Constraint, Variant};
use crate::accounts::proviso;
use crate::accounts::words::{percent, plural, span_ms};
use crate::fleet::Scaling;
use crate::scenario::Scenario;
use crate::workload::TrafficClass;

/// The answer before there is a row for it: by the windows that were seen so far.
pub fn first_sentence(
    scenario: &Scenario,
    answer: &PlanAnswer,
    standing: Option<Standing>,
) -> String {
    match answer {
        PlanAnswer::Replicas { replicas, gpus, gpus_per_replica } => {
            let Odds { holds, runs } = standing.map(|standing| standing.odds).unwrap_or_default();
            format!(
                "{} {} the contract in {holds} of {runs} simulated windows of {} so far",
                with_gpus(*replicas, *gpus, *gpus_per_replica),
                hold(*replicas),
                window(scenario)
            )
        }
        PlanAnswer::SupplyOnly { replicas, gpus, gpus_per_replica, .. } => format!(
            "By supply alone, at least {}; whether anybody waits too long, declared token rates do \
             not say",
            with_gpus(*replicas, *gpus, *gpus_per_replica)
        ),
        PlanAnswer::Undecided { fails, holds } => undecided(*fails, *holds),
        PlanAnswer::Infeasible { reason, .. } => format!("No number of replicas helps: {reason}"),
        PlanAnswer::NotFound { tried } => format!(
            "No fleet of up to {} holds the contract in {} of simulated windows",
            fleet_of(*tried),
            percent(scenario.confidence)
        ),
    }
}

/// The answer in one sentence with its window and number of runs.
pub fn sentence(scenario: &Scenario, report: &PlanReport) -> String {
    let PlanAnswer::Replicas { replicas, gpus, gpus_per_replica } = report.answer else {
        return report.sentence.clone();
    };
    let row = |n: u32| report.fleets.iter().find(move |row| row.replicas == n);
    let Some(found) = row(replicas) else { return report.sentence.clone() };
    let fewer = replicas.checked_sub(1).and_then(row);
    let fleet = with_gpus(replicas, gpus, gpus_per_replica);
    let odds = odds(scenario, found, fewer);
    let below = below_floor(scenario, replicas, report.replicas_floor).unwrap_or_default();
    let proviso = proviso(scenario).map_or(String::new(), |text| format!(", {text}"));
    format!("{fleet} {} the contract {odds}{below}{proviso}", hold(replicas))
}

/// How often the answer holds, and one fewer.
fn odds(scenario: &Scenario, found: &FleetRow, fewer: Option<&FleetRow>) -> String {
    let window = window(scenario);
    if found.probability_low.total_cmp(&found.probability_high).is_eq() {
        let fewer = fewer.map_or(String::new(), |row| {
            let does = if row.probability >= 1.0 { "does" } else { "does not" };
            let do_ = if row.replicas == 1 { does.to_owned() } else { does.replace("does", "do") };
            format!("; {} {do_}", row.replicas)
        });
        return format!("in the window of {window}, in which nothing is drawn{fewer}");
    }
    let fewer = fewer.map_or(String::new(), |row| {
        // It was refused in other windows before.
        match row.judged {
            None => format!(", {} in {}", row.replicas, percent(row.probability)),
            Some(Judged { holds_in, runs }) => {
                format!(", {} in {holds_in} of all {runs} that judged it", row.replicas)
            }
        }
    });
    let unsettled = if found.is_settled {
        String::new()
    } else {
        format!(", too few to settle the {} asked for", percent(scenario.confidence))
    };
    format!(
        "in {} of simulated windows of {window} (Wilson {}, {}{unsettled}){fewer}",
        percent(found.probability),
        interval(found),
        plural(u64::from(found.runs), "run", "runs"),
    )
}

/// The interval in whole per cent, no narrower than it is.
pub fn interval(row: &FleetRow) -> String {
    let (low, high) = (100.0 * row.probability_low, 100.0 * row.probability_high);
    format!("{}–{} %", (low + 1e-9).floor(), (high - 1e-9).ceil())
}

/// Why a fleet smaller than the supply floor holds, where it does.
fn below_floor(scenario: &Scenario, replicas: u32, floor: u32) -> Option<String> {
    (replicas < floor).then(|| {
        format!(
            "; that is below the supply floor of {floor}, the mean load over what one replica \
             sustains: what this fleet falls behind is not too late yet when the window of {} \
             ends, and a longer one takes more",
            window(scenario)
        )
    })
}

/// The rule by which windows decide.
pub fn rule(search: &Search<'_>) -> String {
    if !search.is_drawn {
        return "nothing is drawn: one window decides".to_owned();
    }
    let windows = |block| plural(u64::from(search.most_windows(block)), "window", "windows");
    format!(
        "the smallest N such that N and N + 1 hold in {} of windows and N − 1 does not: chosen by up \
         to {}, confirmed by up to {} others; a fleet is settled when the 95 % Wilson interval of \
         its share lies on one side, else the share itself decides",
        percent(search.confidence),
        windows(Block::Choosing),
        search.most_windows(Block::Confirming(0)),
    )
}

fn window(scenario: &Scenario) -> String {
    span_ms((scenario.horizon - scenario.warmup).as_millis())
}

fn hold(replicas: u32) -> &'static str {
    if replicas == 1 { "holds" } else { "hold" }
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
    let of = variant.stretch.label();
    if variant.failing > 0 {
        let failing = plural(u64::from(variant.failing), "failure", "failures");
        return format!("{fleet} with {failing}, window {}", variant.seed_offset);
    }
    match (variant.alpha_steps, relaxed) {
        (ALPHA_STEPS, "") => match Block::of_offset(variant.seed_offset) {
            Block::First => fleet,
            Block::Choosing => format!("{fleet}, window {}", variant.seed_offset),
            Block::Confirming(_) => format!("{fleet}, window {} to confirm", variant.seed_offset),
        },
        (_, "") => format!("{fleet} at {:.2} × {of}", variant.alpha()),
        (_, relaxed) => format!("{fleet} at {:.2} × {of}, {relaxed}", variant.alpha()),
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
