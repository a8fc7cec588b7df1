//! Break-outs, rules and capacity as other programs ask for them.

use serde_json::{Value, json};

use crate::common;
use crate::program::{busy_minute, file, goodput};

fn sum(cells: &Value, key: &str) -> u64 {
    let cells = cells.as_array().expect("cells");
    cells.iter().map(|cell| cell[key].as_u64().expect("a count")).sum()
}

#[test]
fn outcomes_are_crossed_on_request_and_sum_to_offered() {
    let scenario = file("crossed.json", busy_minute().to_string());
    let plain = goodput(&["simulate", &scenario]).json();
    assert!(plain["accounting"]["crossed"].is_null(), "compact unless asked");
    let by = ["--by", "prompt,output", "--by", "class, window"];
    let run = goodput(&[&["simulate", &scenario], by.as_slice()].concat());
    let report = run.json();
    let crossed = report["accounting"]["crossed"].as_array().expect("two");
    assert_eq!(crossed[0]["by"], json!(["prompt", "output"]));
    assert_eq!(crossed[1]["by"], json!(["class", "window"]));
    for out in crossed.iter().chain(report["accounting"]["break_outs"].as_array().expect("all")) {
        assert_eq!(json!(sum(&out["cells"], "offered")), report["offered"], "{}", out["by"]);
        assert_eq!(json!(sum(&out["cells"], "good")), report["goodput"]["good"]);
    }
    let text = goodput(&["simulate", &scenario, "--by", "prompt,output", "--text"]).out;
    for word in ["By prompt and output", "What alone would have saved", "inference-perf"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_dimension_that_is_none_is_wrong_usage_and_names_those_there_are() {
    for by in ["size", "prompt,prompt", "prompt,output,class,window", ""] {
        let run = goodput(&["simulate", "-", "--by", by]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{by}");
    }
    assert!(goodput(&["simulate", "-", "--by", "size"]).err.contains("cache_hit"));
}

#[test]
fn the_accounting_keeps_the_report_compact() {
    let scenario = file("compact.json", busy_minute().to_string());
    let report = goodput(&["simulate", &scenario]).json();
    let size = |value: &Value| value.to_string().len();
    assert!(size(&report["accounting"]) < 40_000, "{}", size(&report["accounting"]));
}

#[test]
fn requests_of_a_file_are_judged_by_limits_with_units() {
    let table = "arrival_s,input_tokens,output_tokens,ttft_ms,e2e_ms\n\
                 0,100,11,1000,1500\n1,100,11,1000.5,1500\n2,100,11,,\n";
    let table = file("judged.csv", table);
    let run = goodput(&["review", &table, "--slo", "ttft=1s,tpot=50ms", "--by", "prompt,output"]);
    let judged = run.json()["files"][0]["goodput"][0].clone();
    assert_eq!((&judged["offered"], &judged["good"]), (&json!(3), &json!(1)));
    assert_eq!(judged["outcomes"]["late_first_token"], json!(1));
    assert_eq!(judged["limits_ms"], json!({ "ttft": 1000.0, "tpot": 50.0 }));
    assert_eq!(judged["kind"], "latency_only_goodput");
    assert_eq!(judged["accounting"]["crossed"][0]["by"], json!(["prompt", "output"]));
    let bare = goodput(&["review", &table, "--slo", "ttft=0.2"]);
    let hint = bare.problems()[0]["hint"].to_string();
    assert!(hint.contains("0.2s") && hint.contains("0.2ms"), "{hint}");
    assert!(goodput(&["review", &table]).json()["files"][0]["goodput"].is_null());
    assert_eq!(goodput(&["review", &table, "--by", "prompt"]).code, 2, "nothing to break out");
    let text = goodput(&["review", &table, "--slo", "ttft=1s", "--text"]).out;
    assert!(text.contains("latency-only goodput") && text.contains("AIPerf"), "{text}");
}

#[test]
fn a_percentile_target_is_read_checked_and_judged_over_offered_requests() {
    let with = |percentile: f64| {
        common::document(|document| {
            document["workload"]["horizon_s"] = json!(60.0);
            // Three in ten are too long to be let in, and the rest is fast.
            document["workload"]["classes"][0]["input_tokens"] = json!({
                "kind": "empirical",
                "samples": [100, 100, 100, 100, 100, 100, 100, 4000, 4000, 4000]
            });
            document["fleet"]["pools"][0]["max_model_len"] = json!(4000);
            document["workload"]["classes"][0]["slo"] = json!({
                "attainment_target": 0.5,
                "percentile_targets": [{ "of": "ttft", "percentile": percentile, "limit_ms": 1000.0 }]
            });
        })
    };
    let scenario = file("target.json", with(95.0).to_string());
    let report = goodput(&["simulate", &scenario]).json();
    let target = &report["accounting"]["percentile_targets"][0];
    assert_eq!((&target["met"], &target["over_offered_ms"]), (&json!(false), &Value::Null));
    assert_eq!(target["met_over_completed"], json!(true));
    assert_eq!(report["contract_holds"], json!(false));
    assert_eq!(report["verdict"]["state"], "late_but_stable");
    let sentence = report["verdict"]["sentence"].as_str().expect("words");
    assert!(sentence.contains("TTFT") && sentence.contains("p95"), "{sentence}");
    let scenario = file("met.json", with(60.0).to_string());
    let report = goodput(&["simulate", &scenario]).json();
    assert_eq!(report["contract_holds"], json!(true), "{}", report["verdict"]);
    let scenario = file("beyond.json", with(101.0).to_string());
    let problems = goodput(&["simulate", &scenario]).problems();
    assert!(problems[0]["path"].to_string().contains("percentile_targets[0].percentile"));
}

#[test]
fn capacity_is_tabulated_over_what_is_asked_for() {
    let scenario = file("capacity.json", common::document(|_| {}).to_string());
    let plain = goodput(&["estimate", &scenario]).json();
    assert!(plain["capacity"].is_null());
    let axes = ["--capacity-over", "output", "--capacity-over", "batch"];
    let report = goodput(&[&["estimate", &scenario], axes.as_slice()].concat()).json();
    assert_eq!(report["capacity"][0]["over"], "output");
    assert_eq!(report["capacity"][1]["over"], "batch");
    let points = report["capacity"][0]["points"].as_array().expect("rows");
    let present = points.iter().find(|point| point["is_present"] == json!(true)).expect("one");
    assert_eq!(present["sustainable_rps"], report["sustainable_rps"]);
    let text = goodput(&["estimate", &scenario, "--capacity-over", "prompt", "--text"]).out;
    assert!(text.contains("mean prompt tokens") && text.contains("(present)"), "{text}");
}
