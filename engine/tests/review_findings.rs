//! Each finding where it belongs, with its numbers, and nothing above a note where all is well.
//! Rows are typed as a user would; those named after a public report carry its figures as facts.

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
fn tokens_per_event_are_found_without_a_tpot() {
    // A5: 292.29 output tokens/s at concurrency 1, median ITL 8.72 ms.
    let text = "max_concurrency,output_throughput,median_itl_ms\n1,292.29,8.72\n";
    let finding = one(text, "itl_bundles");
    assert_near(finding.numbers[1].value, 3.42, 0.005);
    assert_near(finding.numbers[2].value, 2.55, 0.1);
}

#[test]
fn an_engine_that_streams_in_batches_is_not_comparable_by_itl() {
    // A6: 1024/1024 at concurrency 512.
    let text = "max_concurrency,isl,osl,request_throughput,output_throughput,mean_ttft_ms,\
                mean_tpot_ms,mean_itl_ms\n512,1024,1024,10.61,10865,938,43.62,903\n";
    let finding = one(text, "itl_bundles");
    assert_near(finding.numbers[2].value, 20.7, 0.05);
    let little = one(text, "littles_law");
    assert_eq!(little.severity, Severity::Note, "6 % are a ramp and a tail");
    assert_near(little.numbers[0].value / 10.61, 45.6, 0.05);
    assert_eq!(codes(text).len(), 2);
}

#[test]
fn a_ttft_that_was_not_measured_is_told_from_e2e_and_tpot() {
    // A11: a prefill-decode run with TTFT 0 and ITL 0.
    let text = "max_concurrency,request_throughput,isl,osl,mean_ttft_ms,mean_itl_ms,mean_tpot_ms,\
                mean_e2el_ms\n16,3.27,250000,1000,0,0,4.765,4760\n";
    let finding = one(text, "ttft_zero");
    assert_eq!(finding.severity, Severity::Error);
    assert!(finding.message.contains("TPOT 4.77 ms is E2E 4.76 s over the output tokens"));
    assert_near(one(text, "prefill_rate").numbers[0].value, 817_500.0, 1.0);
}

#[test]
fn a_warm_prefix_shows_as_an_impossible_prefill_rate() {
    // A13: about 60 ms for a prompt of 21,000 tokens.
    let text = "isl,request_throughput,mean_ttft_ms\n21000,0.5,60\n";
    assert_near(one(text, "prefill_rate").numbers[0].value, 350_000.0, 1e-6);
}

#[test]
fn a_collapse_is_called_one_though_littles_law_holds() {
    // A15: 777 tokens in, about 7 out, 100 requests at each concurrency.
    let text = "max_concurrency,completed,duration_s,request_throughput,mean_input_tokens,\
                total_output_tokens,mean_ttft_ms,p50_ttft_ms,p99_ttft_ms,mean_tpot_ms,p50_tpot_ms,\
                p99_tpot_ms,mean_itl_ms,p50_itl_ms,p99_itl_ms\n\
                10,100,15.90,6.29,777,746,1073.16,1022.13,1522.29,72.74,73.60,79.29,64.81,63.35,87.79\n\
                30,100,82.97,1.21,777,603,18854.01,19212.50,23907.83,875.24,582.24,4836.03,841.87,44.59,8133.98\n";
    let finding = one(text, "throughput_collapse");
    assert_eq!(finding.row, Some(3));
    assert_near(1.0 - finding.numbers[0].value / finding.numbers[1].value, 0.81, 0.005);
    assert!(finding.advice.contains("near 10"));
    let others: Vec<(String, Severity)> =
        codes(text).into_iter().filter(|(code, _)| code != "throughput_collapse").collect();
    assert!(others.iter().all(|(_, severity)| *severity == N), "{others:?}");
}

/// A1 and A2: inference-perf against one H100, 128 sequences; TPOT as that version wrote it.
const STAGES: &str = "\
request_rate_rps,sent_rps,num_prompts,completed_rps,input_tps,output_tps,ttft_mean_ms,ttft_p50_ms,ttft_p90_ms,ttft_p99_ms,tpot_mean_ms,e2e_mean_s,e2e_p99_s,osl,max_concurrency
1.0,1.03,60,1.02,208,64,31.1,31.0,35.4,39.7,3.47,0.480,0.489,62.75,440
31.4,31.42,1884,31.16,6359,1943,29.8,29.3,35.6,43.6,4.00,0.547,0.631,62.36,440
61.79,61.79,3707,61.24,12499,3821,34.9,33.5,44.5,57.0,4.99,0.680,0.852,62.39,440
92.19,92.22,5531,91.36,18646,5694,50.5,44.5,64.4,181.8,7.52,1.021,1.381,62.32,440
122.59,106.49,7355,101.23,20661,6317,2616.5,3035.6,3175.7,3204.4,9.51,3.844,4.440,62.40,440
152.98,105.58,9178,101.46,20708,6324,2937.1,3034.5,3270.8,3304.7,9.48,4.161,4.536,62.33,440
183.38,106.55,11002,103.08,21038,6431,2943.2,2886.5,3314.1,3347.4,9.29,4.143,4.549,62.39,440
";

#[test]
fn a_tpot_per_event_is_recomputed_and_a_limited_client_named() {
    let found = findings(STAGES);
    let of = |code: &str| -> Vec<&Finding> { found.iter().filter(|f| f.code == code).collect() };
    let true_tpot = [7.23, 8.42, 10.50, 15.83, 19.99, 19.96, 19.54];
    let identities = of("e2e_identity");
    assert_eq!(identities.len(), 7);
    for (finding, expected) in identities.iter().zip(true_tpot) {
        assert_near(finding.numbers[1].value / expected, 1.0, 0.01);
        assert_eq!(finding.severity, W);
    }
    let limited: Vec<Option<u64>> = of("client_limited").iter().map(|f| f.row).collect();
    assert_eq!(limited, [Some(6), Some(7), Some(8)], "stages 4, 5 and 6");
    assert_eq!(of("littles_law"), Vec::<&Finding>::new(), "427 of 440 in flight");
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
