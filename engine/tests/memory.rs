//! Memory arithmetic against engines that print their cache size, and against public
//! miscalculations with a known right answer.

use goodput_engine::catalog;
use goodput_engine::fleet::{
    GIB, GpuSpec, KvFootprint, KvPrecision, LayerGroup, Layout, MemoryBasis, MemoryQuestion,
    MemoryReport, ModelShape, MoeShape, Precision, SmallestFitting, WeightPrecision, memory,
};

fn gpu(id: &str) -> &'static GpuSpec {
    &catalog::gpu(id).expect("in the catalogue").spec
}

fn model(id: &str) -> &'static ModelShape {
    &catalog::model(id).expect("in the catalogue").shape
}

fn weights(weights: WeightPrecision) -> Precision {
    Precision { weights, kv: KvPrecision::Bf16 }
}

/// A question under the default settings.
fn ask<'a>(gpu: &'a GpuSpec, model: &'a ModelShape, tensor_parallel: u32) -> MemoryQuestion<'a> {
    MemoryQuestion {
        gpu,
        model,
        layout: Layout::tensor_parallel(tensor_parallel),
        precision: Precision::default(),
        gpu_memory_utilization: 0.9,
        max_num_batched_tokens: 2048,
        max_num_seqs: 256,
        max_model_len: model.max_context_tokens,
        block_size: 16,
        num_gpu_blocks: None,
        runtime_overhead_gib: None,
    }
}

fn relative_error(predicted: u64, measured: u64) -> f64 {
    predicted as f64 / measured as f64 - 1.0
}

#[test]
fn two_engines_that_print_their_block_count_are_met_within_one_percent() {
    // casys-kaist/LLMServingSim@5daddb21: 2,588 blocks, 41,408 tokens.
    let rtx_4090 = memory(&ask(gpu("RTX-4090"), model("Llama-3.1-8B"), 1));
    // inference-sim/training@ed5c1d2690: 7,463 blocks, 128 sequences.
    let llama_2 = ask(gpu("H100-SXM"), model("Llama-2-7B"), 1);
    let h100 = memory(&MemoryQuestion { max_num_seqs: 128, ..llama_2 });
    for (report, blocks) in [(rtx_4090, 2_588), (h100, 7_463)] {
        let error = relative_error(report.kv_capacity_blocks, blocks);
        println!("{} blocks, measured {blocks}: {:+.2} %", report.kv_capacity_blocks, error * 1e2);
        assert!(error.abs() < 0.01, "{error}");
        let measured_tokens = blocks * 16;
        assert!(report.kv_capacity_tokens_low < measured_tokens);
        assert!(report.kv_capacity_tokens_high > measured_tokens);
    }
}

#[test]
fn leaving_the_runtime_and_the_activations_out_is_a_tenth_too_optimistic() {
    let question = ask(gpu("RTX-4090"), model("Llama-3.1-8B"), 1);
    let report = memory(&question);
    let taken = report.activation_bytes_per_gpu + report.runtime_bytes_per_gpu;
    assert!((taken / GIB - 1.59).abs() < 0.05, "{}", taken / GIB);
    let ideal = (report.usable_bytes_per_gpu - report.weights_bytes_per_gpu) / 131_072.0;
    assert!((ideal / 54_400.0 - 1.0).abs() < 0.01, "{ideal}");
    assert!(ideal > 1.1 * report.kv_capacity_tokens as f64);
}

#[test]
fn the_engines_own_block_count_replaces_the_estimate() {
    let question = ask(gpu("RTX-4090"), model("Llama-3.1-8B"), 1);
    let report = memory(&MemoryQuestion {
        num_gpu_blocks: Some(1_381),
        max_model_len: 2_048,
        ..question.clone()
    });
    assert_eq!(report.basis, MemoryBasis::EngineReported);
    assert_eq!(report.kv_capacity_tokens, 1_381 * 16);
    // vllm-project/vllm issue 8031: "Maximum concurrency for 2048 tokens: 10.79x".
    assert!((report.max_concurrent_full_length - 10.79).abs() < 0.005);
    assert_eq!(report.kv_capacity_tokens_low, report.kv_capacity_tokens_high);
    // Issue 27017: 37,765 tokens are 4.61 requests of 8,192 or some 47 of 800.
    let report = memory(&MemoryQuestion {
        num_gpu_blocks: Some(37_765 / 16),
        max_model_len: 8_192,
        ..question
    });
    assert!((report.max_concurrent_full_length - 4.61).abs() < 0.005);
    assert_eq!(report.kv_capacity_tokens / 800, 47);
}

#[test]
fn a_prompt_of_qwen_7b_takes_168_mib_whatever_its_weights_are() {
    // vllm-project/vllm issue 22291: key-value heads, not hidden size; the cache's precision, not
    // the weights'.
    let qwen = model("Qwen2.5-7B");
    for precision in [WeightPrecision::Bf16, WeightPrecision::Int8] {
        let mut question = ask(gpu("H100-SXM"), qwen, 1);
        question.precision = weights(precision);
        assert_eq!(memory(&question).kv_bytes_per_token, 57_344);
    }
    let prompt = KvFootprint::whole_model(qwen, KvPrecision::Bf16).sequence_bytes(3_072);
    assert!((prompt as f64 / (168.0 * 1_048_576.0) - 1.0).abs() < 0.01);
}

#[test]
fn key_value_heads_are_replicated_beyond_their_number() {
    let per_gpu = |tensor_parallel| {
        let question = ask(gpu("H100-SXM"), model("Qwen3-235B-A22B"), tensor_parallel);
        memory(&question).kv_bytes_per_token_per_gpu
    };
    assert_eq!([per_gpu(2), per_gpu(4), per_gpu(8)], [96_256, 48_128, 48_128]);
}

#[test]
fn heads_that_do_not_divide_are_refused_with_the_sizes_that_do() {
    let qwen = model("Qwen2.5-7B");
    let problems = Layout::tensor_parallel(8).check(qwen);
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].path, "tensor_parallel");
    assert!(problems[0].message.contains("28 attention heads"), "{}", problems[0]);
    assert_eq!(problems[0].hint, "one of 1, 2, 4");
    for size in [1, 2, 4] {
        assert_eq!(Layout::tensor_parallel(size).check(qwen), vec![]);
    }
}

#[test]
fn the_latent_of_mla_is_held_whole_by_every_rank() {
    let kimi = model("Kimi-K2");
    let question = MemoryQuestion {
        precision: weights(WeightPrecision::Int4),
        ..ask(gpu("H200-SXM"), kimi, 8)
    };
    assert_eq!(memory(&question).kv_bytes_per_token_per_gpu, 70_272);
    // vllm-project/recipes pull request 115: 46.80 GiB per GPU, 715,072 tokens at TP8.
    let tokens = 46.80 * GIB / 70_272.0;
    assert!((tokens / 715_072.0 - 1.0).abs() < 1e-3, "{tokens}");
    // The same cache bytes per GPU hold the same tokens on 4 and on 8 ranks, and eight times as
    // many when the ranks share them or attend on their own.
    let holding = |layout: Layout| {
        let question = MemoryQuestion { layout, num_gpu_blocks: Some(44_692), ..question.clone() };
        memory(&question).kv_capacity_tokens
    };
    assert_eq!(holding(Layout::tensor_parallel(4)), 715_072);
    assert_eq!(holding(Layout::tensor_parallel(8)), 715_072);
    let shared = Layout { decode_context_parallel: 8, ..Layout::tensor_parallel(8) };
    assert_eq!(shared.check(kimi), vec![]);
    assert_eq!(holding(shared), 8 * 715_072);
    let apart = Layout { data_parallel: 8, ..Layout::default() };
    assert_eq!(holding(apart), 8 * 715_072);
    assert_eq!(KvFootprint::whole_model(kimi, KvPrecision::Fp8).bytes_per_token(), 35_136);
}

#[test]
fn kimi_on_b200_runs_more_than_eighty_requests_at_once() {
    // ai-dynamo/aiconfigurator pull request 912: about 95 of 8,000 + 1,000 tokens on 8 B200 in 4
    // bits; charged as GQA only 16 were tried.
    let question = MemoryQuestion {
        precision: weights(WeightPrecision::Nvfp4),
        max_model_len: 9_000,
        ..ask(gpu("B200-SXM"), model("Kimi-K2"), 8)
    };
    let report = memory(&question);
    assert!(report.does_not_fit.is_none());
    assert!(report.max_concurrent_full_length > 80.0, "{}", report.max_concurrent_full_length);
}

#[test]
fn windowed_layers_cap_the_cache_of_gpt_oss() {
    let footprint = |id: &str| KvFootprint::whole_model(model(id), KvPrecision::Bf16);
    let large = footprint("gpt-oss-120b");
    assert!((large.sequence_bytes(131_072) as f64 / 1e9 - 4.84).abs() < 0.005);
    assert!((large.bytes_per_token() as f64 * 131_072.0 / 1e9 - 9.66).abs() < 0.005);
    // 12 of 24 layers of gpt-oss-20b keep every token.
    let small = footprint("gpt-oss-20b");
    assert_eq!(small.growing_bytes_per_token() * 2, small.bytes_per_token());
}

#[test]
fn gpt_oss_weights_are_those_of_its_checkpoint() {
    let mut question = ask(gpu("H100-SXM"), model("gpt-oss-120b"), 1);
    question.precision = weights(WeightPrecision::Mxfp4Experts);
    let gib = memory(&question).weights_bytes_per_gpu / GIB;
    assert!((gib - 60.8).abs() < 0.5, "{gib}");
}

fn qwen_122b(active_billions: f64) -> ModelShape {
    ModelShape {
        name: "Qwen3.5-122B-A10B".into(),
        params_total_billions: 125.1,
        params_active_billions: Some(active_billions),
        hidden_size: 3_072,
        num_attention_heads: 32,
        vocab_size: 248_320,
        tied_embeddings: false,
        max_context_tokens: 262_144,
        layer_groups: vec![
            LayerGroup::Full { layers: 12, kv_heads: 2, head_dim: 256, v_head_dim: None },
            LayerGroup::Linear { layers: 36, state_bytes_per_layer: 2 << 20 },
        ],
        moe: Some(MoeShape {
            num_experts: 256,
            experts_per_token: 8,
            moe_layers: None,
            shared_experts: 1,
        }),
    }
}

#[test]
fn weights_follow_the_total_parameters_not_the_active_ones() {
    // AlexsJones/llmfit issues 230 and 497: 0.58 bytes per parameter.
    let stored = |model: &ModelShape| {
        assert_eq!(model.check(), vec![]);
        let mut question = ask(gpu("H100-SXM"), model, 1);
        question.precision = weights(WeightPrecision::BytesPerParam(0.58));
        memory(&question).weights_bytes_per_gpu / 1e9
    };
    let gb = stored(&qwen_122b(10.0));
    assert!((gb - 72.6).abs() < 0.1, "{gb}");
    assert!((stored(&qwen_122b(20.0)) - gb).abs() < 1e-6);
    let deepseek = stored(model("DeepSeek-V3"));
    assert!((deepseek - 390.0).abs() < 4.0, "{deepseek}");
}

fn assert_does_not_fit(report: &MemoryReport, smallest: SmallestFitting, words: &str) {
    let refusal = report.does_not_fit.as_ref().expect("does not fit");
    assert_eq!(refusal.smallest_fitting, Some(smallest));
    assert!(refusal.message.contains(words), "{}", refusal.message);
    assert_eq!(report.kv_capacity_tokens, 0);
    assert!(report.kv_cache_bytes_per_gpu < 0.0);
}

#[test]
fn what_does_not_fit_names_the_smallest_layout_that_does() {
    let report = memory(&ask(gpu("H100-SXM"), model("Llama-3.1-405B"), 1));
    let sixteen = SmallestFitting { gpus: 16, tensor_parallel: 8, pipeline_parallel: 2 };
    assert_does_not_fit(&report, sixteen, "16 GPUs in 2 pipeline stages would");
    let mut deepseek = ask(gpu("H100-SXM"), model("DeepSeek-V3"), 2);
    deepseek.precision = weights(WeightPrecision::Fp8);
    assert_does_not_fit(&memory(&deepseek), sixteen, "on each of 2 × H100-SXM");
    // 28 heads: groups of 4, whatever the number of GPUs.
    let mut tiny = gpu("T4").clone();
    tiny.memory_gib = 5.0;
    let report = memory(&ask(&tiny, model("Qwen2.5-7B"), 1));
    let eight = SmallestFitting { gpus: 8, tensor_parallel: 4, pipeline_parallel: 2 };
    assert_does_not_fit(&report, eight, "Qwen2.5-7B does not fit");
}

#[test]
fn the_smallest_fitting_layout_fits_and_half_of_it_does_not() {
    for entry in catalog::models() {
        let question = ask(gpu("L4"), &entry.shape, 1);
        let Some(refusal) = memory(&question).does_not_fit else { continue };
        let fit = refusal.smallest_fitting.expect("some layout");
        let layout = |stages: u32, ranks: u32| Layout {
            pipeline_parallel: stages,
            ..Layout::tensor_parallel(ranks)
        };
        let on = |layout: Layout| memory(&MemoryQuestion { layout, ..question.clone() });
        let found = layout(fit.pipeline_parallel, fit.tensor_parallel);
        assert_eq!(found.check(&entry.shape), vec![], "{}", entry.id);
        assert!(on(found).max_concurrent_full_length >= 1.0, "{}", entry.id);
        let half = if fit.pipeline_parallel > 1 {
            layout(fit.pipeline_parallel / 2, fit.tensor_parallel)
        } else {
            layout(1, fit.tensor_parallel / 2)
        };
        assert!(on(half).max_concurrent_full_length < 1.0, "{}", entry.id);
    }
}

#[test]
fn more_gpus_larger_share_or_smaller_values_never_shrink_the_cache() {
    for entry in catalog::models() {
        let base = ask(gpu("H200-SXM"), &entry.shape, 1);
        let tokens = |question: &MemoryQuestion<'_>| memory(question).kv_capacity_tokens;
        for size in Layout::allowed_tensor_parallel(&entry.shape, 8) {
            let layout = Layout::tensor_parallel(size);
            let question = MemoryQuestion { layout, ..base.clone() };
            assert!(tokens(&question) >= tokens(&base), "{} TP{size}", entry.id);
            let more = MemoryQuestion { gpu_memory_utilization: 0.95, ..question.clone() };
            assert!(tokens(&more) >= tokens(&question), "{}", entry.id);
            let mut small = question.clone();
            small.precision = Precision { weights: WeightPrecision::Fp8, kv: KvPrecision::Fp8 };
            assert!(tokens(&small) >= tokens(&question), "{}", entry.id);
        }
    }
}
