//! Results of llama.cpp's `llama-bench` as JSON, JSON lines or CSV, and those of wrappers that keep
//! such a result under `bench_raw`.
//!
//! Documented at <https://github.com/ggml-org/llama.cpp/tree/master/tools/llama-bench>; keys read in
//! builds of 2025-08 to 2025-10, whose set of columns drifts. A row is one test of a single stream
//! without a server: a prompt processed, tokens generated one by one, or both. It says how fast
//! prefill and decode are at batch 1 and nothing about load.

use std::borrow::Cow;

use super::csv_table::{self, Delimiter, trimmed};
use super::gathered::Gathered;
use super::reading::Reading;
use super::registry::{Body, FormatDescription, Head};
use super::tree::Node;
use super::{
    BenchmarkPoint, Definition, LatencyStats, Length, LengthSource, Load, Refusal, TokenKind,
    TokenRate, Weighting, runs,
};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "llama_bench",
    title: "llama-bench (JSON, JSON lines or CSV)",
    looks_for: "JSON or a CSV header with build_commit and avg_ts",
    docs: "https://github.com/ggml-org/llama.cpp/tree/master/tools/llama-bench",
    sniff,
    parse,
};

const ONE_STREAM: &str =
    "one stream without a server: prefill or decode speed of batch 1, no TTFT and no load";

fn sniff(head: &Head) -> bool {
    if let Some(keys) = &head.json {
        return (keys.has("build_commit") && keys.has("avg_ts")) || keys.has("bench_raw");
    }
    let cells = csv_table::header_cells(head.first_line, Delimiter::Comma);
    ["build_commit", "avg_ts"].iter().all(|key| cells.iter().any(|cell| cell == key))
}

fn parse(text: &str) -> Result<Body, Refusal> {
    if text.trim_start().starts_with(['{', '[']) {
        return Ok(runs::of_json(text, of_run)?.noting(ONE_STREAM));
    }
    let mut gathered = Gathered::default();
    let mut names: Vec<String> = Vec::new();
    csv_table::for_each_row(text, Delimiter::Comma, |row| {
        let cells = row.cells.iter().map(|cell| trimmed(cell).to_owned());
        if names.is_empty() {
            names = cells.collect();
            return Ok(());
        }
        let values = cells.map(|cell| Node::Text(Cow::Owned(cell)));
        let run = Node::Map(names.iter().map(|name| Cow::Borrowed(&**name)).zip(values).collect());
        runs::add(&mut gathered, row.line, &[run], of_run)
    })?;
    Ok(runs::finish(gathered)?.noting(ONE_STREAM))
}

fn of_run(reading: &mut Reading, run: &Node) -> Result<BenchmarkPoint, &'static str> {
    let run = run.get("bench_raw").unwrap_or(run);
    let count = |reading: &mut Reading, key: &str| reading.count(run, &[key]);
    let (Some(prompt), Some(generated)) = (count(reading, "n_prompt"), count(reading, "n_gen"))
    else {
        return Err("n_prompt and n_gen say which test it was, and one is missing");
    };
    let depth = count(reading, "n_depth").unwrap_or(0);
    let (label, kind) = match (prompt, generated) {
        (0, 0) => return Err("nothing was processed and nothing generated"),
        (_, 0) => (format!("pp{prompt}"), TokenKind::Input),
        (0, _) => (format!("tg{generated}"), TokenKind::Output),
        _ => (format!("pp{prompt}+tg{generated}"), TokenKind::Total),
    };
    let tps = reading.quantity(run, &["avg_ts"]);
    let length = |tokens: u64| {
        let length = Length { mean_tokens: tokens as f64, source: LengthSource::Measured };
        (tokens > 0).then_some(length)
    };
    let mut point = BenchmarkPoint {
        label: Some(if depth > 0 { format!("{label} @ d{depth}") } else { label }),
        date: run.get("test_time").and_then(Node::words),
        load: Load::Concurrency { requests: 1 },
        input: length(prompt + depth),
        output: length(generated),
        token_rates: tps.map(|tps| TokenRate { kind, tps }).into_iter().collect(),
        ..BenchmarkPoint::default()
    };
    if kind == TokenKind::Output {
        // One step a token, the first included: its prompt is one token long.
        let per_token = |reading: &mut Reading, key: &str| {
            reading.quantity(run, &[key]).map(|ns| ns / 1e6 / generated as f64)
        };
        let mut stats = LatencyStats::new(Definition::GapBetweenTokens, Weighting::PerRequest);
        stats.mean_ms = per_token(reading, "avg_ns");
        stats.std_ms = per_token(reading, "stddev_ns");
        point.tpot = stats.mean_ms.is_some().then_some(stats);
    }
    context(reading, run, &mut point);
    Ok(point)
}

fn context(reading: &mut Reading, run: &Node, point: &mut BenchmarkPoint) {
    let words = |key: &str| run.get(key).and_then(Node::words);
    point.context.gpu = words("gpu_info");
    point.context.model = words("model_type").or_else(|| words("model_filename"));
    let build = reading.count(run, &["build_number"]);
    point.context.engine_version =
        build.map(|build| format!("llama.cpp b{build}")).or_else(|| words("build_commit"));
    let settings = [
        "backends",
        "n_batch",
        "n_ubatch",
        "n_threads",
        "type_k",
        "type_v",
        "n_gpu_layers",
        "split_mode",
        "flash_attn",
        "n_depth",
    ];
    runs::keep_settings(point, run, &settings);
}
