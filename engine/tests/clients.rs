//! Whom the fleet lets in and when clients leave: what bounding a queue does to goodput, and what
//! work for those who leave costs. Values are those of the product's own specification.

use goodput_engine::accounts::report::{SimReport, VerdictState};
use goodput_engine::accounts::{Simulated, answer};
use goodput_engine::compare::{Setting, lift_settings};
use goodput_engine::estimate::estimate;
use goodput_engine::scenario::check;
use goodput_engine::scenario::doc::ScenarioDoc;
use goodput_engine::slo::Outcome;
use serde_json::{Value, json};

/// Chat on one H100: lognormal lengths of 512 and 256 tokens in the mean, σ 0.8, and a limit on
/// TTFT alone.
fn chat(rate_rps: f64) -> Value {
    json!({
        "version": 1,
        "workload": { "classes": [{
            "name": "chat",
            "arrivals": { "kind": "poisson", "rate_rps": rate_rps },
            "input_tokens": { "kind": "lognormal", "mean": 512.0, "p99": 2390.9 },
            "output_tokens": { "kind": "lognormal", "mean": 256.0, "p99": 1195.4 },
            "slo": { "ttft_ms": 2000.0 },
        }]},
        "fleet": { "pools": [{
            "gpu": "H100-SXM", "model": "Llama-3.1-8B", "replicas": 1, "price_per_gpu_hour": 2.5,
        }]},
    })
}

fn simulate(doc: &Value) -> Simulated {
    let doc: ScenarioDoc = serde_json::from_value(doc.clone()).expect("a document");
    answer(&check(&doc).expect("a valid scenario").scenario).expect("an answer")
}

fn report(doc: &Value) -> SimReport {
    simulate(doc).report
}

/// The document with `value` at a JSON pointer.
fn with(mut doc: Value, pointer: &str, value: Value) -> Value {
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
    doc.pointer_mut(parent).expect(parent)[field] = value;
    doc
}

/// Chat at a multiple of what one replica sustains of it.
fn overloaded(multiple: f64) -> Value {
    let sustainable = report(&chat(30.0)).supply.sustainable.rps;
    chat(multiple * sustainable)
}

/// 1.2 × sustainable for 600 s under a limit on TTFT alone: at most 4 % good; 84 ± 4 % with a queue
/// age of 1 s; and within 1 % the same tokens.
#[test]
fn bounding_queue_age_turns_useless_work_into_goodput() {
    let doc = overloaded(1.2);
    let unbounded = report(&doc);
    let bounded = report(&with(doc, "/fleet/admission", json!({ "max_queue_age_s": 1.0 })));
    println!("attainment {} and {}", unbounded.attainment, bounded.attainment);
    assert!(unbounded.attainment <= 0.04, "{}", unbounded.attainment);
    assert!((bounded.attainment - 0.84).abs() <= 0.04, "{}", bounded.attainment);
    let (before, after) =
        (unbounded.supply.completed.decode_tps, bounded.supply.completed.decode_tps);
    assert!((after / before - 1.0).abs() < 0.01, "{before} tok/s became {after}");
    // Whoever is not good was turned away: nobody is served late.
    let turned_away = bounded.outcomes[&Outcome::Rejected];
    assert_eq!(turned_away + bounded.goodput.good, bounded.offered);
}

/// All cancelled in mid-stream: no cost per good request, waste above 0, a good line of 0.
#[test]
fn work_for_those_who_leave_mid_stream_is_paid_and_good_for_nothing() {
    // Nobody waits a millisecond for the second token, and a step takes several.
    let hasty = with(
        chat(10.0),
        "/workload/classes/0/stall_patience",
        json!({ "kind": "fixed", "s": 0.001 }),
    );
    // An answer of one token is complete before anybody could leave.
    let hasty =
        with(hasty, "/workload/classes/0/output_tokens", json!({ "kind": "fixed", "tokens": 200 }));
    let report = report(&hasty);
    assert_eq!(report.outcomes[&Outcome::CancelledMidStream], report.offered);
    let cost = report.cost.expect("a price is set");
    assert_eq!(cost.per_good_request, None);
    let usd = |name: &str| cost.lines.iter().find(|line| line.line == name).map(|line| line.usd);
    assert_eq!(usd("good"), Some(0.0));
    let wasted = usd("cancelled_mid_stream").expect("a line of its own");
    assert!(wasted > 0.0);
    let sum: f64 = cost.lines.iter().map(|line| line.usd).sum();
    assert!((sum - cost.total).abs() < 1e-9 * cost.total);
    assert_eq!(report.goodput.good, 0);
}

/// Limits that nothing comes near.
fn generous() -> [(&'static str, Value); 4] {
    let patience = json!({ "kind": "lognormal", "median_s": 5000.0, "p90_s": 6000.0 });
    [
        (
            "/fleet/admission",
            json!({
                "max_waiting": 1_000_000, "max_queue_age_s": 10_000.0, "retry_after_s": 1.0,
                "token_bucket": { "rate_rps": 100_000.0, "burst": 100_000 },
                "shedding": { "max_waiting": 1_000_000, "above_priority": -1 },
            }),
        ),
        ("/workload/classes/0/stall_patience", patience),
        ("/workload/classes/0/timeout_s", json!(10_000.0)),
        ("/workload/classes/0/priority", json!(3)),
    ]
}

#[test]
fn a_limit_that_is_never_reached_changes_nothing() {
    let plain = overloaded(1.1);
    let limited =
        generous().into_iter().fold(plain.clone(), |doc, (at, value)| with(doc, at, value));
    let (plain, limited) = (simulate(&plain), simulate(&limited));
    assert_eq!(plain.run.stamps, limited.run.stamps);
    assert_eq!(plain.run.samples, limited.run.samples);
    let json = |report: &SimReport| serde_json::to_string(report).expect("plain data");
    assert_eq!(json(&plain.report), json(&limited.report));
}

#[test]
fn the_estimate_says_what_it_does_not_see() {
    let leaves_out = |doc: &Value| {
        let doc: ScenarioDoc = serde_json::from_value(doc.clone()).expect("a document");
        let checked = check(&doc).expect("a valid scenario");
        estimate(&checked.scenario).supply.expect("it fits").leaves_out
    };
    assert_eq!(leaves_out(&chat(10.0)), Vec::<String>::new());
    let limited = with(chat(10.0), "/fleet/admission", json!({ "max_waiting": 10 }));
    let limited = with(limited, "/workload/classes/0/timeout_s", json!(60.0));
    let said = leaves_out(&limited);
    assert!(said[0].contains("admission") && said[1].contains("leave"), "{said:?}");
}

#[test]
fn errors_stay_in_the_denominator_and_in_the_bill() {
    // Case A10: 49 of 150 errored, so 67.3 % at best, however loose the limits.
    let doc = with(chat(5.0), "/workload/classes/0/error_rate", json!(49.0 / 150.0));
    let doc = with(doc, "/workload/classes/0/slo", json!({ "e2e_ms": 3_600_000.0 }));
    let report = report(&doc);
    let offered = report.offered as f64;
    let spread = (0.673 * 0.327 / offered).sqrt();
    assert!((report.attainment - 0.673).abs() < 4.0 * spread, "{}", report.attainment);
    let errors = report.outcomes[&Outcome::Error];
    assert_eq!(report.goodput.good + errors, report.offered);
    let cost = report.cost.expect("a price is set");
    let per_good = cost.per_good_request.expect("some are good");
    assert!((per_good * report.goodput.good as f64 / cost.total - 1.0).abs() < 1e-12);
    // Case E2: of 483 requests 3 failed and 400 were good. The share is of all of them.
    assert!((report.goodput.good as f64 / offered - report.attainment).abs() < 1e-12);
    assert!(report.attainment < report.goodput.good as f64 / (offered - errors as f64));
}

/// Turning three in ten away at the door keeps the others fast: over the answered ones p95 of TTFT is
/// in time, over the offered ones it never came, and the contract is broken.
#[test]
fn nobody_meets_a_percentile_by_rejecting_three_in_ten() {
    let bucket = json!({ "token_bucket": { "rate_rps": 7.0, "burst": 5 } });
    let doc = with(chat(10.0), "/fleet/admission", bucket);
    let slo = json!({
        "ttft_ms": 2_000.0, "attainment_target": 0.5,
        "percentile_targets": [{ "of": "ttft", "percentile": 95.0, "limit_ms": 2_000.0 }],
    });
    let report = report(&with(doc, "/workload/classes/0/slo", slo));
    let rejected = report.outcomes[&Outcome::Rejected] as f64 / report.offered as f64;
    assert!((rejected - 0.3).abs() < 0.05, "{rejected}");
    assert!(report.attainment > 0.65, "every answer is in time: {}", report.attainment);
    let target = &report.accounting.percentile_targets[0];
    assert_eq!((target.met, target.met_over_completed), (false, true), "{target:?}");
    assert_eq!(target.over_offered_ms, None, "three in ten never got a token");
    assert!(!report.contract_holds);
}

#[test]
fn retries_turn_errors_into_load() {
    let doc = with(chat(5.0), "/workload/classes/0/error_rate", json!(0.2));
    let once = report(&doc);
    let retries = json!({ "max_attempts": 4, "backoff_base_s": 0.1, "jitter": 0.5 });
    let again = report(&with(doc, "/workload/classes/0/retries", retries));
    assert_eq!(once.offered, again.offered, "the denominator is what users asked");
    assert_eq!(once.attempts.sent, once.offered);
    // 1 + 0.2 + 0.04 + 0.008 attempts, and 0.2⁴ fail for good.
    let sent = again.attempts.per_request;
    assert!((sent - 1.248).abs() < 0.03, "{sent}");
    let errors = again.outcomes[&Outcome::Error] as f64 / again.offered as f64;
    assert!(errors < 0.005, "{errors}");
    let cost = again.cost.expect("a price is set");
    let retried = cost.lines.iter().find(|line| line.line == "retried").expect("its own line");
    // A fifth of the attempts, and one more in five of those: 0.248 of 1.248 of the work.
    let busy: f64 = cost.lines.iter().filter(|l| l.line != "idle").map(|l| l.usd).sum();
    assert!((retried.usd / busy - 0.248 / 1.248).abs() < 0.03, "{}", retried.usd / busy);
    let sum: f64 = cost.lines.iter().map(|line| line.usd).sum();
    assert!((sum - cost.total).abs() < 1e-9 * cost.total);
    assert!(again.series.iter().any(|point| point.deferred > 0));
}

#[test]
fn a_bounded_queue_moves_debt_to_the_callers() {
    let doc = overloaded(1.5);
    let doc = with(doc, "/fleet/admission", json!({ "max_waiting": 50, "retry_after_s": 5.0 }));
    let lost = report(&doc);
    let retries = json!({ "max_attempts": 20, "backoff_base_s": 1.0, "jitter": 0.5 });
    let again = report(&with(doc, "/workload/classes/0/retries", retries));
    assert!(lost.debt.peak_waiting <= 50 && again.debt.peak_waiting <= 50);
    assert_eq!(lost.debt.peak_deferred, 0);
    assert!(again.debt.peak_deferred > 500, "{}", again.debt.peak_deferred);
    // Nobody asked more, but the door sees far more knocks, and fewer are answered in time.
    assert_eq!(again.offered, lost.offered);
    assert!(again.attempts.per_request > 1.5, "{}", again.attempts.per_request);
    assert!(again.attainment < lost.attainment);
}

/// Users of a chat who read for ten seconds on average.
fn readers(users: u32) -> Value {
    let think_time = json!({ "kind": "exponential", "mean_s": 10.0 });
    let arrivals = json!({ "kind": "closed_loop", "users": users, "think_time": think_time });
    with(chat(1.0), "/workload/classes/0/arrivals", arrivals)
}

#[test]
fn a_closed_loop_offers_what_the_fleet_lets_it() {
    let (some, many) = (report(&readers(200)), report(&readers(2_000)));
    for (report, users) in [(&some, 200.0), (&many, 2_000.0)] {
        let seen = report.classes[0].closed_loop.expect("a closed loop");
        let response_s = seen.mean_response_s.expect("somebody asked");
        let by_law = seen.rate_rps * (response_s + seen.mean_think_time_s);
        assert!((by_law / users - 1.0).abs() < 0.08, "{by_law} of {users} users");
        assert!((seen.mean_in_flight / (seen.rate_rps * response_s) - 1.0).abs() < 0.1);
        assert!(seen.mean_in_flight < users - seen.rate_rps, "users are not requests in flight");
        assert!((report.supply.required.rps - seen.rate_rps).abs() < 1e-9);
        assert_eq!(report.outcomes.values().sum::<u64>(), report.offered);
    }
    // Ten times the users ask less than ten times as much: the fleet holds them up, and whoever
    // waits asks nothing. Demand is what is sustained, and the one request of each who still waits.
    let ratio = many.supply.required.rps / many.supply.sustainable.rps;
    assert!((0.95..1.12).contains(&ratio), "{ratio}");
    assert_eq!(many.verdict.state, VerdictState::LateButStable, "their debt does not grow");
    assert!(many.debt.growth_rps <= 0.0);
    assert!(some.contract_holds && !many.contract_holds);
}

#[test]
fn the_estimate_finds_the_rate_at_which_users_ask() {
    let supply = |doc: &Value| {
        let doc: ScenarioDoc = serde_json::from_value(doc.clone()).expect("a document");
        let checked = check(&doc).expect("a valid scenario");
        estimate(&checked.scenario).supply.expect("it fits")
    };
    for users in [50, 200] {
        let doc = readers(users);
        let (estimated, simulated) = (supply(&doc), report(&doc).supply.required.rps);
        assert!((estimated.required_rps / simulated - 1.0).abs() < 0.03, "{users}: {simulated}");
        assert_eq!(estimated.leaves_out, Vec::<String>::new());
        let expected = estimated.workload[0].expected_requests;
        assert!((expected / 600.0 / estimated.required_rps - 1.0).abs() < 1e-9, "{expected}");
    }
    let full = supply(&readers(2_000));
    assert!((0.98..=1.001).contains(&full.utilization), "{}", full.utilization);
    assert!(full.leaves_out.iter().any(|line| line.contains("queue of users")));
}

#[test]
fn a_plan_for_users_counts_their_users() {
    let doc = with(readers(300), "/workload/horizon_s", json!(30.0));
    let doc = with(doc, "/fleet/pools/0/max_num_seqs", json!(16));
    let doc: ScenarioDoc = serde_json::from_value(doc).expect("a document");
    let scenario = check(&doc).expect("a valid scenario").scenario;
    let plan = goodput_engine::planner::plan(&scenario, |_| true).expect("nobody stops it");
    let goodput_engine::planner::report::PlanAnswer::Replicas { replicas, .. } = plan.answer else {
        panic!("no count: {:?}", plan.answer);
    };
    let holds = |replicas| {
        let mut changed = scenario.clone();
        changed.pool.replicas = replicas;
        answer(&changed).expect("an answer").report.contract_holds
    };
    assert!(holds(replicas) && (1..replicas).all(|fewer| !holds(fewer)), "{replicas}");
    assert_eq!(plan.deliverable, None, "twice the users are not twice the rate");
}

/// What each setting cost, lifted alone. The law: what is good with it and what lifting it adds is
/// what a scenario without it has good, and no request is counted that the setting did not cost.
#[test]
fn what_a_setting_costs_is_what_a_run_without_it_has_more() {
    let doc = with(overloaded(1.6), "/workload/horizon_s", json!(120.0));
    let doc = with(doc, "/fleet/admission", json!({ "max_queue_age_s": 1.5 }));
    let class = "/workload/classes/0";
    let doc = with(doc, &format!("{class}/patience"), json!({ "kind": "fixed", "s": 1.0 }));
    let doc = with(doc, &format!("{class}/error_rate"), json!(0.03));
    let doc = with(doc, &format!("{class}/timeout_s"), json!(12.0));
    let checked = |doc: &Value| {
        let doc: ScenarioDoc = serde_json::from_value(doc.clone()).expect("a document");
        check(&doc).expect("a valid scenario").scenario
    };
    let scenario = checked(&doc);
    let as_it_is = answer(&scenario).expect("an answer");
    let run = (as_it_is.requests.as_slice(), as_it_is.run.stamps.as_slice());
    let lifted = lift_settings(&scenario, run).expect("answers");
    for (setting, without) in [
        (Setting::Patience, with(doc.clone(), &format!("{class}/patience"), Value::Null)),
        (Setting::TimeOut, with(doc.clone(), &format!("{class}/timeout_s"), Value::Null)),
        (Setting::Errors, with(doc.clone(), &format!("{class}/error_rate"), json!(0.0))),
    ] {
        let row = lifted.iter().find(|row| row.setting == setting);
        let row = row.unwrap_or_else(|| panic!("{setting:?} costs some: {lifted:?}"));
        let good = as_it_is.report.goodput.good.cast_signed();
        let more = answer(&checked(&without)).expect("an answer").report.goodput.good;
        assert_eq!(good + row.added_good(), more.cast_signed(), "{setting:?}");
        let outcomes = &as_it_is.report.outcomes;
        let cost: u64 = setting.outcomes().iter().filter_map(|o| outcomes.get(o)).sum();
        assert_eq!(row.requests, cost, "{setting:?}");
        assert!(row.saved <= row.requests, "{row:?}");
    }
    // Nobody waits long enough to be turned away for age: the door cost nobody.
    assert!(lifted.iter().all(|row| row.setting != Setting::Admission), "{lifted:?}");
    assert!(lifted.is_sorted_by_key(|row| std::cmp::Reverse(row.added_good())));
}

/// 84 % are good behind a door and 4 % without: what the door turns away it does not cost.
#[test]
fn a_door_that_helps_costs_less_than_nothing() {
    let doc = with(overloaded(1.2), "/fleet/admission", json!({ "max_queue_age_s": 1.0 }));
    let doc: ScenarioDoc = serde_json::from_value(doc).expect("a document");
    let scenario = check(&doc).expect("a valid scenario").scenario;
    let behind = answer(&scenario).expect("an answer");
    let run = (behind.requests.as_slice(), behind.run.stamps.as_slice());
    let [door] = lift_settings(&scenario, run).expect("answers")[..] else { panic!("the door") };
    assert_eq!(door.setting, Setting::Admission);
    assert!(door.requests > 0 && door.added_good() < 0, "{door:?}");
    let lost = door.lost_beside as f64 / behind.report.offered as f64;
    assert!(lost > 0.7, "{lost}");
}
