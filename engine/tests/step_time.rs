//! Step-time laws against the kernel sums they were fitted to (24,548 batch shapes of 76
//! configurations, `../shared/calibration/iteration`), and the choice between their sources.
//!
//! The measured rows are large and stay out of the repository; without them these comparisons
//! are skipped, and say so.

use std::collections::BTreeMap;
use std::path::Path;

use goodput_engine::catalog::{self, Calibration};
use goodput_engine::fleet::{
    GpuSpec, KvPrecision, Layout, ModelShape, MoeShape, Precision, WeightPrecision,
};
use goodput_engine::step_time::{
    BatchShape, Efficiencies, Load, Origin, ResolvedStepTime, Served, StepLaw, roofline_law,
};

/// One measured step.
#[derive(Clone, Copy)]
struct Measured {
    shape: BatchShape,
    seconds: f64,
    /// Of that, what depends on the tokens of the step alone: products, all-reduces, experts.
    by_tokens_s: [f64; 3],
}

type Key = (String, String, u32, String);

/// Measured steps by GPU, model, tensor parallelism and precision.
fn kernel_sums() -> Option<BTreeMap<Key, Vec<Measured>>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/calibration/iteration");
    let Ok(text) = std::fs::read_to_string(root.join("opsum_iteration_ms.csv")) else {
        println!("skipped: no ../shared/calibration/iteration/opsum_iteration_ms.csv");
        return None;
    };
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let column = |name: &str| header.iter().position(|h| *h == name).expect(name);
    let [gpu, model, tp, precision] = ["gpu", "model", "tp", "precision"].map(column);
    let [p, a, d, kv] = ["prefill_tokens", "prefill_pairs", "decode_seqs", "kv_tokens"].map(column);
    let parts = ["gemm_ms", "comm_ms", "moe_ms"].map(column);
    let total = column("total_ms");
    let mut rows: BTreeMap<Key, Vec<Measured>> = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |index: usize| cells[index].parse::<f64>().expect("a number");
        let count = |value: f64| format!("{value:.0}").parse::<u64>().expect("a count");
        let key = (
            cells[gpu].to_owned(),
            cells[model].to_owned(),
            cells[tp].parse().expect("a count"),
            cells[precision].to_owned(),
        );
        let shape = BatchShape {
            prefill_tokens: count(number(p)),
            prefill_half_pairs: count(2.0 * number(a)),
            decode_seqs: count(number(d)),
            kv_tokens: count(number(kv)),
        };
        let by_tokens_s = parts.map(|part| number(part) * 1e-3);
        let seconds = number(total) * 1e-3;
        rows.entry(key).or_default().push(Measured { shape, seconds, by_tokens_s });
    }
    Some(rows)
}

/// The steps with each of these parts at the least that a step of as many or more tokens takes.
fn as_paid(steps: &[Measured]) -> Vec<Measured> {
    let least = |tokens: u64, part: usize| {
        let more = steps.iter().filter(|step| step.shape.tokens() >= tokens);
        more.map(|step| step.by_tokens_s[part]).fold(f64::INFINITY, f64::min)
    };
    let paid = |step: &Measured| {
        let above = |part: usize| step.by_tokens_s[part] - least(step.shape.tokens(), part);
        Measured { seconds: step.seconds - (0..3).map(above).sum::<f64>(), ..*step }
    };
    steps.iter().map(paid).collect()
}

fn mape_pct(law: &StepLaw, steps: &[Measured]) -> f64 {
    let errors = steps.iter().map(|step| (law.seconds(&step.shape) / step.seconds - 1.0).abs());
    100.0 * errors.sum::<f64>() / steps.len() as f64
}

fn key(row: &Calibration) -> Key {
    (
        row.gpu.to_owned(),
        row.model.to_owned(),
        row.tensor_parallel,
        row.upstream_precision.to_owned(),
    )
}

fn served(row: &Calibration) -> Served<'static> {
    Served {
        gpu: &catalog::gpu(row.gpu).expect("known").spec,
        model: &catalog::model(row.model).expect("known").shape,
        layout: Layout {
            expert_parallel: row.expert_parallel,
            ..Layout::tensor_parallel(row.tensor_parallel)
        },
        precision: Precision { weights: row.weights, kv: KvPrecision::Bf16 },
    }
}

fn resolve(
    gpu: &str,
    model: &str,
    tensor_parallel: u32,
    weights: WeightPrecision,
) -> ResolvedStepTime {
    let served = Served {
        gpu: &catalog::gpu(gpu).expect("known").spec,
        model: &catalog::model(model).expect("known").shape,
        layout: Layout::tensor_parallel(tensor_parallel),
        precision: Precision { weights, kv: KvPrecision::Bf16 },
    };
    catalog::resolve(&served).expect("a step time")
}

#[test]
fn every_library_row_reproduces_its_stated_error() {
    let Some(sums) = kernel_sums() else { return };
    for row in catalog::calibrations() {
        let steps = as_paid(&sums[&key(row)]);
        assert_eq!(steps.len(), 323);
        let found = mape_pct(&row.coefficients.law(), &steps);
        let stated = row.band.typical * 100.0;
        assert!((found - stated).abs() < 6e-3, "{:?}: {found} {stated}", key(row));
    }
}

/// In-sample errors of the physics law as its authors state them, per cent.
const PHYSICS_ERRORS: &[(&str, &str, u32, &str, f64)] = &[
    ("A100-80G-SXM", "Llama-3.1-8B", 1, "bfloat16", 3.21),
    ("A100-80G-SXM", "Llama-3.1-70B", 8, "bfloat16", 6.23),
    ("B200-SXM", "Llama-3.1-70B", 1, "fp8", 8.01),
    ("B200-SXM", "Llama-3.1-70B", 2, "nvfp4", 7.22),
    ("B200-SXM", "Llama-3.1-8B", 1, "bfloat16", 5.02),
    ("GB200", "Qwen3-32B", 1, "nvfp4", 4.34),
    ("H100-SXM", "Llama-3.1-8B", 1, "bfloat16", 3.92),
    ("H100-SXM", "Llama-3.1-70B", 4, "fp8", 7.70),
    ("H100-SXM", "Llama-3.1-70B", 8, "bfloat16", 4.81),
    ("H200-SXM", "Llama-3.1-70B", 2, "bfloat16", 8.50),
    ("H200-SXM", "Qwen3-32B", 1, "fp8", 12.11),
    ("L40S", "Llama-3.1-8B", 2, "bfloat16", 3.55),
    ("L40S", "Qwen3-32B", 1, "fp8", 3.79),
    ("RTX-PRO-6000-SE", "Qwen3-32B", 1, "bfloat16", 2.81),
];
/// The same with experts; the routers, which the authors left out, are counted here.
const PHYSICS_ERRORS_MOE: &[(&str, &str, u32, &str, f64)] = &[
    ("A100-80G-SXM", "Mixtral-8x7B", 2, "bfloat16", 4.46),
    ("H100-SXM", "Mixtral-8x22B", 8, "bfloat16", 5.23),
    ("H100-SXM", "gpt-oss-120b", 1, "bfloat16+moe:w4a16_mxfp4", 16.32),
    ("H200-SXM", "Qwen3-235B-A22B", 4, "fp8+moe:fp8_block", 7.97),
];

#[test]
fn the_physics_law_reproduces_its_stated_errors() {
    let Some(sums) = kernel_sums() else { return };
    for (cases, tolerance) in [(PHYSICS_ERRORS, 0.0065), (PHYSICS_ERRORS_MOE, 0.1)] {
        for (gpu, model, tensor_parallel, precision, stated) in cases {
            let row = catalog::calibrations()
                .iter()
                .find(|row| {
                    (row.gpu, row.model, row.tensor_parallel, row.upstream_precision)
                        == (gpu, model, *tensor_parallel, precision)
                })
                .expect("measured");
            let fitted =
                catalog::efficiencies().iter().find(|row| row.gpu == *gpu).expect("fitted");
            let law = roofline_law(&served(row), &fitted.efficiencies).expect("covered");
            let found = mape_pct(&law, &sums[&key(row)]);
            println!("{gpu} {model} TP{tensor_parallel} {precision}: {found:.3} ({stated})");
            assert!((found - stated).abs() < tolerance, "{gpu} {model} {precision}: {found}");
        }
    }
}

/// Each figure's median over the GPUs that have it, one GPU left out.
fn medians_without(gpu: &str) -> Efficiencies {
    let others: Vec<&Efficiencies> = catalog::efficiencies()
        .iter()
        .filter(|row| row.gpu != gpu)
        .map(|row| &row.efficiencies)
        .collect();
    let maybe = |figure: &dyn Fn(&Efficiencies) -> Option<f64>| {
        let mut known: Vec<f64> = others.iter().filter_map(|e| figure(e)).collect();
        known.sort_by(f64::total_cmp);
        let n = known.len();
        (n > 0).then(|| f64::midpoint(known[(n - 1) / 2], known[n / 2]))
    };
    let median = |figure: &dyn Fn(&Efficiencies) -> f64| {
        maybe(&|e| Some(figure(e))).expect("every GPU has it")
    };
    Efficiencies {
        weight_read_inv_eff: median(&|e| e.weight_read_inv_eff),
        bf16_compute_inv_eff: maybe(&|e| e.bf16_compute_inv_eff),
        fp8_compute_inv_eff: maybe(&|e| e.fp8_compute_inv_eff),
        fp4_compute_inv_eff: maybe(&|e| e.fp4_compute_inv_eff),
        attn_prefill_inv_eff: median(&|e| e.attn_prefill_inv_eff),
        kv_read_inv_eff: median(&|e| e.kv_read_inv_eff),
        layer_overhead_s: median(&|e| e.layer_overhead_s),
        lowprec_layer_overhead_s: maybe(&|e| e.lowprec_layer_overhead_s),
        moe_layer_overhead_s: maybe(&|e| e.moe_layer_overhead_s),
        elementwise_s_per_token_layer: median(&|e| e.elementwise_s_per_token_layer),
        allreduce_alpha_s: median(&|e| e.allreduce_alpha_s),
        allreduce_inv_eff: median(&|e| e.allreduce_inv_eff),
        moe_compute_inv_eff: maybe(&|e| e.moe_compute_inv_eff),
        moe_weight_inv_eff: maybe(&|e| e.moe_weight_inv_eff),
        p: median(&|e| e.p),
    }
}

#[test]
fn nine_tenths_of_the_steps_of_an_unmeasured_gpu_lie_in_the_datasheet_band() {
    let Some(sums) = kernel_sums() else { return };
    let mut ratios: [Vec<f64>; 2] = Default::default();
    for row in catalog::calibrations() {
        let served = served(row);
        if served.model.moe.as_ref().is_some_and(|moe| moe.shared_experts > 0) {
            continue;
        }
        let law = roofline_law(&served, &medians_without(row.gpu)).expect("a law");
        let steps = sums[&key(row)].iter();
        ratios[usize::from(served.model.moe.is_some())]
            .extend(steps.map(|step| step.seconds / law.seconds(&step.shape)));
    }
    // The bands that a GPU without kernel tables gets.
    let dense = resolve("RTX-4090", "Llama-3.1-8B", 1, WeightPrecision::Bf16);
    let moe = resolve("L40S", "Mixtral-8x7B", 4, WeightPrecision::Bf16);
    for (ratios, resolved) in ratios.iter_mut().zip([dense, moe]) {
        assert_eq!(resolved.provenance.origin, Origin::Datasheet);
        let band = resolved.provenance.band.expect("a band");
        ratios.sort_by(f64::total_cmp);
        let at = |pct: usize| ratios[ratios.len() * pct / 100];
        let off = ratios.iter().map(|ratio| (1.0 / ratio - 1.0).abs()).sum::<f64>();
        let mape = off / ratios.len() as f64;
        println!("{} steps: {:.3} to {:.3}, mean {mape:.3}", ratios.len(), at(5), at(95));
        assert!(band.low <= at(5) && at(95) <= band.high, "{band:?}");
        assert!((mape - band.typical).abs() < 0.02, "{mape}");
        // And the band is no wider than it needs to be.
        assert!(band.low > at(5) - 0.1 && band.high < at(95) + 0.2, "{band:?}");
    }
}

#[test]
fn the_library_serves_exact_configurations_and_equal_architectures() {
    let llama = resolve("H100-SXM", "Llama-3.1-8B", 1, WeightPrecision::Bf16);
    assert_eq!(llama.provenance.origin, Origin::Library);
    assert!(llama.passed_over.is_empty());
    assert!((llama.provenance.band.expect("a band").typical - 0.024_8).abs() < 1e-9);
    assert!((llama.coefficients.as_ref().expect("coefficients").cw_s - 6.303e-3).abs() < 1e-12);
    let same = |a: &str, b: &str, ranks, weights| {
        let gpu = "H200-SXM";
        assert_eq!(resolve(gpu, a, ranks, weights).law, resolve(gpu, b, ranks, weights).law);
        assert_eq!(resolve(gpu, a, ranks, weights).provenance.origin, Origin::Library);
    };
    same("Llama-3.3-70B", "Llama-3.1-70B", 4, WeightPrecision::Bf16);
    same("DeepSeek-R1", "DeepSeek-V3", 8, WeightPrecision::Fp8);
    // A renamed copy, as from a pasted config, is the same architecture.
    let mut copy = catalog::model("Llama-3.1-8B").expect("known").shape.clone();
    copy.name = "our-finetune".into();
    let pasted = Served {
        gpu: &catalog::gpu("H100-SXM").expect("known").spec,
        model: &copy,
        layout: Layout::tensor_parallel(1),
        precision: Precision::default(),
    };
    assert_eq!(catalog::resolve(&pasted).expect("a law").law, llama.law);
    // The same GPU with another memory bandwidth is another GPU.
    let mut faster: GpuSpec = pasted.gpu.clone();
    faster.memory_bandwidth_tb_s = 4.0;
    let custom = catalog::resolve(&Served { gpu: &faster, ..pasted }).expect("a law");
    assert_eq!(custom.provenance.origin, Origin::Datasheet);
}

#[test]
fn experts_on_whole_gpus_have_a_row_of_their_own() {
    let model = &catalog::model("DeepSeek-V3").expect("known").shape;
    let with = |expert_parallel| {
        let served = Served {
            gpu: &catalog::gpu("H200-SXM").expect("known").spec,
            model,
            layout: Layout { expert_parallel, ..Layout::tensor_parallel(8) },
            precision: Precision { weights: WeightPrecision::Fp8, kv: KvPrecision::Bf16 },
        };
        catalog::resolve(&served).expect("a law")
    };
    assert_eq!(with(true).provenance.origin, Origin::Library);
    assert!(with(true).provenance.source.contains("ep8"));
    assert_ne!(with(true).law, with(false).law);
}

#[test]
fn the_next_best_source_says_why_the_better_one_does_not_apply() {
    let reasons = |resolved: &ResolvedStepTime| -> Vec<(Origin, String)> {
        resolved.passed_over.iter().map(|p| (p.origin, p.reason.clone())).collect()
    };
    let physics = resolve("H100-SXM", "Llama-3.1-8B", 4, WeightPrecision::Bf16);
    assert_eq!(physics.provenance.origin, Origin::Physics);
    let why = reasons(&physics);
    assert_eq!(why.len(), 1);
    assert!(why[0].1.contains("TP1 bfloat16, TP1 fp8, TP2 bfloat16"), "{why:?}");
    let no_units = resolve("A100-80G-SXM", "Llama-3.1-8B", 1, WeightPrecision::Fp8);
    assert_eq!(no_units.provenance.origin, Origin::Datasheet);
    assert!(reasons(&no_units)[1].1.contains("16 bits on smaller weights"), "{no_units:?}");
    let no_tables = resolve("RTX-4090", "Llama-3.1-8B", 1, WeightPrecision::Bf16);
    assert_eq!(no_tables.provenance.origin, Origin::Datasheet);
    assert!(reasons(&no_tables)[1].1.contains("no kernel tables of RTX-4090"));
    assert!(no_tables.notes.iter().any(|note| note.contains("FlashAttention-2")));
    let latent = resolve("H100-SXM", "DeepSeek-V3", 16, WeightPrecision::Fp8);
    assert!(reasons(&latent)[1].1.contains("MLA"));
    let no_fit = resolve("L40S", "Mixtral-8x7B", 4, WeightPrecision::Bf16);
    assert!(reasons(&no_fit)[1].1.contains("experts"), "{:?}", reasons(&no_fit));
    let wide = resolve("MI300X", "Llama-3.1-70B", 8, WeightPrecision::Fp8);
    let (narrow, wide) = (no_tables.provenance.band, wide.provenance.band);
    assert!(wide.expect("a band").high > 2.0 * narrow.expect("a band").high - 1.0);
}

#[test]
fn layouts_without_a_law_are_refused_not_guessed() {
    for (path, layout) in [
        ("pipeline_parallel", Layout { pipeline_parallel: 2, ..Layout::tensor_parallel(8) }),
        ("data_parallel", Layout { data_parallel: 2, ..Layout::default() }),
    ] {
        let served = Served {
            gpu: &catalog::gpu("H100-SXM").expect("known").spec,
            model: &catalog::model("Llama-3.1-405B").expect("known").shape,
            layout,
            precision: Precision::default(),
        };
        assert_eq!(catalog::resolve(&served).expect_err("no law").path, path);
    }
}

#[test]
fn every_catalogue_pair_has_a_positive_step_time_with_source_and_band() {
    for gpu in catalog::gpus() {
        for model in catalog::models() {
            for ranks in Layout::allowed_tensor_parallel(&model.shape, 8) {
                if gpu.spec.group_link_bytes_per_s(ranks).is_none() && ranks > 1 {
                    continue;
                }
                let resolved = resolve(gpu.id, &model.id, ranks, model.native_weights);
                let law = resolved.compile(2048, 1.0, 0.0);
                let mut shape = BatchShape::default();
                shape.add_decode(1000);
                let decode = law.step(shape);
                shape.add_prefill(0, 1024);
                assert!(decode.0 > 0 && law.step(shape) > decode, "{} {}", gpu.id, model.id);
                assert!(!resolved.provenance.source.is_empty());
                let band = resolved.provenance.band.expect("a band");
                assert!(band.low < 1.0 && 1.0 < band.high && band.typical < 1.0);
            }
        }
    }
}

#[test]
fn more_active_parameters_slow_decoding_more_total_ones_do_not() {
    let gpu = &catalog::gpu("RTX-PRO-6000-SE").expect("known").spec;
    let seconds = |total: f64, active: f64| {
        let model = ModelShape {
            params_total_billions: total,
            params_active_billions: Some(active),
            moe: Some(MoeShape {
                num_experts: 256,
                experts_per_token: 8,
                moe_layers: None,
                shared_experts: 1,
            }),
            ..catalog::model("Qwen3-32B").expect("known").shape.clone()
        };
        let precision =
            Precision { weights: WeightPrecision::BytesPerParam(0.58), kv: KvPrecision::Bf16 };
        let layout = Layout::tensor_parallel(1);
        let served = Served { gpu, model: &model, layout, precision };
        let law = catalog::resolve(&served).expect("a law").law;
        let mut shape = BatchShape::default();
        shape.add_decode(500);
        law.seconds(&shape)
    };
    let base = seconds(125.1, 10.0);
    assert!(seconds(125.1, 20.0) > 1.4 * base);
    assert!((seconds(250.2, 10.0) / base - 1.0).abs() < 0.05);
}

#[test]
fn extrapolation_is_flagged_for_measured_laws() {
    let load = Load { prefill_tokens: 8192, prefill_context: 0, decode_seqs: 64, kv_per_seq: 900 };
    let library = resolve("H100-SXM", "Llama-3.1-8B", 1, WeightPrecision::Bf16);
    assert_eq!(library.extrapolations(&load).len(), 1);
    let within = Load { prefill_tokens: 2048, ..load };
    assert_eq!(library.extrapolations(&within), Vec::<String>::new());
}
