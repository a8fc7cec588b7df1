//! The single values of a run of vLLM's client or of one that descends from it; what cannot be is
//! left out with a remark.

use std::collections::BTreeMap;

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

/// The values of one run.
pub(in crate::ingest) struct Values<'a, 'r> {
    pub run: &'a Run<'a>,
    pub line: u64,
    pub remarks: &'r mut RowRemarks,
}

impl<'a> Values<'a, '_> {
    /// What vLLM's client and its descendants write alike.
    pub(in crate::ingest) fn common(&mut self, row: u64) -> BenchmarkPoint {
        let completed = self.count(&["completed"]);
        let num_prompts = self.count(&["num_prompts"]);
        let failed = self.count(&["failed"]);
        let client_cap = self.count(&["max_concurrency"]);
        let input = self.mean_length("total_input_tokens", completed);
        let output = self.mean_length("total_output_tokens", completed);
        BenchmarkPoint {
            row: Some(row),
            label: self.words(&["label"]),
            date: self.words(&["date"]),
            replicate: self.count(&["run_number"]),
            load: self.load(client_cap),
            client_cap,
            burstiness: self.quantity(&["burstiness"]),
            completed_rps: self.quantity(&["request_throughput"]),
            duration_s: self.quantity(&["duration"]),
            input,
            output,
            num_prompts,
            completed,
            // Written since late 2025; before, what did not complete failed.
            failed: failed.or_else(|| num_prompts?.checked_sub(completed?)),
            token_rates: self.token_rates(),
            // The key carried a stray colon until mid-2025, and still does in forks.
            goodput_rps: self.quantity(&["request_goodput", "request_goodput:"]),
            context: self.context(),
            ..BenchmarkPoint::default()
        }
    }

    /// The first of several keys that is there, as words.
    pub(in crate::ingest) fn words(&self, keys: &[&str]) -> Option<String> {
        self.first(keys)?.1.words()
    }

    /// The first of several keys that is there, as a quantity that cannot be negative.
    pub(in crate::ingest) fn quantity(&mut self, keys: &[&str]) -> Option<f64> {
        let (key, value) = self.first(keys)?;
        let number = value.number();
        self.usable(key, number, quantity)
    }

    /// The same, as a count.
    pub(in crate::ingest) fn count(&mut self, keys: &[&str]) -> Option<u64> {
        let (key, value) = self.first(keys)?;
        let number = value.number();
        self.usable(key, number, count)
    }

    /// Total tokens over completed requests.
    pub(in crate::ingest) fn mean_length(
        &mut self,
        key: &str,
        completed: Option<u64>,
    ) -> Option<Length> {
        let total = self.quantity(&[key])?;
        let completed = completed.filter(|&completed| completed > 0)?;
        Some(Length { mean_tokens: total / completed as f64, source: LengthSource::Measured })
    }

    /// `mean_`, `median_`, `std_`, `p99_`, `p99.9_` … of one latency, whose keys end in `suffix`.
    pub(in crate::ingest) fn set_latency(
        &mut self,
        point: &mut BenchmarkPoint,
        latency: Latency,
        suffix: &str,
        (definition, weighting): (Definition, Weighting),
    ) {
        let mut stats = LatencyStats::new(definition, weighting);
        for (key, value) in &self.run.scalars {
            let stat = key
                .strip_suffix(suffix)
                .and_then(|rest| rest.strip_suffix('_'))
                .and_then(Stat::parse);
            let Some(stat) = stat.filter(|_| *value != Scalar::Null) else { continue };
            if let Some(ms) = self.usable(key, value.number(), quantity) {
                stats.set(stat, ms);
            }
        }
        *point.latency_mut(latency) = (!stats.is_empty()).then_some(stats);
    }

    /// Scalars whose keys are none of `known` and no statistic: `--metadata` and the engine
    /// switches of a sweep. Addresses are left out.
    pub(in crate::ingest) fn settings(&self, known: &[&str]) -> BTreeMap<String, String> {
        let others = self.run.scalars.iter().filter(|(key, _)| {
            let statistic = key.ends_with("_ms") || key.starts_with("spec_decode_");
            !statistic && !known.contains(&key.as_str()) && !is_context(key)
        });
        others
            .filter_map(|(key, value)| {
                let words = match value {
                    Scalar::Bool(value) => Some(value.to_string()),
                    other => other.words(),
                };
                let words = words.filter(|words| !words.contains("://"))?;
                Some((key.clone(), words))
            })
            .collect()
    }

    fn first<'k>(&self, keys: &[&'k str]) -> Option<(&'k str, &'a Scalar)> {
        keys.iter().find_map(|key| {
            let value = self.run.scalars.get(*key)?;
            (*value != Scalar::Null).then_some((*key, value))
        })
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
            // SGLang's word for times taken from a trace.
            Some(None) if self.words(&["request_rate"]).as_deref() == Some("trace") => {
                self.remarks.add(
                    self.line,
                    "requests were sent at the times of a trace: the file does not say its rate",
                );
                Load::Unstated
            }
            Some(None) => {
                self.remarks.add(self.line, "request_rate is not a number and was left out");
                Load::Unstated
            }
            Some(rate) => load_of(rate, client_cap),
            None => load_of(None, client_cap),
        }
    }

    fn token_rates(&mut self) -> Vec<TokenRate> {
        [
            (TokenKind::Input, ["input_throughput"].as_slice()),
            (TokenKind::Output, &["output_throughput"]),
            (TokenKind::Total, &["total_token_throughput", "total_throughput"]),
        ]
        .into_iter()
        .filter_map(|(kind, keys)| self.quantity(keys).map(|tps| TokenRate { kind, tps }))
        .collect()
    }

    fn context(&mut self) -> DeclaredContext {
        DeclaredContext {
            gpu: self.words(&GPU_KEYS),
            gpu_count: self.count(&GPU_COUNT_KEYS),
            tensor_parallel: self.count(&TENSOR_PARALLEL_KEYS),
            model: self.words(&["model_id"]),
            engine_version: self.words(&ENGINE_VERSION_KEYS),
            settings: BTreeMap::new(),
        }
    }
}

fn is_context(key: &str) -> bool {
    [&GPU_KEYS[..], &GPU_COUNT_KEYS, &TENSOR_PARALLEL_KEYS, &ENGINE_VERSION_KEYS]
        .iter()
        .any(|keys| keys.contains(&key))
}
