//! Answers that are no count: the model does not fit, only rates are declared, or too many
//! requests would be lost whatever the fleet.

use super::alone::{Cause, Lost, losses};
use super::odds::Odds;
use super::report::PlanAnswer;
use crate::accounts::replica_spec;
use crate::accounts::words::{percent, span_ms};
use crate::estimate::report::SupplyEstimate;
use crate::scenario::Scenario;
use crate::sim::ReplicaSpec;
use crate::slo::Contract;
use crate::units::Picos;
use crate::workload::TrafficClass;

/// Draws in which somebody is looked for who is lost whatever the fleet.
const FIRST_DRAWS: u32 = 5;
/// Draws by which it is told how often that breaks the contract, where it does in one of those.
const MOST_DRAWS: u32 = 40;

/// Why no count of replicas helps, if so: in too many draws too many requests would not be good if
/// each had a replica to itself.
pub fn beyond_count(
    scenario: &Scenario,
    supply: Option<&SupplyEstimate>,
    is_drawn: bool,
) -> Option<PlanAnswer> {
    let Some(supply) = supply else { return Some(does_not_fit(scenario)) };
    if supply.simplified {
        return Some(declared(scenario, supply));
    }
    let spec = replica_spec(&scenario.pool).ok()?;
    let in_draw = |offset: u32| {
        let seed = scenario.seed.wrapping_add(u64::from(offset));
        capped(&Scenario { seed, ..scenario.clone() }, &spec)
    };
    if !is_drawn {
        return in_draw(0);
    }
    let mut odds = Odds::default();
    let mut first = None;
    while odds.runs < MOST_DRAWS {
        let capped = in_draw(odds.runs);
        odds.add(capped.is_none());
        first = first.or(capped);
        if odds.runs == FIRST_DRAWS && first.is_none() {
            return None;
        }
        let standing = odds.against(scenario.confidence);
        if odds.runs >= FIRST_DRAWS && standing.is_settled {
            break;
        }
    }
    first.filter(|_| !odds.against(scenario.confidence).holds)
}

fn does_not_fit(scenario: &Scenario) -> PlanAnswer {
    let does_not_fit = scenario.pool.memory.does_not_fit.as_ref();
    PlanAnswer::Infeasible {
        limit: "memory".to_owned(),
        reason: does_not_fit.map_or(String::new(), |reason| reason.message.clone()),
        lever: "more GPUs per replica, smaller weights, or another model".to_owned(),
    }
}

/// Declared rates say how many replicas do the work, and nothing about how long anybody waits.
fn declared(scenario: &Scenario, supply: &SupplyEstimate) -> PlanAnswer {
    let gpus_per_replica = scenario.pool.gpus_per_replica;
    PlanAnswer::SupplyOnly {
        replicas: supply.replicas_floor,
        gpus: supply.replicas_floor.saturating_mul(gpus_per_replica),
        gpus_per_replica,
        lever: "use a step-time source from the catalogue, or calibrate one".to_owned(),
    }
}

/// The first class of which, in this draw, fewer can be good than must be.
fn capped(scenario: &Scenario, spec: &ReplicaSpec) -> Option<PlanAnswer> {
    let requests = scenario.mix().ok()?;
    let classes = scenario.classes.iter().zip(&scenario.contracts);
    let mut with_losses = classes.zip(losses(scenario, spec, &requests));
    let ((class, contract), lost) = with_losses.find(|((_, contract), lost)| {
        lost.offered > 0 && lost.best_attainment() < contract.attainment_target
    })?;
    // By their rates where they are rates: 90 % rather than the 89.7 % that were drawn.
    let share = |cause| match cause {
        Cause::Error => class.lasting_error_rate(),
        // Truncated answers have a rate of their own, and how many there are is drawn.
        Cause::Quality if class.truncated_pass_rate.is_none() => {
            1.0 - class.pass_rate(0.0).unwrap_or(1.0)
        }
        _ => lost.share(cause),
    };
    let limit = Cause::ALL.into_iter().max_by(|a, b| share(*a).total_cmp(&share(*b)))?;
    let (reason, lever) = why(limit, share(limit), class, contract);
    Some(PlanAnswer::Infeasible {
        limit: limit.name().to_owned(),
        reason: format!("{reason}; {}", room(scenario, class, contract, &lost)),
        lever: lever.to_owned(),
    })
}

/// What is left against what is asked.
fn room(scenario: &Scenario, class: &TrafficClass, contract: &Contract, lost: &Lost) -> String {
    format!(
        "at most {} of class {} can be good (seed {}), the target is {}",
        percent(lost.best_attainment()),
        class.name,
        scenario.seed,
        percent(contract.attainment_target)
    )
}

fn why(
    cause: Cause,
    share: f64,
    class: &TrafficClass,
    contract: &Contract,
) -> (String, &'static str) {
    let limit = |limit: Option<Picos>| {
        limit.map_or_else(|| "its user's patience".to_owned(), |l| span_ms(l.as_millis()))
    };
    let (name, lost, left) = (&class.name, percent(share), percent(1.0 - share));
    let faster = "a larger tensor_parallel, a faster GPU, lower precision, or a looser limit";
    match cause {
        Cause::Quality => (
            format!("quality caps attainment at {left}"),
            "better answers (another model, prompt or decoding), or a lower target",
        ),
        Cause::Error => {
            (format!("errors cap attainment at {left}"), "fix what fails, or lower the target")
        }
        Cause::TooLong => (
            format!("{lost} of class {name} fit no replica"),
            "a larger max_model_len or more KV memory, or shorter prompts and outputs",
        ),
        Cause::Ttft => (
            format!(
                "{lost} of class {name} wait longer than {} for the first token even on an idle \
                 replica",
                limit(contract.ttft)
            ),
            "shorter prompts, a larger tensor_parallel, a faster GPU, or a looser limit",
        ),
        Cause::NothingShown => (
            format!(
                "{lost} of class {name} spend their output budget on tokens that are not shown"
            ),
            "a larger output budget, fewer hidden tokens, or no limit on the first visible token",
        ),
        Cause::Ttfvt => (
            format!(
                "{lost} of class {name} wait longer than {} for the first visible token even \
                 alone on a replica",
                limit(contract.ttfvt)
            ),
            "fewer hidden tokens, a model or GPU that decodes faster, or a looser limit",
        ),
        Cause::Tpot => (
            format!(
                "{lost} of class {name} stream slower than {} per token even alone on a replica",
                limit(
                    contract.tpot.or(contract.longest_stall).or(contract.itl.map(|limit| limit.at))
                )
            ),
            faster,
        ),
        Cause::E2e => (
            format!(
                "{lost} of class {name} take longer than {} even alone on a replica",
                limit(contract.e2e)
            ),
            faster,
        ),
    }
}
