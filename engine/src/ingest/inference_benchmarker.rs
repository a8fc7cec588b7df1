//! Reports of Hugging Face's inference-benchmarker.
//!
//! Documented at <https://github.com/huggingface/inference-benchmarker>; keys read in its source of
//! 2024-12 to 2025-07. A report holds a run per load: virtual users that each wait for their answer,
//! or a constant rate. Its `request_rate` is what was completed; what was asked for is in the run's
//! own `config`. Its inter-token latency is, per request, the time after the first token over the
//! tokens after it: our TPOT. A latency that could not be had is written as 0.

use super::gathered::Gathered;
use super::reading::Reading;
use super::registry::{Body, FormatDescription, Head};
use super::tree::Node;
use super::{BenchmarkPoint, Definition, Latency, Load, Refusal, TokenKind, Weighting, json, runs};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "inference_benchmarker",
    title: "Hugging Face inference-benchmarker report",
    looks_for: "JSON with results, each with executor_type, and system",
    docs: "https://github.com/huggingface/inference-benchmarker",
    sniff: |head: &Head| {
        let named = head.json.as_ref().is_some_and(|keys| keys.has("results"));
        named && head.text.contains("\"executor_type\"")
    },
    parse,
};

fn parse(text: &str) -> Result<Body, Refusal> {
    let text = json::quote_not_finite(text);
    let mut gathered = Gathered::default();
    json::for_each_value(&text, |line, report: Node| {
        let results = report.get("results").map_or(&[][..], Node::items);
        runs::add(&mut gathered, line, results, of_run)?;
        let model = report
            .first(&["config/model_name", "config/meta/model", "config/tokenizer"])
            .and_then(Node::words);
        for point in &mut gathered.points {
            point.context.model = point.context.model.take().or_else(|| model.clone());
            point.list_missing();
        }
        Ok(())
    })?;
    runs::finish(gathered)
}

const LATENCIES: [(Latency, &str, Definition); 3] = [
    (Latency::Ttft, "time_to_first_token_ms", Definition::SendToFirstToken),
    (Latency::Tpot, "inter_token_latency_ms", Definition::ExcludesFirstToken),
    (Latency::E2e, "e2e_latency_ms", Definition::SendToLastToken),
];

fn of_run(reading: &mut Reading, run: &Node) -> Result<BenchmarkPoint, &'static str> {
    let id = run.get("id").and_then(Node::words);
    if id.as_deref() == Some("warmup") {
        return Err("the warm-up is no measurement");
    }
    let completed = reading.count(run, &["successful_requests"]);
    let users = reading.count(run, &["config/max_vus"]);
    let load = match run.get("executor_type").and_then(Node::text) {
        Some("ConstantVUs") => users.map(|requests| Load::Concurrency { requests }),
        Some("ConstantArrivalRate") => {
            reading.quantity(run, &["config/rate"]).map(|rps| Load::RequestRate { rps })
        }
        _ => None,
    };
    let mut point = BenchmarkPoint {
        label: id,
        load: load.unwrap_or_default(),
        client_cap: users,
        completed_rps: reading.quantity(run, &["request_rate"]),
        duration_s: reading.quantity(run, &["duration_ms"]).map(|ms| ms / 1e3),
        input: reading.share_of(run, "total_tokens_sent", completed),
        output: reading.share_of(run, "total_tokens", completed),
        num_prompts: reading.count(run, &["total_requests"]),
        completed,
        failed: reading.count(run, &["failed_requests"]),
        // Named after seconds, it is output tokens per second.
        token_rates: reading.token_rates(run, &[(TokenKind::Output, "token_throughput_secs")]),
        ..BenchmarkPoint::default()
    };
    for (latency, key, definition) in LATENCIES {
        *point.latency_mut(latency) =
            reading.stats(run, key, 1.0, (definition, Weighting::PerRequest));
    }
    Ok(point)
}
