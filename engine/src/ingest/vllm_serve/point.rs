//! One result object as a benchmark point.

use super::run::Run;
use crate::ingest::json::Scalar;
use crate::ingest::parsed::RowRemarks;
use crate::ingest::point::load_of;
use crate::ingest::quantity::{Unusable, count, quantity};
use crate::ingest::stat::Stat;
use crate::ingest::{
    BenchmarkPoint, DeclaredContext, Definition, Latency, LatencyStats, Length, LengthSource, Load,
    TokenKind, TokenRate, Weighting,
};

/// Keys users give with `--metadata`, which the tool passes through as text.
const GPU_KEYS: [&str; 5] = ["gpu", "gpu_type", "gpu_name", "hardware", "hw"];
const GPU_COUNT_KEYS: [&str; 4] = ["gpu_count", "num_gpus", "n_gpus", "gpus"];
const TENSOR_PARALLEL_KEYS: [&str; 4] =
    ["tensor_parallel_size", "tensor_parallel", "tp_size", "tp"];
const ENGINE_VERSION_KEYS: [&str; 3] = ["engine_version", "vllm_version", "version"];

/// Normal form of the `ordinal`-th run of the file, which begins on `line`.
pub(super) fn of_run(
    run: &Run,
    ordinal: u64,
    line: u64,
    remarks: &mut RowRemarks,
) -> BenchmarkPoint {
    let mut values = Values { run, line, remarks };
    let completed = values.count(&["completed"]);
    let num_prompts = values.count(&["num_prompts"]);
    let failed = values.count(&["failed"]);
    let client_cap = values.count(&["max_concurrency"]);
    let input = values.mean_length("total_input_tokens", completed);
    let output = values.mean_length("total_output_tokens", completed);
    let mut point = BenchmarkPoint {
        row: Some(ordinal),
        label: values.words(&["label"]),
        date: values.words(&["date"]),
        replicate: values.count(&["run_number"]),
        load: values.load(client_cap),
        client_cap,
        burstiness: values.quantity(&["burstiness"]),
        sent_rps: None,
        completed_rps: values.quantity(&["request_throughput"]),
        duration_s: values.quantity(&["duration"]),
        input,
        output,
        num_prompts,
        completed,
        // Written since late 2025; before, what did not complete failed.
        failed: failed.or_else(|| num_prompts?.checked_sub(completed?)),
        token_rates: values.token_rates(),
        // The key carried a stray colon until mid-2025, and still does in forks.
        goodput_rps: values.quantity(&["request_goodput", "request_goodput:"]),
        context: values.context(),
        ..BenchmarkPoint::default()
    };
    for latency in Latency::ALL {
        let stats = values.latency(latency);
        *point.latency_mut(latency) = (!stats.is_empty()).then_some(stats);
    }
    point.drop_zeros_without_data();
    point.list_missing();
    point
}

fn empty_stats(latency: Latency) -> LatencyStats {
    let (definition, weighting) = match latency {
        Latency::Ttft => (Definition::SendToFirstToken, Weighting::PerRequest),
        Latency::Tpot => (Definition::ExcludesFirstToken, Weighting::PerRequest),
        Latency::Itl => (Definition::GapBetweenEvents, Weighting::PerEvent),
        Latency::E2e => (Definition::SendToLastToken, Weighting::PerRequest),
        Latency::ClientQueue => (Definition::DueToSend, Weighting::PerRequest),
    };
    LatencyStats::new(definition, weighting)
}

fn suffix(latency: Latency) -> &'static str {
    match latency {
        Latency::Ttft => "ttft_ms",
        Latency::Tpot => "tpot_ms",
        Latency::Itl => "itl_ms",
        Latency::E2e => "e2el_ms",
        Latency::ClientQueue => "client_queue_time_ms",
    }
}

/// The single values of a run; what cannot be is left out with a remark.
struct Values<'a> {
    run: &'a Run,
    line: u64,
    remarks: &'a mut RowRemarks,
}

impl<'a> Values<'a> {
    fn first<'k>(&self, keys: &[&'k str]) -> Option<(&'k str, &'a Scalar)> {
        keys.iter().find_map(|key| {
            let value = self.run.scalars.get(*key)?;
            (*value != Scalar::Null).then_some((*key, value))
        })
    }

    fn words(&self, keys: &[&str]) -> Option<String> {
        self.first(keys)?.1.words()
    }

    fn quantity(&mut self, keys: &[&str]) -> Option<f64> {
        let (key, value) = self.first(keys)?;
        let number = value.number();
        self.usable(key, number, quantity)
    }

    fn count(&mut self, keys: &[&str]) -> Option<u64> {
        let (key, value) = self.first(keys)?;
        let number = value.number();
        self.usable(key, number, count)
    }

    fn usable<T>(
        &mut self,
        key: &str,
        number: Option<f64>,
        check: fn(f64) -> Result<T, Unusable>,
    ) -> Option<T> {
        let Some(number) = number else {
            self.remarks.add(self.line, format!("{key} is not a number and was left out"));
            return None;
        };
        check(number)
            .map_err(|unusable| {
                let why = unusable.words();
                self.remarks.add(self.line, format!("{key} is {why} and was left out"));
            })
            .ok()
    }

    fn mean_length(&mut self, key: &str, completed: Option<u64>) -> Option<Length> {
        let total = self.quantity(&[key])?;
        let completed = completed.filter(|&completed| completed > 0)?;
        Some(Length { mean_tokens: total / completed as f64, source: LengthSource::Measured })
    }

    fn load(&mut self, client_cap: Option<u64>) -> Load {
        if self.words(&["ramp_up_strategy"]).is_some() {
            let from_rps = self.quantity(&["ramp_up_start_rps"]);
            let to_rps = self.quantity(&["ramp_up_end_rps"]);
            return match (from_rps, to_rps) {
                (Some(from_rps), Some(to_rps)) => Load::Ramp { from_rps, to_rps },
                _ => Load::Unstated,
            };
        }
        let rate = self.first(&["request_rate"]).map(|(_, value)| value.number());
        match rate {
            Some(None) => {
                self.remarks.add(self.line, "request_rate is not a number and was left out");
                Load::Unstated
            }
            Some(rate) => load_of(rate, client_cap),
            None => load_of(None, client_cap),
        }
    }

    fn token_rates(&mut self) -> Vec<TokenRate> {
        [(TokenKind::Output, "output_throughput"), (TokenKind::Total, "total_token_throughput")]
            .into_iter()
            .filter_map(|(kind, key)| self.quantity(&[key]).map(|tps| TokenRate { kind, tps }))
            .collect()
    }

    fn context(&mut self) -> DeclaredContext {
        DeclaredContext {
            gpu: self.words(&GPU_KEYS),
            gpu_count: self.count(&GPU_COUNT_KEYS),
            tensor_parallel: self.count(&TENSOR_PARALLEL_KEYS),
            model: self.words(&["model_id"]),
            engine_version: self.words(&ENGINE_VERSION_KEYS),
        }
    }

    /// `mean_`, `median_`, `std_`, `p99_`, `p99.9_` … of one latency.
    fn latency(&mut self, latency: Latency) -> LatencyStats {
        let mut stats = empty_stats(latency);
        let run = self.run;
        for (key, value) in &run.scalars {
            let Some(stat) = key
                .strip_suffix(suffix(latency))
                .and_then(|rest| rest.strip_suffix('_'))
                .and_then(Stat::parse)
            else {
                continue;
            };
            if *value == Scalar::Null {
                continue;
            }
            if let Some(ms) = self.usable(key, value.number(), quantity) {
                stats.set(stat, ms);
            }
        }
        stats
    }
}
