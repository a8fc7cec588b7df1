//! One benchmark run or row in normal form: every number with its unit, its definition and its
//! denominator, and a list of what the file does not say.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Latency, LatencyStats, RecordClass};

/// One measured load point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BenchmarkPoint {
    /// Where the point comes from, counted from 1: the line of a table, the ordinal of the run in
    /// a JSON file.
    pub row: Option<u64>,
    /// The run's own name.
    pub label: Option<String>,
    /// End of the run as the file writes it, without zone.
    pub date: Option<String>,
    /// Which replicate of the same conditions this is, where the tool repeats them.
    pub replicate: Option<u64>,
    /// What the client asked for.
    pub load: Load,
    /// The client's own limit on requests in flight; waiting for it is in no latency.
    pub client_cap: Option<u64>,
    /// Shape of the gamma-distributed gaps; 1 is Poisson, CV = 1/√burstiness.
    pub burstiness: Option<f64>,
    /// Rate at which the client really sent, requests/s.
    pub sent_rps: Option<f64>,
    /// Requests completed per second of the run.
    pub completed_rps: Option<f64>,
    /// Length of the run from first send to last finish, seconds.
    pub duration_s: Option<f64>,
    /// Mean prompt length.
    pub input: Option<Length>,
    /// Mean output length.
    pub output: Option<Length>,
    /// Mean output length as the client counted it by tokenising the answers again.
    pub retokenized_output_tokens: Option<f64>,
    /// Requests really in flight, mean over the run.
    pub mean_in_flight: Option<f64>,
    /// Requests attempted.
    pub num_prompts: Option<u64>,
    /// Requests the tool calls completed; some of them may hold no token.
    pub completed: Option<u64>,
    /// Requests that failed.
    pub failed: Option<u64>,
    /// Requests cancelled or cut off before their end, where the tool counts them apart from the
    /// failed.
    pub cancelled: Option<u64>,
    /// Token rates, each with its kind.
    pub token_rates: Vec<TokenRate>,
    /// Requests within the tool's own limits, per second.
    pub goodput_rps: Option<f64>,
    /// Share of answers of acceptable quality, 0 to 1, with a threshold only the author knows.
    pub quality_rate: Option<f64>,
    /// Time to first token.
    pub ttft: Option<LatencyStats>,
    /// Time per output token.
    pub tpot: Option<LatencyStats>,
    /// Time per output token with the first token in it.
    pub ntpot: Option<LatencyStats>,
    /// Inter-token latency.
    pub itl: Option<LatencyStats>,
    /// Whole request.
    pub e2e: Option<LatencyStats>,
    /// Wait in the client before sending.
    pub client_queue: Option<LatencyStats>,
    /// What the engine said about itself during the run.
    #[serde(default)]
    pub engine: EngineGauges,
    /// On what it ran, as far as the file says.
    pub context: DeclaredContext,
    /// Classes of traffic that its records are of, where the file has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub record_classes: Vec<RecordClass>,
    /// What has to be asked.
    pub missing: Vec<MissingFact>,
}

impl BenchmarkPoint {
    /// The rate of one kind of token, tokens/s.
    pub fn tps(&self, kind: TokenKind) -> Option<f64> {
        self.token_rates.iter().find(|rate| rate.kind == kind).map(|rate| rate.tps)
    }

    /// The statistics of one latency.
    pub fn latency(&self, latency: Latency) -> Option<&LatencyStats> {
        match latency {
            Latency::Ttft => self.ttft.as_ref(),
            Latency::Tpot => self.tpot.as_ref(),
            Latency::Ntpot => self.ntpot.as_ref(),
            Latency::Itl => self.itl.as_ref(),
            Latency::E2e => self.e2e.as_ref(),
            Latency::ClientQueue => self.client_queue.as_ref(),
        }
    }

    /// Where the statistics of one latency are kept.
    pub(super) fn latency_mut(&mut self, latency: Latency) -> &mut Option<LatencyStats> {
        match latency {
            Latency::Ttft => &mut self.ttft,
            Latency::Tpot => &mut self.tpot,
            Latency::Ntpot => &mut self.ntpot,
            Latency::Itl => &mut self.itl,
            Latency::E2e => &mut self.e2e,
            Latency::ClientQueue => &mut self.client_queue,
        }
    }

    /// Takes away zeros that stand for "no sample": tools write 0.0 for every latency of a run in
    /// which nothing completed, and for TPOT and ITL of answers of at most one token. Any other
    /// zero stays, for the review to question.
    pub(super) fn drop_zeros_without_data(&mut self) {
        let nothing = self.completed == Some(0);
        let one_token = self.output.is_some_and(|output| output.mean_tokens <= 1.0);
        for latency in Latency::ALL {
            let between_tokens = matches!(latency, Latency::Tpot | Latency::Itl);
            let stats = self.latency_mut(latency);
            let zero = stats.as_ref().is_some_and(|stats| stats.values().all(|ms| ms == 0.0));
            if zero && (nothing || (between_tokens && one_token)) {
                *stats = None;
            }
        }
    }

    /// Fills `missing` from the fields that are not there.
    pub(super) fn list_missing(&mut self) {
        let context = &self.context;
        self.missing = [
            (context.gpu.is_none(), MissingFact::Gpu),
            (context.gpu_count.is_none(), MissingFact::GpuCount),
            (context.tensor_parallel.is_none(), MissingFact::TensorParallel),
            (context.model.is_none(), MissingFact::Model),
            (context.engine_version.is_none(), MissingFact::EngineVersion),
            (self.load == Load::Unstated, MissingFact::Load),
            (self.input.is_none(), MissingFact::InputTokens),
            (self.output.is_none(), MissingFact::OutputTokens),
            (self.quality_rate.is_none(), MissingFact::Quality),
        ]
        .into_iter()
        .filter_map(|(absent, fact)| absent.then_some(fact))
        .collect();
    }
}

/// What the client asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Load {
    /// Requests sent at a rate, whether or not earlier ones are answered.
    RequestRate {
        /// Requests/s.
        rps: f64,
    },
    /// A fixed number in flight; the next is sent when one returns.
    Concurrency {
        /// Requests in flight.
        requests: u64,
    },
    /// Everything at once with no limit: a burst, not a steady load.
    Unbounded,
    /// A rate that changes over the run.
    Ramp {
        /// At the start, requests/s.
        from_rps: f64,
        /// At the end, requests/s.
        to_rps: f64,
    },
    /// The file does not say.
    #[default]
    Unstated,
}

/// Request rate and client limit as the load they make together. An infinite rate with a limit
/// keeps that many in flight; a limit alone is read the same way, since an infinite rate is every
/// tool's default.
pub(super) fn load_of(rate_rps: Option<f64>, client_cap: Option<u64>) -> Load {
    match (rate_rps, client_cap) {
        (Some(rps), _) if rps.is_finite() && rps > 0.0 => Load::RequestRate { rps },
        (Some(rps), Some(requests)) if rps == f64::INFINITY => Load::Concurrency { requests },
        (Some(rps), None) if rps == f64::INFINITY => Load::Unbounded,
        (None, Some(requests)) => Load::Concurrency { requests },
        _ => Load::Unstated,
    }
}

/// A mean length in tokens and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Length {
    /// Tokens per request.
    pub mean_tokens: f64,
    /// How it is known.
    pub source: LengthSource,
}

/// How a length is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LengthSource {
    /// Total tokens ÷ completed requests.
    Measured,
    /// What was asked for or typed; real outputs are often shorter.
    Declared,
}

/// A token rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TokenRate {
    /// Which tokens.
    pub kind: TokenKind,
    /// Tokens/s over the run.
    pub tps: f64,
}

/// Which tokens a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// Prompt tokens.
    Input,
    /// Generated tokens.
    Output,
    /// Both.
    Total,
}

/// What an engine says about itself, over the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct EngineGauges {
    /// Mean part of the KV cache in use, 0 to 1.
    pub kv_usage: Option<f64>,
    /// Largest part of the KV cache in use, 0 to 1.
    pub kv_usage_peak: Option<f64>,
    /// Requests preempted.
    pub preemptions: Option<f64>,
    /// Mean number of requests waiting in the engine.
    pub waiting: Option<f64>,
    /// Prompt tokens found in the prefix cache, as a share of all, 0 to 1.
    pub prefix_hit_share: Option<f64>,
}

/// On what a benchmark ran, as far as its file says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredContext {
    /// GPU model as written.
    pub gpu: Option<String>,
    /// GPUs used together.
    pub gpu_count: Option<u64>,
    /// Tensor-parallel size.
    pub tensor_parallel: Option<u64>,
    /// Model as written.
    pub model: Option<String>,
    /// Serving engine and version as written.
    pub engine_version: Option<String>,
    /// Engine switches and notes of the user, by the name they have in the file. Points that differ
    /// in one are no replicates and make no curve.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// A fact the user has to add before a point can be compared or fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingFact {
    /// Which GPU.
    Gpu,
    /// How many GPUs.
    GpuCount,
    /// Tensor-parallel size.
    TensorParallel,
    /// Which model.
    Model,
    /// Which engine, which version.
    EngineVersion,
    /// Request rate or concurrency.
    Load,
    /// Prompt length.
    InputTokens,
    /// Output length.
    OutputTokens,
    /// Whether answers were checked.
    Quality,
}
