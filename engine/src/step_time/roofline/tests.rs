//! The roofline law by hand-made GPUs and models; measured ones are in `tests/step_time.rs`.

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
    BatchShape { decode_seqs: sequences, kv_tokens: sequences * context, ..BatchShape::default() }
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
        step(&Served { gpu: &gpu, model, layout, precision: Precision::default() }, decode(1, 500))
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
        let served = Served { gpu: &gpu, model: &model, layout, precision: Precision::default() };
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
    let served = Served { gpu: &gpu, model: &model, layout: Layout::tensor_parallel(1), precision };
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
