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
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::super::compiled::BatchShape;
    use super::*;
    use crate::fleet::{KvPrecision, MoeShape, dense_model as dense};

    /// Everything at its peak and no overhead: a plain roofline.
    pub(crate) fn ideal() -> Efficiencies {
        Efficiencies {
            weight_read_inv_eff: 1.0,
            bf16_compute_inv_eff: Some(1.0),
            fp8_compute_inv_eff: Some(1.0),
            fp4_compute_inv_eff: Some(1.0),
            attn_prefill_inv_eff: 1.0,
            kv_read_inv_eff: 1.0,
            layer_overhead_s: 0.0,
            lowprec_layer_overhead_s: Some(0.0),
            moe_layer_overhead_s: Some(0.0),
            elementwise_s_per_token_layer: 0.0,
            allreduce_alpha_s: 0.0,
            allreduce_inv_eff: 1.0,
            moe_compute_inv_eff: Some(1.0),
            moe_weight_inv_eff: Some(1.0),
            p: 1.5,
        }
    }

    fn gpu() -> GpuSpec {
        GpuSpec {
            name: "test".into(),
            memory_gib: 80.0,
            memory_usable_gib: None,
            memory_bandwidth_tb_s: 2.0,
            bf16_tflops: 500.0,
            fp8_tflops: Some(1000.0),
            fp4_tflops: None,
            scale_up_gb_s: Some(400.0),
            scale_up_gpus: 8,
            pcie_gb_s: Some(32.0),
        }
    }

    fn step(served: &Served<'_>, shape: BatchShape) -> f64 {
        roofline_law(served, &ideal()).expect("a law").seconds(&shape)
    }

    fn decode(sequences: u64, context: u64) -> BatchShape {
        BatchShape {
            decode_seqs: sequences,
            kv_tokens: sequences * context,
            ..BatchShape::default()
        }
    }

    #[test]
    fn one_decode_reads_every_weight_and_its_cache_once() {
        let (gpu, model) = (gpu(), dense(4096, 32, 32, 8, 128));
        let served = Served {
            gpu: &gpu,
            model: &model,
            layout: Layout::tensor_parallel(1),
            precision: Precision::default(),
        };
        let bytes = 2.0 * (model.params_total() - model.embedding_params()) + 131_072.0 * 1000.0;
        let seconds = step(&served, decode(1, 1000));
        // Arithmetic of one token overlaps softly: at most 4 per cent.
        assert!((1.0..1.04).contains(&(seconds / (bytes / 2e12))), "{seconds}");
    }

    #[test]
    fn more_active_parameters_slow_decoding_and_leave_memory_alone() {
        let gpu = gpu();
        let mut model = dense(3072, 32, 48, 2, 256);
        model.params_total_billions = 125.1;
        model.params_active_billions = Some(10.0);
        model.moe = Some(MoeShape {
            num_experts: 256,
            experts_per_token: 8,
            moe_layers: None,
            shared_experts: 0,
        });
        let seconds = |model: &ModelShape| {
            let layout = Layout::tensor_parallel(1);
            step(
                &Served { gpu: &gpu, model, layout, precision: Precision::default() },
                decode(1, 500),
            )
        };
        let before = seconds(&model);
        model.params_active_billions = Some(20.0);
        let after = seconds(&model);
        assert!(after > 1.7 * before && after < 2.2 * before, "{before} {after}");
    }

    #[test]
    fn a_group_over_pcie_pays_for_every_token() {
        let model = dense(4096, 32, 32, 8, 128);
        let over = |scale_up_gpus| {
            let gpu = GpuSpec { scale_up_gpus, ..gpu() };
            let layout = Layout::tensor_parallel(4);
            let served =
                Served { gpu: &gpu, model: &model, layout, precision: Precision::default() };
            let mut prefill = BatchShape::default();
            prefill.add_prefill(0, 2048);
            step(&served, prefill)
        };
        let link_s = |gb_s: f64| 64.0 * 1.5 * 2.0 * 2048.0 * 4096.0 / (gb_s * 1e9);
        let slower = over(1) - over(8);
        assert!((slower / (link_s(32.0) - link_s(400.0)) - 1.0).abs() < 1e-9, "{slower}");
        let lonely = GpuSpec { scale_up_gb_s: None, pcie_gb_s: None, ..gpu() };
        let served = Served {
            gpu: &lonely,
            model: &model,
            layout: Layout::tensor_parallel(4),
            precision: Precision::default(),
        };
        assert!(roofline_law(&served, &ideal()).is_err_and(|why| why.contains("no link")));
    }

    #[test]
    fn a_missing_efficiency_is_named_not_replaced() {
        let (gpu, model) = (gpu(), dense(4096, 32, 32, 8, 128));
        let precision = Precision { weights: WeightPrecision::Fp8, kv: KvPrecision::Bf16 };
        let served =
            Served { gpu: &gpu, model: &model, layout: Layout::tensor_parallel(1), precision };
        let eff = Efficiencies { fp8_compute_inv_eff: None, ..ideal() };
        assert!(roofline_law(&served, &eff).is_err_and(|why| why.contains("fp8")));
    }

    #[test]
    fn windows_are_charged_per_sequence_and_latents_to_every_rank() {
        let gpu = gpu();
        let mut windowed = dense(4096, 32, 32, 8, 128);
        windowed.layer_groups = vec![LayerGroup::SlidingWindow {
            layers: 32,
            kv_heads: 8,
            head_dim: 128,
            v_head_dim: None,
            window_tokens: 512,
        }];
        let law = |model: &ModelShape, ranks| {
            let layout = Layout::tensor_parallel(ranks);
            let served = Served { gpu: &gpu, model, layout, precision: Precision::default() };
            roofline_law(&served, &ideal()).expect("a law")
        };
        assert!((law(&windowed, 1).s_per_decode_seq - 512.0 * 131_072.0 / 2e12).abs() < 1e-15);
        assert_eq!(law(&windowed, 1).s_per_kv_token.to_bits(), 0.0_f64.to_bits());
        let mut latent = dense(4096, 32, 32, 8, 128);
        latent.layer_groups = vec![LayerGroup::Mla {
            layers: 32,
            kv_lora_rank: 512,
            qk_rope_head_dim: 64,
            qk_nope_head_dim: 128,
            v_head_dim: 128,
        }];
        let (one, eight) = (law(&latent, 1), law(&latent, 8));
        assert!((one.s_per_kv_token - eight.s_per_kv_token).abs() < 1e-18);
    }

    proptest! {
        #[test]
        fn more_work_never_takes_less(
            prefill in 0_u64..4096, context in 0_u64..8192, decodes in 0_u64..512,
            kv in 0_u64..8192, ranks in 0_u32..4, moe in any::<bool>(),
        ) {
            let gpu = gpu();
            let mut model = dense(4096, 32, 32, 8, 128);
            if moe {
                model.params_total_billions *= 4.0;
                model.params_active_billions = Some(model.params_total_billions / 3.0);
                model.moe = Some(MoeShape {
                    num_experts: 64, experts_per_token: 4, moe_layers: None, shared_experts: 0,
                });
            }
            let layout = Layout::tensor_parallel(1 << ranks);
            let served =
                Served { gpu: &gpu, model: &model, layout, precision: Precision::default() };
            let law = roofline_law(&served, &ideal()).expect("a law");
            let mut shape = decode(decodes, kv);
            shape.add_prefill(context, prefill);
            let before = law.seconds(&shape);
            prop_assert!(before.is_finite() && before >= 0.0);
            shape.add_decode(kv);
            prop_assert!(law.seconds(&shape) >= before);
            shape.add_prefill(context, 17);
            prop_assert!(law.seconds(&shape) >= before);
        }
    }
}
