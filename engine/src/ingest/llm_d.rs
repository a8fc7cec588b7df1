//! The llm-d benchmark report, a schema several tools are converted to.
//!
//! Documented at <https://github.com/llm-d/llm-d-benchmark/blob/main/docs/benchmark_report.md>; keys
//! read in version 0.2 and 0.2.1 of the schema. YAML or JSON; every leaf has its unit beside it, and
//! the stack says engine, GPU, number and parallelism. The figures are those of the tool that
//! measured, under that tool's definitions, which the report names.

use super::gathered::Gathered;
use super::point::load_of;
use super::quantity::count;
use super::reading::Reading;
use super::registry::{Body, FormatDescription};
use super::tree::Node;
use super::{
    BenchmarkPoint, Definition, Latency, Length, LengthSource, Refusal, TokenKind, TokenRate,
    Weighting, json, yaml,
};

pub(super) const FORMAT: FormatDescription = FormatDescription {
    id: "llm_d_report",
    title: "llm-d benchmark report (YAML or JSON)",
    looks_for: "scenario, results with request_performance, and version",
    docs: "https://github.com/llm-d/llm-d-benchmark/blob/main/docs/benchmark_report.md",
    sniff: |head| {
        let parts = ["scenario", "results", "version"];
        let json = head.json.as_ref().is_some_and(|keys| parts.iter().all(|key| keys.has(key)));
        let at_top = |key: &str| head.text.lines().any(|line| line.starts_with(key));
        let yaml = head.json.is_none() && parts.iter().all(|key| at_top(&format!("{key}:")));
        (json || yaml) && head.text.contains("request_performance")
    },
    parse,
};

fn parse(text: &str) -> Result<Body, Refusal> {
    let mut gathered = Gathered::default();
    let mut add = |line: u64, report: &Node| {
        gathered.make_room(1)?;
        let row = gathered.next_row();
        let mut reading = Reading { line, remarks: &mut gathered.remarks };
        gathered.points.push(point(report, row, &mut reading));
        Ok(())
    };
    if text.trim_start().starts_with('{') {
        let text = json::quote_not_finite(text);
        json::for_each_value(&text, |line, report: Node| add(line, &report))?;
    } else {
        add(1, &yaml::parse(text)?)?;
    }
    Ok(gathered.finish("reports"))
}

/// Everything the tool measured is below this.
const AGGREGATE: &str = "results/request_performance/aggregate";

fn point(report: &Node, row: u64, reading: &mut Reading) -> BenchmarkPoint {
    let load = report.at("scenario/load/standardized").unwrap_or(&Node::Null);
    let client_cap = load.at("concurrency").and_then(Node::number).and_then(|n| count(n).ok());
    let rate = load.at("rate_qps").and_then(Node::number);
    let at = |path: &str| format!("{AGGREGATE}/{path}");
    let total = reading.count(report, &[&at("requests/total")]);
    let failed = reading.count(report, &[&at("requests/failures")]);
    let mut point = BenchmarkPoint {
        row: Some(row),
        label: report.at("run/description").and_then(Node::words),
        date: report.at("run/time/end").and_then(Node::words),
        load: load_of(rate, client_cap),
        client_cap,
        completed_rps: reading.quantity(report, &[&at("throughput/request_rate/mean")]),
        duration_s: report.at("run/time/duration").and_then(Node::text).and_then(iso_seconds),
        input: length(report, load, ["requests/input_length", "input_seq_len"], reading),
        output: length(report, load, ["requests/output_length", "output_seq_len"], reading),
        num_prompts: total,
        failed,
        completed: total.zip(failed).and_then(|(total, failed)| total.checked_sub(failed)),
        token_rates: token_rates(report, reading),
        ..BenchmarkPoint::default()
    };
    for (latency, name, tags) in LATENCIES {
        let path = at(&format!("latency/{name}"));
        let Some(unit_ms) = unit_ms(report, &path, reading) else { continue };
        *point.latency_mut(latency) = reading.stats(report, &path, unit_ms, tags);
    }
    if let Some(tool) = load.get("tool").and_then(Node::words) {
        let version = load.get("tool_version").and_then(Node::words).unwrap_or_default();
        reading.remark(format!("measured by {tool} {version}, under its definitions"));
    }
    stack(report, &mut point, reading);
    point.drop_zeros_without_data();
    point.list_missing();
    point
}

/// As inference-perf, the schema's first source, defines them; the key of NTPOT says what it is.
const LATENCIES: [(Latency, &str, (Definition, Weighting)); 5] = [
    (Latency::Ttft, "time_to_first_token", (Definition::SendToFirstToken, Weighting::PerRequest)),
    (Latency::Tpot, "time_per_output_token", (Definition::Unstated, Weighting::Unstated)),
    (
        Latency::Ntpot,
        "normalized_time_per_output_token",
        (Definition::IncludesFirstToken, Weighting::PerRequest),
    ),
    (Latency::Itl, "inter_token_latency", (Definition::Unstated, Weighting::Unstated)),
    (Latency::E2e, "request_latency", (Definition::SendToLastToken, Weighting::PerRequest)),
];

/// Milliseconds in the unit a leaf names; said where that is none.
fn unit_ms(report: &Node, path: &str, reading: &mut Reading) -> Option<f64> {
    let leaf = report.at(path)?;
    let unit = leaf.get("units").and_then(Node::words).unwrap_or_default();
    let size = match unit.as_str() {
        "s" | "s/token" | "seconds" => Some(1e3),
        "ms" | "ms/token" => Some(1.0),
        _ => None,
    };
    if size.is_none() {
        reading.remark(format!("{path} is in \"{unit}\", no known unit: left out"));
    }
    size
}

/// As measured, else as asked for.
fn length(
    report: &Node,
    load: &Node,
    [measured, asked]: [&str; 2],
    reading: &mut Reading,
) -> Option<Length> {
    reading.length(report, &[&format!("{AGGREGATE}/{measured}/mean")]).or_else(|| {
        let mean_tokens = reading.quantity(load, &[&format!("{asked}/value")])?;
        Some(Length { mean_tokens, source: LengthSource::Declared })
    })
}

fn token_rates(report: &Node, reading: &mut Reading) -> Vec<TokenRate> {
    [
        (TokenKind::Input, "input_token_rate"),
        (TokenKind::Output, "output_token_rate"),
        (TokenKind::Total, "total_token_rate"),
    ]
    .into_iter()
    .filter_map(|(kind, name)| {
        let path = format!("{AGGREGATE}/throughput/{name}/mean");
        reading.quantity(report, &[&path]).map(|tps| TokenRate { kind, tps })
    })
    .collect()
}

/// Engine, GPU and parallelism of the inference engines in the stack. Prefill and decode engines
/// have no one TP size.
fn stack(report: &Node, point: &mut BenchmarkPoint, reading: &mut Reading) {
    let parts = report.at("scenario/stack").map(Node::items).unwrap_or_default();
    let engines: Vec<&Node> = parts
        .iter()
        .filter_map(|part| part.get("standardized"))
        .filter(|part| part.get("kind").and_then(Node::text) == Some("inference_engine"))
        .collect();
    let Some(first) = engines.first() else { return };
    let words = |path: &str| first.at(path).and_then(Node::words);
    let number = |engine: &Node, path: &str| {
        engine.at(path).and_then(Node::number).and_then(|n| count(n).ok())
    };
    let context = &mut point.context;
    context.model = words("model/name");
    context.gpu = words("accelerator/model");
    context.engine_version = match (words("tool"), words("tool_version")) {
        (Some(tool), Some(version)) => Some(format!("{tool} {version}")),
        (tool, version) => tool.or(version),
    };
    let sizes: Vec<Option<u64>> =
        engines.iter().map(|engine| number(engine, "accelerator/parallelism/tp")).collect();
    if sizes.windows(2).all(|pair| pair[0] == pair[1]) {
        context.tensor_parallel = sizes[0];
    }
    let gpus: Option<u64> = engines
        .iter()
        .map(|engine| {
            let replicas = number(engine, "replicas").unwrap_or(1);
            number(engine, "accelerator/count")?.checked_mul(replicas)
        })
        .try_fold(0_u64, |sum, gpus| sum.checked_add(gpus?));
    context.gpu_count = gpus;
    if let Some(gpus) = gpus {
        reading.remark(format!(
            "{gpus} GPUs: accelerators × replicas of {} engine entries in the stack",
            engines.len()
        ));
    }
}

/// `PT1M49.97S` in seconds; days, months and years no benchmark takes.
fn iso_seconds(text: &str) -> Option<f64> {
    let mut rest = text.strip_prefix("PT")?;
    let mut seconds = 0.0;
    for (mark, size) in [('H', 3600.0), ('M', 60.0), ('S', 1.0)] {
        if let Some((number, after)) = rest.split_once(mark) {
            seconds += number.parse::<f64>().ok()? * size;
            rest = after;
        }
    }
    rest.is_empty().then(|| super::quantity::quantity(seconds).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_seconds() {
        for (text, seconds) in
            [("PT49.5S", Some(49.5)), ("PT1H2M3S", Some(3723.0)), ("P1D", None), ("PTxS", None)]
        {
            assert_eq!(iso_seconds(text), seconds, "{text}");
        }
    }
}
