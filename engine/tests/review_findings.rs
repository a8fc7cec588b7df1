//! Each finding where it belongs, with its numbers, and nothing above a note where all is well.
//! Rows are typed as a user would.

use std::collections::BTreeMap;

use goodput_engine::ingest::{ParsedFile, read_file};
use goodput_engine::problem::Severity;
use goodput_engine::review::{Finding, report, review};

const CLEAN_TABLE: &str = include_str!("fixtures/ingest/points_template_clean.csv");
const CLEAN_RUNS: [(&str, &[u8]); 3] = [
    ("template", CLEAN_TABLE.as_bytes()),
    ("detailed", include_bytes!("fixtures/ingest/vllm_2026_detailed_clean.json")),
    ("closed loop", include_bytes!("fixtures/ingest/vllm_2025_closed_loop.json")),
];

fn file(name: &str, bytes: &[u8]) -> ParsedFile {
    let file = read_file(name, bytes);
    assert!(file.refused.is_none(), "{name}: {:?}", file.refused);
    file
}

fn findings(text: &str) -> Vec<Finding> {
    review(&[file("table.csv", text.as_bytes())])
}

/// Codes and severities, without the notes that nearly every table gets.
fn codes(text: &str) -> Vec<(String, Severity)> {
    const USUAL: [&str; 3] = ["definitions_unstated", "facts_missing", "quality_not_checked"];
    findings(text)
        .into_iter()
        .filter(|finding| !USUAL.contains(&finding.code.as_str()))
        .map(|finding| (finding.code, finding.severity))
        .collect()
}

fn one(text: &str, code: &str) -> Finding {
    let mut found: Vec<Finding> =
        findings(text).into_iter().filter(|finding| finding.code == code).collect();
    assert_eq!(found.len(), 1, "{code}");
    found.remove(0)
}

fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected} ± {tolerance}");
}

#[test]
fn files_without_trouble_give_notes_only() {
    for (name, bytes) in CLEAN_RUNS {
        for finding in review(&[file(name, bytes)]) {
            assert_eq!(finding.severity, Severity::Note, "{name}: {finding:?}");
        }
    }
}

/// Name, table, and every code it gives beside the usual notes.
type Case = (&'static str, &'static str, &'static [(&'static str, Severity)]);

const E: Severity = Severity::Error;
const W: Severity = Severity::Warning;
const N: Severity = Severity::Note;

const CASES: &[Case] = &[
    (
        "nothing completed",
        "num_prompts,completed,failed,request_rate,mean_ttft_ms,duration\n40,0,40,2,0,20\n",
        &[("all_failed", E)],
    ),
    (
        "completed without a token",
        "num_prompts,completed,total_output_tokens,mean_ttft_ms\n40,40,0,0\n",
        &[("empty_successes", E)],
    ),
    (
        "one in eight failed",
        "num_prompts,completed,failed,p50_ttft_ms,p90_ttft_ms\n800,700,100,50,80\n",
        &[("failures_left_out", W)],
    ),
    (
        "one in a thousand failed",
        "num_prompts,completed,failed,p50_ttft_ms,p99_ttft_ms\n1000,999,1,50,80\n",
        &[("failures_left_out", N)],
    ),
    (
        "goodput of those that completed",
        "num_prompts,completed,failed,duration_s,goodput_rps,p50_ttft_ms\n800,600,200,100,5.4,50\n",
        &[("failures_left_out", W), ("goodput_denominator", W)],
    ),
    (
        "goodput where nothing failed",
        "num_prompts,completed,failed,duration_s,goodput_rps,p50_ttft_ms\n800,800,0,100,5.4,50\n",
        &[],
    ),
    (
        "counts that do not add up",
        "num_prompts,completed,failed,p50_ttft_ms\n1000,990,0,50\n",
        &[("counts", W)],
    ),
    (
        "a client that sent 80 %",
        "request_rate,sent_rps,num_prompts,p50_ttft_ms\n20,16,4000,50\n",
        &[("client_limited", W)],
    ),
    (
        "a client that sent 97 %",
        "request_rate,sent_rps,num_prompts,p50_ttft_ms\n20,19.4,4000,50\n",
        &[],
    ),
    (
        "forty random gaps may be slow by luck",
        "request_rate,sent_rps,num_prompts,p50_ttft_ms\n20,16,40,50\n",
        &[],
    ),
    (
        "half of the asked rate came back",
        "request_rate,num_prompts,duration_s,p50_ttft_ms,e2e_mean_ms\n10,6000,1200,50,900\n",
        &[("load_not_reached", W)],
    ),
    (
        "a short run that drains",
        "request_rate,num_prompts,duration_s,p50_ttft_ms,e2e_p99_ms\n10,600,69,50,9000\n",
        &[("drain_in_window", N)],
    ),
    (
        "a queue is no drain",
        "request_rate,num_prompts,duration_s,p50_ttft_ms,e2e_p99_ms\n10,600,160,50,99000\n",
        &[("load_not_reached", W)],
    ),
    (
        "everything at once",
        "request_rate,num_prompts,p50_ttft_ms\ninf,2000,50\n",
        &[("start_burst", W)],
    ),
    (
        "a closed loop whose first wave is its p99",
        "max_concurrency,completed,p50_ttft_ms,p99_ttft_ms\n32,1000,50,90\n",
        &[("start_burst", N)],
    ),
    (
        "a closed loop long enough for its p90",
        "max_concurrency,completed,p50_ttft_ms,p90_ttft_ms\n32,1000,50,90\n",
        &[],
    ),
    (
        "p99 of twelve requests",
        "completed,p50_ttft_ms,p99_ttft_ms\n12,50,90\n",
        &[("too_short", W)],
    ),
    (
        "p99 of three hundred requests",
        "completed,p50_ttft_ms,p99_ttft_ms\n300,50,90\n",
        &[("too_short", N)],
    ),
    ("p90 of sixty requests", "completed,p50_ttft_ms,p90_ttft_ms\n60,50,90\n", &[]),
    (
        "a first token in no time",
        "completed,mean_output_tokens,mean_ttft_ms,mean_e2el_ms\n500,100,0,2000\n",
        &[("ttft_zero", E)],
    ),
    (
        "prompts read too fast",
        "completed,gpu_count,mean_input_tokens,p50_ttft_ms\n500,1,8000,40\n",
        &[("prefill_rate", W)],
    ),
    (
        "prompts read fast on four GPUs",
        "completed,gpu_count,mean_input_tokens,p50_ttft_ms\n500,4,8000,40\n",
        &[],
    ),
    (
        "seconds as milliseconds",
        "completed,p50_ttft_ms,p90_ttft_ms\n500,0.05,0.09\n",
        &[("units", W)],
    ),
    ("E2E shorter than TTFT", "completed,mean_ttft_ms,mean_e2el_ms\n500,500,80\n", &[("units", W)]),
    (
        "p90 above p99",
        "completed,p50_ttft_ms,p90_ttft_ms,p99_ttft_ms\n900,50,95,90\n",
        &[("percentile_order", W)],
    ),
    (
        "a mean above p99",
        "completed,mean_ttft_ms,p50_ttft_ms,p99_ttft_ms\n900,120,50,90\n",
        &[("percentile_order", W)],
    ),
    (
        "a mean above p99 that one request explains",
        "completed,mean_ttft_ms,p50_ttft_ms,p99_ttft_ms,max_ttft_ms\n900,120,50,90,60000\n",
        &[],
    ),
    (
        "a mean below what the median allows",
        "completed,mean_ttft_ms,p50_ttft_ms\n900,15,50\n",
        &[("percentile_order", W)],
    ),
    (
        "TPOT half of what E2E says",
        "completed,mean_output_tokens,mean_ttft_ms,mean_tpot_ms,mean_e2el_ms\n900,101,50,6,1250\n",
        &[("e2e_identity", W)],
    ),
    (
        "TPOT a little off",
        "completed,mean_output_tokens,mean_ttft_ms,mean_tpot_ms,mean_e2el_ms\n900,101,50,12,1050\n",
        &[("e2e_identity", N)],
    ),
    (
        "more in flight than there are",
        "max_concurrency,request_throughput,mean_e2el_ms\n8,6,2000\n",
        &[("littles_law", W)],
    ),
    (
        "far fewer in flight than there should be",
        "max_concurrency,completed,request_throughput,mean_e2el_ms\n64,6400,6,2000\n",
        &[("littles_law", W)],
    ),
    (
        "a tail in the run",
        "max_concurrency,completed,request_throughput,mean_e2el_ms\n64,640,27,2000\n",
        &[("littles_law", N)],
    ),
    (
        "a limit that a finite rate never reaches",
        "request_rate,max_concurrency,completed,request_throughput,mean_e2el_ms\n2,64,6400,2,2000\n",
        &[],
    ),
    (
        "a rate over another time",
        "completed,duration_s,request_throughput,p50_ttft_ms\n1200,600,61,50\n",
        &[("throughput_identity", W)],
    ),
    (
        "a rate printed with two decimals",
        "completed,duration_s,request_throughput,p50_ttft_ms\n100,7811,0.01,50\n",
        &[],
    ),
    (
        "a total that is not the sum",
        "input_tps,output_tps,total_tps\n4000,1000,4000\n",
        &[("token_identity", W)],
    ),
    (
        "output tokens that do not follow from the rate",
        "completed,duration_s,mean_output_tokens,output_tps\n1000,100,200,1500\n",
        &[("token_identity", W)],
    ),
    (
        "outputs shorter than asked",
        "completed,duration_s,osl,output_tps\n1000,100,200,1500\n",
        &[("token_identity", N)],
    ),
    (
        "several tokens an event",
        "completed,mean_tpot_ms,mean_itl_ms\n900,10,27\n",
        &[("itl_bundles", W)],
    ),
    (
        "events without tokens",
        "completed,mean_tpot_ms,mean_itl_ms\n900,10,4\n",
        &[("itl_below_tpot", W)],
    ),
    (
        "a throughput that collapses",
        "max_concurrency,request_throughput,osl\n4,8,100\n8,14,100\n16,9,100\n",
        &[("throughput_collapse", W)],
    ),
    (
        "a throughput that levels off",
        "max_concurrency,request_throughput,osl\n4,8,100\n8,14,100\n16,13,100\n",
        &[],
    ),
    (
        "longer outputs are another load",
        "max_concurrency,request_throughput,osl\n4,8,100\n8,14,100\n16,9,200\n",
        &[],
    ),
];

#[test]
fn each_finding_comes_where_it_belongs_and_alone() {
    for (name, text, expected) in CASES {
        let expected: Vec<(String, Severity)> =
            expected.iter().map(|&(code, severity)| (code.to_owned(), severity)).collect();
        assert_eq!(codes(text), expected, "{name}");
    }
}

#[test]
fn every_finding_carries_numbers_and_advice() {
    for (name, text, _) in CASES {
        for finding in findings(text) {
            assert!(!finding.message.is_empty() && !finding.message.ends_with('.'), "{name}");
            assert!(!finding.advice.is_empty(), "{name}: {}", finding.code);
            let said = ["definitions_unstated", "facts_missing"].contains(&finding.code.as_str());
            assert!(
                said || finding.numbers.len() >= 2
                    || finding.code == "ttft_zero"
                    || finding.code == "start_burst",
                "{name}: {finding:?}"
            );
            assert_eq!(finding.file, "table.csv");
        }
    }
}

#[test]
fn a_column_of_milliseconds_in_another_unit_never_passes() {
    let lines: Vec<&str> = CLEAN_TABLE.lines().filter(|line| !line.starts_with('#')).collect();
    let header: Vec<&str> = lines[0].split(',').collect();
    let columns = header.iter().enumerate().filter(|(_, name)| name.ends_with("_ms"));
    for (column, name) in columns {
        for factor in [1e-3, 1e3] {
            let rows = lines[1..].iter().map(|line| {
                let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
                let value: f64 = cells[column].parse().unwrap();
                cells[column] = (value * factor).to_string();
                cells.join(",")
            });
            let text: Vec<String> = std::iter::once(lines[0].to_owned()).chain(rows).collect();
            let found = findings(&text.join("\n"));
            for row in 2..=4 {
                let flagged = found.iter().any(|f| f.row == Some(row) && f.severity >= W);
                assert!(flagged, "{name} × {factor}, line {row}");
            }
        }
    }
}

#[test]
fn empty_successes_are_counted_and_the_mean_is_taken_over_answers() {
    let bytes = include_bytes!("fixtures/ingest/vllm_2024_detailed_empty_successes.json");
    let found = review(&[file("run.json", bytes)]);
    let finding = found.iter().find(|f| f.code == "empty_successes").expect("found");
    assert_eq!(finding.severity, Severity::Error);
    let numbers: BTreeMap<&str, f64> =
        finding.numbers.iter().map(|figure| (figure.name.as_str(), figure.value)).collect();
    for (name, value) in [("empty successes", 3.0), ("answered", 6.0), ("offered", 10.0)] {
        assert_near(numbers[name], value, 0.0);
    }
    // Three zeros among nine: the stated mean is two thirds of the true one.
    let stated = numbers["mean TTFT as stated"];
    assert_near(stated / numbers["mean TTFT over requests that answered"], 2.0 / 3.0, 1e-6);
}

#[test]
fn a_slow_client_shows_in_the_times_requests_were_sent() {
    let list = |of: &dyn Fn(u32) -> String| (0..900).map(of).collect::<Vec<_>>().join(",");
    let text = format!(
        r#"{{"model_id": "m", "num_prompts": 900, "request_rate": 2, "duration": 901,
        "completed": 900, "request_throughput": 0.9988, "output_throughput": 2,
        "output_lens": [{}], "ttfts": [{}], "start_times": [{}]}}"#,
        list(&|_| "2".to_owned()),
        list(&|_| "0.05".to_owned()),
        list(&|index| format!("{}.5", 7000 + index)),
    );
    let finding = one(&text, "client_limited");
    assert_near(finding.numbers[0].value, 2.0, 0.0);
    assert_near(finding.numbers[1].value, 1.0, 1e-9);
}

#[test]
fn the_report_says_what_each_file_is() {
    let trace = include_bytes!("fixtures/ingest/azure_trace.csv");
    let files = [
        read_file("a.csv", trace),
        read_file("b.csv", CLEAN_TABLE.as_bytes()),
        read_file("c.bin", b"\0\0"),
        read_file("d.csv", b"TIMESTAMP,ContextTokens,GeneratedTokens\nnoon,1,2\n"),
    ];
    let report = serde_json::to_value(report(&files)).unwrap();
    let formats: Vec<&serde_json::Value> =
        report["files"].as_array().unwrap().iter().map(|file| &file["format"]).collect();
    assert_eq!(
        formats,
        ["azure_llm_trace", "benchmark_csv", "null", "azure_llm_trace"]
            .map(|id| { if id == "null" { serde_json::Value::Null } else { id.into() } })
            .iter()
            .collect::<Vec<_>>()
    );
    assert_eq!(report["files"][0]["requests"], 4);
    assert_eq!(report["files"][0]["trace"]["requests"], 4);
    assert_eq!(report["files"][1]["points"].as_array().unwrap().len(), 3);
    assert_eq!(report["files"][2]["refused"]["kind"], "binary");
    assert_eq!(report["files"][3]["refused"]["line"], 2);
    assert!(report["files"][1].get("refused").is_none());
    let finding = &report["findings"][0];
    assert_eq!(finding["file"], "b.csv");
    for key in ["code", "severity", "row", "message", "numbers", "advice"] {
        assert!(finding.get(key).is_some(), "{key}");
    }
}

#[test]
fn the_gravest_finding_comes_first() {
    let text = "completed,failed,num_prompts,mean_ttft_ms,p99_itl_ms,max_itl_ms,request_rate\n\
                500,1,501,50,9,8,5\n0,9,9,0,0,0,5\n";
    let severities: Vec<Severity> = findings(text).iter().map(|f| f.severity).collect();
    assert_eq!(severities[0], Severity::Error);
    assert!(severities.windows(2).all(|pair| pair[0] >= pair[1]), "{severities:?}");
}
