//! The planner against exhaustive search, against the simulator, and where no count helps.

mod common;

use common::{fixed, scenario};
use goodput_engine::accounts;
use goodput_engine::planner::report::{FleetRow, PlanAnswer, PlanReport};
use goodput_engine::planner::{Planner, Progress, plan};
use goodput_engine::scenario::Scenario;
use serde_json::{Value, json};

fn whole_plan(scenario: &Scenario) -> PlanReport {
    plan(scenario, |_| true).expect("nobody stops it")
}

/// A minute of chat at `rate_rps`, 32 seats a replica.
fn minute(rate_rps: f64) -> impl FnOnce(&mut Value) {
    move |document| {
        document["workload"]["horizon_s"] = json!(60.0);
        document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(rate_rps);
        document["fleet"]["pools"][0]["max_num_seqs"] = json!(32);
    }
}

fn replicas(report: &PlanReport) -> u32 {
    match report.answer {
        PlanAnswer::Replicas { replicas, .. } => replicas,
        ref other => panic!("no count: {other:?}"),
    }
}

fn infeasible(report: &PlanReport) -> (&str, &str) {
    match &report.answer {
        PlanAnswer::Infeasible { limit, reason, .. } => (limit, reason),
        other => panic!("a count: {other:?}"),
    }
}

#[test]
fn rows_say_what_simulations_of_those_fleets_say() {
    let scenario = scenario(|document| {
        minute(45.0)(document);
        document["fleet"]["pools"][0]["price_per_gpu_hour"] = json!(2.0);
        document["fleet"]["pools"][0]["replicas"] = json!(6);
    });
    let report = whole_plan(&scenario);
    let answer = replicas(&report);
    let sizes: Vec<u32> = report.fleets.iter().map(|row| row.replicas).collect();
    let mut expected = vec![answer - 1, answer, answer + 1, 6];
    expected.sort_unstable();
    expected.dedup();
    assert_eq!(sizes, expected);
    for row in &report.fleets {
        assert_eq!((row.is_answer, row.is_present), (row.replicas == answer, row.replicas == 6));
        let mut attainments = Vec::new();
        for &seed in &report.seeds {
            let mut changed = scenario.clone();
            changed.seed = seed;
            changed.pool.replicas = row.replicas;
            attainments.push(accounts::answer(&changed).expect("it can").report.attainment);
        }
        let mean = attainments.iter().sum::<f64>() / attainments.len() as f64;
        assert!((row.attainment - mean).abs() < 1e-12);
        assert_eq!(row.cost_per_month, Some(f64::from(row.replicas) * 2.0 * 730.0));
    }
    let attainment = |row: &FleetRow| row.attainment;
    assert!(report.fleets.iter().map(attainment).is_sorted(), "more replicas, more good");
}

#[test]
fn alpha_is_the_cliff_of_the_present_fleet() {
    let with_rate = |factor: f64| {
        scenario(|document| {
            minute(20.0 * factor)(document);
            document["fleet"]["pools"][0]["replicas"] = json!(2);
        })
    };
    let report = whole_plan(&with_rate(1.0));
    let alpha = report.alpha.expect("two replicas hold something");
    let holds_at = |factor: f64| {
        accounts::answer(&with_rate(factor)).expect("it can be simulated").report.contract_holds
    };
    assert!(holds_at(alpha) && !holds_at(alpha + 0.02), "{alpha}");
    let deliverable = report.deliverable.expect("a rate");
    assert!((deliverable.rps / (20.0 * alpha) - 1.0).abs() < 1e-9);
}

/// The end of a search is no result: what lies beyond is not known.
#[test]
fn what_holds_at_the_end_of_the_search_is_a_least_value() {
    let idle = whole_plan(&scenario(minute(0.5)));
    assert_eq!((idle.alpha, idle.alpha_is_least), (Some(4.0), true));
    assert!(idle.binding.is_empty(), "gains are over α: {:?}", idle.binding);
    assert!(idle.fleets.iter().all(|row| row.alpha_is_least == row.is_present));
    let busy = whole_plan(&scenario(minute(12.0)));
    assert!(busy.alpha.is_some_and(|alpha| alpha < 4.0) && !busy.alpha_is_least);
    for relaxation in &busy.binding {
        let reached = busy.alpha.expect("holds") + relaxation.gain;
        assert_eq!(relaxation.gain_is_least, reached >= 4.0 - 1e-9, "{relaxation:?}");
    }
}

#[test]
fn what_is_scarce_binds() {
    let first = |edit: fn(&mut Value)| {
        let scenario = scenario(|document| {
            minute(12.0)(document);
            edit(document);
        });
        let report = whole_plan(&scenario);
        let starts = usize::from(scenario.pool.life.cold_start);
        assert_eq!(report.binding.len(), 6 + starts, "all gains are listed");
        assert!(report.binding.iter().map(|r| -r.gain).is_sorted());
        assert_eq!(report.binding.iter().filter(|r| r.binds).count(), 1);
        report.binding[0].clone()
    };
    let seats = first(|document| document["fleet"]["pools"][0]["max_num_seqs"] = json!(16));
    assert!(["seats", "step_time"].contains(&seats.constraint.as_str()), "{seats:?}");
    assert!(seats.gain >= 0.1);
    let memory = first(|document| {
        document["fleet"]["pools"][0]["max_num_seqs"] = json!(256);
        document["fleet"]["pools"][0]["num_gpu_blocks"] = json!(800);
    });
    assert!(["kv_memory", "step_time"].contains(&memory.constraint.as_str()), "{memory:?}");
    let quality = first(|document| {
        document["workload"]["classes"][0]["quality"] =
            json!({ "state": "assumed", "pass_rate": 0.9, "by": "a test" });
    });
    assert_eq!(quality.constraint, "errors_and_quality");
    // Half the minute nobody is served, and not 1 % may be lost.
    let cold = first(|document| {
        minute(5.0)(document);
        document["fleet"]["pools"][0]["cold_start"] = json!(true);
        document["fleet"]["pools"][0]["start_up_s"] = json!(30.0);
    });
    assert_eq!(cold.constraint, "start_up_lag");
}

#[test]
fn quality_and_errors_cap_attainment_whatever_the_fleet() {
    let report = whole_plan(&scenario(|document| {
        minute(5.0)(document);
        document["workload"]["classes"][0]["quality"] =
            json!({ "state": "assumed", "pass_rate": 0.9, "by": "a test" });
    }));
    let (limit, reason) = infeasible(&report);
    assert_eq!(limit, "quality");
    assert!(reason.contains("quality caps attainment at 90 %"), "{reason}");
    assert_eq!(report.alpha, None, "no multiple holds");
    let report = whole_plan(&scenario(|document| {
        minute(5.0)(document);
        document["workload"]["classes"][0]["error_rate"] = json!(0.2);
    }));
    assert_eq!(infeasible(&report).0, "errors");
}

#[test]
fn a_target_that_chance_alone_misses_has_no_count_either() {
    // 95 % pass in the mean and 95 % must: every other draw is below.
    let report = whole_plan(&scenario(|document| {
        minute(5.0)(document);
        document["workload"]["classes"][0]["quality"] =
            json!({ "state": "verified", "pass_rate": 0.95, "source": "a test" });
    }));
    let (limit, reason) = infeasible(&report);
    assert_eq!(limit, "quality");
    assert!(reason.contains("caps attainment at 95 %"), "{reason}");
    assert!(reason.contains("draws miss whatever the fleet"), "{reason}");
}

#[test]
fn what_caps_attainment_is_named_in_full_and_multiplied() {
    let report = whole_plan(&scenario(|document| {
        minute(5.0)(document);
        let class = &mut document["workload"]["classes"][0];
        class["quality"] = json!({ "state": "assumed", "pass_rate": 0.96, "by": "a test" });
        class["error_rate"] = json!(0.05);
    }));
    let (limit, reason) = infeasible(&report);
    assert_eq!(limit, "errors");
    for part in [
        "errors cap attainment at 95 %",
        "quality caps attainment at 96 %",
        // 0.95 × 0.96, whatever one seed drew.
        "at most 91.2 % of class",
    ] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
}

#[test]
fn limits_below_an_idle_replica_have_no_count() {
    for (field, limit_ms, name) in [
        ("ttft_ms", 3.0, "zero_load_ttft"),
        ("tpot_ms", 1.0, "zero_load_tpot"),
        ("e2e_ms", 50.0, "zero_load_e2e"),
    ] {
        let report = whole_plan(&scenario(|document| {
            minute(5.0)(document);
            document["workload"]["classes"][0]["slo"][field] = json!(limit_ms);
        }));
        assert_eq!(infeasible(&report).0, name);
        assert!(report.sentence.starts_with("No number of replicas helps"));
    }
    let report = whole_plan(&scenario(|document| {
        minute(5.0)(document);
        document["fleet"]["pools"][0]["max_model_len"] = json!(300);
        document["fleet"]["pools"][0]["max_num_batched_tokens"] = json!(300);
    }));
    assert_eq!(infeasible(&report).0, "too_long");
}

#[test]
fn bare_rates_and_models_that_do_not_fit_get_no_count_and_no_simulation() {
    let declared = whole_plan(&scenario(|document| {
        fixed(512, 2000, 100.0)(document);
        document["fleet"]["pools"][0]["step_time"] =
            json!({ "source": { "kind": "declared", "declared_output_tps": 120_000.0 } });
    }));
    let PlanAnswer::SupplyOnly { replicas, gpus, .. } = declared.answer else {
        panic!("supply says how many at least: {:?}", declared.answer)
    };
    assert_eq!((replicas, gpus, declared.replicas_floor, declared.simulations), (2, 2, 2, 0));
    assert!(declared.sentence.contains("at least 2 replicas (2 GPUs"), "{}", declared.sentence);
    let huge = whole_plan(&scenario(|document| {
        document["fleet"]["pools"][0]["model"] = json!("llama-3.1-405b");
    }));
    assert_eq!(infeasible(&huge).0, "memory");
    assert_eq!((huge.simulations, huge.fleets.len()), (0, 0));
}

#[test]
fn a_plan_shows_what_it_knows_and_stops_when_told() {
    let scenario = scenario(minute(30.0));
    let mut planner = Planner::new(&scenario);
    let mut answered_at = None;
    let mut fleets = 0;
    while let Progress::Working { done, .. } = planner.progress() {
        if let Some(report) = planner.report() {
            answered_at.get_or_insert(done);
            assert!(report.fleets.len() >= fleets, "rows only come");
            fleets = report.fleets.len();
        }
        planner.advance();
    }
    let whole = whole_plan(&scenario);
    assert_eq!(planner.report(), Some(&whole), "in steps or at once");
    assert!(answered_at.expect("before the end") < whole.simulations);
    let mut calls = 0;
    let stopped = plan(&scenario, |_| {
        calls += 1;
        calls <= 1
    });
    assert_eq!(stopped, None, "one run is no answer");
}

#[test]
fn a_faster_pace_needs_no_fewer_replicas() {
    let counts: Vec<u32> =
        [10.0, 20.0, 40.0].map(|rate| replicas(&whole_plan(&scenario(minute(rate))))).to_vec();
    assert!(counts.is_sorted(), "{counts:?}");
}

#[test]
fn what_the_budget_does_not_suffice_for_is_undecided_and_said_to_be() {
    let scenario = scenario(|document| {
        minute(45.0)(document);
        document["fleet"]["pools"][0]["replicas"] = json!(6);
    });
    let whole = whole_plan(&scenario);
    assert!(whole.undecided.is_empty() && whole.budget.spent_work > 0);
    let least = replicas(&whole);
    let mut left_open = Vec::new();
    for percent in [0, 1, 5, 20, 40, 60, 80, 99, 100] {
        let budget = whole.budget.spent_work * percent / 100;
        let mut planner = Planner::within(&scenario, budget);
        while let Progress::Working { .. } = planner.progress() {
            planner.advance();
        }
        let report = planner.report().expect("a report, however little there is to say").clone();
        match report.answer {
            // Fewer windows are affordable, and say less.
            PlanAnswer::Replicas { replicas, .. } => {
                assert!(replicas.abs_diff(least) <= 1, "{percent} %: {}", report.sentence);
            }
            PlanAnswer::Undecided { fails, holds } => {
                assert!(report.undecided.iter().any(|open| open == "replicas"));
                assert!(report.sentence.contains("not decided"), "{}", report.sentence);
                assert!(fails.is_none_or(|n| n <= least), "{fails:?} {least}");
                assert!(holds.is_none_or(|n| fails.is_none_or(|fails| fails < n)));
            }
            ref other => panic!("the budget ended at {percent} %: {other:?}"),
        }
        // What is stated is what the whole plan states.
        if let Some(alpha) = report.alpha {
            assert_eq!(Some(alpha), whole.alpha);
        }
        for gain in &report.binding {
            let same = whole.binding.iter().find(|r| r.constraint == gain.constraint);
            assert_eq!(same.map(|r| r.gain.to_bits()), Some(gain.gain.to_bits()));
        }
        if report.undecided.is_empty() {
            assert_eq!(report.binding.len(), whole.binding.len());
            let sizes = |report: &PlanReport| report.fleets.len();
            assert!(report.sizing.is_confirmed && sizes(&report) >= 3, "{percent} %");
        }
        left_open.push(report.undecided.len());
        // What is left is looked at as often as there are requests, every 10,000 boundaries at least.
        let between_looks = 4 * 20_000 + 20_000;
        assert!(report.budget.spent_work <= budget + between_looks, "{percent} %");
    }
    assert!(left_open[0] > 0 && left_open.last() == Some(&0), "{left_open:?}");
}

/// A month of a request per second: two and a half million requests in every run.
#[test]
fn a_month_is_planned_within_its_budget() {
    let scenario = scenario(|document| {
        document["workload"]["horizon_s"] = json!(2_592_000.0);
        document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(1.0);
    });
    let mut planner = Planner::within(&scenario, 12_000_000);
    while let Progress::Working { .. } = planner.progress() {
        planner.advance();
    }
    let report = planner.report().expect("a report");
    assert!(matches!(report.answer, PlanAnswer::Undecided { .. }), "{:?}", report.answer);
    assert!(report.undecided.iter().any(|open| open == "alpha"));
    assert!(report.alpha.is_none() && report.binding.is_empty());
    assert_eq!(report.simulations, 1, "the first run is cut off, and no other begun");
    assert!(report.budget.spent_work < 20_000_000, "{:?}", report.budget);
}

/// An autoscaler's fleet is planned at its most, and not called the present one.
#[test]
fn a_scaled_fleet_is_present_at_its_most() {
    let planned = |autoscaled: bool| {
        whole_plan(&scenario(move |document| {
            minute(10.0)(document);
            document["fleet"]["pools"][0]["replicas"] = json!(2);
            if autoscaled {
                document["fleet"]["pools"][0]["autoscaler"] =
                    json!({ "target": 16.0, "min_replicas": 1, "max_replicas": 3 });
            }
        }))
    };
    let (fixed, scaled) = (planned(false), planned(true));
    assert!(!fixed.present_is_most && scaled.present_is_most);
    let present =
        |plan: &PlanReport| plan.fleets.iter().find(|row| row.is_present).expect("a row").replicas;
    assert_eq!((present(&fixed), present(&scaled)), (2, 3));
}
