//! `goodput plan` as other programs see it: what is asked for is there, and nothing else.

use serde_json::{Value, json};

use crate::common::document;
use crate::program::{file, goodput};

/// A minute of chat that a few replicas hold.
fn minute() -> Value {
    document(|document| {
        document["workload"]["horizon_s"] = json!(60.0);
        document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(20.0);
        document["fleet"]["pools"][0]["max_num_seqs"] = json!(32);
    })
}

const ASKED: [&str; 3] = ["inverse", "over_time", "serve"];

#[test]
fn what_is_asked_for_is_in_the_answer_and_what_is_not_is_absent() {
    let path = file("plan-asked.json", minute().to_string());
    let plain = goodput(&["plan", &path]).json();
    assert!(ASKED.iter().all(|key| plain.get(key).is_none()));
    let run = goodput(&["plan", &path, "--inverse", "--growth", "8", "--over-time", "--serve"]);
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    let asked = run.json();
    assert!(ASKED.iter().all(|key| asked.get(key).is_some()), "{asked}");
    for key in ["sentence", "answer", "fleets", "alpha", "binding", "failures"] {
        assert_eq!(asked[key], plain[key], "{key} is the same whatever else is asked");
    }
    assert_eq!(asked["inverse"]["growth_per_month"], json!(0.08));
    let kinds: Vec<_> = asked["over_time"]["fleets"].as_array().expect("a list").iter().collect();
    assert_eq!(kinds.len(), 3);
    let text = goodput(&["plan", &path, "--inverse", "--over-time", "--serve", "--text"]).out;
    for words in
        ["months of headroom", "forecast horizon", "vllm serve ", "# No flag sets:", "Rule: "]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn the_confidence_is_that_of_the_document_or_of_the_line() {
    let path = file("plan-confidence.json", minute().to_string());
    let confidence = |more: &[&str]| {
        goodput(&[&["plan", &path], more].concat()).json()["sizing"]["confidence"].clone()
    };
    assert_eq!(confidence(&[]), json!(0.95));
    assert_eq!(confidence(&["--confidence", "0.8"]), json!(0.8));
    let problems = goodput(&["plan", &path, "--confidence", "99"]).problems();
    assert_eq!(problems[0]["path"], "targets.confidence");
    let mut stated = minute();
    stated["targets"] = json!({ "confidence": 0.9 });
    let path = file("plan-stated.json", stated.to_string());
    assert_eq!(goodput(&["plan", &path]).json()["sizing"]["confidence"], json!(0.9));
}

/// Files of one replica give a size beside the simulated one; what they do not say is said.
#[test]
fn a_size_by_measurement_stands_beside_the_plan() {
    let mut document = minute();
    document["workload"]["classes"][0]["slo"] =
        json!({ "ttft_ms": 200.0, "attainment_target": 0.99 });
    let path = file("plan-measured.json", document.to_string());
    let stages = "request_rate,request_throughput,mean_ttft_ms,p99_ttft_ms\n5,5,40,90\n9,9,60,180\n12,12,300,900\n";
    let bench = file("plan-measured.csv", stages);
    let plan = goodput(&["plan", &path, "--measured", &bench]).json();
    assert_eq!(plan["measured"]["last_passing_rps"], json!(9.0));
    assert_eq!(plan["measured"]["first_failing_rps"], json!(12.0));
    let unsaid = "request_rate,request_throughput,mean_ttft_ms\n5,5,40\n";
    let bench = file("plan-unsaid.csv", unsaid);
    let problems = goodput(&["plan", &path, "--measured", &bench]).problems();
    assert!(problems[0]["message"].as_str().expect("text").contains("no p99 of"), "{problems:?}");
}
