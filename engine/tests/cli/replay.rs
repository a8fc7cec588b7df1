//! `goodput replay` as other programs see it.

use std::fs;

use serde_json::{Value, json};

use crate::common::document;
use crate::program::{file, goodput};

const LOG: &str = "tests/fixtures/ingest/engine_requests.jsonl";
const TABLE: &str = "tests/fixtures/ingest/request_table.csv";

/// One class and one replica.
fn scenario() -> String {
    file("replayed.json", document(|_| ()).to_string())
}

fn replayed(log: &str, more: &[&str]) -> Value {
    let scenario = scenario();
    let run = goodput(&[&["replay", log, "--scenario", &scenario], more].concat());
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    run.json()
}

#[test]
fn a_log_and_a_table_of_the_same_run_are_replayed_alike() {
    let (log, table) = (replayed(LOG, &[]), replayed(TABLE, &[]));
    let run = &log["runs"][0];
    assert_eq!(run["simulated"].as_u64().expect("a count") + left_out(run), 11);
    for key in ["measures", "makespan_s", "output_tps", "waiting_peak", "good"] {
        assert!(!run[key].is_null(), "{key}");
    }
    assert_eq!(
        run["measures"][0]["p99"]["predicted"],
        table["runs"][0]["measures"][0]["p99"]["predicted"]
    );
    assert!(log["fit"].is_null());
}

fn left_out(run: &Value) -> u64 {
    let rows = run["excluded"].as_array().expect("a list").iter();
    rows.map(|excluded| excluded["rows"].as_u64().expect("a count")).sum()
}

#[test]
fn a_fit_is_named_with_what_it_was_fitted_to_and_its_law_makes_a_scenario() {
    let report = replayed(LOG, &["--fit", "--slo", "ttft=1s"]);
    let fit = &report["fit"];
    assert!(fit["error_after"].as_f64() <= fit["error_before"].as_f64());
    assert!(fit["fitted_on"].as_str().expect("words").contains("even"));
    let fitted = document(|document| {
        document["fleet"]["pools"][0]["step_time"]["source"] = json!({
            "kind": "coefficients", "coefficients": fit["coefficients"], "by": "replay of a log"
        });
    });
    let path = file("fitted.json", fitted.to_string());
    assert_eq!(goodput(&["estimate", &path]).code, 0);
}

#[test]
fn the_table_of_requests_has_a_line_for_each_and_the_report_follows_from_it() {
    let path = file("replayed.csv", "");
    let report = replayed(LOG, &["--requests", &path]);
    let table = fs::read_to_string(path).expect("it was written");
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let at = rows.headers().expect("a header").iter().position(|name| name == "predicted_ttft_ms");
    let ttft = rows.records().map(|row| row.expect("a row")[at.expect("a column")].parse::<f64>());
    let mut ttft: Vec<f64> = ttft.map(|cell| cell.expect("a number")).collect();
    let run = &report["runs"][0];
    assert_eq!(Some(ttft.len() as u64), run["simulated"].as_u64());
    ttft.sort_by(f64::total_cmp);
    assert_eq!(run["measures"][0]["p99"]["predicted"].as_f64(), ttft.last().copied());
}

#[test]
fn what_cannot_be_replayed_says_why() {
    let scenario = scenario();
    for (log, says) in [
        ("tests/fixtures/ingest/points_hand_made.csv", "no request"),
        ("no-such-file.jsonl", "cannot be read"),
    ] {
        let run = goodput(&["replay", log, "--scenario", &scenario]);
        let problems = run.problems();
        assert!(problems[0]["message"].as_str().expect("words").contains(says), "{problems:?}");
    }
    let run = goodput(&["replay", LOG, "--scenario", &scenario, "--requests", "-"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
}
