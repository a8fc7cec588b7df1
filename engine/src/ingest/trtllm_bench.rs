//! Reports of TensorRT-LLM's `trtllm-bench` (`--report_json`).
//!
//! Documented at <https://nvidia.github.io/TensorRT-LLM/performance/perf-benchmarking.html>; keys
//! read in the source of 0.18 to 1.3. Requests are handed to the engine in the same process: no
//! HTTP and no tokenising in a latency. Its percentiles are nearest ranks, so that those of few
//! requests are the slowest one; the mean of `token_output_speed_tok_s` is one of speeds and is not
//! read. A limit on concurrency is not written, only how many were in flight.

use super::reading::Reading;
use super::registry::{FormatDescription, Head};
use super::runs::{keep_settings, of_json};
use super::tree::Node;
use super::{BenchmarkPoint, Definition, Load, TokenKind, Weighting};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "trtllm_bench",
    title: "trtllm-bench report",
    looks_for: "JSON with engine, world_info, request_info and performance",
    docs: "https://nvidia.github.io/TensorRT-LLM/performance/perf-benchmarking.html",
    sniff: |head: &Head| {
        let own = ["engine", "world_info", "request_info", "performance"];
        head.json.as_ref().is_some_and(|keys| own.iter().all(|key| keys.has(key)))
    },
    parse: |text| Ok(of_json(text, of_run)?.noting(NO_SERVER)),
};

const NO_SERVER: &str =
    "the engine without a server: no network and no tokenising in its latencies";

/// Issued faster than this, all requests were issued at once: the tool divides their number by the
/// nanoseconds its own loop took.
const AT_ONCE_RPS: f64 = 1e6;

fn of_run(reading: &mut Reading, run: &Node) -> Result<BenchmarkPoint, &'static str> {
    if run.get("performance").is_none() {
        return Err("an object without performance is no report");
    }
    let requests = reading.count(run, &["request_info/num_requests"]);
    let issued = run.at("world_info/issue_rate").and_then(Node::number);
    let rate = issued.filter(|rps| *rps > 0.0 && *rps < AT_ONCE_RPS);
    let ms = |reading: &mut Reading, path: &str, definition| {
        reading.stats(run, path, 1.0, (definition, Weighting::PerRequest))
    };
    let mut point = BenchmarkPoint {
        load: rate.map_or(Load::Unstated, |rps| Load::RequestRate { rps }),
        mean_in_flight: reading.quantity(run, &["request_info/avg_num_concurrent_requests"]),
        input: reading.length(run, &["request_info/avg_input_length"]),
        output: reading.length(run, &["request_info/avg_output_length"]),
        num_prompts: requests,
        completed: requests,
        duration_s: reading.quantity(run, &["performance/total_latency_ms"]).map(|ms| ms / 1e3),
        completed_rps: reading.quantity(run, &["performance/request_throughput_req_s"]),
        token_rates: reading.token_rates(
            run,
            &[
                (TokenKind::Output, "performance/system_output_throughput_tok_s"),
                (TokenKind::Total, "performance/system_total_throughput_tok_s"),
            ],
        ),
        ttft: ms(reading, "streaming_metrics/ttft_percentiles", Definition::SendToFirstToken),
        tpot: ms(reading, "streaming_metrics/tpot_percentiles", Definition::ExcludesFirstToken),
        e2e: ms(reading, "performance/request_latency_percentiles_ms", Definition::SendToLastToken),
        ..BenchmarkPoint::default()
    };
    let words = |path: &str| run.at(path).and_then(Node::words).filter(|words| words != "None");
    point.context.gpu = words("machine/name");
    point.context.model = words("engine/model");
    point.context.engine_version =
        words("engine/version").map(|version| format!("TensorRT-LLM {version}"));
    point.context.tensor_parallel = reading.count(run, &["world_info/tp_size"]);
    point.context.gpu_count = reading.count(run, &["world_info/world_size"]);
    let settings = [
        "engine/backend",
        "engine/dtype",
        "engine/kv_cache_dtype",
        "engine/quantization",
        "world_info/pp_size",
        "world_info/ep_size",
        "world_info/max_batch_size",
        "world_info/max_num_tokens",
    ];
    keep_settings(&mut point, run, &settings);
    Ok(point)
}
