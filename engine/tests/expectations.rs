//! What a reviewer expects of headline numbers: bounds are inclusive, and looking changes nothing.

mod common;

use goodput_engine::accounts::answer;
use goodput_engine::accounts::report::SimReport;
use goodput_engine::compare::headline;
use serde_json::{Value, json};

fn report(expectations: &Value) -> SimReport {
    let scenario = common::scenario(|document| {
        document["workload"]["horizon_s"] = json!(30.0);
        document["targets"] = json!({ "expectations": expectations });
    });
    answer(&scenario).expect("an answer").report
}

#[test]
fn bounds_are_inclusive_and_change_no_other_number() {
    let without = report(&json!([]));
    let p99 = headline(&without)["ttft_ms.p99"].expect("a number");
    let bounds = [
        (json!({ "at_most": p99 }), true),
        (json!({ "at_most": p99 * 0.999 }), false),
        (json!({ "at_least": p99 }), true),
        (json!({ "at_least": p99 * 1.001 }), false),
        (json!({ "at_least": p99 * 0.9, "at_most": p99 * 1.1 }), true),
    ];
    let expected: Vec<Value> = bounds
        .iter()
        .map(|(bound, _)| {
            let mut expected = bound.clone();
            expected["of"] = json!("ttft_ms.p99");
            expected
        })
        .collect();
    let with = report(&json!(expected));
    for (result, (bound, met)) in with.expectations.iter().zip(&bounds) {
        assert_eq!((result.met, result.value), (*met, Some(p99)), "{bound}");
    }
    assert_eq!(with.expectations.len(), bounds.len());
    assert_eq!(SimReport { expectations: Vec::new(), ..with }, without);
}

/// Of nothing good there is no cost each.
#[test]
fn what_has_no_number_meets_no_bound() {
    let scenario = common::scenario(|document| {
        document["workload"]["horizon_s"] = json!(30.0);
        document["workload"]["classes"][0]["slo"] = json!({ "ttft_ms": 0.001 });
        document["targets"] = json!({ "expectations": [
            { "of": "cost.per_good_request", "at_most": 1e9 }, { "of": "attainment", "at_least": 0.0 },
        ]});
    });
    let expectations = answer(&scenario).expect("an answer").report.expectations;
    let told: Vec<_> = expectations.iter().map(|e| (e.value.is_some(), e.met)).collect();
    assert_eq!(told, [(false, false), (true, true)]);
}
