//! Configs of public models, reduced to the keys that matter, against the catalogue and against
//! what their publishers state.

use goodput_engine::catalog;
use goodput_engine::fleet::{
    HfConfig, KvFootprint, KvPrecision, Layout, WeightPrecision, parse_hf_config,
};
use serde_json::{Value, json};

fn parse(config: &Value) -> HfConfig {
    parse_hf_config(&config.to_string()).expect("a readable config")
}

fn alternating(layers: usize) -> Vec<&'static str> {
    let kinds = ["sliding_attention", "full_attention"];
    (0..layers).map(|i| kinds[i % 2]).collect()
}

#[test]
fn configs_of_catalogue_models_give_the_catalogues_architecture() {
    let llama = json!({
        "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
        "vocab_size": 128_256, "max_position_embeddings": 131_072, "tie_word_embeddings": false
    });
    let mixtral = json!({
        "model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
        "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000,
        "max_position_embeddings": 32768, "sliding_window": null, "tie_word_embeddings": false
    });
    let qwen = json!({
        "model_type": "qwen3_moe", "hidden_size": 4096, "num_hidden_layers": 94,
        "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 128,
        "intermediate_size": 12288, "moe_intermediate_size": 1536, "num_experts": 128,
        "num_experts_per_tok": 8, "decoder_sparse_step": 1, "mlp_only_layers": [],
        "vocab_size": 151_936, "max_position_embeddings": 40960, "max_window_layers": 94,
        "use_sliding_window": false, "sliding_window": null, "tie_word_embeddings": false
    });
    let gpt_oss = json!({
        "model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36,
        "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
        "intermediate_size": 2880, "num_local_experts": 128, "num_experts_per_tok": 4,
        "sliding_window": 128, "layer_types": alternating(36), "vocab_size": 201_088,
        "max_position_embeddings": 131_072, "tie_word_embeddings": false,
        "quantization_config": {"quant_method": "mxfp4"}
    });
    for (id, config) in [
        ("Llama-3.1-8B", llama),
        ("Mixtral-8x7B", mixtral),
        ("Qwen3-235B-A22B", qwen),
        ("DeepSeek-V3", deepseek()),
    ] {
        let read = parse(&config).shape;
        let known = &catalog::model(id).expect("in the catalogue").shape;
        assert!(read.same_architecture(known), "{id}: {read:?}");
    }
    // The catalogue lists the full layers first; the config starts with a sliding one.
    let read = parse(&gpt_oss);
    let known = &catalog::model("gpt-oss-120b").expect("in the catalogue").shape;
    assert_eq!(read.native_weights, Some(WeightPrecision::Mxfp4Experts));
    assert!(read.shape.same_architecture(known), "{:?}", read.shape);
}

fn deepseek() -> Value {
    json!({
        "model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61,
        "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432,
        "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1,
        "num_experts_per_tok": 8, "first_k_dense_replace": 3, "moe_layer_freq": 1,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129_280,
        "max_position_embeddings": 163_840, "tie_word_embeddings": false,
        "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}
    })
}

#[test]
fn latent_attention_is_charged_as_such_under_an_unknown_name() {
    // ai-dynamo/aiconfigurator pull request 912: charged as GQA it was 6.2 times too much.
    let mut config = deepseek();
    config["architectures"] = json!(["KimiK25ForConditionalGeneration"]);
    config["model_type"] = json!("kimi_k25");
    let read = parse(&config);
    assert_eq!(read.shape.name, "KimiK25ForConditionalGeneration");
    let bytes = |kv| KvFootprint::whole_model(&read.shape, kv).bytes_per_token();
    assert_eq!((bytes(KvPrecision::Bf16), bytes(KvPrecision::Fp8)), (70_272, 35_136));
    let eight = KvFootprint::per_gpu(&read.shape, &Layout::tensor_parallel(8), KvPrecision::Bf16);
    assert_eq!(eight.bytes_per_token(), 70_272);
}

#[test]
fn published_parameter_counts_are_met() {
    let gemma_3_27b = json!({
        "model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
        "text_config": {
            "model_type": "gemma3_text", "hidden_size": 5376, "num_hidden_layers": 62,
            "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
            "intermediate_size": 21504, "sliding_window": 1024, "vocab_size": 262_144,
            "max_position_embeddings": 131_072
        }
    });
    let qwen3_next_80b = json!({
        "model_type": "qwen3_next", "hidden_size": 2048, "num_hidden_layers": 48,
        "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256,
        "intermediate_size": 5120, "moe_intermediate_size": 512, "num_experts": 512,
        "num_experts_per_tok": 10, "shared_expert_intermediate_size": 512,
        "decoder_sparse_step": 1, "mlp_only_layers": [], "full_attention_interval": 4,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_key_head_dim": 128,
        "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "vocab_size": 151_936,
        "max_position_embeddings": 262_144, "tie_word_embeddings": false
    });
    let llama_4_maverick = json!({
        "model_type": "llama4", "text_config": {
            "model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48,
            "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
            "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_local_experts": 128,
            "num_experts_per_tok": 1, "interleave_moe_layer_step": 2, "attention_chunk_size": 8192,
            "vocab_size": 202_048, "max_position_embeddings": 1_048_576,
            "tie_word_embeddings": false
        }
    });
    for (config, total, active) in
        [(gemma_3_27b, 27.0, 27.0), (qwen3_next_80b, 79.7, 3.9), (llama_4_maverick, 400.0, 17.0)]
    {
        let shape = parse(&config).shape;
        let near = |found: f64, stated: f64| (found / 1e9 / stated - 1.0).abs() < 0.02;
        assert!(near(shape.params_total(), total), "{total}: {}", shape.params_total());
        assert!(near(shape.params_active(), active), "{active}: {}", shape.params_active());
    }
}
