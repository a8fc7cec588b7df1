//! The instant answer: plain data, by arithmetic alone.

use serde::{Deserialize, Serialize};

use crate::accounts::report::{MixRate, TokenKind};
use crate::step_time::Origin;
use crate::workload::LengthSummary;

/// Memory, supply, capacity and fluid debt by arithmetic, and how far to trust them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EstimateReport {
    /// `ok` or `does_not_fit`; then only `memory` and `smallest_fitting` stand beside it.
    pub verdict: EstimateVerdict,
    /// KV and weights.
    pub memory: MemoryReport,
    /// The smallest layout that holds the weights; only when it does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest_fitting: Option<SmallestFitting>,
    /// Everything that supposes that it fits.
    #[serde(flatten)]
    pub supply: Option<SupplyEstimate>,
    /// The same of each pool alone, where there are several, in the order of the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pools: Vec<PoolEstimate>,
}

/// The estimate of one pool: of what is routed to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PoolEstimate {
    /// Name of the pool.
    pub name: String,
    /// What the estimate says of it.
    pub verdict: EstimateVerdict,
    /// Demand on it and its supply.
    #[serde(flatten)]
    pub supply: SupplyEstimate,
}

/// What a class asks for by its distributions. A draw scatters around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassWorkload {
    /// Name of the class.
    pub name: String,
    /// Whose traffic it is; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// Requests expected before the horizon.
    pub expected_requests: f64,
    /// Prompts.
    pub input_tokens: LengthSummary,
    /// All tokens that are generated, hidden ones included, up to the output budget.
    pub output_tokens: LengthSummary,
    /// Share of requests whose answer the output budget cuts.
    pub share_at_max_output_tokens: f64,
    /// What its prompts share with others, where they may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sharing: Option<SharingWorkload>,
    /// Mean of the generated tokens that are not shown; absent where none are hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_hidden_tokens: Option<f64>,
}

/// What the prompts of a class share with others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharingWorkload {
    /// Tokens of the shared prefix; `null` where there is none.
    pub prefix_tokens: Option<u32>,
    /// Share of prompts no longer than it, which share all but their last token.
    pub share_no_longer_than_prefix: f64,
    /// Mean turns that a session asks before the horizon, none of them lost; `null` where arrivals
    /// are single requests.
    pub turns_per_session: Option<f64>,
    /// Prompt tokens that are found in the prefix cache, mean over requests.
    pub mean_cached_tokens: f64,
}

/// Whether there is anything to estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EstimateVerdict {
    /// Demand is below the sustainable supply and estimated latencies are within the limits.
    Holds,
    /// Nothing that the estimate sees is missed, and what it does not see may decide: see
    /// `verdict_reasons`.
    NotDecided,
    /// Demand is below the sustainable supply, some estimated latency is above its limit, or fewer
    /// can be good than must be.
    LateButStable,
    /// Demand at the peak is above the sustainable supply.
    Overloaded,
    /// The weights do not fit.
    DoesNotFit,
}

/// Memory of each pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryReport {
    /// In the order of the document.
    pub pools: Vec<PoolMemory>,
}

/// Memory of one replica of a pool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PoolMemory {
    /// Name of the pool; empty of one that has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// One token of the whole model, bytes, every layer caching it.
    pub kv_bytes_per_token: f64,
    /// The same on each GPU, heads replicated where TP exceeds them.
    pub kv_bytes_per_token_per_gpu: f64,
    /// Weights on each GPU, bytes.
    pub weights_bytes_per_gpu: f64,
    /// Memory the engine may use on each GPU, bytes.
    pub usable_bytes_per_gpu: f64,
    /// Activations and runtime on each GPU, bytes.
    pub overhead_bytes_per_gpu: f64,
    /// Blocks of `block_size` tokens; `null` when the weights do not fit.
    pub num_gpu_blocks: Option<u64>,
    /// Tokens one replica can hold.
    pub kv_capacity_tokens: Option<u64>,
    /// Sequences of `max_model_len` tokens one replica can hold.
    pub max_concurrent_full_length: Option<f64>,
    /// Where the block count comes from: the memory model, or the engine's own number.
    pub source: String,
}

/// The smallest power of two of GPUs that holds the weights; memory arithmetic only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmallestFitting {
    /// GPUs in all.
    pub gpus: u32,
    /// Per tensor-parallel group.
    pub tensor_parallel: u32,
    /// Stages.
    pub pipeline_parallel: u32,
}

/// Supply against demand by a mean-field fixpoint of one replica.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SupplyEstimate {
    /// What each enabled class asks for, in the order of the document.
    pub workload: Vec<ClassWorkload>,
    /// Mean demand, input tokens per second.
    pub required_prefill_tps: f64,
    /// Mean demand, output tokens per second.
    pub required_decode_tps: f64,
    /// Share of the prompt tokens that are served that is found in the prefix cache, in the steady
    /// state; `null` where prompts share nothing or nothing is kept.
    #[serde(default)]
    pub prefix_hit_rate: Option<f64>,
    /// Mean demand of the requests that fit, input tokens per second that are left to compute when
    /// prefix hits are taken off.
    #[serde(default)]
    pub required_prefill_after_hits_tps: f64,
    /// Mean demand, requests per second.
    pub required_rps: f64,
    /// Demand in every window of `peak_window_s`, from the start on.
    pub demand: Vec<MixRate>,
    /// Demand in the busiest of them, after the warm-up: the one with most work.
    pub required_peak: MixRate,
    /// When that window starts, seconds.
    pub peak_from_s: f64,
    /// Length of a window, seconds.
    pub peak_window_s: f64,
    /// Stability limit of the fleet for this mix.
    pub sustainable_rps: f64,
    /// The same in input tokens per second.
    pub sustainable_prefill_tps: f64,
    /// The same in output tokens per second.
    pub sustainable_decode_tps: f64,
    /// The same of the mix in the busiest window: what `required_peak` is held against.
    pub sustainable_at_peak: MixRate,
    /// The kind of token that takes most of a saturated replica's time at the peak.
    pub binds: TokenKind,
    /// Rate up to which the mean request of every class stays within its limits, without queueing:
    /// above what a simulation finds. Zero when an idle replica is too slow already; `null` when
    /// only declared rates are known.
    pub deliverable_rps: Option<f64>,
    /// The same in input tokens per second.
    pub deliverable_prefill_tps: Option<f64>,
    /// The same in output tokens per second.
    pub deliverable_decode_tps: Option<f64>,
    /// Required ÷ sustainable at the mean rate.
    pub utilization: f64,
    /// Required ÷ sustainable at the peak.
    pub utilization_peak: f64,
    /// What more of would raise the sustainable rate: `seats`, `kv_memory` or `token_budget`, where
    /// a quarter more gains at least 5 %; else `prefill_compute` or `decode_compute`, whichever
    /// takes most of a saturated replica's time. `declared_rate`; `too_long` where nothing fits,
    /// `nothing_asked` where nothing is asked.
    pub binding_constraint: String,
    /// Mean required ÷ per-replica sustainable, rounded up: a floor, never the plan.
    pub replicas_floor: u32,
    /// Mean sequences decoding per replica at the mean rate; `null` when overloaded.
    pub mean_batch: Option<f64>,
    /// First-token time of a mean request at the mean rate, without queueing: API overhead, the
    /// rest of the running step, the step of scheduling lag, and its own prefill beside the
    /// decodes. `null` when overloaded: then it has no steady value.
    pub ttft_ms: Option<f64>,
    /// First-token time of a mean request on an idle replica.
    pub zero_load_ttft_ms: Option<f64>,
    /// Time per output token at the mean rate; when overloaded, of a full batch. `null` where
    /// every answer has one token.
    pub tpot_ms: Option<f64>,
    /// Time per output token of a request that is alone.
    pub zero_load_tpot_ms: Option<f64>,
    /// Each class alone; empty when only declared rates are known or nothing fits.
    pub classes: Vec<ClassEstimate>,
    /// Fluid queue debt over the arrival profile.
    pub debt_series: Vec<FluidDebt>,
    /// USD per month at this fleet size; `null` without a price.
    pub cost_per_month: Option<f64>,
    /// Live KV token-steps that one request holds: output × (input + output / 2), mean over the mix.
    pub kv_token_steps_per_request: f64,
    /// Sequences that the mean demand keeps decoding in the whole fleet: rate × decode steps × time
    /// per step; when overloaded at the pace of full batches, so that it exceeds every seat there
    /// is. `null` where every answer has one token or only declared rates are known.
    pub required_live_sequences: Option<f64>,
    /// KV tokens that the mean demand keeps alive in the whole fleet: rate × KV token-steps × time
    /// per step, to be held against `kv_capacity_tokens` × replicas.
    pub required_kv_tokens: Option<f64>,
    /// Origin of the step time.
    pub origin: Origin,
    /// Relative error its source states, e.g. 0.028; `null` where none is known.
    pub step_time_band: Option<f64>,
    /// Where the operating point leaves the measured range, in words.
    pub outside_measured_range: Vec<String>,
    /// Where this arithmetic may not be trusted, though the step law might be: simulate. Empty
    /// inside the range in which it was held against simulations.
    pub outside_trusted_range: Vec<Distrust>,
    /// Why the contract is missed whatever the load, or why the estimate does not decide whether it
    /// is, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdict_reasons: Vec<String>,
    /// What the scenario holds that the estimate does not see, in words: a simulation does.
    #[serde(default)]
    pub leaves_out: Vec<String>,
    /// Only declared token rates are known: supply and debt, never a latency.
    pub simplified: bool,
}

impl SupplyEstimate {
    /// Whether the mix in the busiest window is another than that of the whole horizon, by what is
    /// sustained of it.
    pub fn is_another_mix_at_peak(&self) -> bool {
        (self.sustainable_at_peak.rps / self.sustainable_rps - 1.0).abs() > 0.005
    }
}

/// A reason not to trust the arithmetic of an estimate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distrust {
    /// `few_sequences`, `few_seats`, `lockstep`, `cache_turnover` or
    /// `cache_in_full_memory`.
    pub reason: String,
    /// In words, with the numbers.
    pub message: String,
}

/// The mean request of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassEstimate {
    /// Name of the class.
    pub name: String,
    /// First-token time at the mean rate, without queueing; `null` when overloaded.
    pub ttft_ms: Option<f64>,
    /// First-token time on an idle replica.
    pub zero_load_ttft_ms: f64,
    /// From due to completion at the mean rate; `null` when overloaded.
    pub e2e_ms: Option<f64>,
    /// Share of requests that can be good at best: those that fit `max_model_len`, are not failed
    /// by the server and have an acceptable answer.
    pub attainment_cap: f64,
    /// The share that must be good.
    pub attainment_target: f64,
}

/// Debt of a fluid queue at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FluidDebt {
    /// Moment, seconds.
    pub t_s: f64,
    /// Demand, requests per second.
    pub required_rps: f64,
    /// Demand, output tokens per second.
    pub required_decode_tps: f64,
    /// Requests waiting.
    pub debt_requests: f64,
    /// Output tokens waiting.
    pub debt_decode_tokens: f64,
    /// Seconds of fleet work waiting.
    pub debt_work_s: f64,
}
