//! One result object of vLLM's client as a benchmark point.

use super::values::Values;
use crate::ingest::{BenchmarkPoint, Definition, Latency, Weighting};

/// Normal form of the `row`-th run of the file.
pub(in crate::ingest) fn of_run(values: &mut Values, row: u64) -> BenchmarkPoint {
    let mut point = values.common(row);
    point.context.settings = values.settings(KNOWN);
    for (latency, suffix, definition, weighting) in LATENCIES {
        values.set_latency(&mut point, latency, suffix, (definition, weighting));
    }
    point.drop_zeros_without_data();
    point.list_missing();
    point
}

/// Latencies and how vLLM's client times them.
const LATENCIES: [(Latency, &str, Definition, Weighting); 5] = [
    (Latency::Ttft, "ttft_ms", Definition::SendToFirstToken, Weighting::PerRequest),
    (Latency::Tpot, "tpot_ms", Definition::ExcludesFirstToken, Weighting::PerRequest),
    (Latency::Itl, "itl_ms", Definition::GapBetweenEvents, Weighting::PerEvent),
    (Latency::E2e, "e2el_ms", Definition::SendToLastToken, Weighting::PerRequest),
    (Latency::ClientQueue, "client_queue_time_ms", Definition::DueToSend, Weighting::PerRequest),
];

/// What the tool itself writes beside statistics; anything else is the user's or a sweep's.
const KNOWN: &[&str] = &[
    "date",
    "endpoint_type",
    "backend",
    "label",
    "model_id",
    "tokenizer_id",
    "best_of",
    "use_beam_search",
    "num_prompts",
    "request_rate",
    "burstiness",
    "max_concurrency",
    "ramp_up_strategy",
    "ramp_up_start_rps",
    "ramp_up_end_rps",
    "duration",
    "completed",
    "failed",
    "total_input_tokens",
    "total_output_tokens",
    "request_throughput",
    "input_throughput",
    "output_throughput",
    "total_token_throughput",
    "request_goodput",
    "request_goodput:",
    "max_output_tokens_per_s",
    "max_concurrent_requests",
    "rtfx",
    "run_number",
    "benchmark_start_time_unix",
    "benchmark_end_time_unix",
];
