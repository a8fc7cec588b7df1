//! A step law from datasheet rates and efficiencies, for any model on any GPU.
//!
//! With the efficiencies of one GPU this is the *physics* law (fitted over all its measured
//! models at once), with their medians it is the *datasheet* law. Layers with a sliding window
//! read one full window per decode and cost no attention pairs; the latent of MLA is read whole
//! by each rank.

use crate::fleet::{
    GpuSpec, KvFootprint, LayerGroup, Layout, MathUnit, ModelShape, Precision, WeightPrecision,
};

use super::law::{SoftRoofline, StepLaw, TokenTerm};

/// Inverse efficiencies (peak ÷ achieved, at least 1 but for fit noise) and overheads of a GPU.
/// A figure without data is absent.
#[derive(Debug, Clone, PartialEq)]
pub struct Efficiencies {
    /// Streaming weights from memory.
    pub weight_read_inv_eff: f64,
    /// 16-bit matrix arithmetic.
    pub bf16_compute_inv_eff: Option<f64>,
    /// 8-bit matrix arithmetic.
    pub fp8_compute_inv_eff: Option<f64>,
    /// 4-bit matrix arithmetic.
    pub fp4_compute_inv_eff: Option<f64>,
    /// Attention arithmetic of a prefill, against the 16-bit peak.
    pub attn_prefill_inv_eff: f64,
    /// Reading the cache.
    pub kv_read_inv_eff: f64,
    /// Launches of one layer, seconds.
    pub layer_overhead_s: f64,
    /// More of it with 8-bit or 4-bit weights (quantising activations), seconds.
    pub lowprec_layer_overhead_s: Option<f64>,
    /// More of it in a layer with experts, seconds.
    pub moe_layer_overhead_s: Option<f64>,
    /// Elementwise work of one token and layer, seconds.
    pub elementwise_s_per_token_layer: f64,
    /// Latency of one all-reduce, seconds.
    pub allreduce_alpha_s: f64,
    /// All-reduce traffic against the link.
    pub allreduce_inv_eff: f64,
    /// Expert arithmetic.
    pub moe_compute_inv_eff: Option<f64>,
    /// Streaming expert weights.
    pub moe_weight_inv_eff: Option<f64>,
    /// Exponent of the norm of reading and arithmetic.
    pub p: f64,
}

/// One replica to find a law for; the layout must have passed [`Layout::check`].
#[derive(Debug, Clone, Copy)]
pub struct Served<'a> {
    /// The GPU.
    pub gpu: &'a GpuSpec,
    /// The model.
    pub model: &'a ModelShape,
    /// How a replica is spread over GPUs.
    pub layout: Layout,
    /// Precision of weights and cache.
    pub precision: Precision,
}

impl Served<'_> {
    /// The matrix units that multiply the weights: those of their format where the GPU has
    /// them, else the 16-bit ones, and their peak, operations per second.
    pub fn math_unit(&self) -> (MathUnit, f64) {
        let native = match self.precision.weights.math_unit() {
            MathUnit::Bf16 => None,
            MathUnit::Fp8 => self.gpu.fp8_tflops.map(|tflops| (MathUnit::Fp8, tflops)),
            MathUnit::Fp4 => self.gpu.fp4_tflops.map(|tflops| (MathUnit::Fp4, tflops)),
        };
        let (unit, tflops) = native.unwrap_or((MathUnit::Bf16, self.gpu.bf16_tflops));
        (unit, tflops * 1e12)
    }

    /// Peak of one GPU ÷ its share of the work: one over the group's 16-bit peak, seconds.
    fn bf16_s_per_flop(&self) -> f64 {
        1.0 / (f64::from(self.layout.tensor_parallel) * self.gpu.bf16_tflops * 1e12)
    }

    /// Seconds to stream one byte that is split over the tensor-parallel group.
    fn split_s_per_byte(&self) -> f64 {
        1.0 / (f64::from(self.layout.tensor_parallel) * self.gpu.memory_bandwidth_bytes_per_s())
    }

    /// Seconds to stream one byte that one GPU holds.
    fn local_s_per_byte(&self) -> f64 {
        1.0 / self.gpu.memory_bandwidth_bytes_per_s()
    }
}

/// The law, or why these efficiencies do not yield one.
pub fn roofline_law(served: &Served<'_>, eff: &Efficiencies) -> Result<StepLaw, String> {
    let layers = f64::from(served.model.layers());
    let mut constant = layers * eff.layer_overhead_s + lm_head_s(served, eff);
    let mut per_token = layers * eff.elementwise_s_per_token_layer;
    if served.precision.weights.math_unit() != MathUnit::Bf16 {
        constant += layers * known(eff.lowprec_layer_overhead_s, "low-precision layers")?;
    }
    if served.layout.tensor_parallel > 1 {
        let (fixed, each) = all_reduce_s(served, eff)?;
        constant += fixed;
        per_token += each;
    }
    let mut token_terms = vec![TokenTerm::PerToken { seconds: per_token }];
    token_terms.push(TokenTerm::SoftRoofline(dense_roofline(served, eff)?));
    if served.model.moe.is_some() {
        constant += f64::from(served.model.moe_layers())
            * known(eff.moe_layer_overhead_s, "layers with experts")?;
        token_terms.push(TokenTerm::SoftRoofline(expert_roofline(served, eff)?));
    }
    token_terms.insert(0, TokenTerm::Constant { seconds: constant });
    let (s_per_decode_seq, s_per_kv_token) = cache_terms(served, eff);
    Ok(StepLaw { token_terms, s_per_pair: pair_s(served, eff), s_per_decode_seq, s_per_kv_token })
}

fn known(figure: Option<f64>, what: &str) -> Result<f64, String> {
    figure.ok_or_else(|| format!("no data on {what}"))
}

fn compute_inv_eff(unit: MathUnit, eff: &Efficiencies) -> Result<f64, String> {
    match unit {
        MathUnit::Bf16 => known(eff.bf16_compute_inv_eff, "16-bit arithmetic"),
        MathUnit::Fp8 => known(eff.fp8_compute_inv_eff, "fp8 arithmetic"),
        MathUnit::Fp4 => known(eff.fp4_compute_inv_eff, "fp4 arithmetic"),
    }
}

/// Reading the LM head once a step; it stays in 16 bits.
fn lm_head_s(served: &Served<'_>, eff: &Efficiencies) -> f64 {
    let bytes = served.precision.weights.embedding_bytes() * served.model.embedding_params();
    eff.weight_read_inv_eff * bytes * served.split_s_per_byte()
}

/// Two all-reduces of the residual stream per layer: fixed seconds, and seconds per token over
/// the scale-up link or, beyond its domain, PCIe.
fn all_reduce_s(served: &Served<'_>, eff: &Efficiencies) -> Result<(f64, f64), String> {
    let ranks = f64::from(served.layout.tensor_parallel);
    let link =
        served.gpu.group_link_bytes_per_s(served.layout.tensor_parallel).ok_or_else(|| {
            format!(
                "{} has no link for {ranks} GPUs: give scale_up_gb_s or pcie_gb_s",
                served.gpu.name
            )
        })?;
    let reductions = 2.0 * f64::from(served.model.layers());
    let bytes = 2.0 * f64::from(served.model.hidden_size);
    let traffic = 2.0 * (ranks - 1.0) / ranks * bytes;
    Ok((reductions * eff.allreduce_alpha_s, reductions * eff.allreduce_inv_eff * traffic / link))
}

fn dense_roofline(served: &Served<'_>, eff: &Efficiencies) -> Result<SoftRoofline, String> {
    let params = served.model.linear_params();
    let weights = served.precision.weights;
    let (unit, peak) = match weights {
        // Only the experts are in 4 bits; the rest is plain 16-bit arithmetic either way.
        WeightPrecision::Mxfp4Experts => (MathUnit::Bf16, served.gpu.bf16_tflops * 1e12),
        _ => served.math_unit(),
    };
    let ranks = f64::from(served.layout.tensor_parallel);
    let bytes = weights.linear_bytes() * params;
    Ok(SoftRoofline {
        weights_s: eff.weight_read_inv_eff * bytes * served.split_s_per_byte(),
        experts_s: 0.0,
        expert_share: 0.0,
        compute_s_per_token: compute_inv_eff(unit, eff)? * 2.0 * params / (ranks * peak),
        p: eff.p,
    })
}

fn expert_roofline(served: &Served<'_>, eff: &Efficiencies) -> Result<SoftRoofline, String> {
    let params = served.model.expert_params();
    let (_, peak) = served.math_unit();
    let share = served.model.expert_share();
    let ranks = f64::from(served.layout.tensor_parallel);
    let bytes = served.precision.weights.expert_bytes() * params;
    let weight_read = known(eff.moe_weight_inv_eff, "expert weights")?;
    let compute = known(eff.moe_compute_inv_eff, "expert arithmetic")?;
    Ok(SoftRoofline {
        weights_s: 0.0,
        experts_s: weight_read * bytes * served.split_s_per_byte(),
        expert_share: share,
        compute_s_per_token: compute * 2.0 * params * share / (ranks * peak),
        p: eff.p,
    })
}

/// One attention pair in all layers without a window: a product with the key and one with the
/// value in each head.
fn pair_s(served: &Served<'_>, eff: &Efficiencies) -> f64 {
    let heads = f64::from(served.model.num_attention_heads);
    let open = served.model.layer_groups.iter().filter(|group| group.window_tokens().is_none());
    let flops = open
        .filter_map(|group| Some(f64::from(group.layers()) * f64::from(group.head_widths()?)))
        .sum::<f64>()
        * 2.0
        * heads;
    eff.attn_prefill_inv_eff * flops * served.bf16_s_per_flop()
}

/// Seconds per decode sequence (full windows, fixed states) and per cached token of the layers
/// that keep every token.
fn cache_terms(served: &Served<'_>, eff: &Efficiencies) -> (f64, f64) {
    let footprint = KvFootprint::per_gpu(served.model, &served.layout, served.precision.kv);
    let s_per_byte = eff.kv_read_inv_eff * served.local_s_per_byte();
    // A state is read and written back.
    let mut per_seq = 2.0 * footprint.state_bytes as f64 * s_per_byte;
    let mut per_token = 0.0;
    for group in &footprint.groups {
        let seconds = group.bytes_per_token as f64 * s_per_byte;
        match group.window_tokens {
            Some(window) => per_seq += seconds * f64::from(window),
            None => per_token += seconds,
        }
    }
    (per_seq, f64::max(per_token, latent_arithmetic_s(served, eff)))
}

/// Decoding from the latent of MLA takes as much arithmetic per cached token as reading it: a
/// product with the whole latent and its positional part, and one with the latent, in each head.
fn latent_arithmetic_s(served: &Served<'_>, eff: &Efficiencies) -> f64 {
    let heads = f64::from(served.model.num_attention_heads);
    let flops = served.model.layer_groups.iter().map(|group| match group {
        LayerGroup::Mla { layers, kv_lora_rank, qk_rope_head_dim, .. } => {
            let widths = 2.0 * f64::from(*kv_lora_rank) + f64::from(*qk_rope_head_dim);
            f64::from(*layers) * 2.0 * heads * widths
        }
        _ => 0.0,
    });
    eff.attn_prefill_inv_eff * flops.sum::<f64>() * served.bf16_s_per_flop()
}

#[cfg(test)]
mod tests;
