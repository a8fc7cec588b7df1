//! The verdict in words: shares that add up, and what it rests on.

mod common;

use common::scenario;
use goodput_engine::accounts::answer;
use goodput_engine::accounts::report::VerdictState;
use goodput_engine::planner::plan;
use goodput_engine::slo::Outcome;
use serde_json::json;

/// Every request has one outcome, so the shares that a verdict names add up with the good ones.
#[test]
fn the_shares_of_a_verdict_add_up_to_a_hundred() {
    let scenario = scenario(|document| {
        document["workload"]["horizon_s"] = json!(120.0);
        let class = &mut document["workload"]["classes"][0];
        class["arrivals"]["rate_rps"] = json!(40.0);
        class["slo"] = json!({ "ttft_ms": 300.0, "tpot_ms": 12.0, "e2e_ms": 9000.0 });
        class["error_rate"] = json!(0.02);
        class["quality"] = json!({ "state": "assumed", "pass_rate": 0.97, "by": "us" });
        document["fleet"]["pools"][0]["max_num_seqs"] = json!(48);
    });
    let report = answer(&scenario).expect("an answer").report;
    let shares = report.verdict.causes.iter().filter_map(|cause| {
        let (number, _) = cause.strip_prefix("under ").unwrap_or(cause).split_once(" % ")?;
        if cause.starts_with("under ") { Some(0.0) } else { number.parse::<f64>().ok() }
    });
    let shares: Vec<f64> = shares.collect();
    let lost = report.outcomes.iter().filter(|(o, n)| **o != Outcome::Good && **n > 0).count();
    assert!(lost >= 4, "{:?}", report.outcomes);
    assert_eq!(shares.len(), lost, "{:?}", report.verdict.causes);
    let all = shares.iter().sum::<f64>() + 100.0 * report.attainment;
    assert!((all - 100.0).abs() < 0.06, "{all}: {:?}", report.verdict.causes);
}

/// A datasheet gives a range: what holds by it holds if it is right.
#[test]
fn what_rests_on_a_datasheet_says_so_in_the_verdict_and_in_the_plan() {
    let by = |source: &'static str| {
        scenario(move |document| {
            document["workload"]["horizon_s"] = json!(60.0);
            document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(1.0);
            document["fleet"]["pools"][0]["step_time"] = json!({ "source": { "kind": source } });
        })
    };
    let datasheet = by("datasheet");
    let verdict = answer(&datasheet).expect("an answer").report.verdict;
    assert_eq!(verdict.state, VerdictState::Holds);
    let proviso = "if the datasheet's step times are right: true ones may be 0.75 to 1.3 × as long";
    assert!(verdict.sentence.ends_with(proviso), "{}", verdict.sentence);
    let planned = plan(&datasheet, |_| true).expect("a plan");
    assert!(planned.sentence.ends_with(proviso), "{}", planned.sentence);
    let library = answer(&by("catalog")).expect("an answer").report.verdict;
    assert!(!library.sentence.contains(" if "), "{}", library.sentence);
}

/// What is turned away or leaves is no work: it neither piles up nor is done.
#[test]
fn those_who_are_never_served_are_not_called_work() {
    let verdict = |admission: serde_json::Value| {
        let scenario = scenario(move |document| {
            document["workload"]["horizon_s"] = json!(60.0);
            document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(200.0);
            document["fleet"]["admission"] = admission;
        });
        answer(&scenario).expect("an answer").report
    };
    let unbounded = verdict(json!({}));
    assert!(unbounded.verdict.causes[0].starts_with("work piles up at "), "{unbounded:?}");
    let bounded = verdict(json!({ "max_queue_age_s": 1.0 }));
    assert!(bounded.outcomes[&Outcome::Rejected] > 0);
    assert!(bounded.verdict.causes[0].contains("turned away"), "{:?}", bounded.verdict);

    let crowd = scenario(|document| {
        document["workload"]["horizon_s"] = json!(60.0);
        let class = &mut document["workload"]["classes"][0];
        class["arrivals"] = json!({
            "kind": "closed_loop", "users": 3000, "think_time": { "kind": "fixed", "s": 1.0 },
        });
        class["patience"] = json!({ "kind": "fixed", "s": 1.0 });
    });
    let report = answer(&crowd).expect("an answer").report;
    assert!(report.outcomes[&Outcome::CancelledBeforeFirst] > 0, "{:?}", report.outcomes);
    assert_eq!(report.verdict.state, VerdictState::LateButStable);
    assert!(report.verdict.sentence.starts_with("Not all work is done"), "{:?}", report.verdict);
}

/// A peak that passes supply and is soon over breaks nothing, and is not passed over.
#[test]
fn a_short_peak_above_supply_that_breaks_nothing_is_named() {
    let scenario = scenario(|document| {
        document["workload"]["horizon_s"] = json!(200.0);
        let class = &mut document["workload"]["classes"][0];
        class["arrivals"] = json!({
            "kind": "spike", "base_rps": 5.0, "peak_rps": 90.0, "start_s": 100.0, "duration_s": 10.0,
        });
        class["slo"] = json!({ "e2e_ms": 120_000.0 });
    });
    let report = answer(&scenario).expect("an answer").report;
    assert!(report.supply.required_peak.rps > report.supply.sustainable_at_peak.rps);
    assert_eq!(report.verdict.state, VerdictState::Holds, "{:?}", report.verdict);
    assert!(report.verdict.sentence.contains("too briefly to break"), "{:?}", report.verdict);
}
