//! Whom the fleet lets in and when clients leave: what bounding a queue does to goodput, and what
//! work for those who leave costs. Values are those of the product's own specification.

use goodput_engine::accounts::report::SimReport;
use goodput_engine::accounts::{Simulated, answer};
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
