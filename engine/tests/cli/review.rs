//! Benchmark files: reviewed, signed, and fitted.

use serde_json::{Value, json};

use crate::common::document;
use crate::program::{file, goodput, goodput_reads};

#[test]
fn a_benchmark_is_reviewed_and_fitted() {
    let bench = file("bench.json", vllm_result());
    let review = goodput(&["review", &bench]).json();
    assert_eq!(review["files"][0]["format"], "vllm_bench_serve");
    assert_eq!(review["files"][0]["points"].as_array().expect("points").len(), 1);
    assert!(review["findings"].is_array());
    // What the file does not say is asked for.
    let asked = goodput(&["calibrate", &bench]).problems();
    let asked: Vec<&str> = asked.iter().filter_map(|p| p["path"].as_str()).collect();
    assert_eq!(asked, ["gpu", "tensor-parallel"]);
    let told = ["calibrate", &bench, "--gpu", "h100-sxm", "--tensor-parallel", "1"];
    let fit = goodput(&told).json();
    let scale = fit["step_time_scale"].as_f64().expect("a factor");
    assert!((0.2..5.0).contains(&scale));
    let digest = fit["fitted"]["fingerprint"].as_str().expect("a fingerprint");
    assert_eq!(digest.len(), "sha256:".len() + 64);
    // Fitted into a scenario, it changes the answer by as much.
    let scenario = document(|_| {});
    let mut fitted = scenario.clone();
    fitted["fleet"]["pools"][0]["step_time"] = json!({ "fitted": fit["fitted"] });
    let tpot = |document: &Value| {
        let run = goodput_reads(&["estimate", "-"], document.to_string().as_bytes());
        run.json()["zero_load_tpot_ms"].as_f64().expect("a time")
    };
    assert!((tpot(&fitted) / tpot(&scenario) / scale - 1.0).abs() < 1e-6);
}

#[test]
fn a_review_is_signed_and_handed_on() {
    let bench = file("bench.json", vllm_result());
    let (html, table) = (file("review.html", String::new()), file("review.csv", String::new()));
    let signed = goodput(&[
        "review",
        &bench,
        "--html",
        &html,
        "--findings",
        &table,
        "--reviewer",
        "Ada",
        "--date",
        "2026-10-01",
        "--decision",
        "accepted",
        "--note",
        "as far as it goes",
    ]);
    let sign_off = &signed.json()["sign_off"];
    assert_eq!((&sign_off["reviewer"], &sign_off["decision"]), (&json!("Ada"), &json!("accepted")));
    let findings = signed.json()["findings"].as_array().expect("findings").len();
    let read = |path: &str| std::fs::read_to_string(path).expect("written");
    let page = read(&html);
    for part in ["Ada", "2026-10-01", "accepted", "as far as it goes"] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(read(&table).lines().count(), findings + 1);
    // Nobody decides without a name, and a decision is one of four.
    assert_eq!(goodput(&["review", &bench, "--decision", "accepted"]).code, 2);
    assert_eq!(goodput(&["review", &bench, "--reviewer", "A", "--decision", "maybe"]).code, 2);
    assert_eq!(goodput(&["review", &bench, "--html", "-"]).code, 2);
}

/// Fields as `vllm bench serve` writes them; the numbers are made up.
pub fn vllm_result() -> String {
    json!({
        "date": "20260101-120000", "endpoint_type": "vllm", "label": null,
        "model_id": "meta-llama/Llama-3.1-8B", "tokenizer_id": "meta-llama/Llama-3.1-8B",
        "num_prompts": 200, "request_rate": 8.0, "burstiness": 1.0, "max_concurrency": null,
        "duration": 27.4, "completed": 200, "failed": 0,
        "total_input_tokens": 102_400, "total_output_tokens": 25_600,
        "request_throughput": 7.299, "output_throughput": 934.3, "total_token_throughput": 4671.5,
        "mean_ttft_ms": 41.0, "median_ttft_ms": 38.0, "std_ttft_ms": 9.0, "p99_ttft_ms": 71.0,
        "mean_tpot_ms": 9.1, "median_tpot_ms": 9.0, "std_tpot_ms": 0.4, "p99_tpot_ms": 10.4,
        "mean_itl_ms": 9.1, "median_itl_ms": 8.7, "std_itl_ms": 2.0, "p99_itl_ms": 19.0
    })
    .to_string()
}

/// What a table does not say, the user says; what became of its rows is told in words too.
#[test]
fn a_table_is_read_as_the_user_says() {
    let table = file("own.csv", "Users;First token (s);Out;Note\n8;0,25;1.200,5;x\n");
    let unknown = goodput(&["review", &table]).json();
    assert_eq!(unknown["files"][0]["refused"]["kind"], "not_recognised");
    let told = [
        "review",
        &table,
        "--column",
        "concurrency=Users",
        "--column",
        "ttft_mean=First token (s)",
        "--column",
        "output_tps=Out",
        "--decimals",
        "comma",
    ];
    let point = &goodput(&told).json()["files"][0]["points"][0];
    assert_eq!(point["client_cap"], json!(8));
    assert_eq!(point["ttft"]["mean_ms"], json!(250.0));
    assert_eq!(point["token_rates"][0]["tps"], json!(1200.5));
    let text = goodput(&[&told[..], &["--text"]].concat()).out;
    for words in ["1 row read, 1 used", "columns not used: Note"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    for wrong in ["Users", "speed=Users", "ttft_mean_ms=First token (s)"] {
        assert_eq!(goodput(&["review", &table, "--column", wrong]).code, 2, "{wrong}");
    }
    assert_eq!(goodput(&["review", &table, "--decimals", "dot"]).code, 2);
}
