//! A checked pool: what serves, with memory and step time worked out.

use crate::fleet::{GpuSpec, KvFootprint, Layout, Life, MemoryReport, ModelShape, Precision};
use crate::step_time::{CompiledLaw, DeclaredThroughput, ResolvedStepTime};
use crate::units::Picos;

/// Like replicas of one model on one kind of GPU.
#[derive(Debug, Clone)]
pub struct Pool {
    /// By which routes name it.
    pub name: String,
    /// The GPU.
    pub gpu: GpuSpec,
    /// The model.
    pub model: ModelShape,
    /// How a replica is spread over GPUs.
    pub layout: Layout,
    /// Number formats of weights and KV cache.
    pub precision: Precision,
    /// Model copies behind the router at first, at least one.
    pub replicas: u32,
    /// How they come and go.
    pub life: Life,
    /// GPUs of one replica.
    pub gpus_per_replica: u32,
    /// The engine's settings.
    pub scheduler: Scheduler,
    /// From due to queued: tokeniser and server.
    pub api_overhead: Picos,
    /// Memory of one replica. It may say that the model does not fit; then nothing else holds.
    pub memory: MemoryReport,
    /// How fast a replica works.
    pub service: Service,
    /// `None` where no price is set: no price, no cost.
    pub price: Option<Price>,
}

/// Scheduler settings of a replica, under vLLM's names where it has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the engine's own switches")]
pub struct Scheduler {
    /// Sequences that may run at once.
    pub max_num_seqs: u32,
    /// Tokens one step may process.
    pub max_num_batched_tokens: u32,
    /// By the priority of classes, and not first come, first served.
    pub by_priority: bool,
    /// Prompt tokens of one request that one step may process; 0 is no such limit.
    pub long_prefill_token_threshold: u32,
    /// Tokens of one event of a stream, after the first token, which leaves at once.
    pub stream_interval: u16,
    /// Longest prompt plus output, tokens.
    pub max_model_len: u32,
    /// Tokens per KV block.
    pub block_size: u32,
    /// Split prompts over steps.
    pub chunked_prefill: bool,
    /// A preempted prefix survives until its blocks are taken.
    pub prefix_caching: bool,
    /// Admit only when blocks for the whole prompt are free.
    pub reserve_full_isl: bool,
    /// Step m + 1 is scheduled when step m starts.
    pub async_scheduling: bool,
}

/// How fast a replica works.
#[derive(Debug, Clone)]
pub enum Service {
    /// By a step law: steps can be simulated.
    Steps(Box<StepTime>),
    /// By bare token rates: *simplified*; supply and debt, never a latency.
    Declared(DeclaredThroughput),
}

/// A step law, scaled and compiled, with everything a reader needs to judge it.
#[derive(Debug, Clone)]
pub struct StepTime {
    /// The law in picoseconds, scale and overhead applied.
    pub law: CompiledLaw,
    /// The law before scale and overhead, its origin, band and hull. With a fitted scale the
    /// origin is *measured* and the band that of the fit.
    pub resolved: ResolvedStepTime,
    /// Factor on the law fitted from benchmark points; 1 without a fit.
    pub scale: f64,
    /// Time added to every step, seconds.
    pub step_overhead_s: f64,
}

/// A price and whose it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// USD per GPU-hour.
    pub usd_per_gpu_hour: f64,
    /// Whose price and when; may be empty.
    pub source: String,
}

impl Pool {
    /// KV blocks that requests can hold: the engine keeps one of its blocks as the null block.
    pub fn usable_blocks(&self) -> u64 {
        self.memory.kv_capacity_blocks.saturating_sub(1)
    }

    /// Blocks that a sequence holds beside those of its length, for sliding windows and recurrent
    /// states, at their fullest. None where every layer has a window: its length then overstates
    /// what it holds.
    pub fn window_blocks_per_seq(&self) -> u32 {
        let footprint = KvFootprint::per_gpu(&self.model, &self.layout, self.precision.kv);
        let (longest, block_size) = (self.scheduler.max_model_len, self.scheduler.block_size);
        let blocks = footprint.sequence_blocks(longest.into(), block_size);
        let by_length = u64::from(longest.div_ceil(block_size));
        u32::try_from(blocks.saturating_sub(by_length)).unwrap_or(u32::MAX)
    }

    /// The most replicas that are wanted at any moment: those of a fixed pool, and the maximum of
    /// an autoscaler.
    pub fn most_replicas(&self) -> u32 {
        self.life.most_replicas(self.replicas)
    }

    /// GPUs of all replicas with which it begins.
    pub fn gpus(&self) -> u32 {
        self.gpus_per_replica.saturating_mul(self.replicas)
    }

    /// The step law; `None` where only token rates are declared.
    pub fn step_time(&self) -> Option<&StepTime> {
        match &self.service {
            Service::Steps(step_time) => Some(step_time),
            Service::Declared(_) => None,
        }
    }
}
