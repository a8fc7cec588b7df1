//! Remedies: each is an edit, what it does is what a comparison of two simulations says, and what
//! it makes worse is said.

mod common;

use goodput_engine::compare::{Side, compare};
use goodput_engine::remedies::{RemedyReport, RemedyRow, remedies};
use goodput_engine::scenario::doc::{self, ScenarioDoc};
use goodput_engine::scenario::{Scenario, check};
use goodput_engine::slo::Outcome;
use serde_json::{Value, json};

fn sides(edit: impl FnOnce(&mut Value)) -> (ScenarioDoc, Scenario) {
    let doc = doc::parse(&common::document(edit).to_string()).expect("a document");
    let scenario = check(&doc).expect("a scenario").scenario;
    (doc, scenario)
}

/// A minute of chat on a fleet that is too small for it, with a price.
fn overloaded(document: &mut Value) {
    document["workload"]["horizon_s"] = json!(60.0);
    document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(45.0);
    document["workload"]["classes"][0]["output_tokens"] = json!({
        "kind": "lognormal", "mean": 512.0, "p99": 2200.0
    });
    document["fleet"]["pools"][0]["price_per_gpu_hour"] = json!(3.0);
    document["fleet"]["pools"][0]["price_source"] = json!("a test");
}

fn row<'a>(report: &'a RemedyReport, id: &str) -> &'a RemedyRow {
    report.remedies.iter().find(|row| row.id == id).unwrap_or_else(|| panic!("{id} was tried"))
}

#[test]
fn every_remedy_is_what_a_comparison_says_to_the_last_digit() {
    let (doc, scenario) = sides(overloaded);
    let report = remedies(&doc, &scenario).expect("it can be simulated");
    assert!(report.remedies.len() >= 8, "{}", report.remedies.len());
    for remedy in &report.remedies {
        let edited = check(&remedy.doc).expect("it was simulated").scenario;
        let compared = compare(
            Side { doc: &doc, scenario: &scenario },
            Side { doc: &remedy.doc, scenario: &edited },
            1,
        );
        assert_eq!(remedy.results, compared.results, "{}", remedy.title);
        assert_eq!(remedy.moved, compared.moved, "{}", remedy.title);
        assert!(!remedy.inputs.is_empty(), "{} changes something", remedy.title);
        let Some(moved) = &remedy.moved else { continue };
        let good = |side: fn(&goodput_engine::compare::Moved) -> Outcome| -> i64 {
            let of = moved.iter().filter(|cell| side(cell) == Outcome::Good);
            of.map(|cell| i64::try_from(cell.requests).expect("few")).sum()
        };
        assert_eq!(remedy.added_good, good(|cell| cell.to) - good(|cell| cell.from));
    }
}

#[test]
fn when_outputs_are_too_long_it_is_plain_what_helps_at_what_price_and_what_it_worsens() {
    let (doc, scenario) = sides(overloaded);
    let report = remedies(&doc, &scenario).expect("it can be simulated");
    let more = row(&report, "replicas");
    assert!(more.added_good > 0 && more.cost_per_added_good.is_some_and(|usd| usd > 0.0));
    assert!(more.worsens.contains(&"cost.per_month"), "{:?}", more.worsens);
    let bounded = row(&report, "max_queue_age");
    assert!(bounded.added_good > 0, "a bounded queue serves fewer and in time");
    let moved = bounded.moved.as_ref().expect("the same requests");
    let rejected = moved.iter().filter(|cell| cell.to == Outcome::Rejected);
    assert!(rejected.map(|cell| cell.requests).sum::<u64>() > 0, "and turns others away");
    assert!(report.remedies.iter().any(|row| !row.worsens.is_empty()));
    let budget = row(&report, "output_budget");
    assert!(budget.caveats.iter().any(|caveat| caveat.contains("not checked")));
}

#[test]
fn the_cheapest_further_good_request_comes_first_and_what_gains_none_comes_last() {
    let (doc, scenario) = sides(overloaded);
    let report = remedies(&doc, &scenario).expect("it can be simulated");
    let gains: Vec<bool> = report.remedies.iter().map(|row| row.added_good > 0).collect();
    assert!(gains.is_sorted_by(|a, b| a >= b), "{gains:?}");
    // A fleet that costs the same a month costs nothing more, however long its run drains.
    let per_month = |row: &RemedyRow| {
        let change = row.results.iter().find(|change| change.name == "cost.per_month");
        change.and_then(|change| change.delta).expect("it has a price")
    };
    let is_free = |row: &RemedyRow| per_month(row).abs() < f64::EPSILON;
    let price = |row: &RemedyRow| {
        let cost = row.cost_per_added_good?;
        Some((if is_free(row) { 0.0 } else { cost }, -row.added_good))
    };
    let prices: Vec<(f64, i64)> = report.remedies.iter().filter_map(price).collect();
    assert!(prices.is_sorted_by(|a, b| a <= b), "{prices:?}");
    assert!(prices.iter().any(|price| price.0 > 0.0) && prices[0].0 <= 0.0);
}

#[test]
fn what_does_not_apply_says_why() {
    let (doc, scenario) = sides(|document| {
        document["workload"]["horizon_s"] = json!(10.0);
        let class = &mut document["workload"]["classes"][0];
        class["output_tokens"] = json!({ "kind": "fixed", "tokens": 100 });
        class["slo"] = json!({ "tpot_ms": 50.0 });
        document["fleet"]["pools"][0]["kv_precision"] = json!("fp8");
    });
    let report = remedies(&doc, &scenario).expect("it can be simulated");
    for (id, why) in [
        ("output_budget", "one length"),
        ("max_queue_age", "no class has a TTFT limit"),
        ("max_waiting", "no class has a TTFT limit"),
        ("shedding", "one priority"),
        ("kv_precision", "not in 16 bits"),
        ("tensor_parallel", "one replica of one GPU"),
    ] {
        let absent = report.not_applicable.iter().find(|absent| absent.id == id);
        let absent = absent.unwrap_or_else(|| panic!("{id} does not apply"));
        assert!(absent.why.contains(why), "{id}: {}", absent.why);
    }
}

#[test]
fn a_scenario_that_does_not_fit_has_no_remedies() {
    let (doc, scenario) = sides(|document| {
        document["fleet"]["pools"][0]["model"] = json!("Llama-3.1-405B");
    });
    let why = remedies(&doc, &scenario).expect_err("it does not fit");
    assert!(why.to_string().contains("does not fit"));
}

/// A pool that starts cold under a class with sessions: routing and starts are edits too, each what
/// a comparison says.
#[test]
fn routing_and_starts_are_remedies_where_they_can_matter() {
    let (doc, scenario) = sides(|document| {
        document["workload"]["horizon_s"] = json!(120.0);
        let class = &mut document["workload"]["classes"][0];
        class["shared_prefix"] = json!({ "tokens": 256, "count": 8 });
        let pool = &mut document["fleet"]["pools"][0];
        (pool["replicas"], pool["start_up_s"]) = (json!(3), json!(40.0));
        pool["cold_start"] = json!(true);
    });
    let report = remedies(&doc, &scenario).expect("it can be simulated");
    let starts: Vec<&RemedyRow> =
        report.remedies.iter().filter(|row| row.id == "start_up").collect();
    assert_eq!(starts.len(), 2, "faster, and warm");
    assert!(starts.iter().all(|row| row.added_good > 0 && !row.caveats.is_empty()), "{starts:?}");
    let routed = row(&report, "routing");
    assert_eq!(routed.inputs.len(), 1);
    for row in starts.into_iter().chain([routed]) {
        let edited = check(&row.doc).expect("it was simulated").scenario;
        let sides =
            [Side { doc: &doc, scenario: &scenario }, Side { doc: &row.doc, scenario: &edited }];
        assert_eq!(row.results, compare(sides[0], sides[1], 1).results, "{}", row.title);
    }
    let (doc, scenario) = sides(overloaded);
    let report = remedies(&doc, &scenario).expect("it can be simulated");
    for id in ["routing", "start_up"] {
        assert!(report.not_applicable.iter().any(|absent| absent.id == id), "{id}");
    }
}
