//! Several pools: a part is a fleet of its own, and the fleet is the sum of its parts.

mod common;

use common::scenario;
use goodput_engine::accounts::report::VerdictState;
use goodput_engine::accounts::{Simulated, answer};
use goodput_engine::estimate::estimate;
use goodput_engine::estimate::report::EstimateVerdict;
use goodput_engine::planner::plan;
use goodput_engine::planner::report::PlanAnswer;
use goodput_engine::remedies::remedies;
use goodput_engine::scenario::Scenario;
use goodput_engine::slo::RequestStamps;
use goodput_engine::workload::OfferedRequest;
use serde_json::{Value, json};

/// Chat and batch on two pools: chat is split, batch goes to the second alone.
fn two_pools(change: impl FnOnce(&mut Value)) -> Scenario {
    scenario(pair(change))
}

fn two_pools_document(change: impl FnOnce(&mut Value)) -> Value {
    common::document(pair(change))
}

fn pair(change: impl FnOnce(&mut Value)) -> impl FnOnce(&mut Value) {
    |document| {
        document["workload"]["horizon_s"] = json!(120.0);
        let mut batch = document["workload"]["classes"][0].clone();
        batch["name"] = json!("batch");
        batch["route"] = json!([{ "pool": "small", "share": 1.0 }]);
        batch["arrivals"]["rate_rps"] = json!(3.0);
        document["workload"]["classes"].as_array_mut().expect("classes").push(batch);
        let chat = &mut document["workload"]["classes"][0];
        chat["arrivals"]["rate_rps"] = json!(12.0);
        chat["route"] = json!([
            { "pool": "big", "share": 0.75 },
            { "pool": "small", "share": 0.25,
              "quality": { "state": "assumed", "pass_rate": 0.8, "by": "a test" } },
        ]);
        let big = &mut document["fleet"]["pools"][0];
        big["name"] = json!("big");
        big["replicas"] = json!(2);
        big["price_per_gpu_hour"] = json!(2.5);
        let mut small = big.clone();
        small["name"] = json!("small");
        small["gpu"] = json!("l40s");
        small["price_per_gpu_hour"] = json!(1.0);
        small["step_time"] = json!({ "api_overhead_ms": 7.0 });
        document["fleet"]["pools"].as_array_mut().expect("pools").push(small);
        change(document);
    }
}

/// What happened to the requests of one pool, wherever its replicas are numbered from.
fn of_pool(simulated: &Simulated, pool: u32, first: u32) -> Vec<(OfferedRequest, RequestStamps)> {
    let rows = simulated.requests.iter().zip(&simulated.run.stamps);
    let rows = rows.filter(|(request, _)| request.pool == pool);
    rows.map(|(request, stamps)| {
        let request = OfferedRequest { pool: 0, ..*request };
        (request, RequestStamps { replica: stamps.replica.saturating_sub(first), ..*stamps })
    })
    .collect()
}

#[test]
fn each_pool_serves_its_part_as_a_fleet_of_its_own_would() {
    for routing in ["least_outstanding", "round_robin", "least_kv"] {
        let scenario = two_pools(|document| document["fleet"]["routing"] = json!(routing));
        let whole = answer(&scenario).expect("an answer");
        for (pool, first) in [(0, 0), (1, 2)] {
            let part = &scenario.parts()[pool as usize];
            let alone = answer(part).expect("an answer");
            assert_eq!(of_pool(&whole, pool, first), of_pool(&alone, 0, 0), "{routing} {pool}");
            let report = &whole.report.pools[pool as usize];
            assert_eq!(report.supply.as_ref(), Some(&alone.report.supply));
            assert_eq!(report.outcomes, alone.report.outcomes);
            assert_eq!(report.kv, alone.report.kv);
            assert_eq!(report.peak_waiting, alone.report.debt.peak_waiting);
        }
    }
}

/// Chat in sessions that begin with one of a few prefixes, and batch with prefixes of its own.
fn talking(document: &mut Value) {
    let classes = &mut document["workload"]["classes"];
    classes[0]["arrivals"]["rate_rps"] = json!(3.0);
    classes[0]["session"] = json!({
        "turns": { "kind": "fixed", "tokens": 4 },
        "think_time": { "kind": "exponential", "mean_s": 5.0 },
        "new_tokens": { "kind": "fixed", "tokens": 80 },
    });
    let hidden = json!({ "kind": "share", "share": 0.25 });
    for (class, count) in [(0, 5), (1, 2)] {
        classes[class]["shared_prefix"] = json!({ "tokens": 300, "count": count });
    }
    classes[1]["hidden_tokens"] = hidden;
    classes[1]["slo"]["itl_percentile"] = json!({ "percentile": 90.0, "ms": 12.0 });
}

/// What a session says, and what it finds, is the same whatever other pools there are; so is what a
/// saturated replica does of its turns.
#[test]
fn sessions_and_prefixes_of_a_pool_are_those_of_a_fleet_of_its_own() {
    for routing in ["least_outstanding", "affinity"] {
        let scenario = two_pools(|document| {
            talking(document);
            document["fleet"]["routing"] = json!(routing);
        });
        let whole = answer(&scenario).expect("an answer");
        assert!(whole.run.unasked[0].after_the_horizon > 0, "some sessions are cut off");
        for (pool, first) in [(0, 0), (1, 2)] {
            let alone = answer(&scenario.parts()[pool as usize]).expect("an answer");
            let (within, apart) = (of_pool(&whole, pool, first), of_pool(&alone, 0, 0));
            assert_eq!(within.len(), apart.len(), "{routing} {pool}");
            for (within, apart) in within.into_iter().zip(apart) {
                // Sessions are numbered as they come up in all.
                let mut request = within.0;
                request.lineage.session = apart.0.lineage.session;
                assert_eq!((request, within.1), apart, "{routing} {pool}");
            }
            let report = &whole.report.pools[pool as usize];
            let (within, apart) = (report.supply.as_ref().expect("asked"), &alone.report.supply);
            assert_eq!(within.required, apart.required, "{routing} {pool}");
            assert_eq!(within.completed, apart.completed, "{routing} {pool}");
            // Turns are shuffled by the numbers of their sessions, and each is measured to 1 %.
            let off = within.sustainable.rps / apart.sustainable.rps - 1.0;
            assert!(off.abs() < 0.03, "{routing} {pool}: {off}");
            assert!((within.saturated_hit_rate - apart.saturated_hit_rate).abs() < 0.03);
            assert!(within.saturated_hit_rate > 0.1, "{}", within.saturated_hit_rate);
        }
        // A session stays where it began.
        let mut pools = std::collections::BTreeMap::new();
        for request in whole.requests.iter().filter(|request| request.class == 0) {
            let place = request.lineage.place;
            assert_eq!(*pools.entry(place).or_insert(request.pool), request.pool, "{place}");
        }
        assert!(pools.values().any(|pool| *pool == 0) && pools.values().any(|pool| *pool == 1));
        let estimated = estimate(&scenario);
        let supply = estimated.supply.expect("it fits");
        let sharing = supply.workload[0].sharing.as_ref().expect("a prefix");
        assert!(sharing.mean_cached_tokens > 100.0, "{sharing:?}");
        let rates: Vec<f64> =
            estimated.pools.iter().filter_map(|pool| pool.supply.prefix_hit_rate).collect();
        let rate = supply.prefix_hit_rate.expect("prefixes");
        assert!(rates[0].min(rates[1]) <= rate && rate <= rates[0].max(rates[1]), "{rates:?}");
    }
}

#[test]
fn affinity_finds_more_of_a_session_cached() {
    let hit_rate = |routing: &str| {
        let scenario = two_pools(|document| {
            talking(document);
            document["fleet"]["routing"] = json!(routing);
            for pool in 0..2 {
                document["fleet"]["pools"][pool]["replicas"] = json!(4);
            }
        });
        let report = answer(&scenario).expect("an answer").report;
        report.prefix_cache.expect("sessions").counts.hit_rate.expect("prompts")
    };
    let (spread, kept) = (hit_rate("round_robin"), hit_rate("affinity"));
    assert!(kept > spread + 0.05, "{kept} against {spread}");
}

#[test]
fn a_remedy_of_one_pool_is_not_tried_on_several() {
    let document = two_pools_document(|_| ()).to_string();
    let doc = goodput_engine::scenario::doc::parse(&document).expect("a document");
    let report = remedies(&doc, &two_pools(|_| ())).expect("it can be simulated");
    let not_tried: Vec<&str> = report.not_applicable.iter().map(|other| other.id).collect();
    for id in ["replicas", "max_num_seqs", "tensor_parallel"] {
        assert!(not_tried.contains(&id), "{not_tried:?}");
    }
    assert!(report.not_applicable.iter().any(|other| other.why.contains('2')));
    assert!(report.remedies.iter().any(|row| row.id == "output_budget"));
}

#[test]
fn a_policy_changes_no_request() {
    let requests = |routing: &str| {
        let scenario = two_pools(|document| document["fleet"]["routing"] = json!(routing));
        answer(&scenario).expect("an answer")
    };
    let least = requests("least_outstanding");
    for routing in ["round_robin", "random", "power_of_two", "least_kv", "affinity"] {
        let other = requests(routing);
        assert_eq!(least.requests, other.requests, "{routing}");
        let same = least.run.stamps == other.run.stamps;
        // Nobody has a session, so affinity has nothing to go by.
        assert_eq!(same, routing == "affinity", "{routing}");
    }
}

#[test]
fn the_parts_sum_to_the_fleet() {
    let Simulated { report, .. } = answer(&two_pools(|_| ())).expect("an answer");
    let [big, small] = report.pools.as_slice() else { panic!("two pools") };
    assert_eq!(big.offered + small.offered, report.offered);
    for (outcome, count) in &report.outcomes {
        assert_eq!(big.outcomes[outcome] + small.outcomes[outcome], *count);
    }
    let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
    let supplies = [big, small].map(|pool| pool.supply.as_ref().expect("asked"));
    close(supplies.iter().map(|s| s.required.rps).sum(), report.supply.required.rps);
    close(supplies.iter().map(|s| s.completed.rps).sum(), report.supply.completed.rps);
    let cost = report.cost.as_ref().expect("both have a price");
    let costs = [big, small].map(|pool| pool.cost.as_ref().expect("a price"));
    close(costs.iter().map(|c| c.total).sum(), cost.total);
    close(costs[0].price_per_gpu_hour, 2.5);
    close(cost.lines.iter().map(|line| line.usd).sum(), cost.total);
    close(cost.lines.iter().map(|line| line.share).sum(), 1.0);
    let classes: f64 = cost.classes.iter().map(|class| class.usd).sum();
    let idle = cost.lines.iter().find(|line| line.line == "idle").expect("idle");
    close(classes + idle.usd, cost.total);
    // What the fleet sustains of the whole mix, the pool with the least to spare decides.
    let most = supplies.iter().map(|s| s.required.rps / s.sustainable.rps).fold(0.0, f64::max);
    close(report.supply.required.rps / report.supply.sustainable.rps, most);
    let by_pool = report.accounting.break_outs.iter().find(|by| by.by[0].name() == "pool");
    let cells = &by_pool.expect("a break-out").cells;
    assert_eq!(
        cells.iter().map(|cell| cell.offered).collect::<Vec<_>>(),
        [big, small].map(|p| p.offered)
    );
    let worse = small.outcomes.iter().find(|(outcome, _)| outcome.name() == "low_quality");
    assert!(*worse.expect("counted").1 > 20, "a fifth of what chat sends there");
}

#[test]
fn the_worst_pool_is_named_in_the_verdict_and_planned_first() {
    let scenario = two_pools(|document| {
        document["workload"]["classes"][1]["arrivals"]["rate_rps"] = json!(60.0);
        document["fleet"]["pools"][1]["replicas"] = json!(1);
        // A part of a class has to meet the contract alone, and at 80 % of answers none does.
        document["workload"]["classes"][0]["route"][1]["quality"]["pass_rate"] = json!(1.0);
    });
    let report = answer(&scenario).expect("an answer").report;
    assert_eq!(report.verdict.state, VerdictState::Overloaded);
    assert!(report.verdict.sentence.contains("pool small"), "{}", report.verdict.sentence);
    let states: Vec<VerdictState> = report.pools.iter().map(|pool| pool.state).collect();
    assert_eq!(states[1], VerdictState::Overloaded);
    assert_ne!(states[0], VerdictState::Overloaded);
    // What one pool has to spare works off nothing of the other.
    let small = report.pools[1].supply.as_ref().expect("asked");
    let growth = small.required_peak.rps - small.sustainable_at_peak.rps;
    assert!((report.debt.growth_rps - growth).abs() < 1e-9);
    let by_arithmetic = estimate(&scenario);
    assert_eq!(by_arithmetic.verdict, EstimateVerdict::Overloaded);
    let names: Vec<&str> = by_arithmetic.pools.iter().map(|pool| pool.name.as_str()).collect();
    assert_eq!(names, ["big", "small"]);
    let supply = by_arithmetic.supply.expect("it fits");
    assert!((supply.required_rps - 72.0).abs() < 1e-9);
    let plan = plan(&scenario, |_| true).expect("a plan");
    assert_eq!(plan.pool.as_deref(), Some("small"));
    assert_eq!(plan.other_pools[0].pool.as_deref(), Some("big"));
    assert!(plan.sentence.contains("pool big:") && plan.sentence.contains("pool small:"));
    let PlanAnswer::Replicas { replicas, .. } = plan.answer else { panic!("{:?}", plan.answer) };
    assert!(replicas > 1, "{replicas}");
}

#[test]
fn one_pool_with_a_name_and_a_route_to_it_is_one_pool() {
    let plain = scenario(|document| document["workload"]["horizon_s"] = json!(60.0));
    let named = scenario(|document| {
        document["workload"]["horizon_s"] = json!(60.0);
        document["fleet"]["pools"][0]["name"] = json!("all");
        document["workload"]["classes"][0]["route"] = json!([{ "pool": "all", "share": 1.0 }]);
    });
    let json =
        |scenario: &Scenario| serde_json::to_string(&answer(scenario).expect("an answer").report);
    assert_eq!(json(&plain).expect("a report"), json(&named).expect("a report"));
}

/// A pool to which nothing is routed is not late: it has nobody who could be.
#[test]
fn an_idle_pool_does_not_make_a_fleet_late() {
    let scenario = two_pools(|document| {
        let mut idle = document["fleet"]["pools"][0].clone();
        idle["name"] = json!("idle");
        document["fleet"]["pools"].as_array_mut().expect("pools").push(idle);
    });
    let with = estimate(&scenario);
    let without = estimate(&two_pools(|_| {}));
    assert_eq!(with.verdict, without.verdict);
    let idle = with.pools.last().expect("three pools");
    assert_eq!(idle.verdict, EstimateVerdict::Holds);
    assert_eq!(idle.supply.binding_constraint, "nothing_asked");
}
