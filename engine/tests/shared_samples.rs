//! Real files beside the repository, where they are: right values published with them, and a list
//! of what each file was taken for. Skipped, and says so, where they are not.

use std::path::{Path, PathBuf};

use goodput_engine::ingest::{
    Contents, LatencyStats, Load, RecordOutcome, TableReading, TraceSummary, read, read_as,
    read_file,
};
use goodput_engine::problem::Severity;
use goodput_engine::review::{Finding, report_under, review};
use goodput_engine::slo::parse_limits;

/// The folder of samples beside the repository.
fn samples() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    let folder = root.parent()?.join("shared/samples");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is not there", folder.display());
    None
}

fn bytes(path: &str) -> Option<Vec<u8>> {
    std::fs::read(samples()?.join(path)).ok()
}

fn summary(path: &str) -> Option<TraceSummary> {
    let parsed = read(path, &bytes(path)?).expect("a trace");
    let Contents::Trace(trace) = parsed.contents else { panic!("a trace") };
    trace.summary()
}

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance
}

/// C10: mean, burstiness and peaks of the Azure code trace; sizing it by its mean rate is short by the
/// factor between peak minute and mean, four and more.
#[test]
fn the_azure_code_trace_has_its_published_rates() {
    let Some(code) = summary("traces/azure2023_AzureLLMInferenceTrace_code.csv") else { return };
    assert_eq!(code.requests, 8_819);
    assert!(near(code.mean_rate_rps.expect("a span"), 2.567, 0.000_5));
    assert!(near(code.gap_cv.expect("gaps"), 13.2, 0.05));
    assert!(near(code.peak_minute_rps, 12.05, 0.005));
    assert!(near(code.peak_10s_rps, 41.5, 0.05));
    assert!(near(code.peak_minute_bin_rps, 10.5, 0.05));
    assert!(near(code.peak_10s_bin_rps, 32.7, 0.05));
    let short_by = |peak: f64| peak / code.mean_rate_rps.expect("a span");
    assert!(short_by(code.peak_minute_bin_rps) > 4.0 && short_by(code.peak_10s_bin_rps) > 12.0);
    assert!(near(code.input_tokens.mean, 2_048.0, 0.5));
    assert!(near(code.output_tokens.mean, 27.9, 0.05));
}

/// C10, the conversation trace: almost Poisson.
#[test]
fn the_azure_conversation_trace_has_its_published_lengths() {
    let Some(conv) = summary("traces/azure2023_AzureLLMInferenceTrace_conv.csv") else { return };
    assert_eq!(conv.requests, 19_366);
    assert!(near(conv.mean_rate_rps.expect("a span"), 5.53, 0.005));
    assert!(near(conv.gap_cv.expect("gaps"), 1.09, 0.005));
    let output = conv.output_tokens;
    assert_eq!((output.p50, output.p99, output.max), (129.0, 601.0, 1_000.0));
}

/// A9: llmperf's ITL has the first token's wait in it; the true TPOT is from TTFT, E2E and tokens.
#[test]
fn the_itl_of_llmperf_is_taken_apart() {
    let name = "llmperf/leaderboard_groq_70b_individual.json";
    let Some(bytes) = bytes(name) else { return };
    let parsed = read(name, &bytes).expect("llmperf");
    let mean = |stats: &Option<LatencyStats>| {
        stats.as_ref().and_then(|stats| stats.mean_ms).expect("a mean")
    };
    let point = &parsed.points()[0];
    assert!(near(mean(&point.ntpot), 5.38, 0.005), "reported as ITL");
    assert!(near(mean(&point.tpot), 3.94, 0.005));
}

/// A10: 49 of 150 requests failed, so 67.3 % is the most that can be good, however loose the limits.
#[test]
fn a_third_that_failed_is_never_good() {
    let name = "llmperf/leaderboard_bedrock_70b_individual.json";
    let Some(bytes) = bytes(name) else { return };
    let contract = parse_limits("ttft=1000s,tpot=1000s").expect("limits");
    let report = report_under(&[read_file(name, &bytes)], &contract, &[]);
    let judged = &report.files[0].goodput[0];
    assert_eq!((judged.offered, judged.good), (150, 101));
}

#[test]
fn the_empty_successes_of_the_32_qps_run_are_found() {
    let name = "vllm-bench-serve/2024-11_detailed_h100_32qps_378_empty_successes.json.gz";
    let Some(bytes) = bytes(name) else { return };
    let file = read_file(name, &bytes);
    let parsed = file.parsed.as_ref().expect("read");
    let empty = parsed.records().iter().filter(|r| r.outcome == RecordOutcome::EmptySuccess);
    assert_eq!((parsed.records().len(), empty.count()), (1_000, 378));
    let findings = review(&[file]);
    let finding = findings.iter().find(|f| f.code == "empty_successes").expect("found");
    assert_eq!(finding.severity, Severity::Error);
    let value =
        |name: &str| finding.numbers.iter().find(|figure| figure.name == name).expect(name).value;
    assert!(near(value("mean TTFT as stated"), 9.38, 0.005));
    assert!(near(value("mean TTFT over requests that answered"), 15.07, 0.005));
    assert!(near(value("offered"), 1_000.0, 0.0));
}

#[test]
fn a_run_that_failed_almost_wholly_is_no_measurement() {
    let name = "vllm-bench-serve/2024-11_detailed_983_of_1000_failed.json";
    let Some(bytes) = bytes(name) else { return };
    let findings = review(&[read_file(name, &bytes)]);
    let error = |f: &Finding| f.severity == Severity::Error && f.code == "empty_successes";
    assert!(findings.iter().any(error), "17 of 17 completed requests are empty");
    assert!(findings.iter().any(|f| f.code == "failures_left_out"));
}

#[test]
fn the_kubecon_stages_have_their_true_tpot_and_three_limited_clients() {
    const TRUE_TPOT_MS: [f64; 7] = [7.33, 8.62, 11.75, 25.11, 26.58, 26.35, 25.82];
    const SENT_SHARE: [(usize, f64); 3] = [(4, 0.786), (5, 0.633), (6, 0.522)];
    for (stage, expected) in TRUE_TPOT_MS.into_iter().enumerate() {
        let name = format!(
            "inference-perf/kubecon2025_vllm_batch_size/stage_{stage}_lifecycle_metrics.json"
        );
        let Some(bytes) = bytes(&name) else { return };
        let findings = review(&[read_file(&name, &bytes)]);
        let of = |code: &str| findings.iter().find(|finding| finding.code == code);
        let identity = of("e2e_identity").expect("TPOT is per stream event");
        assert_eq!(identity.severity, Severity::Warning, "{name}");
        assert!(near(identity.numbers[1].value, expected, 0.005 * expected), "{name}");
        let share = of("client_limited").map(|f| f.numbers[1].value / f.numbers[0].value);
        let limited = SENT_SHARE.iter().find(|(limited, _)| *limited == stage);
        assert_eq!(share.is_some(), limited.is_some(), "{name}");
        assert!(share.zip(limited).is_none_or(|(share, (_, sent))| near(share, *sent, 0.0005)));
    }
}

#[test]
fn the_prometheus_sibling_is_not_taken_for_the_clients_report() {
    let folder = "inference-perf/kubecon2025_vllm_batch_size";
    for stage in 0..7 {
        let name = format!("{folder}/stage_{stage}_prometheus_metrics.json");
        let Some(bytes) = bytes(&name) else { return };
        let file = read_file(&name, &bytes);
        let format = file.parsed.as_ref().expect("read").format.id().to_owned();
        assert_eq!(format, "inference_perf_prometheus");
        assert!(review(&[file]).iter().any(|finding| finding.code == "gauges_unfilled"));
    }
}

#[test]
fn what_guidellm_calls_tpot_is_ntpot_and_its_itl_is_tpot() {
    let name = "guidellm/v0.8.0.dev18_report_metadata_version2.json";
    let Some(bytes) = bytes(name) else { return };
    let parsed = read(name, &bytes).expect("a report");
    let point = &parsed.points()[0];
    let mean = |stats: &Option<LatencyStats>| stats.as_ref().and_then(|s| s.mean_ms).expect("mean");
    assert!(near(mean(&point.ttft), 11.48, 0.005));
    assert!(near(mean(&point.tpot), 1.151, 0.001));
    assert!(near(mean(&point.ntpot), 2.442, 0.001));
    assert!(near(mean(&point.ntpot), 19.54 / 8.0, 0.005), "E2E over all eight tokens");
}

/// Every sample has its row below: what it is, or why it is none of it. A new sample without one
/// fails, so that nothing is taken for something by chance.
#[test]
fn every_sample_is_recognised_as_what_it_is_or_refused_with_its_reason() {
    let Some(folder) = samples() else { return };
    let mut paths = Vec::new();
    walk(&folder, &mut paths);
    for path in paths {
        let name = path.strip_prefix(&folder).expect("inside").display().to_string();
        let file = read_file(&name, &std::fs::read(&path).expect("readable"));
        let fits = |(begin, end, _): &&(&str, &str, Expected)| {
            name.starts_with(begin) && name.ends_with(end)
        };
        let (.., expected) =
            EXPECTED.iter().find(fits).unwrap_or_else(|| panic!("{name} has no row"));
        match expected {
            Read(format) => {
                let found = file.parsed.as_ref().map(|parsed| parsed.format.id());
                assert_eq!(found, Some(*format), "{name}: {:?}", file.refused);
            }
            Refused(words) => {
                let refused = file.refused.as_ref();
                let refused = refused.unwrap_or_else(|| panic!("{name} was read"));
                assert!(refused.message.contains(words), "{name}: {refused}");
            }
        }
    }
}

/// What a sample is.
enum Expected {
    Read(&'static str),
    /// Words of the reason.
    Refused(&'static str),
}
use Expected::{Read, Refused};

/// Begin and end of a name, the more specific before the more general.
const EXPECTED: [(&str, &str, Expected); 43] = [
    ("SOURCES", ".md", Refused("no known format")),
    ("aiperf/", "gpu_telemetry_export.jsonl", Refused("GPU telemetry")),
    ("aiperf/", "profile_export.jsonl", Read("aiperf_requests")),
    ("aiperf/", "_aiperf.json", Read("aiperf")),
    ("aiperf/", "_aiperf.csv", Read("aiperf_csv")),
    ("engine-logs/", "meta.json", Refused("how a run was set up")),
    ("engine-logs/", "requests.jsonl", Read("engine_request_log")),
    ("engine-logs/", "_output_ns_units.csv", Read("llmservingsim")),
    ("engine-logs/", "timeseries.csv", Refused("no known format")),
    ("guidellm/", ".txt", Refused("no known format")),
    ("guidellm/", "", Read("guidellm")),
    ("inference-perf/", "validation.json", Refused("validation")),
    ("inference-perf/", "per_request_lifecycle_metrics.json", Read("inference_perf_requests")),
    ("inference-perf/", "lifecycle_metrics.json", Read("inference_perf")),
    ("inference-perf/", "prometheus_metrics.json", Read("inference_perf_prometheus")),
    ("inference-perf/", ".yaml", Read("llm_d_report")),
    ("inferencex/agg/", ".json", Read("inferencex")),
    ("inferencex/gptoss120b", ".json", Read("vllm_bench_serve")),
    ("llama-bench/", ".jsonl", Read("llama_bench")),
    ("llmperf/", "_individual.json", Read("llmperf_requests")),
    ("llmperf/", "_individual_responses.json", Read("llmperf_requests")),
    ("llmperf/philschmid", "_summary.json", Refused("no known format")),
    ("llmperf/", "_summary.json", Read("llmperf_summary")),
    ("llmperf/", "_results.json", Read("llmperf_summary")),
    ("llmperf/", "_flattened.json", Read("benchmark_csv")),
    ("llmperf/", ".csv", Read("benchmark_csv")),
    ("sglang/", ".jsonl", Read("sglang_bench_serving")),
    ("vllm-bench-throughput-latency/", "ouput.json", Read("vllm_bench_throughput")),
    ("vllm-bench-throughput-latency/nvidia-throughput", ".json", Read("vllm_bench_throughput")),
    ("vllm-bench-throughput-latency/nvidia-latency", ".json", Read("vllm_bench_latency")),
    ("vllm-bench-serve/", ".json", Read("vllm_bench_serve")),
    ("vllm-bench-serve/", ".json.gz", Read("vllm_bench_serve")),
    ("traces/azure2023", ".csv", Read("azure_llm_trace")),
    ("traces/inference-perf_trace_replay", ".csv", Read("azure_llm_trace")),
    ("traces/git-lfs", ".csv", Refused("Git LFS pointer")),
    ("traces/mooncake", ".jsonl", Read("mooncake_trace")),
    ("traces/servegen", "-trace.csv", Refused("rates of a ServeGen client")),
    ("traces/servegen", "-dataset.json", Refused("lengths of a ServeGen client")),
    ("traces/splitwise", ".csv", Read("splitwise_sim_trace")),
    ("handmade-csv/argonne_all_results_TTFT_ITL", ".csv", Refused("does not say its unit")),
    ("handmade-csv/argonne_Fig2a", ".csv", Refused("no known format")),
    ("handmade-csv/dstack_latency", ".csv", Refused("no known format")),
    ("handmade-csv/dstack", ".csv", Read("benchmark_csv")),
];

/// A wide hand-made table whose names say no units is read once they are said: seconds, and a batch
/// taken for the requests in flight. One of its rows lacks a cell, and nobody knows which.
#[test]
fn a_table_without_units_is_read_once_they_are_said() {
    let name = "handmade-csv/argonne_all_results_TTFT_ITL.csv";
    let Some(bytes) = bytes(name) else { return };
    let mut said = TableReading::default();
    for (field, header) in [
        ("ttft_mean_s", "TTFT Latency"),
        ("e2e_mean_s", "end_latency"),
        ("concurrency", "Batch Size"),
        ("engine_version", "Framework"),
    ] {
        said.rename(field, header).expect("known");
    }
    let cut_short = read_as(name, &bytes, &said).expect_err("a row lacks a cell");
    assert_eq!(cut_short.line, Some(40), "{cut_short}");
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let line_39 = ends.map(|(at, _)| at).nth(38).expect("39 lines");
    let parsed = read_as(name, &bytes[..line_39], &said).expect("a table");
    let point = &parsed.points()[0];
    let ttft_ms = point.ttft.as_ref().and_then(|ttft| ttft.mean_ms).expect("said");
    assert!(near(ttft_ms, 2_275.8, 0.05));
    assert_eq!(point.load, Load::Concurrency { requests: 16 });
}

#[test]
fn a_sweep_that_obeys_littles_law_gives_notes_only() {
    let Some(folder) = samples() else { return };
    let mut paths = Vec::new();
    walk(&folder.join("inferencex/gptoss120b_disagg_sweep"), &mut paths);
    assert_eq!(paths.len(), 8);
    for path in paths {
        let name = path.display().to_string();
        let findings = review(&[read_file(&name, &std::fs::read(&path).expect("readable"))]);
        let grave: Vec<&Finding> =
            findings.iter().filter(|finding| finding.severity > Severity::Note).collect();
        assert!(grave.is_empty(), "{name}: {grave:?}");
    }
}

#[test]
fn every_sample_is_read_or_refused_with_its_reason() {
    let Some(folder) = samples() else { return };
    let mut paths = Vec::new();
    walk(&folder, &mut paths);
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let name = path.strip_prefix(&folder).expect("inside").display().to_string();
        let file = read_file(&name, &std::fs::read(&path).expect("readable"));
        let findings = review(std::slice::from_ref(&file));
        match (&file.parsed, &file.refused) {
            (Some(parsed), None) => println!(
                "{name}: {}, {} points, {} requests, {} findings",
                parsed.format.id(),
                parsed.points().len(),
                parsed.requests(),
                findings.len()
            ),
            (None, Some(refused)) => println!("{name}: refused, {:?}: {refused}", refused.kind),
            _ => panic!("{name}: neither or both"),
        }
    }
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { walk(&path, paths) } else { paths.push(path) }
    }
}
