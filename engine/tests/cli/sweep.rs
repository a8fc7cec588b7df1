//! `goodput sweep` as other programs see it.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::common::document;
use crate::program::{Run, file, goodput, goodput_reads};

/// Six small scenarios: two fleets at three rates.
fn grid(name: &str) -> String {
    let scenario = document(|document| document["workload"]["horizon_s"] = json!(20.0));
    let grid = json!({
        "scenario": scenario,
        "grid": {
            "fleet.pools[0].replicas": [1, 2],
            "workload.classes[\"chat\"].arrivals.rate_rps": [5.0, 20.0, 60.0]
        }
    });
    file(&format!("{name}-grid.json"), grid.to_string())
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

fn done(run: &Run) -> &str {
    assert_eq!(run.code, 0, "{}{}", run.out, run.err);
    &run.out
}

#[test]
fn a_line_for_every_combination_and_each_is_what_simulate_says() {
    let run = goodput(&["sweep", &grid("all")]);
    let lines = lines(done(&run));
    let indices: Vec<u64> = lines.iter().map(|line| line["index"].as_u64().expect("one")).collect();
    assert_eq!(indices, [0, 1, 2, 3, 4, 5]);
    assert_eq!(lines[4]["set"]["fleet.pools[0].replicas"], json!(2));
    assert_eq!(lines[4]["set"]["workload.classes[\"chat\"].arrivals.rate_rps"], json!(20.0));
    let same = document(|document| {
        document["workload"]["horizon_s"] = json!(20.0);
        document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(20.0);
        document["fleet"]["pools"][0]["replicas"] = json!(2);
    });
    let report = goodput(&["simulate", &file("one-of-grid.json", same.to_string())]).json();
    let numbers = &lines[4]["results"]["numbers"];
    assert_eq!(numbers["attainment"], report["attainment"]);
    assert_eq!(numbers["ttft_ms.p99"], report["ttft_ms"]["p99"]);
    assert_eq!(lines[4]["results"]["verdict"]["state"], report["verdict"]["state"]);
}

#[test]
fn threads_and_shards_change_no_byte() {
    let grid = grid("shards");
    let one = goodput(&["sweep", &grid, "--threads", "1"]);
    let four = goodput(&["sweep", &grid, "--threads", "4"]);
    assert_eq!(done(&one), done(&four));
    let mut merged: BTreeMap<u64, String> = BTreeMap::new();
    for shard in ["0/3", "1/3", "2/3"] {
        let run = goodput(&["sweep", &grid, "--shard", shard]);
        for line in done(&run).lines() {
            let index = serde_json::from_str::<Value>(line).expect("JSON")["index"].as_u64();
            assert!(merged.insert(index.expect("one"), line.to_owned()).is_none());
        }
    }
    let merged: Vec<String> = merged.into_values().collect();
    assert_eq!(merged, one.out.lines().collect::<Vec<_>>());
}

#[test]
fn a_sweep_that_was_cut_off_goes_on_where_it_was() {
    let grid = grid("resumed");
    let whole = goodput(&["sweep", &grid]);
    let whole = done(&whole);
    let out = file("resumed.jsonl", "");
    let three = whole.split_inclusive('\n').take(3).collect::<String>();
    fs::write(&out, format!("{three}{{\"index\":3,\"res")).expect("a writable file");
    let resumed = goodput(&["sweep", &grid, "--out", &out]);
    assert_eq!(done(&resumed), "");
    assert_eq!(fs::read_to_string(&out).expect("it is there"), whole);
    let summary: Value = serde_json::from_str(resumed.err.trim()).expect("a summary");
    assert_eq!((&summary["kept"], &summary["answered"]), (&json!(3), &json!(3)));
    let again = goodput(&["sweep", &grid, "--out", &out]);
    assert_eq!(done(&again), "");
    assert_eq!(fs::read_to_string(&out).expect("it is there"), whole);
    let other = goodput(&["sweep", &grid, "--out", &out, "--shard", "1/2"]);
    assert_eq!(other.code, 2, "{}", other.err);
    assert_eq!(fs::read_to_string(&out).expect("it is there"), whole, "nothing was lost");
}

#[test]
fn scenarios_and_links_come_a_line_each_and_a_bad_one_spoils_no_other() {
    let small = document(|document| document["workload"]["horizon_s"] = json!(5.0));
    let link = goodput_reads(&["link", "encode", "-"], small.to_string().as_bytes()).json();
    let link = link["link"].as_str().expect("a link").to_owned();
    let too_big = document(|document| {
        document["fleet"]["pools"][0]["model"] = json!("Llama-3.1-405B");
    });
    let stream = format!("{small}\n{link}\n\nnonsense\n{{\"version\":1}}\n{too_big}\n");
    let run = goodput_reads(&["sweep", "-"], stream.as_bytes());
    let lines = lines(done(&run));
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[0]["results"], lines[1]["results"]);
    for bad in [&lines[2], &lines[3]] {
        let message = bad["problems"][0]["message"].as_str().expect("words");
        assert!(!message.is_empty());
    }
    assert!(lines[4]["unanswered"].as_str().expect("words").contains("does not fit"));
    let strict = goodput_reads(&["--fail-on", "error", "sweep", "-"], stream.as_bytes());
    assert_eq!((strict.code, strict.out), (3, run.out));
}

#[test]
fn what_makes_no_sweep_says_why() {
    for (text, says) in [
        ("", "there is no scenario"),
        (r#"{"scenario":{},"grid":{"a":3}}"#, "no list"),
        (r#"{"scenario":{"a":[]},"grid":{"a[0].b":[1]}}"#, "no row 0"),
        (r#"{"scenario":{},"grid":{"a":[]}}"#, "there is no scenario"),
        (r#"{"scenario":{},"grid":{},"more":1}"#, "unknown field"),
    ] {
        let run = goodput_reads(&["sweep", "-"], text.as_bytes());
        let problems = run.problems();
        let message = problems[0]["message"].as_str().expect("words");
        assert!(message.contains(says), "{text}: {message}");
    }
    for shard in ["3/3", "0/0", "x", "1"] {
        assert_eq!(goodput(&["sweep", "-", "--shard", shard]).code, 2, "{shard}");
    }
}

#[test]
fn full_reports_are_those_of_simulate() {
    let small = document(|document| document["workload"]["horizon_s"] = json!(5.0));
    let path = file("full.json", small.to_string());
    let run = goodput(&["sweep", &path, "--full"]);
    assert_eq!(lines(done(&run))[0]["report"], goodput(&["simulate", &path]).json());
}
