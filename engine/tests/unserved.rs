//! Who is not served, and why: fleets that go away, come too late or are kept idle by their door.

mod common;

use common::{fixed, scenario};
use goodput_engine::accounts::accounting::Cause;
use goodput_engine::accounts::answer;
use goodput_engine::accounts::report::{SimReport, SupplyOverTime, VerdictState};
use goodput_engine::slo::Outcome;
use serde_json::{Value, json};

/// Two short requests a second for 300 s, far below what one replica sustains.
fn report(edit: impl FnOnce(&mut Value)) -> SimReport {
    let scenario = scenario(|document| {
        fixed(512, 64, 2.0)(document);
        document["workload"]["horizon_s"] = json!(300.0);
        document["workload"]["classes"][0]["slo"] = json!({ "ttft_ms": 2000.0 });
        edit(document);
    });
    answer(&scenario).expect("an answer").report
}

fn over_time(report: &SimReport) -> &SupplyOverTime {
    report.supply.over_time.as_ref().expect("replicas come or go")
}

/// A timetable that ends with nobody: what is due from then on is never served, debt grows by all
/// that is asked and never drains.
#[test]
fn a_fleet_that_goes_away_leaves_requests_that_are_never_served() {
    let report = report(|document| {
        let pool = &mut document["fleet"]["pools"][0];
        pool["replicas"] = json!(2);
        pool["scheduled_replicas"] = json!([{ "at_s": 100.0, "replicas": 0 }]);
    });
    let verdict = &report.verdict;
    assert_eq!(verdict.state, VerdictState::Overloaded);
    assert!(verdict.sentence.starts_with("No replica takes requests from 100 s on"), "{verdict:?}");
    assert!(verdict.sentence.ends_with("; 399 requests are never served"), "{verdict:?}");
    assert!(verdict.causes.iter().any(|cause| cause.contains("never served")), "{verdict:?}");
    let debt = &report.debt;
    assert!((debt.growth_rps - 2.0).abs() < 1e-9, "{debt:?}");
    assert_eq!((debt.drain_s, debt.drain_while_serving_s), (None, None));
    // Who is due at 100 s comes before the fleet's own of that moment, and is served.
    assert_eq!(debt.waiting_at_end, 399);
    // The run ends with its last arrival, 0.5 s before the horizon: whoever was due 2 s before that is
    // past the limit, and the others may yet be in time.
    let late = report.outcomes[&Outcome::LateFirstToken];
    assert_eq!((debt.past_limit_at_end, debt.peak_past_limit), (late, late));
    assert_eq!((late, report.outcomes[&Outcome::Unfinished]), (394, 5));
    let late = &report.accounting.causes.late_first_token;
    assert_eq!(late[&Cause::NoReplica], report.outcomes[&Outcome::LateFirstToken], "{late:?}");
    let there = over_time(&report);
    assert!((there.mean_replicas - 2.0 / 3.0).abs() < 1e-9, "{there:?}");
    let ratio = there.sustainable.rps / report.supply.sustainable.rps;
    assert!((ratio - 1.0 / 3.0).abs() < 1e-9, "{ratio}");
    let without = there.without.expect("a span");
    assert!((without.total_s - 200.0).abs() < 1e-9 && without.longest_to_s >= 300.0);
}

#[test]
fn a_start_up_longer_than_the_run_serves_nobody_within_it() {
    let report = report(|document| {
        let pool = &mut document["fleet"]["pools"][0];
        pool["cold_start"] = json!(true);
        pool["start_up_s"] = json!(1000.0);
    });
    let verdict = &report.verdict;
    assert_eq!(verdict.state, VerdictState::Overloaded);
    assert_eq!(
        verdict.sentence,
        "No replica takes requests in all the 300 s of the horizon, while 2 req/s are asked"
    );
    assert!(verdict.causes[0].starts_with("work piles up at 2 req/s"), "{verdict:?}");
    assert!((report.debt.growth_rps - 2.0).abs() < 1e-9);
    assert!(report.debt.drain_s.is_some_and(|s| s > 700.0), "the replica comes in the end");
}

/// Where no GPU was there, nothing is "per GPU-hour".
#[test]
fn a_pool_of_nobody_has_no_good_request_per_gpu_hour() {
    let report = report(|document| {
        let class = &mut document["workload"]["classes"][0];
        class["arrivals"] = json!({ "kind": "poisson", "rate_rps": 2.0 });
        document["fleet"]["pools"][0]["scheduled_replicas"] =
            json!([{ "at_s": 0.0, "replicas": 0 }]);
    });
    assert_eq!(report.goodput.good_per_gpu_hour, None);
    assert_eq!(report.verdict.state, VerdictState::Overloaded);
}

/// Users of a closed loop ask no more than they are served, and yet somebody is never served.
#[test]
fn users_whose_fleet_has_gone_are_never_served() {
    let report = report(|document| {
        document["workload"]["classes"][0]["arrivals"] = json!({
            "kind": "closed_loop", "users": 50, "think_time": { "kind": "fixed", "s": 5.0 },
        });
        document["fleet"]["pools"][0]["scheduled_replicas"] =
            json!([{ "at_s": 100.0, "replicas": 0 }]);
    });
    assert_eq!(report.verdict.state, VerdictState::Overloaded);
    let sentence = &report.verdict.sentence;
    assert!(sentence.contains("from 100 s on; 50 requests are never served"), "{sentence}");
}

#[test]
fn who_leaves_in_mid_stream_is_not_called_done() {
    let report = report(|document| {
        let class = &mut document["workload"]["classes"][0];
        class["stall_patience"] = json!({ "kind": "fixed", "s": 0.001 });
    });
    assert_eq!(report.outcomes[&Outcome::CancelledMidStream], report.offered);
    let sentence = &report.verdict.sentence;
    assert!(
        sentence.starts_with(
            "Not all work is done: 100 % of requests leave in mid-stream, and no request is good"
        ),
        "{sentence}"
    );
    assert!(!sentence.contains("debt does not grow"), "{sentence}");
}

/// Fewer replicas for a while than are asked for: the sentence has those that were there.
#[test]
fn an_overload_while_replicas_are_away_is_held_against_those_that_are_there() {
    let with = |away: bool| {
        report(move |document| {
            fixed(512, 64, 120.0)(document);
            document["workload"]["horizon_s"] = json!(120.0);
            document["workload"]["classes"][0]["slo"] = json!({ "ttft_ms": 500.0 });
            let pool = &mut document["fleet"]["pools"][0];
            pool["replicas"] = json!(4);
            if away {
                pool["scheduled_replicas"] = json!([
                    { "at_s": 30.0, "replicas": 1 }, { "at_s": 90.0, "replicas": 4 },
                ]);
            }
        })
    };
    let (whole, away) = (with(false), with(true));
    assert_eq!(whole.verdict.state, VerdictState::Holds, "{:?}", whole.verdict);
    assert!(whole.supply.over_time.is_none(), "nothing happens to its replicas");
    assert_eq!(away.verdict.state, VerdictState::Overloaded, "{:?}", away.verdict);
    assert!(
        away.verdict
            .sentence
            .contains("from 30 s on; the replicas that take requests then (1 of 4)")
    );
    let there = over_time(&away);
    let one = away.supply.sustainable.rps / 4.0;
    assert!((there.tightest_sustainable.rps / one - 1.0).abs() < 1e-9, "{there:?}");
    assert!((away.debt.growth_rps - (120.0 - one)).abs() < 1e-6, "{:?}", away.debt);
    let mean: f64 = there.replicas.iter().sum::<f64>() / there.replicas.len() as f64;
    assert!((mean - there.mean_replicas).abs() < 1e-9 && (mean - 2.5).abs() < 1e-9, "{mean}");
}

/// A door that lets in next to nothing keeps the replicas idle: they are not what runs out. One that
/// lets in as much as queues hold does not.
#[test]
fn what_binds_is_said_of_the_run_and_not_of_a_saturated_replica() {
    let causes = |admission: Value| {
        report(move |document| {
            fixed(512, 64, 400.0)(document);
            document["workload"]["horizon_s"] = json!(60.0);
            document["fleet"]["admission"] = admission;
        })
        .verdict
        .causes
    };
    let door = causes(json!({ "token_bucket": { "rate_rps": 2.0, "burst": 2 } }));
    assert!(door.iter().any(|c| c.starts_with("the door (token_bucket) lets in 2")), "{door:?}");
    assert!(!door.iter().any(|cause| cause.contains("saturated, ")), "{door:?}");
    for saturated in [json!({}), json!({ "max_waiting": 20 }), json!({ "max_queue_age_s": 0.5 })] {
        let causes = causes(saturated);
        assert!(causes.iter().any(|cause| cause.starts_with("saturated, ")), "{causes:?}");
    }
}

/// The same where demand is below what the replicas sustain: the door alone turns people away. One that
/// nobody meets is not named.
#[test]
fn a_door_that_turns_people_away_from_idle_replicas_is_named() {
    let report_with = |rate_rps: f64| {
        report(move |document| {
            document["fleet"]["admission"] =
                json!({ "token_bucket": { "rate_rps": rate_rps, "burst": 2 } });
        })
    };
    let named = |report: &SimReport| {
        let causes = &report.verdict.causes;
        causes.iter().any(|cause| cause.starts_with("the door (token_bucket) lets in 0.5"))
    };
    let narrow = report_with(0.5);
    assert_eq!(narrow.verdict.state, VerdictState::LateButStable);
    assert!(named(&narrow), "{:?}", narrow.verdict);
    let wide = report_with(200.0);
    assert_eq!(wide.outcomes[&Outcome::Rejected], 0);
    assert!(!named(&wide), "{:?}", wide.verdict);
}

/// An autoscaler that never needs its most is held against what it has.
#[test]
fn a_fleet_that_stays_small_is_not_held_against_its_most() {
    let report = report(|document| {
        document["fleet"]["pools"][0]["autoscaler"] =
            json!({ "target": 100.0, "min_replicas": 1, "max_replicas": 6 });
    });
    let there = over_time(&report);
    assert_eq!(there.most_replicas, 6);
    assert!((there.mean_replicas - 1.0).abs() < 1e-9, "{there:?}");
    let of_most = report.supply.required_peak.rps / report.supply.sustainable_at_peak.rps;
    assert!((there.load() / of_most - 6.0).abs() < 1e-9, "{there:?}");
    assert!(report.verdict.sentence.contains("then (1 of 6) sustain"), "{:?}", report.verdict);
}
