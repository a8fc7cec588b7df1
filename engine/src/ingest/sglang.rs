//! Results of SGLang's `bench_serving`.
//!
//! Documented at <https://docs.sglang.ai/developer_guide/bench_serving.html>; keys read in the
//! source of 2024-12 to 0.5. JSON lines, one appended per run, with a bare `Infinity` where no rate
//! was set. The client descends from vLLM's and shares its keys; it adds the server's configuration
//! (version, TP), the achieved concurrency and a second count of output tokens, and counts no
//! failures. `random_input_len` and `random_output_len` echo the arguments, whatever data set was
//! sent, so lengths are taken from the totals.

use super::gathered::Gathered;
use super::registry::{Body, FormatDescription, Head};
use super::tree::Node;
use super::vllm_serve::run::Document;
use super::vllm_serve::values::Values;
use super::vllm_serve::{self};
use super::{BenchmarkPoint, DeclaredContext, Definition, Latency, Refusal, Weighting, json};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "sglang_bench_serving",
    title: "SGLang bench_serving JSON lines",
    looks_for: "JSON lines with output_throughput and either total_output_tokens_retokenized or \
                dataset_name with mean_e2e_latency_ms",
    docs: "https://docs.sglang.ai/developer_guide/bench_serving.html",
    sniff,
    parse,
};

fn sniff(head: &Head) -> bool {
    head.json.as_ref().is_some_and(|keys| {
        let own = keys.has("total_output_tokens_retokenized")
            || (keys.has("dataset_name") && keys.has("mean_e2e_latency_ms"));
        own && keys.has("output_throughput") && !keys.has("model_id")
    })
}

fn parse(text: &str) -> Result<Body, Refusal> {
    let text = json::quote_not_finite(text);
    let mut gathered = Gathered::default();
    json::for_each_value(&text, |line, document: Document| match document {
        Document::One(run) => vllm_serve::add(&mut gathered, line, &run, of_run),
        Document::Many(runs) => {
            runs.iter().try_for_each(|run| vllm_serve::add(&mut gathered, line, run, of_run))
        }
    })?;
    Ok(gathered.finish("runs"))
}

/// Normal form of the `row`-th run of the file; also of a console block.
pub(super) fn of_run(values: &mut Values, row: u64) -> BenchmarkPoint {
    let mut point = values.common(row);
    point.label = point.label.or_else(|| values.words(&["tag"]));
    point.mean_in_flight = values.quantity(&["concurrency"]);
    point.retokenized_output_tokens = values
        .mean_length("total_output_tokens_retokenized", point.completed)
        .map(|length| length.mean_tokens);
    server(values, &mut point.context);
    for (latency, suffix, tags) in latencies(values.words(&["backend"]).as_deref()) {
        values.set_latency(&mut point, latency, suffix, tags);
    }
    point.drop_zeros_without_data();
    point.list_missing();
    point
}

/// Latencies and how this client times them. On the engine's own endpoint a gap is divided by the
/// tokens that came with its event; on OpenAI endpoints it is the gap between two events.
fn latencies(backend: Option<&str>) -> [(Latency, &'static str, (Definition, Weighting)); 4] {
    let itl = match backend {
        Some("sglang" | "sglang-native") => (Definition::GapBetweenTokens, Weighting::PerToken),
        Some(_) => (Definition::GapBetweenEvents, Weighting::PerEvent),
        None => (Definition::Unstated, Weighting::Unstated),
    };
    let per_request = Weighting::PerRequest;
    [
        (Latency::Ttft, "ttft_ms", (Definition::SendToFirstToken, per_request)),
        (Latency::Tpot, "tpot_ms", (Definition::ExcludesFirstToken, per_request)),
        (Latency::Itl, "itl_ms", itl),
        (Latency::E2e, "e2e_latency_ms", (Definition::SendToLastToken, per_request)),
    ]
}

/// What the server said about itself. With prefill and decode on servers of their own there is one
/// account of each, and no single TP size.
fn server(values: &mut Values, context: &mut DeclaredContext) {
    let Some(info) = &values.run.server_info else { return };
    let decode = info.get("decode").and_then(|servers| servers.items().first());
    let one = decode.unwrap_or(info);
    let words = |paths: &[&str]| one.first(paths).and_then(Node::words);
    if let Some(version) = words(&["version"]) {
        context.engine_version = Some(format!("SGLang {version}"));
    }
    context.model = context.model.take().or_else(|| words(&["served_model_name", "model_path"]));
    if decode.is_some() {
        values.remarks.add(
            values.line,
            "prefill and decode ran on servers of their own: version and model are the decode \
             server's, and no single TP size is taken",
        );
        return;
    }
    if let Some(size) = one.at("tp_size").and_then(Node::number) {
        context.tensor_parallel = super::quantity::count(size).ok();
    }
    for key in ["dp_size", "pp_size", "ep_size", "max_running_requests", "quantization"] {
        if let Some(value) = words(&[key]) {
            context.settings.insert(key.to_owned(), value);
        }
    }
}
