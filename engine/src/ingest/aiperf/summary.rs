//! The summary of a run: one point.

use super::unit_ms;
use crate::ingest::gathered::Gathered;
use crate::ingest::point::load_of;
use crate::ingest::reading::Reading;
use crate::ingest::registry::Body;
use crate::ingest::tree::Node;
use crate::ingest::{
    BenchmarkPoint, Definition, Latency, Refusal, TokenKind, TokenRate, Weighting, json,
};

pub(super) fn parse(text: &str) -> Result<Body, Refusal> {
    let text = json::quote_not_finite(text);
    let mut gathered = Gathered::default();
    json::for_each_value(&text, |line, run: Node| add(&mut gathered, line, &run))?;
    Ok(gathered.finish("runs"))
}

/// Adds the point of one run, given as a tree of metrics.
pub(super) fn add(gathered: &mut Gathered, line: u64, run: &Node) -> Result<(), Refusal> {
    gathered.make_room(1)?;
    if let Some(version) = run.get("aiperf_version").and_then(Node::words) {
        gathered.tool_version = Some(version);
    }
    let row = gathered.next_row();
    let mut metrics = Metrics { run, reading: Reading { line, remarks: &mut gathered.remarks } };
    let point = metrics.point(row);
    if point.latency(Latency::E2e).is_none()
        && point.latency(Latency::Ttft).is_none()
        && point.completed_rps.is_none()
    {
        return Err(Refusal::broken(
            format!("line {line} begins a run without latency and without throughput"),
            "export the summary again",
        )
        .at_line(line));
    }
    gathered.points.push(point);
    Ok(())
}

/// The metrics of a run. By generation they stand at the top under their long tags, or under
/// `records` by long or short tag or by their names for people.
struct Metrics<'a, 't, 'r> {
    run: &'a Node<'t>,
    reading: Reading<'r>,
}

/// Every name of a metric, the newest first.
type Names = [&'static str];

const TTFT: &Names = &["time_to_first_token", "ttft", "Time to First Token"];
const TPOT: &Names = &["inter_token_latency", "Inter Token Latency"];
const ITL: &Names = &["inter_chunk_latency"];
const E2E: &Names = &["request_latency", "Request Latency", "Time to Last Token"];

impl Metrics<'_, '_, '_> {
    fn point(&mut self, row: u64) -> BenchmarkPoint {
        let completed = self.counted(&["request_count"]).or_else(|| self.samples(E2E));
        let errors = self.counted(&["error_request_count"]);
        let cancelled = self.cancelled().filter(|&cancelled| cancelled > 0);
        let cap = self.setting(&["loadgen/concurrency", "perf_analyzer/stimulus/concurrency"]);
        let rate = self.setting(&["loadgen/request_rate", "perf_analyzer/stimulus/request_rate"]);
        let client_cap = cap.and_then(|cap| crate::ingest::quantity::count(cap).ok());
        let mut point = BenchmarkPoint {
            row: Some(row),
            date: self.run.get("start_time").and_then(Node::words),
            load: load_of(rate, client_cap),
            client_cap,
            completed_rps: self.average(&["request_throughput"]),
            duration_s: self.duration_s(),
            input: self.length(&["input_sequence_length"]),
            // With reasoning tokens, which `output_token_count` leaves out.
            output: self.length(&["output_sequence_length"]),
            mean_in_flight: self.average(&["effective_concurrency"]),
            completed,
            failed: errors.map(|errors| errors.saturating_sub(cancelled.unwrap_or(0))),
            cancelled,
            num_prompts: completed.zip(errors).map(|(done, errors)| done + errors),
            token_rates: self.token_rates(),
            goodput_rps: self.average(&["goodput", "request_goodput"]),
            ..BenchmarkPoint::default()
        };
        for (latency, names, definition, weighting) in [
            (Latency::Ttft, TTFT, Definition::SendToFirstToken, Weighting::PerRequest),
            (Latency::Tpot, TPOT, Definition::ExcludesFirstToken, Weighting::PerRequest),
            (Latency::Itl, ITL, Definition::GapBetweenEvents, Weighting::PerEvent),
            (Latency::E2e, E2E, Definition::SendToLastToken, Weighting::PerRequest),
        ] {
            self.set_latency(&mut point, latency, names, (definition, weighting));
        }
        self.context(&mut point);
        point.drop_zeros_without_data();
        point.list_missing();
        point
    }

    fn metric(&self, names: &Names) -> Option<(String, &Node<'_>)> {
        names.iter().find_map(|name| {
            let below = format!("records/{name}");
            let node = self.run.get(name).or_else(|| self.run.get("records")?.get(name))?;
            let path = if self.run.get(name).is_some() { (*name).to_owned() } else { below };
            Some((path, node))
        })
    }

    fn average(&mut self, names: &Names) -> Option<f64> {
        let (path, metric) = self.metric(names)?;
        // genai-perf writes -1 for a goodput that could not be computed.
        let number = metric.get("avg")?.number()?;
        if number < 0.0 {
            self.reading.remark(format!("{path} is {number}, the tool's word for none"));
            return None;
        }
        let run = self.run;
        self.reading.quantity(run, &[&format!("{path}/avg")])
    }

    fn counted(&mut self, names: &Names) -> Option<u64> {
        let (path, _) = self.metric(names)?;
        let run = self.run;
        self.reading.count(run, &[&format!("{path}/avg")])
    }

    /// Size of the sample behind a metric.
    fn samples(&mut self, names: &Names) -> Option<u64> {
        let (path, metric) = self.metric(names)?;
        metric.get("count")?;
        let run = self.run;
        self.reading.count(run, &[&format!("{path}/count")])
    }

    fn length(&mut self, names: &Names) -> Option<crate::ingest::Length> {
        let (path, _) = self.metric(names)?;
        let run = self.run;
        self.reading.length(run, &[&format!("{path}/avg")])
    }

    fn duration_s(&mut self) -> Option<f64> {
        let unit = self.unit(&["benchmark_duration"])?;
        Some(self.average(&["benchmark_duration"])? * unit / 1e3)
    }

    /// Milliseconds in the unit of a metric; said where there is none.
    fn unit(&mut self, names: &Names) -> Option<f64> {
        let (path, metric) = self.metric(names)?;
        let unit = metric.get("unit").and_then(Node::words).unwrap_or_default();
        let size = unit_ms(&unit);
        if size.is_none() {
            self.reading.remark(format!("{path} is in \"{unit}\", no known unit: left out"));
        }
        size
    }

    fn set_latency(
        &mut self,
        point: &mut BenchmarkPoint,
        latency: Latency,
        names: &Names,
        tags: (Definition, Weighting),
    ) {
        let Some(unit) = self.unit(names) else { return };
        let Some((path, _)) = self.metric(names) else { return };
        let run = self.run;
        *point.latency_mut(latency) = self.reading.stats(run, &path, unit, tags);
    }

    fn token_rates(&mut self) -> Vec<TokenRate> {
        [
            (TokenKind::Input, "input_token_throughput"),
            (TokenKind::Output, "output_token_throughput"),
            (TokenKind::Total, "total_token_throughput"),
        ]
        .into_iter()
        .filter_map(|(kind, name)| Some(TokenRate { kind, tps: self.average(&[name])? }))
        .collect()
    }

    /// What was asked for: from the sweep's own values, else from the configuration.
    fn setting(&mut self, paths: &[&str]) -> Option<f64> {
        let name = paths.first()?.rsplit('/').next()?;
        let varied = self
            .run
            .at("run_info/variation_values")
            .and_then(|values| values.get(&format!("phases.profiling.{name}")));
        if let Some(value) = varied.and_then(Node::number) {
            return Some(value);
        }
        let config = self.run.get("input_config")?;
        self.reading.quantity(config, paths)
    }

    /// Errors with the code of a request the client cancelled itself.
    fn cancelled(&mut self) -> Option<u64> {
        let errors = self.run.get("error_summary")?.items();
        let cancelled = errors.iter().filter(|error| {
            error.at("error_details/code").and_then(Node::number) == Some(CANCELLED)
        });
        Some(cancelled.filter_map(|error| self.reading.count(error, &["count"])).sum())
    }

    fn context(&mut self, point: &mut BenchmarkPoint) {
        let run = self.run;
        let models = run.first(&["input_config/endpoint/model_names", "input_config/model_names"]);
        point.context.model = models.and_then(|names| names.items().first()).and_then(Node::words);
        if run.get("was_cancelled") == Some(&Node::Bool(true)) {
            self.reading.remark("the run was cancelled before its end");
        }
        if let Some(hit) = self.average(&["theoretical_prefix_cache_hit"]) {
            point.engine.prefix_hit_share = Some(hit / 100.0);
            self.reading.remark(
                "theoretical_prefix_cache_hit is what the prompts share, not what the server found",
            );
        }
        let endpoints = run.at("telemetry_data/endpoints").map(Node::entries).unwrap_or_default();
        let gpus: Vec<&Node> = endpoints
            .iter()
            .filter_map(|(_, endpoint)| endpoint.get("gpus"))
            .flat_map(|gpus| gpus.entries().iter().map(|(_, gpu)| gpu))
            .collect();
        let name = |gpu: &Node| gpu.first(&["gpu_name", "gpu_model_name"]).and_then(Node::words);
        if let Some(gpu) = gpus.first().and_then(|gpu| name(gpu)) {
            self.reading.remark(format!(
                "telemetry saw {} GPUs on the host; how many of them served is not said",
                gpus.len()
            ));
            point.context.gpu = Some(gpu);
        }
    }
}

/// AIPerf's error code of a request that the client cancelled.
pub(super) const CANCELLED: f64 = 499.0;
