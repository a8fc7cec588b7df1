//! The names of the file formats that are read.

/// The formats that are read, by id. The engine's own list would bring its parsers into the page;
/// a test holds the two together.
pub const FORMATS: [(&str, &str); 35] = [
    ("guidellm", "GuideLLM report (JSON or YAML)"),
    ("llm_d_report", "llm-d benchmark report (YAML or JSON)"),
    ("guidellm_csv", "GuideLLM CSV"),
    ("aiperf_requests", "AIPerf per-request JSON lines"),
    ("aiperf", "AIPerf summary JSON"),
    ("genai_perf", "genai-perf summary JSON"),
    ("aiperf_csv", "AIPerf or genai-perf summary CSV"),
    ("inference_perf_prometheus", "inference-perf Prometheus report"),
    ("inference_perf", "inference-perf lifecycle report"),
    ("inference_perf_requests", "inference-perf per-request report"),
    ("llmperf_summary", "llmperf summary"),
    ("llmperf_requests", "llmperf individual responses"),
    ("sglang_bench_serving", "SGLang bench_serving JSON lines"),
    ("vllm_bench_serve", "vLLM bench serve JSON"),
    ("vllm_bench_throughput", "vLLM bench throughput JSON"),
    ("vllm_bench_latency", "vLLM bench latency JSON"),
    ("inferencex", "InferenceX aggregated rows (JSON)"),
    ("inference_benchmarker", "Hugging Face inference-benchmarker report"),
    ("trtllm_bench", "trtllm-bench report"),
    ("llama_bench", "llama-bench (JSON, JSON lines or CSV)"),
    ("ollama", "Ollama answers (JSON lines)"),
    ("mlperf_summary", "MLPerf load generator summary"),
    ("llmservingsim", "LLMServingSim simulated requests (CSV)"),
    ("engine_request_log", "engine request log (JSON lines)"),
    ("serving_console", "vLLM or SGLang console block"),
    ("vllm_metrics", "/metrics page of a running vLLM server"),
    ("bailian_trace", "Bailian (Qwen) trace (JSON lines)"),
    ("mooncake_trace", "Mooncake trace (JSON lines)"),
    ("azure_llm_trace", "Azure LLM inference trace (CSV)"),
    ("burstgpt_trace", "BurstGPT trace (CSV)"),
    ("vidur_trace", "Vidur trace (CSV)"),
    ("splitwise_sim_trace", "splitwise-sim trace (CSV)"),
    ("request_table", "table of requests (CSV)"),
    ("trace_table", "trace of requests (CSV)"),
    ("benchmark_csv", "benchmark rows (CSV)"),
];

/// The name of a format.
pub fn format_title(id: &str) -> String {
    FORMATS.iter().find(|format| format.0 == id).map_or(id, |format| format.1).to_owned()
}

#[cfg(test)]
mod tests {
    use goodput_engine::ingest;

    use super::*;

    #[test]
    fn the_list_of_formats_is_the_engines() {
        let engines: Vec<_> = ingest::formats().iter().map(|f| (f.id, f.title)).collect();
        assert_eq!(engines, FORMATS);
    }
}
