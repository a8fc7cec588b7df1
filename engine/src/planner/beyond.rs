//! Answers that are no count: the model does not fit, only rates are declared, or too many
//! requests would be lost whatever the fleet.

use super::alone::{Cause, Lost, losses};
use super::odds::Odds;
use super::report::PlanAnswer;
use crate::accounts::replica_spec;
use crate::accounts::words::{percent, span_ms, three_digits};
use crate::estimate::report::SupplyEstimate;
use crate::scenario::Scenario;
use crate::sim::ReplicaSpec;
use crate::slo::{Contract, Limit, PercentileTarget, Ranked};
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
    let mut draws = Draws::of(scenario, &spec);
    if !is_drawn {
        draws.one_more();
        return draws.answer().filter(|_| draws.odds.holds == 0);
    }
    while draws.odds.runs < MOST_DRAWS {
        draws.one_more();
        let Odds { holds, runs } = draws.odds;
        let nobody_is_capped = runs == FIRST_DRAWS && holds == runs;
        let is_settled = runs >= FIRST_DRAWS && draws.odds.against(scenario.confidence).is_settled;
        if nobody_is_capped || is_settled {
            break;
        }
    }
    draws.answer().filter(|_| !draws.odds.against(scenario.confidence).holds)
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

/// Workloads that were drawn, and who of them would be lost alone.
struct Draws<'a> {
    scenario: &'a Scenario,
    spec: &'a ReplicaSpec,
    /// In how many of them every class can meet its target.
    odds: Odds,
    /// The losses of every class over all of them, and in how many of them it is capped.
    classes: Vec<(Lost, u32)>,
    /// Of every class, in how many of them each of its percentile targets is missed.
    missed: Vec<Vec<u32>>,
}

impl<'a> Draws<'a> {
    fn of(scenario: &'a Scenario, spec: &'a ReplicaSpec) -> Self {
        let classes = vec![(Lost::default(), 0); scenario.classes.len()];
        let targets = |contract: &Contract| vec![0; contract.percentile_targets.len()];
        let missed = scenario.contracts.iter().map(targets).collect();
        Self { scenario, spec, odds: Odds::default(), classes, missed }
    }

    /// Draws another; a mix that cannot be drawn caps nobody, and every run will say why.
    fn one_more(&mut self) {
        let seed = self.scenario.seed.wrapping_add(u64::from(self.odds.runs));
        let requests = Scenario { seed, ..self.scenario.clone() }.mix().unwrap_or_default();
        let losses = losses(self.scenario, self.spec, &requests);
        let mut can_hold = true;
        let classes = self.classes.iter_mut().zip(&mut self.missed).zip(losses);
        for ((((sum, capped), missed), lost), contract) in classes.zip(&self.scenario.contracts) {
            sum.add(&lost);
            let targets = contract.percentile_targets.iter().zip(&lost.ranked);
            for ((target, ranked), missed) in targets.zip(missed) {
                if !target.is_met(*ranked) {
                    *missed += 1;
                    can_hold = false;
                }
            }
            if lost.offered > 0 && lost.best_attainment() < contract.attainment_target {
                *capped += 1;
                can_hold = false;
            }
        }
        self.odds.add(can_hold);
    }

    /// What caps the class that is capped in most draws, if one is.
    fn answer(&self) -> Option<PlanAnswer> {
        let classes = self.scenario.classes.iter().zip(&self.scenario.contracts);
        let of_class = classes.zip(&self.classes).rev().max_by_key(|(_, (_, capped))| *capped)?;
        let ((class, contract), (lost, capped)) = of_class;
        if *capped == 0 {
            return self.missed_target();
        }
        // By their rates where they are rates: 90 % rather than the 89.7 % that were drawn.
        let share = |cause| match cause {
            Cause::Error => class.lasting_error_rate(),
            // Truncated answers have a rate of their own, and how many there are is drawn.
            Cause::Quality if class.truncated_pass_rate.is_none() => {
                1.0 - class.pass_rate(0.0).unwrap_or(1.0)
            }
            _ => lost.share(cause),
        };
        let mut causes: Vec<Cause> =
            Cause::ALL.into_iter().filter(|cause| share(*cause) > 0.0).collect();
        causes.sort_by(|a, b| share(*b).total_cmp(&share(*a)));
        let (first, others) = causes.split_first()?;
        let (mut reason, lever) = why(*first, share(*first), class, contract);
        for cause in others {
            reason = format!("{reason}; {}", why(*cause, share(*cause), class, contract).0);
        }
        let left: f64 = Cause::ALL.into_iter().map(|cause| 1.0 - share(cause)).product();
        Some(PlanAnswer::Infeasible {
            limit: first.name().to_owned(),
            reason: format!("{reason}; {}", self.room((class, contract), left, *capped)),
            lever: lever.to_owned(),
        })
    }

    /// The percentile target that is missed in most draws, if one is.
    fn missed_target(&self) -> Option<PlanAnswer> {
        let classes = self.scenario.classes.iter().zip(&self.scenario.contracts);
        let targets = classes.zip(self.classes.iter().zip(&self.missed)).flat_map(
            |((class, contract), ((lost, _), missed))| {
                let targets = contract.percentile_targets.iter().zip(&lost.ranked).zip(missed);
                targets.map(move |((target, ranked), missed)| (class, target, ranked, *missed))
            },
        );
        let missed = targets.filter(|(.., missed)| *missed > 0);
        let (class, target, ranked, _) =
            missed.reduce(|most, next| if next.3 > most.3 { next } else { most })?;
        Some(missed_target(class, target, ranked))
    }

    /// What is left against what is asked, and how often that is too little.
    fn room(
        &self,
        (class, contract): (&TrafficClass, &Contract),
        left: f64,
        capped: u32,
    ) -> String {
        let target = percent(contract.attainment_target);
        let left = percent(left);
        let how_often = match self.odds.runs {
            1 => String::new(),
            runs => format!(", which {capped} of {runs} draws miss whatever the fleet"),
        };
        let name = &class.name;
        format!("at most {left} of class {name} can be good, the target is {target}{how_often}")
    }
}

/// A percentile that is beyond its target though every request has a replica to itself.
fn missed_target(class: &TrafficClass, target: &PercentileTarget, ranked: &Ranked) -> PlanAnswer {
    let (limit, lever) = match target.of {
        Limit::Ttft => (Cause::Ttft, "shorter prompts, a larger tensor_parallel, a faster GPU"),
        Limit::Ttfvt => (Cause::Ttfvt, "fewer hidden tokens, a model or GPU that decodes faster"),
        Limit::Tpot | Limit::Stall | Limit::Itl => {
            (Cause::Tpot, "a larger tensor_parallel, a faster GPU, lower precision")
        }
        Limit::E2e => (Cause::E2e, "a larger tensor_parallel, a faster GPU, lower precision"),
    };
    PlanAnswer::Infeasible {
        limit: limit.name().to_owned(),
        reason: format!(
            "{} of class {} are above {} of {} or never get it even alone on a replica, and the \
             target on p{} allows {}",
            percent(ranked.beyond as f64 / ranked.population.max(1) as f64),
            class.name,
            span_ms(target.limit.as_millis()),
            target.of.name(),
            three_digits(100.0 * target.share),
            percent(1.0 - target.share)
        ),
        lever: format!("{lever}, or a looser target"),
    }
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
        Cause::TurnedAway => turned_away(name, &lost),
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

fn turned_away(class: &str, lost: &str) -> (String, &'static str) {
    (
        format!(
            "the token bucket (admission.token_bucket) turns away {lost} of class {class}, however \
             idle the replicas are"
        ),
        "a token bucket of a larger rate_rps or burst, or none",
    )
}
