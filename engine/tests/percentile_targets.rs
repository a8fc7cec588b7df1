//! Percentile targets in the estimate and in a plan: judged as far as arithmetic goes, and no further.

mod common;

use common::{fixed, scenario};
use goodput_engine::accounts::answer;
use goodput_engine::accounts::report::VerdictState;
use goodput_engine::estimate::estimate;
use goodput_engine::estimate::report::{EstimateReport, EstimateVerdict};
use goodput_engine::planner::plan;
use goodput_engine::planner::report::PlanAnswer;
use goodput_engine::scenario::Scenario;
use serde_json::{Value, json};

fn of(slo: Value) -> Scenario {
    scenario(|document| {
        fixed(512, 64, 4.0)(document);
        document["workload"]["horizon_s"] = json!(60.0);
        document["workload"]["classes"][0]["slo"] = slo;
    })
}

fn target(of: &str, percentile: f64, limit_ms: f64) -> Value {
    json!({ "percentile_targets": [{ "of": of, "percentile": percentile, "limit_ms": limit_ms }] })
}

fn deliverable(report: &EstimateReport) -> f64 {
    report.supply.as_ref().and_then(|supply| supply.deliverable_rps).expect("a step law")
}

/// From the median up a target binds as a limit of the same size does, at every size.
#[test]
fn the_estimate_holds_the_typical_request_to_a_target_as_to_a_limit() {
    let kinds = [("ttft", "ttft_ms", 12.0), ("tpot", "tpot_ms", 6.0), ("e2e", "e2e_ms", 400.0)];
    for (of_what, field, around_ms) in kinds {
        for factor in [0.01, 0.7, 1.0, 1.3, 2.0, 50.0] {
            let at = factor * around_ms;
            let limit = estimate(&of(json!({ field: at })));
            for percentile in [50.0, 95.0, 99.0] {
                let ranked = estimate(&of(target(of_what, percentile, at)));
                assert_eq!(ranked.verdict, limit.verdict, "{of_what} {percentile} {at}");
                let (ours, theirs) = (deliverable(&ranked), deliverable(&limit));
                assert!((ours - theirs).abs() < 1e-9, "{of_what} {at}: {ours} {theirs}");
            }
            let low = estimate(&of(target(of_what, 10.0, at)));
            assert_eq!(low.verdict, EstimateVerdict::Holds, "a low percentile is not judged");
        }
    }
}

#[test]
fn the_estimate_says_what_it_does_not_see_of_a_target() {
    let said = |slo| {
        let leaves_out = estimate(&of(slo)).supply.expect("it fits").leaves_out;
        leaves_out.iter().any(|sentence| sentence.contains("percentile"))
    };
    assert!(said(target("ttft", 95.0, 1000.0)) && !said(json!({ "ttft_ms": 1000.0 })));
}

/// Of ten prompts one is longer than the model's context: p95 over offered requests never comes.
#[test]
fn requests_that_fit_no_replica_are_beyond_every_percentile_above_their_share() {
    let verdict = |percentile: f64| {
        estimate(&scenario(|document| {
            fixed(512, 64, 4.0)(document);
            let class = &mut document["workload"]["classes"][0];
            let mut samples = vec![512; 9];
            samples.push(200_000);
            class["input_tokens"] = json!({ "kind": "empirical", "samples": samples });
            class["slo"] = target("ttft", percentile, 10_000.0);
            class["slo"]["attainment_target"] = json!(0.5);
        }))
        .verdict
    };
    assert_eq!(verdict(95.0), EstimateVerdict::LateButStable);
    assert_eq!(verdict(85.0), EstimateVerdict::Holds);
}

/// A target that an idle replica misses has no count, and the reason is its own.
#[test]
fn a_target_below_an_idle_replica_has_no_count() {
    for (of_what, limit_ms, name) in [
        ("ttft", 1.0, "zero_load_ttft"),
        ("tpot", 0.5, "zero_load_tpot"),
        ("e2e", 20.0, "zero_load_e2e"),
    ] {
        let scenario = of(target(of_what, 95.0, limit_ms));
        let planned = plan(&scenario, |_| true).expect("a plan");
        let PlanAnswer::Infeasible { limit, reason, lever } = &planned.answer else {
            panic!("a count: {:?}", planned.answer)
        };
        assert_eq!(limit, name);
        assert!(reason.contains("100 % of class chat") && reason.contains("p95"), "{reason}");
        assert!(lever.contains("looser target"), "{lever}");
        // And the simulation agrees that it is missed.
        let report = answer(&scenario).expect("an answer").report;
        assert_ne!(report.verdict.state, VerdictState::Holds);
        // What every request meets alone has a count.
        let easy = plan(&of(target(of_what, 95.0, 60_000.0)), |_| true).expect("a plan");
        assert!(matches!(easy.answer, PlanAnswer::Replicas { .. }), "{:?}", easy.answer);
    }
}

/// One token has no TPOT and no gaps: limits on them hold, in the estimate as in a simulation.
#[test]
fn answers_of_one_token_meet_every_limit_on_their_pace() {
    for slo in [
        json!({ "tpot_ms": 0.001 }),
        json!({ "longest_stall_ms": 0.001 }),
        json!({ "itl_percentile": { "percentile": 99.0, "ms": 0.001 } }),
    ] {
        let scenario = scenario(|document| {
            fixed(512, 1, 4.0)(document);
            document["workload"]["horizon_s"] = json!(60.0);
            document["workload"]["classes"][0]["slo"] = slo;
        });
        assert_eq!(estimate(&scenario).verdict, EstimateVerdict::Holds);
        let report = answer(&scenario).expect("an answer").report;
        assert_eq!(report.verdict.state, VerdictState::Holds);
    }
}
