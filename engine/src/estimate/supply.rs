//! What the fleet sustains and delivers of this mix, against what is asked.

use super::cached;
use super::closed_loop;
use super::debt;
use super::demand::{self, ClassDemand, IntervalDemand};
use super::latency::{self, Latencies};
use super::leaves_out::leaves_out;
use super::mean_field::LengthMoments;
use super::reasons;
use super::report::Distrust;
use super::report::{EstimateVerdict, SupplyEstimate};
use super::service::ReplicaModel;
use super::timeline::Timeline;
use super::workload;
use crate::accounts::report::{MixRate, SaturatedBy};
use crate::accounts::words::three_digits;
use crate::scenario::{Pool, Scenario};
use crate::slo::Limit;
use crate::step_time::Origin;
use crate::units::{MONTH_H, Picos};

/// Share of a prompt from which on it matters whether it is found cached.
const WORTH_FINDING: f64 = 0.02;
/// Share of what could be found that is found where memory keeps it.
const SURELY_KEPT: f64 = 0.95;

/// The estimate of a fleet that fits.
pub fn estimate(scenario: &Scenario) -> (EstimateVerdict, SupplyEstimate) {
    let mut classes = demand::classes(scenario);
    let model = ReplicaModel::of(&scenario.pool);
    let users_wait_s = closed_loop::settle(scenario, &mut classes, &model);
    let mean = demand::between(&classes, Picos::ZERO, scenario.horizon);
    let timeline = Timeline::of(scenario, &classes, &model);
    let latencies = Latencies::of(scenario, &model, &classes, &mean, &timeline);
    let late = match &latencies {
        Some(latencies) => !latencies.within_limits_at_peak,
        // Of nobody, nobody is late.
        None => mean.served_rps <= 0.0 && mean.offered.rps > 0.0,
    };
    let late = late || users_wait_s.is_some_and(|wait_s| users_are_late(scenario, wait_s));
    let verdict = if timeline.peak_utilization > 1.0 {
        EstimateVerdict::Overloaded
    } else if late {
        EstimateVerdict::LateButStable
    } else {
        EstimateVerdict::Holds
    };
    let mut supply = rates(scenario, &classes, &model, &mean, &timeline);
    let (verdict, scaled) = reasons::while_replicas_come_and_go(verdict, &scenario.pool.life);
    supply.verdict_reasons = reasons::caps(scenario, &classes).into_iter().chain(scaled).collect();
    for (class, asked) in classes.iter().zip(&mut supply.workload) {
        if let Some(rate_rps) = class.closed_loop_rps {
            asked.expected_requests = rate_rps * scenario.horizon.as_secs();
        }
    }
    if users_wait_s.is_some() {
        supply.leaves_out.push(
            "the queue of users in a closed loop that the fleet cannot keep up with: TTFT is \
             without it"
                .to_owned(),
        );
    }
    if let Some(latencies) = latencies {
        add_latencies(&mut supply, latencies, &mean);
    }
    (verdict, supply)
}

/// Whether users in a closed loop queue for longer than a first token of theirs may take.
fn users_are_late(scenario: &Scenario, wait_s: f64) -> bool {
    let classes = scenario.classes.iter().zip(&scenario.contracts);
    classes.filter(|(class, _)| class.arrivals.closed_loop().is_some()).any(|(_, contract)| {
        let limit = latency::limit_of(contract, Limit::Ttft);
        let limit = limit.or(latency::limit_of(contract, Limit::E2e));
        limit.is_some_and(|limit| wait_s > limit.as_secs())
    })
}

/// Everything but latencies.
fn rates(
    scenario: &Scenario,
    classes: &[ClassDemand],
    model: &ReplicaModel,
    mean: &IntervalDemand,
    timeline: &Timeline,
) -> SupplyEstimate {
    let pool = &scenario.pool;
    let replicas = f64::from(pool.most_replicas());
    let (per_replica_rps, binding_constraint) = if mean.served_rps > 0.0 {
        (model.sustainable(&mean.served).0, model.binds(&mean.served))
    } else if mean.offered.rps > 0.0 {
        // Nothing that is asked fits a replica, so nothing is sustained and nothing is required.
        (0.0, "too_long")
    } else {
        (0.0, "nothing_asked")
    };
    let sustainable_rps = per_replica_rps * replicas;
    let utilization = ratio(mean.served_rps, sustainable_rps);
    let cached: Vec<f64> = classes.iter().map(|class| class.lengths.offered.cached).collect();
    SupplyEstimate {
        workload: workload::classes(scenario, &cached),
        required_prefill_tps: mean.offered.prefill_tps,
        required_decode_tps: mean.offered.decode_tps,
        prefix_hit_rate: prefix_hit_rate(&mean.served),
        required_prefill_after_hits_tps: mean.served_rps * mean.served.computed(),
        required_rps: mean.offered.rps,
        demand: timeline.windows.clone(),
        required_peak: timeline.peak,
        peak_from_s: timeline.peak_from_s,
        peak_window_s: timeline.peak_window_s,
        sustainable_rps,
        sustainable_prefill_tps: sustainable_rps * mean.served.input,
        sustainable_decode_tps: sustainable_rps * mean.served.output,
        sustainable_at_peak: at_peak(model, &timeline.peak_demand, replicas),
        binds: model.takes_most_time(&timeline.peak_demand.served),
        deliverable_rps: None,
        deliverable_prefill_tps: None,
        deliverable_decode_tps: None,
        utilization,
        utilization_peak: timeline.peak_utilization,
        binding_constraint: binding_constraint.to_owned(),
        replicas_floor: whole_replicas(utilization * replicas),
        mean_batch: None,
        ttft_ms: None,
        zero_load_ttft_ms: None,
        tpot_ms: None,
        zero_load_tpot_ms: None,
        classes: Vec::new(),
        debt_series: debt::fluid(timeline, mean),
        cost_per_month: cost_per_month(pool),
        kv_token_steps_per_request: mean.served.kv_token_steps(),
        required_live_sequences: None,
        required_kv_tokens: None,
        origin: pool.step_time().map_or(Origin::Declared, |s| s.resolved.provenance.origin),
        step_time_band: pool
            .step_time()
            .and_then(|step_time| step_time.resolved.provenance.band)
            .map(|band| band.typical),
        outside_measured_range: Vec::new(),
        outside_trusted_range: distrust(scenario, classes, model, &mean.served),
        verdict_reasons: Vec::new(),
        leaves_out: leaves_out(scenario),
        simplified: pool.step_time().is_none(),
    }
}

/// Share of prompt tokens that are found cached; `None` where nothing can be.
fn prefix_hit_rate(lengths: &LengthMoments) -> Option<f64> {
    (lengths.cached > 0.0).then(|| lengths.cached / lengths.input)
}

/// Why not to trust the arithmetic; what is cached is another where it decides how soon blocks are
/// taken.
fn distrust(
    scenario: &Scenario,
    classes: &[ClassDemand],
    model: &ReplicaModel,
    served: &LengthMoments,
) -> Vec<Distrust> {
    let mut reasons = model.distrust(served);
    let most = cached::if_kept(scenario, classes);
    if let Some(field) =
        model.steps(served).filter(|_| served.cached > WORTH_FINDING * served.input)
        && field.saturated().1 == SaturatedBy::KvMemory
    {
        reasons.push(Distrust {
            reason: "cache_in_full_memory".to_owned(),
            message:
                "running sequences fill the KV memory that the prefix cache lives in before a \
                      replica is saturated, and what they hold together is counted in each: what \
                      is sustained is not known by arithmetic: simulate"
                    .to_owned(),
        });
    }
    let found = served.cached / most.max(1e-9);
    if most > WORTH_FINDING * served.input && found < SURELY_KEPT {
        reasons.push(Distrust {
            reason: "cache_turnover".to_owned(),
            message: format!(
                "about {} % of what prompts share is found cached: the rest is pushed out of the \
                 free KV blocks before it is asked for again, and how soon depends on the order of \
                 requests: simulate",
                three_digits(100.0 * found)
            ),
        });
    }
    reasons
}

/// What is sustained of the mix in the busiest window.
fn at_peak(model: &ReplicaModel, peak: &IntervalDemand, replicas: f64) -> MixRate {
    if peak.served_rps <= 0.0 {
        return MixRate::default();
    }
    let rps = replicas * model.sustainable(&peak.served).0;
    MixRate { rps, prefill_tps: rps * peak.served.input, decode_tps: rps * peak.served.output }
}

fn add_latencies(supply: &mut SupplyEstimate, latencies: Latencies, mean: &IntervalDemand) {
    supply.deliverable_rps = Some(latencies.deliverable_rps);
    supply.deliverable_prefill_tps = Some(latencies.deliverable_rps * mean.served.input);
    supply.deliverable_decode_tps = Some(latencies.deliverable_rps * mean.served.output);
    supply.mean_batch = latencies.mean_batch;
    supply.ttft_ms = latencies.ttft_ms;
    supply.zero_load_ttft_ms = Some(latencies.zero_load_ttft_ms);
    supply.tpot_ms = latencies.tpot_ms;
    let steps_per_s = latencies.tpot_ms.map(|ms| mean.served_rps * ms / 1e3);
    supply.required_live_sequences = steps_per_s.map(|rate| rate * (mean.served.output - 1.0));
    supply.required_kv_tokens = steps_per_s.map(|rate| rate * mean.served.kv_token_steps());
    supply.zero_load_tpot_ms = latencies.zero_load_tpot_ms;
    supply.classes = latencies.classes;
    supply.outside_measured_range = latencies.outside_measured_range;
}

/// A share of something that may be nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Rounded up, but not by an error in the last digits.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn whole_replicas(exact: f64) -> u32 {
    (exact - 1e-9).ceil().max(1.0) as u32
}

fn cost_per_month(pool: &Pool) -> Option<f64> {
    let price = pool.price.as_ref()?;
    Some(price.usd_per_gpu_hour * f64::from(pool.gpus()) * MONTH_H)
}
