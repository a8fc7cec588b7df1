//! What no count of replicas helps, as the three verbs say it: a door that lets too few in, and replicas
//! that are not there.

mod common;

use common::{fixed, scenario};
use goodput_engine::accounts::report::VerdictState;
use goodput_engine::accounts::{Simulated, answer};
use goodput_engine::compare::{Setting, lift_settings};
use goodput_engine::estimate::estimate;
use goodput_engine::estimate::report::EstimateVerdict;
use goodput_engine::planner::plan;
use goodput_engine::planner::report::{PlanAnswer, PlanReport};
use goodput_engine::scenario::Scenario;
use goodput_engine::slo::Outcome;
use serde_json::{Value, json};

/// Ten short requests a second for 60 s, far below what one replica sustains.
fn idle_fleet(edit: impl FnOnce(&mut Value)) -> Scenario {
    scenario(|document| {
        fixed(512, 32, 10.0)(document);
        document["workload"]["horizon_s"] = json!(60.0);
        edit(document);
    })
}

fn bucket(rate_rps: f64, burst: u32) -> impl FnOnce(&mut Value) {
    move |document| {
        document["fleet"]["admission"] =
            json!({ "token_bucket": { "rate_rps": rate_rps, "burst": burst } });
    }
}

fn estimated(scenario: &Scenario) -> (EstimateVerdict, Vec<String>) {
    let report = estimate(scenario);
    (report.verdict, report.supply.expect("it fits").verdict_reasons)
}

fn planned(scenario: &Scenario) -> PlanReport {
    plan(scenario, |_| true).expect("nobody stops it")
}

#[test]
fn a_token_bucket_below_demand_is_named_by_every_verb() {
    let scenario = idle_fleet(bucket(4.0, 10));
    let report = answer(&scenario).expect("an answer").report;
    assert_eq!(report.verdict.state, VerdictState::LateButStable);
    assert!(report.verdict.causes.iter().any(|cause| cause.contains("token_bucket")));

    let (verdict, reasons) = estimated(&scenario);
    assert_eq!(verdict, EstimateVerdict::LateButStable);
    // 10 at once and 4 a second of 600 requests.
    assert!(reasons[0].contains("token bucket lets in 4 of 10 req/s"), "{reasons:?}");
    assert!(reasons[0].contains("at most 41.7 % can be good"), "{reasons:?}");

    let plan = planned(&scenario);
    let PlanAnswer::Infeasible { limit, reason, lever } = &plan.answer else {
        panic!("{:?}", plan.answer)
    };
    assert_eq!(limit, "token_bucket");
    assert!(reason.contains("token bucket (admission.token_bucket) turns away"), "{reason}");
    assert!(lever.contains("rate_rps"), "{lever}");
    assert!(plan.sentence.starts_with("No number of replicas helps"), "{}", plan.sentence);
    let binds = plan.binding.iter().find(|relaxation| relaxation.binds);
    assert!(binds.is_none_or(|binds| binds.constraint == "admission"), "{:?}", plan.binding);
}

/// The plan counts whom the bucket turns away as a simulation does, so that it refuses no fleet that
/// would hold.
#[test]
fn a_wide_token_bucket_keeps_nobody_out() {
    let scenario = idle_fleet(bucket(50.0, 100));
    let plan = planned(&scenario);
    assert!(matches!(plan.answer, PlanAnswer::Replicas { replicas: 1, .. }), "{:?}", plan.answer);
    let (verdict, reasons) = estimated(&scenario);
    assert_eq!(verdict, EstimateVerdict::NotDecided, "its burst is not in the arithmetic");
    assert!(reasons[0].contains("depends on when requests come"), "{reasons:?}");
}

/// Where nobody is in another's way, the share that the plan says can be good at most is the one that
/// is.
#[test]
fn what_the_plan_says_of_a_bucket_is_what_a_simulation_finds() {
    let scenario = idle_fleet(bucket(7.0, 3));
    let report = answer(&scenario).expect("an answer").report;
    let share = report.attainment;
    let plan = planned(&scenario);
    let PlanAnswer::Infeasible { reason, .. } = &plan.answer else { panic!("{:?}", plan.answer) };
    let said = format!("at most {:.1} % of class chat can be good", 100.0 * share);
    assert!(reason.contains(&said), "{reason} against {said}");
}

/// Those who are turned away and come back may yet be in time.
#[test]
fn who_tries_again_is_not_counted_out() {
    let scenario = idle_fleet(|document| {
        bucket(4.0, 10)(document);
        document["workload"]["classes"][0]["retries"] =
            json!({ "max_attempts": 3, "on": ["rejected"], "backoff_base_s": 0.1 });
    });
    let (verdict, reasons) = estimated(&scenario);
    assert_eq!(verdict, EstimateVerdict::NotDecided);
    assert!(reasons[0].contains("but for those who try again in time"), "{reasons:?}");
}

#[test]
fn quality_errors_and_lengths_that_cap_attainment_are_named_by_the_estimate() {
    for (field, value) in [
        ("error_rate", json!(0.1)),
        ("quality", json!({ "state": "assumed", "pass_rate": 0.9, "by": "a test" })),
    ] {
        let scenario =
            idle_fleet(|document| document["workload"]["classes"][0][field] = value.clone());
        let (verdict, reasons) = estimated(&scenario);
        assert_eq!(verdict, EstimateVerdict::LateButStable, "{field}");
        assert!(reasons[0].contains("at most 90 % of class chat can be good"), "{reasons:?}");
    }
}

#[test]
fn the_estimate_does_not_decide_whether_replicas_that_come_and_go_are_there() {
    for life in [
        json!({ "scheduled_replicas": [{ "at_s": 0.0, "replicas": 0 }] }),
        json!({ "scheduled_replicas": [{ "at_s": 30.0, "replicas": 0 }] }),
        json!({ "cold_start": true, "start_up_s": 600.0 }),
        json!({ "failures": { "crashes": [{ "at_s": 10.0 }] }, "start_up_s": 600.0 }),
    ] {
        let scenario = idle_fleet(|document| {
            for (field, value) in life.as_object().expect("fields") {
                document["fleet"]["pools"][0][field] = value.clone();
            }
        });
        let simulated = answer(&scenario).expect("an answer").report.verdict.state;
        assert_ne!(simulated, VerdictState::Holds, "{life}");
        let (verdict, reasons) = estimated(&scenario);
        assert_eq!(verdict, EstimateVerdict::NotDecided, "{life}");
        assert!(reasons[0].contains("only a simulation decides"), "{reasons:?}");
    }
    let (verdict, reasons) = estimated(&idle_fleet(|_| {}));
    assert_eq!((verdict, reasons.len()), (EstimateVerdict::Holds, 0));
}

/// `max_model_len` turns requests away as a door does: what it costs is told.
#[test]
fn what_max_model_len_costs_is_told_when_it_is_lifted() {
    let scenario = idle_fleet(|document| {
        let class = &mut document["workload"]["classes"][0];
        class["input_tokens"] = json!({ "kind": "uniform", "min": 100, "max": 1100 });
        document["fleet"]["pools"][0]["max_model_len"] = json!(632);
    });
    let Simulated { requests, run, report, .. } = answer(&scenario).expect("an answer");
    let too_long = report.outcomes[&Outcome::TooLong];
    assert!(too_long > 200, "{too_long}");
    let lifted = lift_settings(&scenario, (&requests, &run.stamps)).expect("answers");
    let row = lifted.iter().find(|row| row.setting == Setting::MaxModelLen).expect("it cost some");
    assert_eq!((row.requests, row.saved, row.lost_beside), (too_long, too_long, 0));
}

/// A pool to which nothing is routed was not measured, and nothing would be: it is idle.
#[test]
fn a_pool_of_which_nothing_is_asked_is_idle_and_its_books_have_no_signed_zero() {
    let scenario = idle_fleet(|document| {
        let pool = &mut document["fleet"]["pools"][0];
        pool["price_per_gpu_hour"] = json!(3.0);
        let mut idle = pool.clone();
        (pool["name"], idle["name"]) = (json!("busy"), json!("spare"));
        document["workload"]["classes"][0]["route"] = json!([{ "pool": "busy", "share": 1.0 }]);
        document["fleet"]["pools"].as_array_mut().expect("pools").push(idle);
    });
    let report = answer(&scenario).expect("an answer").report;
    let states: Vec<VerdictState> = report.pools.iter().map(|pool| pool.state).collect();
    assert_eq!(states, [VerdictState::Holds, VerdictState::Idle]);
    for cost in report.pools.iter().filter_map(|pool| pool.cost.as_ref()) {
        let classes = cost.classes.iter().flat_map(|class| &class.lines);
        for line in cost.lines.iter().chain(classes) {
            assert!(line.usd.is_sign_positive() && line.share.is_sign_positive(), "{line:?}");
        }
    }
}
