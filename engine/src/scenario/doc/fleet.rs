//! What serves: pools of replicas with the engine's settings, step time and price.

use serde::{Deserialize, Serialize};

use super::defaults::{self, is_default};
use super::{AdmissionDoc, AutoscalerDoc, FailuresDoc, ScheduledReplicasDoc};

use crate::fleet::{KvPrecision, WeightPrecision};
use crate::scenario::refs::{GpuRef, ModelRef};
use crate::step_time::{Hull, StepCoefficients};

/// The fleet: pools of replicas behind one door.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a fleet")]
pub struct FleetDoc {
    /// Pools of like replicas, at least one.
    pub pools: Vec<PoolDoc>,
    /// How a request finds its replica within its pool.
    #[serde(default, skip_serializing_if = "is_default")]
    pub routing: RoutingDoc,
    /// Of `affinity`: a replica keeps its sessions while it has no more than so many times its part
    /// of what is outstanding, above 1.
    #[serde(
        default = "defaults::affinity_most_over_mean",
        skip_serializing_if = "defaults::is_affinity_most_over_mean"
    )]
    pub affinity_most_over_mean: f64,
    /// Whom the fleet lets in.
    #[serde(default, skip_serializing_if = "is_default")]
    pub admission: AdmissionDoc,
}

impl FleetDoc {
    /// One pool with everything else at its default.
    pub fn of(pool: PoolDoc) -> Self {
        Self {
            pools: vec![pool],
            routing: RoutingDoc::default(),
            affinity_most_over_mean: defaults::affinity_most_over_mean(),
            admission: AdmissionDoc::default(),
        }
    }
}

/// Routing policies: which replica of its pool takes a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoutingDoc {
    /// To the replica with the fewest requests queued or running; ties rotate.
    #[default]
    LeastOutstanding,
    /// To each replica in turn.
    RoundRobin,
    /// To any replica, all alike.
    Random,
    /// To the less loaded of two that chance picks.
    PowerOfTwo,
    /// To the replica with the fewest KV blocks held now.
    LeastKv,
    /// Requests of one session to one replica, unless it is much fuller than the others.
    Affinity,
}

/// Like replicas of one model on one kind of GPU, with vLLM's settings under vLLM's names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a pool")]
#[expect(clippy::struct_excessive_bools, reason = "the engine's own switches, by their names")]
pub struct PoolDoc {
    /// By which routes name it; unique where there are several.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Catalogue id, or a GPU by numbers.
    pub gpu: GpuRef,
    /// Catalogue id, or a model by numbers.
    pub model: ModelRef,
    /// Model copies behind the router; with an autoscaler or a timetable, those at first.
    pub replicas: u32,
    /// From being ordered to taking requests, seconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start_up_s: f64,
    /// The first replicas are ordered when the run begins, not before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cold_start: bool,
    /// For so long after a replica is ready the router spares it beyond a rising share of its
    /// seats, as long as others have room, seconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub slow_start_s: f64,
    /// Who decides how many replicas there are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub autoscaler: Option<AutoscalerDoc>,
    /// A timetable of how many replicas there are.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scheduled_replicas: Vec<ScheduledReplicasDoc>,
    /// How replicas fail.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failures: FailuresDoc,
    /// GPUs over which each layer is split.
    #[serde(
        default = "defaults::tensor_parallel",
        skip_serializing_if = "defaults::is_tensor_parallel"
    )]
    pub tensor_parallel: u32,
    /// Number format of the weights.
    #[serde(default, skip_serializing_if = "is_default")]
    pub weight_precision: WeightPrecision,
    /// Number format of the KV cache.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kv_precision: KvPrecision,
    /// Sequences that may run at once.
    #[serde(default = "defaults::max_num_seqs", skip_serializing_if = "defaults::is_max_num_seqs")]
    pub max_num_seqs: u32,
    /// Tokens that one step may process.
    #[serde(
        default = "defaults::max_num_batched_tokens",
        skip_serializing_if = "defaults::is_max_num_batched_tokens"
    )]
    pub max_num_batched_tokens: u32,
    /// Whose turn it is, and who loses KV blocks first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scheduling_policy: SchedulingPolicyDoc,
    /// Prompt tokens of one request that one step may process; 0 is no such limit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub long_prefill_token_threshold: u32,
    /// Prompts that may be computed in part at once: vLLM V1 has no such limit, and starts with 1
    /// alone.
    #[serde(
        default = "defaults::partial_prefills",
        skip_serializing_if = "defaults::is_partial_prefills"
    )]
    pub max_num_partial_prefills: u32,
    /// Those of them that may be longer than the threshold: 1 in the same way.
    #[serde(
        default = "defaults::partial_prefills",
        skip_serializing_if = "defaults::is_partial_prefills"
    )]
    pub max_long_partial_prefills: u32,
    /// Tokens of one event of a stream, after the first token, which leaves at once.
    #[serde(
        default = "defaults::stream_interval",
        skip_serializing_if = "defaults::is_stream_interval"
    )]
    pub stream_interval: u32,
    /// Tokens per KV block.
    #[serde(default = "defaults::block_size", skip_serializing_if = "defaults::is_block_size")]
    pub block_size: u32,
    /// Share of GPU memory the engine may use, 0 to 1.
    #[serde(
        default = "defaults::gpu_memory_utilization",
        skip_serializing_if = "defaults::is_gpu_memory_utilization"
    )]
    pub gpu_memory_utilization: f64,
    /// KV blocks as the engine's own log states them; overrides the memory model.
    #[serde(default, skip_serializing_if = "is_default")]
    pub num_gpu_blocks: Option<u64>,
    /// Longest prompt plus output; the model's own when absent, tokens.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max_model_len: Option<u32>,
    /// Split long prompts over steps.
    #[serde(default = "defaults::on", skip_serializing_if = "defaults::is_on")]
    pub enable_chunked_prefill: bool,
    /// A preempted prefix survives until its blocks are taken.
    #[serde(default = "defaults::on", skip_serializing_if = "defaults::is_on")]
    pub enable_prefix_caching: bool,
    /// Step m + 1 is scheduled when step m starts.
    #[serde(default = "defaults::on", skip_serializing_if = "defaults::is_on")]
    pub async_scheduling: bool,
    /// Admit a prompt only when all of it would fit.
    #[serde(default = "defaults::on", skip_serializing_if = "defaults::is_on")]
    pub scheduler_reserve_full_isl: bool,
    /// Where the step time comes from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub step_time: StepTimeDoc,
    /// USD per GPU-hour; no price, no cost.
    #[serde(default, skip_serializing_if = "is_default")]
    pub price_per_gpu_hour: Option<f64>,
    /// The price in another currency instead; books are in USD.
    #[serde(default, skip_serializing_if = "is_default")]
    pub price_in_currency: Option<CurrencyPriceDoc>,
    /// Whose price and when.
    #[serde(default, skip_serializing_if = "is_default")]
    pub price_source: String,
}

/// Whose turn it is in the queue of a replica, and who loses KV blocks first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchedulingPolicyDoc {
    /// First come, first served; who was admitted last loses.
    #[default]
    Fcfs,
    /// By the `priority` of classes, then by arrival; who is least urgent loses.
    Priority,
}

/// A price in another currency than USD, with the rate that makes USD of it: none is known here, and
/// none is guessed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a price in another currency")]
pub struct CurrencyPriceDoc {
    /// Three letters (ISO 4217), e.g. `EUR`.
    pub currency: String,
    /// So many of it per GPU-hour.
    pub per_gpu_hour: f64,
    /// USD for one of it.
    pub usd_per_unit: f64,
    /// When that rate was read, e.g. `2026-10-01`, and where.
    pub rate_as_of: String,
}

/// The step-time source of a pool and what measurements say about it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a step time")]
pub struct StepTimeDoc {
    /// The law.
    #[serde(default, skip_serializing_if = "is_default")]
    pub source: StepTimeSourceDoc,
    /// A scalar on the whole law fitted from benchmark points.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fitted: Option<FittedScaleDoc>,
    /// Time added to every step (scheduler, sampling), milliseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub step_overhead_ms: f64,
    /// Time before a request reaches the queue (tokeniser, server), milliseconds.
    #[serde(default, skip_serializing_if = "is_default")]
    pub api_overhead_ms: f64,
}

/// Where the coefficients come from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum StepTimeSourceDoc {
    /// The best the catalogue has: library row, else physics law, else datasheet.
    #[default]
    #[serde(deserialize_with = "super::no_more_fields")]
    Catalog,
    /// The physics law of the GPU, even where a library row exists.
    #[serde(deserialize_with = "super::no_more_fields")]
    Physics,
    /// The datasheet roofline, even where better is known.
    #[serde(deserialize_with = "super::no_more_fields")]
    Datasheet,
    /// Typed or fitted coefficients.
    Coefficients {
        /// The law's coefficients.
        coefficients: StepCoefficients,
        /// Who says so.
        by: String,
        /// What they were fitted to; typed ones were not.
        #[serde(default, skip_serializing_if = "is_default")]
        fitted: Option<Box<FittedLawDoc>>,
    },
    /// Bare token rates of one replica: *simplified*; gives supply and debt, never a latency.
    Declared {
        /// Prefill supply of one replica, input tokens per second; absent if prompts cost nothing.
        #[serde(default, skip_serializing_if = "is_default")]
        declared_input_tps: Option<f64>,
        /// Decode supply of one replica, output tokens per second; absent if outputs cost nothing.
        #[serde(default, skip_serializing_if = "is_default")]
        declared_output_tps: Option<f64>,
    },
}

/// A scalar fitted from benchmark points, and where they came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a fitted scale")]
pub struct FittedScaleDoc {
    /// Factor on the step time; above 1 is slower than the source.
    pub step_time_scale: f64,
    /// Names of the files, for people.
    pub files: Vec<String>,
    /// SHA-256 of the files' bytes or another fingerprint, so that a reviewer can match them.
    pub fingerprint: String,
    /// Points the fit used.
    pub points: u32,
    /// Median absolute relative error left after the fit.
    pub residual: f64,
}

/// What a law was fitted to, how far off it is, and where it was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the fit of a law")]
pub struct FittedLawDoc {
    /// Names of the files, for people.
    pub files: Vec<String>,
    /// SHA-256 of the files' bytes or another fingerprint, so that a reviewer can match them.
    pub fingerprint: String,
    /// Points the fit used.
    pub points: u32,
    /// Median absolute relative error: of points that fits to the others predict, or left by the fit
    /// of one point.
    pub residual: f64,
    /// Coefficients that the points do not determine; they are near those of the law fitted from.
    #[serde(default, skip_serializing_if = "is_default")]
    pub assumed: Vec<String>,
    /// Batch shapes that the points went through.
    pub range: Hull,
}

impl PoolDoc {
    /// A pool with every setting at its default.
    pub fn new(gpu: GpuRef, model: ModelRef, replicas: u32) -> Self {
        Self {
            name: String::new(),
            gpu,
            model,
            replicas,
            start_up_s: 0.0,
            cold_start: false,
            slow_start_s: 0.0,
            autoscaler: None,
            scheduled_replicas: Vec::new(),
            failures: FailuresDoc::default(),
            tensor_parallel: defaults::tensor_parallel(),
            weight_precision: WeightPrecision::default(),
            kv_precision: KvPrecision::default(),
            max_num_seqs: defaults::max_num_seqs(),
            max_num_batched_tokens: defaults::max_num_batched_tokens(),
            scheduling_policy: SchedulingPolicyDoc::default(),
            long_prefill_token_threshold: 0,
            max_num_partial_prefills: defaults::partial_prefills(),
            max_long_partial_prefills: defaults::partial_prefills(),
            stream_interval: defaults::stream_interval(),
            block_size: defaults::block_size(),
            gpu_memory_utilization: defaults::gpu_memory_utilization(),
            num_gpu_blocks: None,
            max_model_len: None,
            enable_chunked_prefill: defaults::on(),
            enable_prefix_caching: defaults::on(),
            async_scheduling: defaults::on(),
            scheduler_reserve_full_isl: defaults::on(),
            step_time: StepTimeDoc::default(),
            price_per_gpu_hour: None,
            price_in_currency: None,
            price_source: String::new(),
        }
    }
}
