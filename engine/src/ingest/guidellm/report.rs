//! The benchmarks of a report, one point each.

use super::requests;
use crate::ingest::gathered::Gathered;
use crate::ingest::reading::Reading;
use crate::ingest::registry::Body;
use crate::ingest::tree::Node;
use crate::ingest::{
    BenchmarkPoint, Definition, Latency, LatencyStats, Length, Load, Refusal, TokenKind, TokenRate,
    Weighting, json, yaml,
};

pub(super) fn parse(text: &str) -> Result<Body, Refusal> {
    let mut gathered = Gathered::default();
    if text.trim_start().starts_with('{') {
        let text = json::quote_not_finite(text);
        json::for_each_value(&text, |line, report: Node| add(&mut gathered, line, &report))?;
    } else {
        let report = yaml::parse(text)?;
        add(&mut gathered, 1, &report)?;
    }
    Ok(gathered.finish("benchmarks"))
}

/// From 0.4 on the strategy is in `config`; before, the arguments hold it.
#[derive(Clone, Copy, PartialEq)]
enum Generation {
    Upto03,
    From04,
}

fn add(gathered: &mut Gathered, line: u64, report: &Node) -> Result<(), Refusal> {
    let version = report.at("metadata/guidellm_version").and_then(Node::words);
    gathered.tool_version = gathered.tool_version.take().or(version);
    let benchmarks = report.get("benchmarks").map(Node::items).unwrap_or_default();
    if benchmarks.is_empty() {
        return Err(Refusal::empty("the report holds no benchmarks"));
    }
    for benchmark in benchmarks {
        gathered.make_room(1)?;
        if benchmark.get("metrics").is_none() {
            return Err(Refusal::broken(
                "a benchmark of the report has no metrics",
                "reports before GuideLLM 0.2 are not read; run it again with a newer version",
            ));
        }
        let generation = if benchmark.get("run_stats").is_some() {
            Generation::Upto03
        } else {
            Generation::From04
        };
        let (index, row) = (gathered.next_index(), gathered.next_row());
        let mut reading = Reading { line, remarks: &mut gathered.remarks };
        let point = point(benchmark, row, generation, &mut reading);
        let measured = point.completed;
        gathered.points.push(point);
        requests::add(gathered, benchmark, index, line, measured)?;
    }
    Ok(())
}

fn point(
    benchmark: &Node,
    row: u64,
    generation: Generation,
    reading: &mut Reading,
) -> BenchmarkPoint {
    let count = |reading: &mut Reading, status: &str| {
        let paths =
            [format!("metrics/request_totals/{status}"), format!("request_totals/{status}")];
        reading.count(benchmark, &[&paths[0], &paths[1]])
    };
    let (load, client_cap) = load(benchmark, reading);
    let duration_s = reading.quantity(benchmark, &["duration"]);
    let mut point = BenchmarkPoint {
        row: Some(row),
        load,
        client_cap,
        burstiness: (strategy(benchmark) == "poisson").then_some(1.0),
        completed_rps: reading
            .quantity(benchmark, &["metrics/requests_per_second/successful/mean"]),
        duration_s,
        input: length(benchmark, "prompt_token_count", reading),
        output: length(benchmark, "output_token_count", reading),
        mean_in_flight: reading
            .quantity(benchmark, &["metrics/request_concurrency/successful/mean"]),
        num_prompts: count(reading, "total"),
        completed: count(reading, "successful"),
        failed: count(reading, "errored"),
        cancelled: count(reading, "incomplete"),
        token_rates: token_rates(benchmark, duration_s, reading),
        ..BenchmarkPoint::default()
    };
    point.context.model =
        benchmark.first(&["config/backend/model", "worker/backend_model"]).and_then(Node::words);
    latencies(&mut point, benchmark, generation, reading);
    lateness(&mut point, benchmark, reading);
    point.drop_zeros_without_data();
    point.list_missing();
    point
}

/// `synchronous`, `concurrent`, `throughput`, `constant`, `poisson`, or what the file says.
fn strategy<'a>(benchmark: &'a Node<'_>) -> &'a str {
    benchmark
        .first(&["config/strategy/type_", "args/strategy/type_"])
        .and_then(Node::text)
        .unwrap_or_default()
}

/// The load and the client's limit.
fn load(benchmark: &Node, reading: &mut Reading) -> (Load, Option<u64>) {
    let mut number = |name: &str| {
        let paths = [format!("config/strategy/{name}"), format!("args/strategy/{name}")];
        reading.quantity(benchmark, &[&paths[0], &paths[1]])
    };
    let whole = |value: f64| crate::ingest::quantity::count(value).ok();
    let cap = number("max_concurrency").and_then(whole);
    let load = match strategy(benchmark) {
        "synchronous" => Load::Concurrency { requests: 1 },
        "concurrent" => match number("streams").and_then(whole).or(cap) {
            Some(requests) => Load::Concurrency { requests },
            None => Load::Unstated,
        },
        // As many at once as the limit lets; without one, all of them.
        "throughput" => cap.map_or(Load::Unbounded, |requests| Load::Concurrency { requests }),
        "constant" | "poisson" | "async" => match number("rate").filter(|&rps| rps > 0.0) {
            Some(rps) => Load::RequestRate { rps },
            None => Load::Unstated,
        },
        other => {
            reading.remark(format!("strategy \"{other}\" states no single load"));
            Load::Unstated
        }
    };
    (load, cap)
}

/// The successful requests' part of a metric, if there is any sample in it: an empty one is written
/// as zeros.
fn successful<'a, 't>(benchmark: &'a Node<'t>, metric: &str) -> Option<&'a Node<'t>> {
    let part = benchmark.at(&format!("metrics/{metric}/successful"))?;
    (part.get("count").and_then(Node::number) != Some(0.0)).then_some(part)
}

fn length(benchmark: &Node, metric: &str, reading: &mut Reading) -> Option<Length> {
    reading.length(successful(benchmark, metric)?, &["mean"])
}

/// Tokens of successful requests over the duration.
fn token_rates(benchmark: &Node, duration_s: Option<f64>, reading: &mut Reading) -> Vec<TokenRate> {
    let Some(duration_s) = duration_s.filter(|&duration| duration > 0.0) else { return Vec::new() };
    [(TokenKind::Input, "prompt_token_count"), (TokenKind::Output, "output_token_count")]
        .into_iter()
        .filter_map(|(kind, metric)| {
            let tokens = reading.quantity(successful(benchmark, metric)?, &["total_sum"])?;
            Some(TokenRate { kind, tps: tokens / duration_s })
        })
        .collect()
}

fn latencies(
    point: &mut BenchmarkPoint,
    benchmark: &Node,
    generation: Generation,
    reading: &mut Reading,
) {
    use Definition::{ExcludesFirstToken, IncludesFirstToken, SendToFirstToken, SendToLastToken};
    use Weighting::{PerRequest, PerToken};
    for (latency, metric, unit_ms, tags) in [
        (Latency::E2e, "request_latency", 1e3, (SendToLastToken, PerRequest)),
        (Latency::Ttft, "time_to_first_token_ms", 1.0, (SendToFirstToken, PerRequest)),
        (Latency::Tpot, "inter_token_latency_ms", 1.0, (ExcludesFirstToken, PerToken)),
        (Latency::Ntpot, "time_per_output_token_ms", 1.0, (IncludesFirstToken, PerToken)),
    ] {
        if latency == Latency::Ntpot && generation == Generation::Upto03 {
            if successful(benchmark, metric).is_some() {
                reading.remark(
                    "time_per_output_token_ms of this version divides by n what \
                     inter_token_latency_ms divides by n − 1: the latter was taken as TPOT",
                );
            }
            continue;
        }
        *point.latency_mut(latency) = stats(benchmark, metric, unit_ms, tags, reading);
    }
}

fn stats(
    benchmark: &Node,
    metric: &str,
    unit_ms: f64,
    tags: (Definition, Weighting),
    reading: &mut Reading,
) -> Option<LatencyStats> {
    successful(benchmark, metric)?;
    let path = format!("metrics/{metric}/successful");
    let mut stats = reading.stats(benchmark, &path, unit_ms, tags);
    let ranks = reading.stats(benchmark, &format!("{path}/percentiles"), unit_ms, tags);
    for rank in ranks.iter().flat_map(|ranks| &ranks.percentiles) {
        stats
            .get_or_insert_with(|| LatencyStats::new(tags.0, tags.1))
            .set_percentile(rank.share, rank.ms);
    }
    stats
}

/// How late the client sent what was due at a rate. Without a rate nothing is due.
fn lateness(point: &mut BenchmarkPoint, benchmark: &Node, reading: &mut Reading) {
    if !matches!(point.load, Load::RequestRate { .. }) {
        return;
    }
    let late = reading.quantity(
        benchmark,
        &[
            "scheduler_metrics/request_targeted_start_delay_avg",
            "run_stats/request_start_time_targeted_delay_avg",
        ],
    );
    point.client_queue = late.map(|seconds| {
        let mut stats = LatencyStats::new(Definition::DueToSend, Weighting::PerRequest);
        stats.mean_ms = Some(seconds * 1e3);
        stats
    });
}
