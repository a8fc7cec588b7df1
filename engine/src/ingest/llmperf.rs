//! Results of llmperf: the flat summary of a run, and the list of its requests.
//!
//! Documented at <https://github.com/ray-project/llmperf> (archived); keys read in files of the
//! summary version `2023-08-31`. Its `inter_token_latency_s` divides the whole request by its tokens
//! (the first token's wait is in it), so it is read as NTPOT; the TPOT of a request is computed from
//! its TTFT, E2E and tokens. Tokens are counted with the Llama tokenizer whatever the model. Every
//! statistic of a summary is over the requests without an error. The list names no load and no
//! start times: concurrency is in the summary alone.

use super::gathered::Gathered;
use super::quantity::{count, quantity, tokens};
use super::registry::{Body, FormatDescription, Head};
use super::stat::Stat;
use super::tree::Node;
use super::{
    BenchmarkPoint, Definition, Latency, LatencyStats, Length, LengthSource, Load, RecordOutcome,
    Refusal, RequestRecord, TokenKind, TokenRate, Weighting, from_records, json,
};

const DOCS: &str = "https://github.com/ray-project/llmperf";

pub(super) const SUMMARY: FormatDescription = FormatDescription {
    id: "llmperf_summary",
    title: "llmperf summary",
    looks_for: "JSON with num_concurrent_requests and results_ttft_s_mean",
    docs: DOCS,
    sniff: |head: &Head| {
        let one = |keys: &json::Outline| {
            keys.has("num_concurrent_requests") && keys.has("results_ttft_s_mean")
        };
        // Wrappers keep the summaries of a sweep in one object, by their concurrency.
        let by_number = |keys: &json::Outline| {
            keys.keys.first().is_some_and(|key| key.parse::<u64>().is_ok())
                && head.text.contains("\"results_ttft_s_mean\"")
        };
        head.json.as_ref().is_some_and(|keys| one(keys) || by_number(keys))
    },
    parse: parse_summary,
};

pub(super) const REQUESTS: FormatDescription = FormatDescription {
    id: "llmperf_requests",
    title: "llmperf individual responses",
    looks_for: "a JSON list of requests with error_code, ttft_s and inter_token_latency_s",
    docs: DOCS,
    sniff: |head: &Head| {
        head.json.as_ref().is_some_and(|keys| {
            ["error_code", "ttft_s", "inter_token_latency_s"].iter().all(|key| keys.has(key))
        })
    },
    parse: parse_requests,
};

/// The latencies of a summary, the names of their keys, and what they time.
const LATENCIES: [(Latency, &str, Definition); 3] = [
    (Latency::Ttft, "ttft_s", Definition::SendToFirstToken),
    (Latency::Ntpot, "inter_token_latency_s", Definition::IncludesFirstToken),
    (Latency::E2e, "end_to_end_latency_s", Definition::SendToLastToken),
];

fn parse_summary(text: &str) -> Result<Body, Refusal> {
    let text = json::quote_not_finite(text);
    let mut gathered = Gathered::default();
    json::for_each_value(&text, |line, document: Node| {
        let of_one = document.get("num_concurrent_requests").is_some();
        let entries = document.entries().iter().map(|(_, run)| run);
        let runs: Vec<&Node> = if of_one { vec![&document] } else { entries.collect() };
        gathered.make_room(runs.len())?;
        for run in runs {
            let mut summary = Summary { run, unusable: Vec::new() };
            let point = summary.point(gathered.next_row());
            for key in summary.unusable {
                gathered.remarks.add(line, format!("{key} cannot be and was left out"));
            }
            gathered.points.push(point);
        }
        Ok(())
    })?;
    Ok(gathered.finish("runs"))
}

struct Summary<'a, 't> {
    run: &'a Node<'t>,
    /// Keys whose values cannot be.
    unusable: Vec<String>,
}

impl Summary<'_, '_> {
    fn point(&mut self, row: u64) -> BenchmarkPoint {
        let completed = self.counted("results_num_completed_requests");
        let per_minute = self.quantity("results_num_completed_requests_per_min");
        let completed_rps = per_minute.map(|per_minute| per_minute / 60.0);
        let duration = |rps: f64| completed.map(|completed| completed as f64 / rps);
        let concurrency = self.counted("num_concurrent_requests");
        let output_tps = self.quantity("results_mean_output_throughput_token_per_s");
        let mut point = BenchmarkPoint {
            row: Some(row),
            label: self.run.get("name").and_then(Node::words),
            load: concurrency.map_or(Load::Unstated, |requests| Load::Concurrency { requests }),
            client_cap: concurrency,
            completed_rps,
            duration_s: completed_rps.filter(|&rps| rps > 0.0).and_then(duration),
            input: self.length("results_number_input_tokens_mean"),
            output: self.length("results_number_output_tokens_mean"),
            num_prompts: self.counted("results_num_requests_started"),
            completed,
            failed: self.counted("results_number_errors"),
            token_rates: output_tps
                .map(|tps| TokenRate { kind: TokenKind::Output, tps })
                .into_iter()
                .collect(),
            ..BenchmarkPoint::default()
        };
        point.context.model = self.run.get("model").and_then(Node::words);
        for (latency, key, definition) in LATENCIES {
            *point.latency_mut(latency) = self.latency(key, definition);
        }
        point.drop_zeros_without_data();
        point.list_missing();
        point
    }

    fn quantity(&mut self, key: &str) -> Option<f64> {
        let value = quantity(self.run.get(key)?.number()?).ok();
        self.taken(key, value)
    }

    fn counted(&mut self, key: &str) -> Option<u64> {
        let value = count(self.run.get(key)?.number()?).ok();
        self.taken(key, value)
    }

    fn taken<T>(&mut self, key: &str, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.unusable.push(key.to_owned());
        }
        value
    }

    fn length(&mut self, key: &str) -> Option<Length> {
        let mean_tokens = self.quantity(key)?;
        Some(Length { mean_tokens, source: LengthSource::Measured })
    }

    fn latency(&mut self, key: &str, definition: Definition) -> Option<LatencyStats> {
        let mut stats = LatencyStats::new(definition, Weighting::PerRequest);
        let prefix = format!("results_{key}_");
        for (name, _) in self.run.entries() {
            let statistic = name.strip_prefix(&prefix);
            let plain = statistic.map(|name| name.strip_prefix("quantiles_").unwrap_or(name));
            let Some(stat) = plain.and_then(Stat::parse) else { continue };
            if let Some(seconds) = self.quantity(name) {
                stats.set(stat, seconds * 1e3);
            }
        }
        (!stats.is_empty()).then_some(stats)
    }
}

fn parse_requests(text: &str) -> Result<Body, Refusal> {
    let text = json::quote_not_finite(text);
    let mut gathered = Gathered::default();
    let mut whole_over_tokens = Vec::new();
    json::for_each_value(&text, |_, list: Node| {
        let requests =
            if list.items().is_empty() { std::slice::from_ref(&list) } else { list.items() };
        gathered.make_room(requests.len())?;
        for request in requests {
            let record = record(request);
            if record.outcome == RecordOutcome::Ok {
                whole_over_tokens.extend(seconds(request, "inter_token_latency_s"));
            }
            gathered.records.push(record);
        }
        Ok(())
    })?;
    let mut point = BenchmarkPoint { row: Some(1), ..BenchmarkPoint::default() };
    point.ntpot = from_records::summary(whole_over_tokens, Definition::IncludesFirstToken);
    from_records::complete(&mut point, &gathered.records);
    point.list_missing();
    gathered.points.push(point);
    gathered.remarks.add(
        1,
        "inter_token_latency_s has the wait for the first token in it and was read as NTPOT; TPOT \
         was computed from TTFT, E2E and tokens",
    );
    gathered.remarks.add(
        1,
        "the list has no start times and no concurrency: rates are in the run's summary file",
    );
    Ok(gathered.finish("requests"))
}

fn seconds(request: &Node, key: &str) -> Option<f64> {
    quantity(request.get(key)?.number()?).ok()
}

fn record(request: &Node) -> RequestRecord {
    let counted = |key: &str| request.get(key)?.number().and_then(|n| tokens(n).ok());
    let output_tokens = counted("number_output_tokens");
    let outcome = if request.get("error_code").is_some() {
        RecordOutcome::Error
    } else if output_tokens == Some(0) {
        RecordOutcome::EmptySuccess
    } else {
        RecordOutcome::Ok
    };
    let answered = outcome == RecordOutcome::Ok;
    RequestRecord {
        point: 0,
        start_s: None,
        input_tokens: counted("number_input_tokens"),
        output_tokens,
        cached_tokens: None,
        ttft_s: seconds(request, "ttft_s").filter(|_| answered),
        ttfvt_s: None,
        e2e_s: seconds(request, "end_to_end_latency_s").filter(|_| answered),
        client_queue_s: None,
        queue_wait_s: None,
        gaps: None,
        outcome,
        quality: None,
        class: None,
    }
}
