//! What each benchmark tool writes, one module per tool and a fixture of our own per generation of
//! its files: what is read, under which definition, and what is said about the rest.

#[path = "ingest_tools/aiperf.rs"]
mod aiperf;
#[path = "ingest_tools/engines.rs"]
mod engines;
#[path = "ingest_tools/guidellm.rs"]
mod guidellm;
#[path = "ingest_tools/inference_perf.rs"]
mod inference_perf;
#[path = "ingest_tools/llmperf.rs"]
mod llmperf;
#[path = "ingest_tools/others.rs"]
mod others;
#[path = "ingest_tools/sglang.rs"]
mod sglang;
#[path = "ingest_tools/traces.rs"]
mod traces;

use goodput_engine::ingest::{BenchmarkPoint, LatencyStats, Parsed, read};
use goodput_engine::problem::Severity;
use goodput_engine::review::{Finding, review};

fn parsed(bytes: &[u8]) -> Parsed {
    read("fixture", bytes).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn points(bytes: &[u8]) -> Vec<BenchmarkPoint> {
    parsed(bytes).points().to_vec()
}

fn findings(bytes: &[u8]) -> Vec<Finding> {
    review(&[goodput_engine::ingest::read_file("fixture", bytes)])
}

/// Codes of what is more than a note.
fn grave(bytes: &[u8]) -> Vec<String> {
    let found = findings(bytes).into_iter().filter(|finding| finding.severity > Severity::Note);
    found.map(|finding| finding.code).collect()
}

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * expected.abs()
}

fn stated(stats: Option<&LatencyStats>) -> &LatencyStats {
    stats.expect("the latency is stated")
}
