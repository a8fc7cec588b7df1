//! Results of `vllm bench throughput` and `vllm bench latency`: the engine without a server.
//!
//! Documented at <https://docs.vllm.ai/en/latest/benchmarking/cli.html>; keys read in files of
//! 2024-11 to 0.25. A throughput run hands all requests to the engine at once and counts prompt and
//! output tokens together. A latency run times whole batches of equal requests, in seconds; how many
//! requests a batch holds is in the name of the file at most.

use super::reading::Reading;
use super::registry::{FormatDescription, Head};
use super::runs::{keep_settings, of_json};
use super::stat::Stat;
use super::tree::Node;
use super::{BenchmarkPoint, Definition, LatencyStats, Load, TokenKind, Weighting};

const DOCS: &str = "https://docs.vllm.ai/en/latest/benchmarking/cli.html";

pub(super) const THROUGHPUT: FormatDescription = FormatDescription {
    id: "vllm_bench_throughput",
    title: "vLLM bench throughput JSON",
    looks_for: "JSON with elapsed_time, num_requests and tokens_per_second",
    docs: DOCS,
    sniff: |head| has(head, &THROUGHPUT_KEYS[..3]),
    parse: |text| Ok(of_json(text, throughput)?.noting(NO_SERVER)),
};

pub(super) const LATENCY: FormatDescription = FormatDescription {
    id: "vllm_bench_latency",
    title: "vLLM bench latency JSON",
    looks_for: "JSON with avg_latency, latencies and percentiles",
    docs: DOCS,
    sniff: |head| has(head, &["avg_latency", "latencies", "percentiles"]),
    parse: |text| of_json(text, latency),
};

const NO_SERVER: &str = "the engine without a server: all requests at once, no latency, prompt and \
                         output tokens counted together";

const THROUGHPUT_KEYS: [&str; 5] = [
    "elapsed_time",
    "num_requests",
    "tokens_per_second",
    "total_num_tokens",
    "requests_per_second",
];

fn has(head: &Head, keys: &[&str]) -> bool {
    head.json.as_ref().is_some_and(|own| keys.iter().all(|key| own.has(key)))
}

fn throughput(reading: &mut Reading, run: &Node) -> Result<BenchmarkPoint, &'static str> {
    if run.get("tokens_per_second").is_none() {
        return Err("an object without tokens_per_second is no result");
    }
    let requests = reading.count(run, &["num_requests"]);
    let mut point = BenchmarkPoint {
        load: Load::Unbounded,
        duration_s: reading.quantity(run, &["elapsed_time"]),
        completed_rps: reading.quantity(run, &["requests_per_second"]),
        num_prompts: requests,
        completed: requests,
        token_rates: reading.token_rates(run, &[(TokenKind::Total, "tokens_per_second")]),
        ..BenchmarkPoint::default()
    };
    // Whatever the user added to tell runs apart.
    let others: Vec<&str> = run
        .entries()
        .iter()
        .map(|(key, _)| &**key)
        .filter(|key| !THROUGHPUT_KEYS.contains(key) && !key.contains('/'))
        .collect();
    keep_settings(&mut point, run, &others);
    Ok(point)
}

fn latency(reading: &mut Reading, run: &Node) -> Result<BenchmarkPoint, &'static str> {
    if run.get("avg_latency").is_none() {
        return Err("an object without avg_latency is no result");
    }
    // Requests of a batch are equal and end together: a mean over batches is one over requests.
    let tags = (Definition::SendToLastToken, Weighting::PerRequest);
    let mut stats = LatencyStats::new(tags.0, tags.1);
    if let Some(percentiles) = run.get("percentiles") {
        let stat = |key: &str| Stat::parse(&format!("p{key}"));
        stats = reading.flat_stats(percentiles, &stat, 1e3, tags).unwrap_or(stats);
    }
    stats.mean_ms = reading.quantity(run, &["avg_latency"]).map(|seconds| seconds * 1e3);
    let batches = run.get("latencies").map_or(0, |list| list.items().len());
    reading.remark(format!(
        "the engine without a server: E2E is of whole batches ({batches} of them listed), and how \
         many requests a batch holds the file does not say"
    ));
    Ok(BenchmarkPoint { e2e: (!stats.is_empty()).then_some(stats), ..BenchmarkPoint::default() })
}
