//! `--requests` and `--series`, read back without the program's own reader.

use std::collections::BTreeMap;
use std::fs;

use serde_json::json;

use crate::common;
use crate::program::{busy_minute, file, goodput, goodput_reads};

/// A table read without the program's own reader: cells by column name, quotes understood.
fn rows(csv: &str) -> Vec<BTreeMap<String, String>> {
    let cells = |line: &str| {
        let (mut cells, mut quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => cells.push(String::new()),
                c => cells.last_mut().expect("never empty").push(c),
            }
        }
        cells
    };
    let mut lines = csv.lines();
    let header = cells(lines.next().expect("a header"));
    lines.map(|line| header.iter().cloned().zip(cells(line)).collect()).collect()
}

/// The ⌈p·n⌉-th smallest, an empty cell being larger than every number.
fn nearest_rank(rows: &[&BTreeMap<String, String>], column: &str, percent: usize) -> Option<f64> {
    let mut values: Vec<f64> =
        rows.iter().map(|row| row[column].parse().unwrap_or(f64::INFINITY)).collect();
    values.sort_by(f64::total_cmp);
    let rank = (percent * values.len()).div_ceil(100);
    Some(values[rank - 1]).filter(|value| value.is_finite())
}

#[test]
fn a_few_lines_over_the_requests_reproduce_the_report_exactly() {
    let scenario = file("busy.json", busy_minute().to_string());
    let table = file("busy.csv", "");
    let run = goodput(&["simulate", &scenario, "--requests", &table]);
    let (report, csv) = (run.json(), fs::read_to_string(&table).expect("it was written"));
    let header = "request,class,due_s,queued_s,scheduled_s,first_token_s,completed_s,input_tokens,\
                  output_tokens,ttft_ms,tpot_ms,longest_stall_ms,e2e_ms,attempts,preemptions,\
                  cached_tokens,outcome,cost,ttfvt_ms,gaps_above_itl_limit";
    assert_eq!(csv.lines().next(), Some(header));
    let rows = rows(&csv);
    assert_eq!(json!(rows.len()), report["offered"]);
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &rows {
        *outcomes.entry(&row["outcome"]).or_default() += 1;
    }
    assert!(outcomes.len() >= 6, "the scenario loses requests in many ways: {outcomes:?}");
    for (outcome, count) in report["outcomes"].as_object().expect("counts") {
        assert_eq!(json!(outcomes.get(outcome.as_str()).unwrap_or(&0)), *count, "{outcome}");
    }
    assert_eq!(outcomes.values().sum::<u64>(), rows.len() as u64);
    assert_eq!(json!(outcomes["good"] as f64 / rows.len() as f64), report["attainment"]);
    let all: Vec<_> = rows.iter().collect();
    // TPOT and stalls are of answers of two or more tokens, whatever became of them.
    let streams: Vec<_> = rows.iter().filter(|row| row["output_tokens"] != "1").collect();
    for (column, population) in
        [("ttft_ms", &all), ("e2e_ms", &all), ("tpot_ms", &streams), ("longest_stall_ms", &streams)]
    {
        for percent in [50, 90, 95, 99] {
            let ours = nearest_rank(population, column, percent);
            assert_eq!(json!(ours), report[column][format!("p{percent}")], "{column} p{percent}");
        }
        assert_eq!(json!(population.len()), report[column]["population"]);
    }
    for class in report["classes"].as_array().expect("two") {
        let of_class: Vec<_> =
            rows.iter().filter(|row| json!(row["class"]) == class["name"]).collect();
        assert_eq!(json!(of_class.len()), class["offered"]);
        assert_eq!(json!(nearest_rank(&of_class, "ttft_ms", 99)), class["ttft_ms"]["p99"]);
    }
}

#[test]
fn times_in_the_table_are_in_order_and_agree_with_each_other() {
    let scenario = file("order.json", busy_minute().to_string());
    let table = file("order.csv", "");
    goodput(&["simulate", &scenario, "--requests", &table]);
    let csv = fs::read_to_string(&table).expect("it was written");
    let picos = |cell: &str| -> Option<i128> {
        let (whole, decimals) = cell.split_once('.')?;
        assert_eq!(decimals.len(), 12, "{cell}");
        format!("{whole}{decimals}").parse().ok()
    };
    let mut completed = 0;
    for row in rows(&csv) {
        let moments = ["due_s", "queued_s", "scheduled_s", "first_token_s", "completed_s"];
        let moments: Vec<i128> = moments.iter().filter_map(|column| picos(&row[*column])).collect();
        assert!(moments.is_sorted(), "{row:?}");
        if let Some(end) = picos(&row["completed_s"]) {
            completed += 1;
            let e2e_ms = (end - moments[0]) as f64 / 1e9;
            assert_eq!(row["e2e_ms"].parse(), Ok(e2e_ms));
        }
    }
    assert!(completed > 1000);
}

#[test]
fn costs_of_requests_and_idle_time_sum_to_the_total() {
    let scenario = file("cost.json", busy_minute().to_string());
    let table = file("cost.csv", "");
    let report = goodput(&["simulate", &scenario, "--requests", &table]).json();
    let csv = fs::read_to_string(&table).expect("it was written");
    let spent: f64 =
        rows(&csv).iter().map(|row| row["cost"].parse::<f64>().expect("a price")).sum();
    let lines = report["cost"]["lines"].as_array().expect("lines");
    let idle = lines.iter().find(|line| line["line"] == "idle").expect("a line");
    let total = report["cost"]["total"].as_f64().expect("a total");
    assert!((spent + idle["usd"].as_f64().expect("a sum") - total).abs() < 1e-9 * total);
}

#[test]
fn the_series_shows_debt_growing_at_offered_minus_completed() {
    let document = common::document(|document| {
        common::fixed(512, 256, 60.0)(document);
        document["workload"]["horizon_s"] = json!(120.0);
        document["fleet"]["pools"][0]["max_num_seqs"] = json!(64);
    });
    let scenario = file("series.json", document.to_string());
    let table = file("series.csv", "");
    let report = goodput(&["simulate", &scenario, "--series", &table]).json();
    let rows = rows(&fs::read_to_string(&table).expect("it was written"));
    let number = |row: &BTreeMap<String, String>, column: &str| -> f64 {
        row[column].parse().expect("a number")
    };
    let within: Vec<_> =
        rows.iter().filter(|row| (30.0..=110.0).contains(&number(row, "t_s"))).collect();
    let (first, last) = (within[0], within[within.len() - 1]);
    let change = |column: &str| number(last, column) - number(first, column);
    let growth = change("waiting") / change("t_s");
    let difference = (change("offered") - change("completed")) / change("t_s");
    assert!(growth > 10.0, "it is overloaded");
    assert!((growth / difference - 1.0).abs() < 0.02, "{growth} {difference}");
    let sustainable = report["supply"]["sustainable"]["rps"].as_f64().expect("a rate");
    assert!((difference / (60.0 - sustainable) - 1.0).abs() < 0.05, "{difference} {sustainable}");
}

#[test]
fn what_cannot_be_simulated_writes_no_table_and_says_why() {
    let huge = common::document(|document| {
        document["fleet"]["pools"][0]["model"] = json!("llama-3.1-405b");
    });
    let declared = common::document(|document| {
        document["fleet"]["pools"][0]["step_time"] =
            json!({ "source": { "kind": "declared", "declared_output_tps": 9000.0 } });
    });
    for (name, document) in [("huge", huge), ("declared", declared)] {
        let path = file(&format!("no-tables-{name}.json"), document.to_string());
        let table = format!("{path}.csv");
        let estimate = goodput(&["estimate", &path]);
        for option in ["--requests", "--series"] {
            let run = goodput(&["simulate", &path, option, &table]);
            assert_eq!((run.code, &run.out), (0, &estimate.out), "{name} {option}");
            assert!(run.err.contains(&table) && run.err.contains("not written"), "{}", run.err);
            assert!(!std::path::Path::new(&table).exists());
        }
    }
}

#[test]
fn a_dash_is_no_name_of_a_table() {
    let document = busy_minute().to_string();
    for args in [["--requests", "-"], ["--series", "-"]] {
        let run = goodput_reads(&["simulate", "-", args[0], args[1]], document.as_bytes());
        assert_eq!((run.code, run.out.as_str()), (2, ""));
        assert!(run.err.contains("standard output holds the report"), "{}", run.err);
        assert!(!std::path::Path::new("-").exists());
    }
    let path = file("twice.json", &document);
    let both = format!("{path}.csv");
    assert_eq!(goodput(&["simulate", &path, "--requests", &both, "--series", &both]).code, 2);
}
