//! The estimate of a fleet: pool by pool, and how the pools add up.

use super::report::{
    ClassEstimate, Distrust, EstimateVerdict, FluidDebt, PoolEstimate, SupplyEstimate,
};
use super::{reasons, supply, workload};
use crate::accounts::report::MixRate;
use crate::scenario::Scenario;
use crate::workload::{Leg, TrafficClass};

/// The estimate of the whole fleet and, where there are several pools, of each.
pub fn estimate(scenario: &Scenario) -> (EstimateVerdict, SupplyEstimate, Vec<PoolEstimate>) {
    if !scenario.has_several_pools() {
        let (verdict, mut supply) = supply::estimate(scenario);
        let offered_rps = supply.required_rps;
        let (verdict, reason) = reasons::behind_the_door(verdict, scenario, offered_rps);
        supply.verdict_reasons.extend(reason);
        return (verdict, supply, Vec::new());
    }
    let pools: Vec<PoolEstimate> = scenario.parts().iter().map(|part| of_part(part)).collect();
    let verdicts = pools.iter().map(|pool| pool.verdict);
    let verdict = verdicts.max_by_key(|verdict| severity(*verdict));
    let mut together = together(scenario, &pools);
    // One door for all: what it lets in is held against what is asked of all pools.
    let verdict = verdict.unwrap_or(EstimateVerdict::Holds);
    let (verdict, reason) = reasons::behind_the_door(verdict, scenario, together.required_rps);
    together.verdict_reasons.extend(reason);
    (verdict, together, pools)
}

/// What is asked of the pool that has the least to spare, and that pool.
pub fn least_to_spare(scenario: &Scenario) -> Scenario {
    let parts: Vec<Scenario> =
        scenario.parts().iter().map(|part| part.without_idle_classes()).collect();
    let load = |part: &Scenario| match part.pool.memory.does_not_fit {
        // Nothing is worse than not to fit.
        Some(_) => f64::INFINITY,
        None => supply::estimate(part).1.utilization_peak,
    };
    let worst = parts.into_iter().map(|part| (load(&part), part));
    let worst = worst.reduce(|worst, next| if next.0 > worst.0 { next } else { worst });
    worst.map_or_else(|| scenario.clone(), |(_, part)| part)
}

fn of_part(part: &Scenario) -> PoolEstimate {
    let (verdict, supply) = supply::estimate(&part.without_idle_classes());
    PoolEstimate { name: part.pool.name.clone(), verdict, supply }
}

fn severity(verdict: EstimateVerdict) -> u8 {
    match verdict {
        EstimateVerdict::Holds => 0,
        EstimateVerdict::NotDecided => 1,
        EstimateVerdict::LateButStable => 2,
        EstimateVerdict::Overloaded => 3,
        EstimateVerdict::DoesNotFit => 4,
    }
}

/// The fleet: demand is the sum; what is sustained and delivered of the whole mix, the pool decides
/// that is the first at its end, as shares of a route are fixed. Latencies are means over requests.
fn together(scenario: &Scenario, pools: &[PoolEstimate]) -> SupplyEstimate {
    let all = || pools.iter().map(|pool| &pool.supply);
    let sum = |of: fn(&SupplyEstimate) -> f64| all().map(of).fold(0.0, |sum, one| sum + one);
    let most = |of: fn(&SupplyEstimate) -> f64| all().map(of).fold(0.0, f64::max);
    let worst_of = |of: fn(&SupplyEstimate) -> f64| {
        pools.iter().reduce(|a, b| if of(&b.supply) > of(&a.supply) { b } else { a })
    };
    let mean_load = most(|s| s.utilization);
    let worst = &worst_of(|s| s.utilization).unwrap_or(&pools[0]).supply;
    let busiest = &worst_of(|s| s.utilization_peak).unwrap_or(&pools[0]).supply;
    let required = MixRate {
        rps: sum(|s| s.required_rps),
        prefill_tps: sum(|s| s.required_prefill_tps),
        decode_tps: sum(|s| s.required_decode_tps),
    };
    let (windows, required_peak) = demand(pools, busiest);
    let over = |load: f64| 1.0 / load.max(f64::MIN_POSITIVE);
    let sustainable = required.times(over(mean_load));
    let delivered = delivered_share(pools).map(|share| required.times(share));
    SupplyEstimate {
        workload: workload::classes(scenario, &cached(scenario, pools)),
        required_prefill_tps: required.prefill_tps,
        required_decode_tps: required.decode_tps,
        prefix_hit_rate: hit_rate(pools),
        required_prefill_after_hits_tps: sum(|s| s.required_prefill_after_hits_tps),
        required_rps: required.rps,
        demand: windows,
        required_peak,
        sustainable_rps: sustainable.rps,
        sustainable_prefill_tps: sustainable.prefill_tps,
        sustainable_decode_tps: sustainable.decode_tps,
        sustainable_at_peak: required_peak.times(over(busiest.utilization_peak)),
        deliverable_rps: delivered.map(|rate| rate.rps),
        deliverable_prefill_tps: delivered.map(|rate| rate.prefill_tps),
        deliverable_decode_tps: delivered.map(|rate| rate.decode_tps),
        utilization: mean_load,
        utilization_peak: busiest.utilization_peak,
        binding_constraint: worst.binding_constraint.clone(),
        replicas_floor: all().fold(0, |sum, pool| sum.saturating_add(pool.replicas_floor)),
        mean_batch: mean(pools, |s| s.mean_batch),
        ttft_ms: mean(pools, |s| s.ttft_ms),
        zero_load_ttft_ms: mean(pools, |s| s.zero_load_ttft_ms),
        tpot_ms: mean(pools, |s| s.tpot_ms),
        zero_load_tpot_ms: mean(pools, |s| s.zero_load_tpot_ms),
        classes: classes(scenario, pools),
        debt_series: debt(pools),
        cost_per_month: all().map(|s| s.cost_per_month).sum(),
        kv_token_steps_per_request: sum(|s| s.required_rps * s.kv_token_steps_per_request)
            / required.rps.max(f64::MIN_POSITIVE),
        required_live_sequences: all().map(|s| s.required_live_sequences).sum(),
        required_kv_tokens: all().map(|s| s.required_kv_tokens).sum(),
        step_time_band: all().filter_map(|s| s.step_time_band).reduce(f64::max),
        outside_measured_range: sentences(pools, |s| &s.outside_measured_range),
        outside_trusted_range: distrust(pools),
        verdict_reasons: sentences(pools, |s| &s.verdict_reasons),
        leaves_out: leaves_out(scenario, pools),
        simplified: all().any(|s| s.simplified),
        ..busiest.clone()
    }
}

/// Window by window what is asked of all pools together, and in the window of the busiest pool's
/// peak.
fn demand(pools: &[PoolEstimate], busiest: &SupplyEstimate) -> (Vec<MixRate>, MixRate) {
    let asked = |window: usize| {
        let of_pool = |sum: MixRate, pool: &PoolEstimate| sum.plus(&pool.supply.demand[window]);
        pools.iter().fold(MixRate::default(), of_pool)
    };
    let windows: Vec<MixRate> = (0..busiest.demand.len()).map(asked).collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 59")]
    let window = (busiest.peak_from_s / busiest.peak_window_s).round() as usize;
    let peak = windows.get(window).copied().unwrap_or_default();
    (windows, peak)
}

/// Prompt tokens of each class that are found cached, the mean over the pools of its route.
fn cached(scenario: &Scenario, pools: &[PoolEstimate]) -> Vec<f64> {
    let of_class = |class: &TrafficClass| {
        let of_leg = |leg: &Leg| {
            let pool = pools.get(leg.pool as usize)?;
            let part = pool.supply.workload.iter().find(|part| part.name == class.name)?;
            Some(leg.share * part.sharing.as_ref()?.mean_cached_tokens)
        };
        class.route.legs().iter().filter_map(of_leg).fold(0.0, |sum, tokens| sum + tokens)
    };
    scenario.classes.iter().map(of_class).collect()
}

/// Share of the prompt tokens of all pools that is found; `None` where none of them finds any.
fn hit_rate(pools: &[PoolEstimate]) -> Option<f64> {
    pools.iter().find_map(|pool| pool.supply.prefix_hit_rate)?;
    let (mut prompts, mut left) = (0.0, 0.0);
    for SupplyEstimate { prefix_hit_rate, required_prefill_after_hits_tps, .. } in
        pools.iter().map(|pool| &pool.supply)
    {
        // At least the last token of a prompt is computed, so that no rate is 1.
        prompts += required_prefill_after_hits_tps / (1.0 - prefix_hit_rate.unwrap_or(0.0));
        left += required_prefill_after_hits_tps;
    }
    (prompts > 0.0).then(|| 1.0 - left / prompts)
}

/// The multiple of the mix up to which every pool delivers; `None` where one does not say.
fn delivered_share(pools: &[PoolEstimate]) -> Option<f64> {
    let asked = pools.iter().filter(|pool| pool.supply.required_rps > 0.0);
    let share = |pool: &PoolEstimate| {
        pool.supply.deliverable_rps.map(|rate| rate / pool.supply.required_rps)
    };
    asked.map(share).reduce(|a, b| Some(a?.min(b?)))?
}

/// The mean over requests; `None` where some pool that is asked has none.
fn mean(pools: &[PoolEstimate], of: fn(&SupplyEstimate) -> Option<f64>) -> Option<f64> {
    let asked = || pools.iter().map(|p| &p.supply).filter(|s| s.required_rps > 0.0);
    let sum: Option<f64> = asked().map(|s| Some(s.required_rps * of(s)?)).sum();
    let rate: f64 = asked().map(|s| s.required_rps).sum();
    sum.filter(|_| rate > 0.0).map(|sum| sum / rate)
}

/// Each class over the pools of its route.
fn classes(scenario: &Scenario, pools: &[PoolEstimate]) -> Vec<ClassEstimate> {
    let found = scenario.classes.iter().filter_map(|class| {
        let parts = class.route.legs().iter().map(|leg| {
            let pool = pools.get(leg.pool as usize)?;
            let part = pool.supply.classes.iter().find(|part| part.name == class.name)?;
            Some((leg.share, part))
        });
        let parts: Vec<(f64, &ClassEstimate)> = parts.collect::<Option<_>>()?;
        let over = |of: fn(&ClassEstimate) -> Option<f64>| {
            parts.iter().map(|(share, part)| Some(share * of(part)?)).sum::<Option<f64>>()
        };
        Some(ClassEstimate {
            name: class.name.clone(),
            ttft_ms: over(|part| part.ttft_ms),
            zero_load_ttft_ms: over(|part| Some(part.zero_load_ttft_ms))?,
            e2e_ms: over(|part| part.e2e_ms),
            attainment_cap: over(|part| Some(part.attainment_cap))?,
            attainment_target: parts.first()?.1.attainment_target,
        })
    });
    found.collect()
}

/// Debt of all pools; the work of a fleet is done when that of its last pool is.
fn debt(pools: &[PoolEstimate]) -> Vec<FluidDebt> {
    let points = pools.iter().map(|pool| pool.supply.debt_series.len()).min().unwrap_or(0);
    let at = |i: usize| {
        let all = pools.iter().map(|pool| pool.supply.debt_series[i]);
        all.reduce(|a, b| FluidDebt {
            t_s: a.t_s,
            required_rps: a.required_rps + b.required_rps,
            required_decode_tps: a.required_decode_tps + b.required_decode_tps,
            debt_requests: a.debt_requests + b.debt_requests,
            debt_decode_tokens: a.debt_decode_tokens + b.debt_decode_tokens,
            debt_work_s: a.debt_work_s.max(b.debt_work_s),
        })
    };
    (0..points).filter_map(at).collect()
}

fn sentences(pools: &[PoolEstimate], of: fn(&SupplyEstimate) -> &Vec<String>) -> Vec<String> {
    let of_pool = |pool: &PoolEstimate| {
        let named = |sentence: &String| format!("pool {}: {sentence}", pool.name);
        of(&pool.supply).iter().map(named).collect::<Vec<_>>()
    };
    pools.iter().flat_map(of_pool).collect()
}

fn distrust(pools: &[PoolEstimate]) -> Vec<Distrust> {
    let of_pool = |pool: &PoolEstimate| {
        let named = |distrust: &Distrust| Distrust {
            message: format!("pool {}: {}", pool.name, distrust.message),
            ..distrust.clone()
        };
        pool.supply.outside_trusted_range.iter().map(named).collect::<Vec<_>>()
    };
    pools.iter().flat_map(of_pool).collect()
}

fn leaves_out(scenario: &Scenario, pools: &[PoolEstimate]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for sentence in pools.iter().flat_map(|pool| &pool.supply.leaves_out) {
        if !all.contains(sentence) {
            all.push(sentence.clone());
        }
    }
    let mut classes = scenario.classes.iter();
    if classes.any(|class| class.route.is_split() && class.arrivals.closed_loop().is_some()) {
        all.push(
            "that users of a closed loop wait in one pool before they ask another: each pool has \
             a crowd of its own"
                .to_owned(),
        );
    }
    all
}
