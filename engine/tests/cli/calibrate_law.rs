//! `goodput calibrate --law`: from files to a law in a scenario that everything else uses.

use serde_json::{Value, json};

use crate::common::document;
use crate::program::{file, goodput};

/// A result of so many clients with these means.
fn bench(clients: u32, ttft_ms: f64, tpot_ms: f64) -> String {
    let (requests, input, output) = (f64::from(10 * clients), 512.0, 128.0);
    let e2e_s = (ttft_ms + tpot_ms * (output - 1.0)) / 1e3;
    let duration = requests * e2e_s / f64::from(clients);
    let result = json!({
        "date": "20260101-120000", "endpoint_type": "vllm", "label": null,
        "model_id": "meta-llama/Llama-3.1-8B", "num_prompts": requests, "completed": requests,
        "request_rate": "inf", "burstiness": 1.0, "max_concurrency": clients,
        "duration": duration, "total_input_tokens": requests * input,
        "total_output_tokens": requests * output, "request_throughput": requests / duration,
        "output_throughput": requests * output / duration,
        "total_token_throughput": requests * (input + output) / duration,
        "mean_ttft_ms": ttft_ms, "mean_tpot_ms": tpot_ms
    });
    file(&format!("law-{clients}-{ttft_ms}.json"), result.to_string())
}

#[test]
fn a_law_goes_from_files_into_a_scenario_its_link_and_its_simulation() {
    let (few, many) = (bench(4, 45.0, 9.0), bench(64, 220.0, 16.0));
    let scenario = file("law-scenario.json", document(|_| {}).to_string());
    let fitted = file("law-fitted.json", "");
    let told = ["calibrate", &few, &many, "--law", "--scenario", &scenario, "--into", &fitted];
    let report = goodput(&told).json();
    assert_eq!(report["outcome"], "converged", "{report:#}");
    assert_eq!(report["points"].as_array().map(Vec::len), Some(2));
    assert!(report["left_out"]["median_error"].as_f64().is_some_and(|error| error < 0.5));
    for coefficient in report["coefficients"].as_array().expect("coefficients") {
        let of = |key: &str| coefficient[key].as_f64().expect("a number");
        assert!(of("low") <= of("value") && of("value") <= of("high"), "{coefficient}");
        assert!(coefficient["measured"].is_boolean());
    }
    let document: Value =
        serde_json::from_str(&std::fs::read_to_string(&fitted).expect("written")).expect("JSON");
    let source = &document["fleet"]["pools"][0]["step_time"]["source"];
    assert_eq!(source, &report["source"]);
    let digests = source["fitted"]["fingerprint"].as_str().expect("a fingerprint");
    assert_eq!(digests.split(',').count(), 2, "{digests}");
    let link = goodput(&["link", "encode", &fitted]).json();
    let opened = goodput(&["link", "decode", link["link"].as_str().expect("a link")]).json();
    assert_eq!(&opened["fleet"]["pools"][0]["step_time"]["source"], source);
    let tpot = |path: &str| {
        let run = goodput(&["estimate", path]).json();
        run["zero_load_tpot_ms"].as_f64().expect("a time")
    };
    assert!(tpot(&fitted) > 1.05 * tpot(&scenario), "these files are slower than the catalogue");
    assert!(goodput(&["simulate", &fitted]).json()["attainment"].is_number());
    // In words.
    let text = goodput(&["--text", "calibrate", &few, &many, "--law", "--scenario", &scenario]);
    for word in ["A law is fitted", "measured", "Range of trust", "points left out of the fit"] {
        assert!(text.out.contains(word), "{word}: {}", text.out);
    }
}

#[test]
fn what_no_law_explains_goes_into_no_scenario() {
    let (one, other) = (bench(16, 60.0, 9.0), bench(16, 600.0, 90.0));
    let scenario = file("law-asked.json", document(|_| {}).to_string());
    let told = ["calibrate", &one, &other, "--law", "--scenario", &scenario];
    let report = goodput(&told).json();
    assert_eq!((&report["outcome"], &report["source"]), (&json!("inconsistent"), &Value::Null));
    let into = file("law-none.json", "as it was");
    let refused = goodput(&[&told[..], &["--into", &into]].concat()).problems();
    assert!(refused[0]["message"].as_str().is_some_and(|m| m.contains("no law")), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&into).expect("it is there"), "as it was");
    // A place to write to needs a law and a scenario to put it into.
    assert_eq!(goodput(&["calibrate", &one, "--into", &into]).code, 2);
    assert_eq!(goodput(&[&told[..], &["--fail-on", "warning"]].concat()).code, 3);
}
