//! What people ask of every plan: each question changes what it says and nothing else, and its answer
//! is what a comparison of two simulations says.

mod common;

use goodput_engine::compare::{Side, compare};
use goodput_engine::estimate::estimate;
use goodput_engine::scenario::doc::{self, ScenarioDoc};
use goodput_engine::scenario::{Scenario, check};
use goodput_engine::what_if::{WhatIf, what_if};
use serde_json::{Value, json};

fn sides(edit: impl FnOnce(&mut Value)) -> (ScenarioDoc, Scenario) {
    let doc = doc::parse(&common::document(edit).to_string()).expect("a document");
    let scenario = check(&doc).expect("a scenario").scenario;
    (doc, scenario)
}

/// Prefill and decode tokens and requests asked for, after the question over before.
fn asked_for(question: WhatIf, edit: impl FnOnce(&mut Value)) -> (f64, f64, f64) {
    let (doc, scenario) = sides(edit);
    let variant = question.variant(&doc, &scenario).expect("it makes sense");
    let after = check(&variant.doc).expect("a scenario").scenario;
    let demand = |scenario: &Scenario| estimate(scenario).supply.expect("steps");
    let (before, after) = (demand(&scenario), demand(&after));
    (
        after.required_rps / before.required_rps,
        after.required_prefill_tps / before.required_prefill_tps,
        after.required_decode_tps / before.required_decode_tps,
    )
}

fn assert_near(value: f64, wanted: f64, tolerance: f64, what: &str) {
    assert!((value / wanted - 1.0).abs() <= tolerance, "{what}: {value} and not {wanted}");
}

#[test]
fn outputs_of_every_kind_are_twice_as_long_and_nothing_else_changes() {
    for lengths in [
        json!({"kind": "fixed", "tokens": 100}),
        json!({"kind": "uniform", "min": 50, "max": 150}),
        json!({"kind": "lognormal", "mean": 200.0, "p99": 900.0}),
        json!({"kind": "lognormal", "p50": 100.0, "sigma": 0.7}),
        json!({"kind": "gamma", "mean": 200.0, "cv": 0.5}),
        json!({"kind": "pareto", "min": 100.0, "alpha": 3.0, "max": 4000}),
        json!({"kind": "mixture", "parts": [
            {"weight": 1, "tokens": {"kind": "fixed", "tokens": 40}},
            {"weight": 3, "tokens": {"kind": "uniform", "min": 100, "max": 300}},
        ]}),
        json!({"kind": "quantiles", "table": [{"p": 0.0, "tokens": 20}, {"p": 1.0, "tokens": 220}]}),
        json!({"kind": "empirical", "samples": [10, 20, 400]}),
    ] {
        let what = lengths.to_string();
        let (rps, prefill, decode) = asked_for(WhatIf::OutputsDouble, |document| {
            document["workload"]["classes"][0]["output_tokens"] = lengths;
        });
        assert_eq!((rps, prefill), (1.0, 1.0), "{what}");
        // Whole tokens are rounded before and after.
        assert_near(decode, 2.0, 0.005, &what);
    }
}

#[test]
fn arrivals_of_every_kind_become_a_fifth_more() {
    for arrivals in [
        json!({"kind": "poisson", "rate_rps": 10.0}),
        json!({"kind": "constant", "rate_rps": 10.0}),
        json!({"kind": "gamma", "rate_rps": 10.0, "cv": 2.0}),
        json!({"kind": "bursts", "quiet_rps": 5.0, "burst_rps": 20.0, "mean_quiet_s": 30.0, "mean_burst_s": 10.0}),
        json!({"kind": "profile", "points": [{"t_s": 0.0, "rate_rps": 5.0}, {"t_s": 60.0, "rate_rps": 15.0}]}),
        json!({"kind": "sinusoid", "min_rps": 5.0, "max_rps": 15.0, "period_s": 60.0}),
        json!({"kind": "spike", "base_rps": 5.0, "peak_rps": 15.0, "start_s": 10.0, "duration_s": 10.0}),
        json!({"kind": "ramp", "from_rps": 5.0, "to_rps": 15.0, "start_s": 10.0, "duration_s": 10.0}),
        json!({"kind": "day", "mean_rps": 10.0, "peak_over_mean": 1.5, "peak_hour": 14.0}),
        json!({"kind": "week", "mean_rps": 10.0, "peak_over_mean": 1.5, "peak_hour": 14.0, "weekend_factor": 0.5}),
        json!({"kind": "trace", "due_s": [0.0, 1.0, 2.5, 3.0, 9.0]}),
    ] {
        let what = arrivals.to_string();
        let (rps, prefill, decode) = asked_for(WhatIf::MoreRequests, |document| {
            document["workload"]["classes"][0]["arrivals"] = arrivals;
        });
        for ratio in [rps, prefill, decode] {
            assert_near(ratio, 1.2, 1e-9, &what);
        }
    }
}

#[test]
fn longer_prompts_keep_their_mean() {
    let (rps, prefill, decode) = asked_for(WhatIf::LongPromptsDouble, |document| {
        document["workload"]["classes"][0]["input_tokens"] =
            json!({"kind": "lognormal", "mean": 400.0, "p99": 1600.0});
    });
    assert_eq!((rps, decode), (1.0, 1.0));
    assert_near(prefill, 1.0, 0.01, "mean of prompts");
}

#[test]
fn every_answer_is_what_a_comparison_says_to_the_last_digit() {
    let (doc, scenario) = sides(|document| {
        document["workload"]["horizon_s"] = json!(60.0);
        document["workload"]["classes"][0]["shared_prefix"] = json!({"tokens": 64, "count": 3});
        document["fleet"]["pools"][0]["replicas"] = json!(2);
    });
    let report = what_if(&doc, &scenario).expect("it can be simulated");
    assert!(report.what_if.len() >= 5, "{report:?}");
    for row in &report.what_if {
        let asked = WhatIf::ALL.into_iter().find(|asked| asked.id() == row.id).expect("a question");
        let variant = asked.variant(&doc, &scenario).expect("it was simulated");
        let after = check(&variant.doc).expect("it was simulated").scenario;
        let sides = [(&doc, &scenario), (&variant.doc, &after)];
        let [a, b] = sides.map(|(doc, scenario)| Side { doc, scenario });
        let comparison = compare(a, b, 1);
        assert!(!row.inputs.is_empty(), "{}: nothing changes", row.id);
        assert_eq!((&row.inputs, &row.results), (&comparison.inputs, &comparison.results));
        assert_eq!(row.moved, comparison.moved, "{}", row.id);
    }
}

/// Twice the outputs of a fleet that is well used at the same rate: demand doubles, supply does not.
#[test]
fn doubled_outputs_are_no_longer_adequate() {
    let (doc, scenario) = sides(|document| {
        document["workload"]["horizon_s"] = json!(120.0);
        document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(15.0);
    });
    let report = what_if(&doc, &scenario).expect("it can be simulated");
    let row = |id: &str| report.what_if.iter().find(|row| row.id == id).expect("asked");
    let change = |id: &str, name: &str| {
        let found = row(id).results.iter().find(|change| change.name == name).expect("a result");
        (found.a.expect("before"), found.b.expect("after"))
    };
    let (before, after) = change("outputs_double", "required_peak.rps");
    assert_near(after, before, 1e-9, "requests asked for");
    let (before, after) = change("outputs_double", "sustainable.rps");
    assert!(after < before, "twice the work for each, and {before} → {after} requests");
    for id in ["outputs_double", "more_requests", "cold_start_at_peak"] {
        let (before, after) = change(id, "attainment");
        assert!(after <= before, "{id}: {before} → {after}");
    }
}

#[test]
fn questions_that_make_no_sense_say_why() {
    let (doc, scenario) = sides(|document| {
        document["workload"]["classes"][0]["input_tokens"] =
            json!({"kind": "fixed", "tokens": 200});
        document["fleet"]["pools"][0]["replicas"] = json!(1);
    });
    for (asked, why) in [
        (WhatIf::OneReplicaLess, "a replica to spare"),
        (WhatIf::ColdPrefixCache, "no prompts share a prefix"),
        (WhatIf::LongPromptsDouble, "not lognormal by mean and p99"),
    ] {
        let said = asked.variant(&doc, &scenario).expect_err("no sense");
        assert!(said.contains(why), "{said}");
    }
    let (doc, scenario) = sides(|document| {
        document["fleet"]["pools"][0]["scheduled_replicas"] = json!([{"at_s": 5.0, "replicas": 2}]);
    });
    let said = WhatIf::ColdStartAtPeak.variant(&doc, &scenario).expect_err("a timetable");
    assert!(said.contains("timetable"), "{said}");
}

#[test]
fn a_cold_start_at_the_peak_takes_every_replica_away_when_most_is_asked() {
    let (doc, scenario) = sides(|document| {
        document["workload"]["horizon_s"] = json!(300.0);
        document["workload"]["classes"][0]["arrivals"] = json!({
            "kind": "spike", "base_rps": 2.0, "peak_rps": 6.0, "start_s": 120.0, "duration_s": 60.0,
            "noise": "none",
        });
        document["fleet"]["pools"][0]["replicas"] = json!(2);
    });
    let variant = WhatIf::ColdStartAtPeak.variant(&doc, &scenario).expect("it makes sense");
    let crashes = &variant.doc.fleet.pools[0].failures.crashes;
    assert_eq!(crashes.iter().map(|crash| crash.replica).collect::<Vec<_>>(), [0, 1]);
    assert!(crashes.iter().all(|crash| (115.0..=180.0).contains(&crash.at_s)), "{crashes:?}");
    assert!(
        variant.notes.iter().any(|note| note.contains("120 s of start-up")),
        "{:?}",
        variant.notes
    );
}
