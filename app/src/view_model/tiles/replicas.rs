//! The tile of the replicas that hold the contract.

use goodput_engine::planner::report::{FleetRow, PlanAnswer, PlanReport};

use super::super::delta::{Delta, Tone};
use super::{Source, Tile, step_time};
use crate::format;

/// How many replicas hold the contract, and how many are missing.
pub fn replicas(source: &Source) -> Tile {
    let pools = &source.doc.fleet.pools;
    let planned = source.plan.or(source.earlier_plan);
    // Of several pools, the one that the plan is of.
    let name = planned.and_then(|plan| plan.pool.as_deref());
    let pool = pools.iter().find(|pool| name == Some(pool.name.trim())).or_else(|| pools.first());
    let have = pool.map_or(0, |pool| pool.replicas);
    let of_pool = name.map_or_else(String::new, |name| format!("pool {name}: "));
    let tile = |value: Option<u32>, delta: Option<Delta>, detail: String| Tile {
        id: "replicas",
        label: "Replicas that hold it",
        value: value.map_or_else(|| format::NONE.to_owned(), |n| n.to_string()),
        exact: value.map(f64::from),
        unit: "",
        delta,
        detail: match source.plan {
            Some(_) => format!("{of_pool}{detail}"),
            None => format!("for the previous inputs: {of_pool}{detail}"),
        },
        tags: step_time(source),
        is_earlier: source.plan.is_none(),
    };
    let Some(plan) = planned else {
        let detail = "being worked out over many windows".to_owned();
        return Tile { detail, is_earlier: false, ..tile(None, None, String::new()) };
    };
    match &plan.answer {
        PlanAnswer::Replicas { replicas, gpus, gpus_per_replica } => {
            let detail = holding(plan, *replicas, (*gpus, *gpus_per_replica));
            // What comes and goes is no number to be short of.
            let delta = match pool {
                Some(pool) if pool.autoscaler.is_some() || !pool.scheduled_replicas.is_empty() => {
                    Delta::plain("of a fixed size, as many all the time".to_owned(), Tone::Same)
                }
                _ => shortfall(*replicas, have),
            };
            tile(Some(*replicas), Some(delta), detail)
        }
        PlanAnswer::Infeasible { reason, lever, .. } => {
            tile(None, None, format!("no count helps: {reason}; {lever}"))
        }
        PlanAnswer::SupplyOnly { replicas, lever, .. } => tile(
            Some(*replicas),
            Some(shortfall(*replicas, have)),
            format!("at least, by supply alone: declared rates say nothing of latency; {lever}"),
        ),
        PlanAnswer::Undecided { .. } => tile(None, None, plan.sentence.clone()),
        PlanAnswer::NotFound { tried } => {
            let fleet = format::plural(u64::from(*tried), "replica", "replicas");
            tile(None, None, format!("no fleet of up to {fleet} holds it"))
        }
    }
}

/// What an answer is made of, how often it holds, and how often one replica less does.
fn holding(plan: &PlanReport, replicas: u32, (gpus, gpus_per_replica): (u32, u32)) -> String {
    let size = format!(
        "{} = {} × TP{gpus_per_replica}",
        format::plural(u64::from(gpus), "GPU", "GPUs"),
        format::plural(u64::from(replicas), "replica", "replicas"),
    );
    let share = |row: &FleetRow| format::with_unit(&format::fixed(row.probability * 100.0, 0), "%");
    let row = |n: u32| plan.fleets.iter().find(move |row| row.replicas == n);
    let held = row(replicas).map(|row| {
        let windows = format::plural(row.runs.into(), "window", "windows");
        format!("; holds in {} of {windows}", share(row))
    });
    let below = row(replicas.saturating_sub(1)).map(|row| match row.judged {
        None => format!(", {} in {}", row.replicas, share(row)),
        Some(all) => format!(", {} in {} of all {}", row.replicas, all.holds_in, all.runs),
    });
    std::iter::once(size).chain(held).chain(below).collect()
}

/// How many are missing or to spare.
pub fn shortfall(need: u32, have: u32) -> Delta {
    let was = format!("have {have}");
    match need.cmp(&have) {
        std::cmp::Ordering::Greater => {
            Delta { text: format!("{} short", need - have), tone: Tone::Worse, was }
        }
        std::cmp::Ordering::Less => {
            Delta { text: format!("{} to spare", have - need), tone: Tone::Better, was }
        }
        std::cmp::Ordering::Equal => {
            Delta { text: "as many as there are".into(), tone: Tone::Same, was: String::new() }
        }
    }
}
