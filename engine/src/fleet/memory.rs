//! How much of a GPU's memory is left for the key-value cache, and whether a model fits at all.
//!
//! Addressable memory × `gpu_memory_utilization` − weights − the larger of two peaks (the
//! forward pass of a full token budget, or sampling for every sequence) − a constant for the
//! runtime. The constant was set from two engines that print their block count, against the
//! addressable memory of `gpus.csv` (reported where given, else nominal):
//!
//! | measured | blocks of 16 | without the constant | with 0.95 GiB |
//! |---|---|---|---|
//! | vLLM 0.19, RTX 4090, Llama-3.1-8B bf16, 256 sequences (casys-kaist/LLMServingSim@5daddb21) | 2,588 | +19.1 % | +0.4 % |
//! | vLLM V1, H100 SXM, Llama-2-7B bf16, 128 sequences (inference-sim/training@ed5c1d2690) | 7,463 | +1.6 % | −0.1 % |

use serde::Serialize;

use super::gpu::GpuSpec;
use super::kv::KvFootprint;
use super::layout::Layout;
use super::model::ModelShape;
use super::precision::Precision;
use crate::counted::plural;

/// Bytes in one GiB.
pub const GIB: f64 = 1_073_741_824.0;

/// CUDA context, libraries, communication buffers and allocator slack of one GPU, GiB.
pub const RUNTIME_OVERHEAD_GIB: f64 = 0.95;
/// The least that is plausible: vLLM logs `non_torch_memory` of 0.20 GiB (vllm-project/vllm
/// pull request 14447) beside 0.4 GiB between nominal and driver-reported memory.
pub const RUNTIME_OVERHEAD_LOW_GIB: f64 = 0.5;
/// The most that is plausible: vLLM logs 1.79 GiB on an H100 (vllm-project/vllm pull request
/// 10511) beside the 0.4 GiB above.
pub const RUNTIME_OVERHEAD_HIGH_GIB: f64 = 2.2;

/// Bytes per logit while sampling: 32-bit logits, a sorted copy, 64-bit indices, probabilities.
const SAMPLER_BYTES_PER_LOGIT: f64 = 20.0;
/// Bytes of an activation.
const ACTIVATION_BYTES: f64 = 2.0;
/// GPUs of one tensor-parallel group before pipeline stages are added.
const LARGEST_TENSOR_PARALLEL: u32 = 8;
/// GPUs up to which a fitting layout is looked for.
const MOST_GPUS: u32 = 1024;

/// What is asked: one replica and the scheduler settings that bound its activations.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryQuestion<'a> {
    /// The GPU.
    pub gpu: &'a GpuSpec,
    /// The model.
    pub model: &'a ModelShape,
    /// How a replica is spread over GPUs; must have passed [`Layout::check`].
    pub layout: Layout,
    /// Precision of weights and cache.
    pub precision: Precision,
    /// Share of the memory that the engine may use, above 0 and at most 1.
    pub gpu_memory_utilization: f64,
    /// Tokens of one step.
    pub max_num_batched_tokens: u32,
    /// Sequences of one step.
    pub max_num_seqs: u32,
    /// Longest sequence the engine accepts, tokens.
    pub max_model_len: u32,
    /// Tokens of one cache block.
    pub block_size: u32,
    /// The engine's own block count, from its log or metrics; replaces the estimate.
    pub num_gpu_blocks: Option<u64>,
    /// The runtime constant, GiB per GPU; replaces [`RUNTIME_OVERHEAD_GIB`] and its band.
    pub runtime_overhead_gib: Option<f64>,
}

/// Where the cache size comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryBasis {
    /// The engine's own block count.
    EngineReported,
    /// Estimated from the memory that the driver reports.
    ReportedMemory,
    /// Estimated from the memory that the vendor prints.
    NominalMemory,
}

/// The memory of one replica; bytes are per GPU, on the fullest one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryReport {
    /// GPUs of the replica.
    pub gpus: u32,
    /// Where the cache size comes from.
    pub basis: MemoryBasis,
    /// Cache bytes of one token in all layers of the whole model, windows not yet full.
    pub kv_bytes_per_token: u64,
    /// The same on each GPU.
    pub kv_bytes_per_token_per_gpu: u64,
    /// Weights, bytes per GPU.
    pub weights_bytes_per_gpu: f64,
    /// Largest activations of a step, bytes per GPU.
    pub activation_bytes_per_gpu: f64,
    /// Runtime constant, bytes per GPU.
    pub runtime_bytes_per_gpu: f64,
    /// Memory the engine may use, bytes per GPU.
    pub usable_bytes_per_gpu: f64,
    /// Left for the cache, bytes per GPU; negative by what is missing.
    pub kv_cache_bytes_per_gpu: f64,
    /// Cache of the replica in blocks of `block_size` tokens.
    pub kv_capacity_blocks: u64,
    /// Cache of the replica in tokens. With sliding windows: in tokens of the layers that keep
    /// every token; the windows of each sequence take their part of it.
    pub kv_capacity_tokens: u64,
    /// The same if the runtime took the most that is plausible.
    pub kv_capacity_tokens_low: u64,
    /// The same if the runtime took the least that is plausible.
    pub kv_capacity_tokens_high: u64,
    /// Sequences of `max_model_len` that fit at once; below 1 the engine refuses to start.
    pub max_concurrent_full_length: f64,
    /// Longest single sequence that fits, tokens, up to the model's own limit.
    pub longest_sequence_tokens: u64,
    /// Present when the weights leave no room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub does_not_fit: Option<DoesNotFit>,
}

/// Why a model does not fit, and on what it would.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DoesNotFit {
    /// One sentence with the numbers.
    pub message: String,
    /// The smallest layout that holds the weights and one sequence of `max_model_len`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest_fitting: Option<SmallestFitting>,
}

/// A layout by memory arithmetic alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SmallestFitting {
    /// GPUs, a power of two.
    pub gpus: u32,
    /// GPUs that share each layer.
    pub tensor_parallel: u32,
    /// Stages that share the layers.
    pub pipeline_parallel: u32,
}

/// The memory of one replica.
pub fn memory(question: &MemoryQuestion<'_>) -> MemoryReport {
    let per_gpu = PerGpu::of(question);
    let footprint = KvFootprint::per_gpu(question.model, &question.layout, question.precision.kv);
    let runtime_gib = question.runtime_overhead_gib.unwrap_or(RUNTIME_OVERHEAD_GIB);
    let band = |plausible: f64| question.runtime_overhead_gib.unwrap_or(plausible);
    let blocks = |runtime_gib: f64| match question.num_gpu_blocks {
        Some(blocks) => blocks.saturating_mul(u64::from(question.layout.data_parallel)),
        None => per_gpu.blocks(runtime_gib, &footprint, question),
    };
    let tokens = |runtime_gib: f64| {
        blocks(runtime_gib)
            .saturating_mul(u64::from(question.block_size))
            .saturating_mul(u64::from(question.layout.decode_context_parallel))
    };
    let cache_bytes = cache_of_one_rank(question, &footprint, per_gpu.left(runtime_gib));
    let full_length = footprint.sequence_bytes(question.max_model_len.into());
    let copies = f64::from(question.layout.data_parallel);
    MemoryReport {
        gpus: question.layout.gpus(),
        basis: basis(question),
        kv_bytes_per_token: KvFootprint::whole_model(question.model, question.precision.kv)
            .bytes_per_token(),
        kv_bytes_per_token_per_gpu: footprint.bytes_per_token(),
        weights_bytes_per_gpu: per_gpu.weights,
        activation_bytes_per_gpu: per_gpu.activations,
        runtime_bytes_per_gpu: runtime_gib * GIB,
        usable_bytes_per_gpu: per_gpu.usable,
        kv_cache_bytes_per_gpu: cache_bytes,
        kv_capacity_blocks: blocks(runtime_gib),
        kv_capacity_tokens: tokens(runtime_gib),
        kv_capacity_tokens_low: tokens(band(RUNTIME_OVERHEAD_HIGH_GIB)),
        kv_capacity_tokens_high: tokens(band(RUNTIME_OVERHEAD_LOW_GIB)),
        max_concurrent_full_length: copies * cache_bytes.max(0.0) / full_length.max(1) as f64,
        longest_sequence_tokens: footprint.longest_sequence(
            blocks(runtime_gib) / u64::from(question.layout.data_parallel.max(1)),
            question.block_size,
            question.model.max_context_tokens.max(question.max_model_len).into(),
        ),
        does_not_fit: does_not_fit(question, &per_gpu, blocks(runtime_gib)),
    }
}

fn basis(question: &MemoryQuestion<'_>) -> MemoryBasis {
    if question.num_gpu_blocks.is_some() {
        MemoryBasis::EngineReported
    } else if question.gpu.memory_usable_gib.is_some() {
        MemoryBasis::ReportedMemory
    } else {
        MemoryBasis::NominalMemory
    }
}

/// Cache bytes on one GPU: the engine's blocks, or what is left.
fn cache_of_one_rank(question: &MemoryQuestion<'_>, footprint: &KvFootprint, left: f64) -> f64 {
    match question.num_gpu_blocks {
        Some(blocks) => blocks as f64 * footprint.block_bytes(question.block_size) as f64,
        None => left,
    }
}

/// What one GPU holds beside the cache, bytes.
struct PerGpu {
    usable: f64,
    weights: f64,
    activations: f64,
}

impl PerGpu {
    fn of(question: &MemoryQuestion<'_>) -> Self {
        Self {
            usable: question.gpu.addressable_gib() * GIB * question.gpu_memory_utilization,
            weights: weights_bytes(question.model, &question.layout, question.precision),
            activations: activation_bytes(question),
        }
    }

    fn left(&self, runtime_gib: f64) -> f64 {
        self.usable - self.weights - self.activations - runtime_gib * GIB
    }

    fn blocks(
        &self,
        runtime_gib: f64,
        footprint: &KvFootprint,
        question: &MemoryQuestion<'_>,
    ) -> u64 {
        let one_rank = whole(self.left(runtime_gib))
            .checked_div(footprint.block_bytes(question.block_size))
            .unwrap_or(0);
        one_rank.saturating_mul(u64::from(question.layout.data_parallel))
    }
}

/// Whole bytes, none below zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped at zero; float to int casts saturate"
)]
fn whole(bytes: f64) -> u64 {
    bytes.max(0.0).floor() as u64
}

/// Weights on the fullest GPU, bytes: attention and dense layers split over the tensor-parallel
/// group, experts over all GPUs that share them, layers over the stages.
fn weights_bytes(model: &ModelShape, layout: &Layout, precision: Precision) -> f64 {
    let stages = layout.pipeline_parallel.max(1);
    let layers = model.layers().max(1);
    let stage_share = f64::from(layers.div_ceil(stages)) / f64::from(layers);
    let embeddings =
        if stages == 1 { model.stored_embedding_params() } else { model.embedding_params() };
    let weights = precision.weights;
    let split = model.linear_params() * weights.linear_bytes() * stage_share
        + embeddings * weights.embedding_bytes();
    let experts = model.expert_params() * weights.expert_bytes() * stage_share;
    split / f64::from(layout.tensor_parallel.max(1))
        + experts / f64::from(layout.expert_gpus().max(1))
}

/// The larger of two peaks that do not overlap: one forward pass of the whole token budget (the
/// outputs of a layer's matrices, which are its active parameters ÷ the hidden size, and two
/// residual copies), and sampling for every sequence.
fn activation_bytes(question: &MemoryQuestion<'_>) -> f64 {
    let model = question.model;
    let hidden = f64::from(model.hidden_size.max(1));
    let active = model.params_active() - model.stored_embedding_params();
    let matrix_outputs = active / (hidden * f64::from(model.layers().max(1)));
    let split = matrix_outputs / f64::from(question.layout.tensor_parallel.max(1));
    let forward =
        f64::from(question.max_num_batched_tokens) * ACTIVATION_BYTES * (split + 2.0 * hidden);
    let sampling =
        f64::from(question.max_num_seqs) * f64::from(model.vocab_size) * SAMPLER_BYTES_PER_LOGIT;
    forward.max(sampling)
}

fn does_not_fit(
    question: &MemoryQuestion<'_>,
    per_gpu: &PerGpu,
    blocks: u64,
) -> Option<DoesNotFit> {
    if blocks > 0 {
        return None;
    }
    let smallest_fitting = smallest_fitting(question);
    let remedy = smallest_fitting.map_or_else(
        || format!("no layout of up to {MOST_GPUS} GPUs holds it"),
        |fit| {
            let gpus = plural(fit.gpus.into(), "GPU", "GPUs");
            match fit.pipeline_parallel {
                1 => format!("smallest fitting: {gpus} (tensor_parallel {})", fit.tensor_parallel),
                stages => format!(
                    "no tensor_parallel up to {LARGEST_TENSOR_PARALLEL} holds it; {gpus} in \
                     {stages} pipeline stages would, which no scenario can have"
                ),
            }
        },
    );
    let gpus = question.layout.gpus();
    let gib = |bytes: f64| bytes / GIB;
    Some(DoesNotFit {
        message: format!(
            "{} does not fit: weights {:.1} GiB and {:.1} GiB of activations and runtime on each \
             of {gpus} × {}, {:.1} GiB usable; {remedy}",
            question.model.name,
            gib(per_gpu.weights),
            gib(per_gpu.usable - per_gpu.weights - per_gpu.left(runtime_gib(question))),
            question.gpu.name,
            gib(per_gpu.usable),
        ),
        smallest_fitting,
    })
}

fn runtime_gib(question: &MemoryQuestion<'_>) -> f64 {
    question.runtime_overhead_gib.unwrap_or(RUNTIME_OVERHEAD_GIB)
}

/// The smallest power of two of GPUs that holds the weights and one sequence of
/// `max_model_len`: one tensor-parallel group within the heads' divisors, pipeline stages
/// beyond eight.
fn smallest_fitting(question: &MemoryQuestion<'_>) -> Option<SmallestFitting> {
    let gpus = std::iter::successors(Some(1_u32), |gpus| gpus.checked_mul(2));
    gpus.take_while(|gpus| *gpus <= MOST_GPUS).find_map(|gpus| {
        let tensor_parallel = (0..=gpus.min(LARGEST_TENSOR_PARALLEL).ilog2())
            .map(|power| 1 << power)
            .rfind(|size| Layout::divides_heads(*size, question.model))?;
        let pipeline_parallel = gpus / tensor_parallel;
        if pipeline_parallel > question.model.layers() {
            return None;
        }
        let layout = Layout { pipeline_parallel, ..Layout::tensor_parallel(tensor_parallel) };
        let candidate = MemoryQuestion { layout, num_gpu_blocks: None, ..question.clone() };
        let footprint = KvFootprint::per_gpu(question.model, &layout, question.precision.kv);
        let left = PerGpu::of(&candidate).left(runtime_gib(question));
        let needed = footprint
            .sequence_bytes(question.max_model_len.into())
            .max(footprint.block_bytes(question.block_size));
        (left >= needed as f64).then_some(SmallestFitting {
            gpus,
            tensor_parallel,
            pipeline_parallel,
        })
    })
}
