//! Spellings, defaults and refusals; whole public models are in `tests/hf_config.rs`.

use proptest::prelude::*;
use serde_json::json;

use super::super::model::{LayerGroup, MoeShape};
use super::*;

/// A small dense config, for other keys to be laid over.
fn plain() -> Value {
    json!({
        "architectures": ["SomethingNewForCausalLM"],
        "hidden_size": 1024, "num_hidden_layers": 12, "num_attention_heads": 16,
        "num_key_value_heads": 4, "intermediate_size": 3000, "vocab_size": 5000,
        "max_position_embeddings": 8192, "tie_word_embeddings": false
    })
}

fn with(extra: Value) -> Value {
    let mut config = plain();
    let Value::Object(extra) = extra else { unreachable!("tests lay objects over it") };
    for (key, value) in extra {
        config[key] = value;
    }
    config
}

fn without(keys: &[&str]) -> Value {
    let mut config = plain();
    for key in keys {
        config.as_object_mut().expect("an object").remove(*key);
    }
    config
}

fn parse(config: &Value) -> HfConfig {
    parse_hf_config(&config.to_string()).expect("a readable config")
}

fn full(layers: u32, kv_heads: u32, head_dim: u32) -> LayerGroup {
    LayerGroup::Full { layers, kv_heads, head_dim, v_head_dim: None }
}

fn sliding(layers: u32, kv_heads: u32, head_dim: u32, window_tokens: u32) -> LayerGroup {
    LayerGroup::SlidingWindow { layers, kv_heads, head_dim, v_head_dim: None, window_tokens }
}

#[test]
fn an_unknown_architecture_is_read_by_its_numbers() {
    let config = parse(&plain());
    assert_eq!(config.shape.name, "SomethingNewForCausalLM");
    assert_eq!(config.shape.layer_groups, vec![full(12, 4, 64)]);
    let attention = 1024.0 * (16.0 + 4.0) * 128.0;
    let params = 12.0 * (attention + 3.0 * 1024.0 * 3000.0) + 2.0 * 5000.0 * 1024.0;
    assert!((config.shape.params_total() - params).abs() < 1.0);
    assert_eq!(config.notes, Vec::<String>::new());
}

#[test]
fn a_missing_key_is_named_with_its_other_spellings() {
    for key in [
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "vocab_size",
        "max_position_embeddings",
    ] {
        let problems = parse_hf_config(&without(&[key]).to_string()).expect_err("incomplete");
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].path, key);
        assert!(problems[0].message.contains(key));
    }
    let many = parse_hf_config("{}").expect_err("empty");
    assert!(many.len() >= 5, "all at once: {many:?}");
}

#[test]
fn defaults_of_the_library_are_applied_and_said() {
    let config = parse(&without(&["num_key_value_heads", "tie_word_embeddings"]));
    assert_eq!(config.shape.layer_groups, vec![full(12, 16, 64)]);
    assert!(config.shape.tied_embeddings);
    assert_eq!(config.notes.len(), 2, "{:?}", config.notes);
}

#[test]
fn older_spellings_are_understood() {
    let config = parse(&json!({
        "model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257,
        "n_positions": 1024, "tie_word_embeddings": true
    }));
    // GPT-2 small has 124 million parameters, positions included.
    assert!((config.shape.params_total_billions - 0.124).abs() < 0.001);
    let falcon = parse(&with(json!({"multi_query": true, "num_key_value_heads": null})));
    assert_eq!(falcon.shape.layer_groups, vec![full(12, 1, 64)]);
}

#[test]
fn windows_are_read_in_every_spelling() {
    let list: Vec<&str> =
        (0..12).map(|i| if i % 3 == 2 { "full_attention" } else { "sliding_attention" }).collect();
    let cases = [
        // Listed one by one.
        (json!({"sliding_window": 512, "layer_types": list}), 4, 8),
        // Every n-th layer is full.
        (json!({"sliding_window": 512, "sliding_window_pattern": 6}), 2, 10),
        (json!({"sliding_window": 512, "model_type": "gemma2"}), 6, 6),
        (json!({"sliding_window": 512, "model_type": "gemma3_text"}), 2, 10),
        // All layers, or those from a given one on.
        (json!({"sliding_window": 512}), 0, 12),
        (json!({"sliding_window": 512, "max_window_layers": 9}), 9, 3),
        // Llama 4: chunks, and full attention where there is no positional encoding.
        (json!({"attention_chunk_size": 512, "model_type": "llama4_text"}), 3, 9),
        (json!({"attention_chunk_size": 512, "no_rope_layers": [1,1,1,0,1,1,1,0,1,1,1,0]}), 3, 9),
        // MiMo: 1 marks a sliding layer.
        (json!({"sliding_window": 512, "hybrid_layer_pattern": [0,1,1,1,1,0,1,1,1,1,1,0]}), 3, 9),
        // Not in use, or no shorter than the context.
        (json!({"sliding_window": 512, "use_sliding_window": false}), 12, 0),
        (json!({"sliding_window": 8192}), 12, 0),
        (json!({"sliding_window": null}), 12, 0),
    ];
    for (extra, full_layers, sliding_layers) in cases {
        let config = parse(&with(extra.clone()));
        let layers = |windowed: bool| {
            let groups = config.shape.layer_groups.iter();
            let kind = groups.filter(|group| group.window_tokens().is_some() == windowed);
            kind.map(LayerGroup::layers).sum::<u32>()
        };
        assert_eq!((layers(false), layers(true)), (full_layers, sliding_layers), "{extra}");
    }
}

#[test]
fn global_and_sliding_layers_may_have_heads_of_their_own() {
    let config = parse(&with(json!({
        "sliding_window": 1024, "sliding_window_pattern": 6, "num_key_value_heads": 8,
        "head_dim": 256, "num_global_key_value_heads": 1, "global_head_dim": 512
    })));
    assert_eq!(config.shape.layer_groups, vec![sliding(10, 8, 256, 1024), full(2, 1, 512)]);
    let config = parse(&with(json!({
        "sliding_window": 128, "hybrid_layer_pattern": [0,1,1,1,1,1,0,1,1,1,1,1],
        "head_dim": 192, "v_head_dim": 128, "swa_num_key_value_heads": 8
    })));
    let expected = [
        LayerGroup::Full { layers: 2, kv_heads: 4, head_dim: 192, v_head_dim: Some(128) },
        LayerGroup::SlidingWindow {
            layers: 10,
            kv_heads: 8,
            head_dim: 192,
            v_head_dim: Some(128),
            window_tokens: 128,
        },
    ];
    assert_eq!(config.shape.layer_groups, expected);
}

#[test]
fn linear_layers_keep_a_state_of_fixed_size() {
    let config = parse(&with(json!({
        "model_type": "qwen3_next", "full_attention_interval": 4, "head_dim": 256,
        "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_key_head_dim": 128,
        "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4
    })));
    let state = 32 * 128 * 128 * 4 + (2 * 16 * 128 + 32 * 128) * 3 * 2;
    assert_eq!(
        config.shape.layer_groups,
        vec![LayerGroup::Linear { layers: 9, state_bytes_per_layer: state }, full(3, 4, 256)]
    );
}

#[test]
fn experts_are_read_in_every_spelling() {
    let cases = [
        (json!({"num_local_experts": 8, "num_experts_per_tok": 2}), 12, 0),
        (
            json!({
                "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 500,
                "n_shared_experts": 2, "first_k_dense_replace": 3
            }),
            9,
            2,
        ),
        (
            json!({
                "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 500,
                "decoder_sparse_step": 2, "mlp_only_layers": [1],
                "shared_expert_intermediate_size": 700
            }),
            5,
            1,
        ),
        (
            json!({"moe_num_experts": 8, "moe_k": 2, "moe_layer_freq": [0,1,1,1,1,1,1,1,1,1,1,1]}),
            11,
            0,
        ),
        (
            json!({
                "num_local_experts": 8, "num_experts_per_tok": 2, "model_type": "llama4_text",
                "interleave_moe_layer_step": 2, "intermediate_size_mlp": 6000
            }),
            6,
            1,
        ),
    ];
    for (extra, moe_layers, shared_experts) in cases {
        let config = parse(&with(extra.clone()));
        let expected = MoeShape {
            num_experts: 8,
            experts_per_token: 2,
            moe_layers: (moe_layers < 12).then_some(moe_layers),
            shared_experts,
        };
        assert_eq!(config.shape.moe, Some(expected), "{extra}");
        assert!(config.shape.params_active() < config.shape.params_total(), "{extra}");
    }
    let dense = parse(&with(json!({"num_experts": null})));
    assert_eq!(dense.shape.moe, None);
    let missing = with(json!({"num_experts": 8})).to_string();
    assert_eq!(parse_hf_config(&missing).expect_err("no k")[0].path, "num_experts_per_tok");
}

#[test]
fn a_nested_text_config_is_found() {
    let nested = json!({
        "architectures": ["SeesForConditionalGeneration"], "vision_config": {"hidden_size": 7},
        "tie_word_embeddings": false, "text_config": plain()
    });
    assert_eq!(
        parse(&nested).shape,
        ModelShape { name: "SeesForConditionalGeneration".into(), ..parse(&plain()).shape }
    );
    let thinker = json!({"thinker_config": {"text_config": plain()}});
    assert_eq!(parse(&thinker).shape.hidden_size, 1024);
}

#[test]
fn the_checkpoints_precision_is_read_or_asked_for() {
    let read = |quantization: Value| {
        let config = parse(&with(json!({ "quantization_config": quantization })));
        (config.native_weights, config.notes.len())
    };
    assert_eq!(parse(&plain()).native_weights, None);
    assert_eq!(read(json!({"quant_method": "fp8"})), (Some(WeightPrecision::Fp8), 0));
    assert_eq!(read(json!({"quant_method": "mxfp4"})).0, Some(WeightPrecision::Mxfp4Experts));
    assert_eq!(read(json!({"quant_method": "awq", "bits": 4})).0, Some(WeightPrecision::Int4));
    assert_eq!(read(json!({"quant_method": "gptq", "bits": 8})).0, Some(WeightPrecision::Int8));
    let nvfp4 = json!({"quant_method": "modelopt", "quant_algo": "NVFP4"});
    assert_eq!(read(nvfp4).0, Some(WeightPrecision::Nvfp4));
    assert_eq!(read(json!({"quant_method": "aqlm"})), (None, 1));
}

#[test]
fn what_cannot_be_read_is_refused_by_name() {
    let cases = [
        (with(json!({"hybrid_override_pattern": "M-M*"})), "hybrid_override_pattern"),
        (with(json!({"layer_types": vec!["mamba"; 12]})), "layer_types"),
        (with(json!({"layer_types": ["full_attention"]})), "layer_types"),
        (with(json!({"layer_types": vec!["sliding_attention"; 12]})), "sliding_window"),
        (
            with(json!({"kv_lora_rank": 512, "qk_rope_head_dim": 64, "v_head_dim": 128})),
            "qk_nope_head_dim",
        ),
        (
            with(json!({"hidden_size": 1000, "head_dim": null, "num_attention_heads": 16})),
            "head_dim",
        ),
        (with(json!({"hidden_size": "wide"})), "hidden_size"),
        (with(json!({"hidden_size": -1})), "hidden_size"),
        (with(json!({"num_hidden_layers": 0})), "num_hidden_layers"),
        (with(json!({"num_hidden_layers": 4_000_000_000_u32})), "num_hidden_layers"),
        (with(json!({"num_key_value_heads": 64})), "layer_groups[0].kv_heads"),
    ];
    for (config, key) in cases {
        let problems = parse_hf_config(&config.to_string()).expect_err(key);
        assert!(problems.iter().any(|problem| problem.path == key), "{key}: {problems:?}");
    }
    for text in ["", "[1]", "{\"hidden_size\": 10", "model.safetensors", &" ".repeat(2 << 20)] {
        assert_eq!(parse_hf_config(text).expect_err("no config").len(), 1);
    }
}

/// Values that a key of a config might hold, sensible and not.
fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0_u32..200).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|x| json!(x)),
        prop_oneof![Just("gpt2"), Just("gemma2"), Just("llama4_text"), Just("full_attention")]
            .prop_map(Value::from),
        proptest::collection::vec(0_u32..3, 0..20).prop_map(Value::from),
        Just(json!({"quant_method": "fp8"})),
    ]
}

const KEYS: &[&str] = &[
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "intermediate_size",
    "vocab_size",
    "max_position_embeddings",
    "sliding_window",
    "sliding_window_pattern",
    "layer_types",
    "hybrid_layer_pattern",
    "full_attention_interval",
    "kv_lora_rank",
    "q_lora_rank",
    "qk_rope_head_dim",
    "qk_nope_head_dim",
    "v_head_dim",
    "num_experts",
    "num_experts_per_tok",
    "moe_layer_freq",
    "decoder_sparse_step",
    "mlp_only_layers",
    "interleave_moe_layer_step",
    "first_k_dense_replace",
    "n_shared_experts",
    "max_window_layers",
    "linear_num_key_heads",
    "linear_num_value_heads",
    "linear_key_head_dim",
    "linear_value_head_dim",
    "linear_conv_kernel_dim",
    "quantization_config",
    "text_config",
    "tie_word_embeddings",
    "model_type",
    "multi_query",
];

proptest! {
    #[test]
    fn any_text_is_read_or_refused(
        text in proptest::collection::vec(any::<char>(), 0..60), cut in 0_usize..400,
    ) {
        let text: String = text.into_iter().collect();
        prop_assert!(parse_hf_config(&text).is_err());
        let truncated: String = plain().to_string().chars().take(cut).collect();
        prop_assert!(parse_hf_config(&(truncated + &text)).is_err() || cut > 200);
    }

    #[test]
    fn any_values_are_read_or_refused_and_what_is_read_is_sound(
        changes in proptest::collection::vec((0..KEYS.len(), any_value()), 0..8),
    ) {
        let mut config = plain();
        for (key, value) in changes {
            config[KEYS[key]] = value;
        }
        match parse_hf_config(&config.to_string()) {
            Ok(read) => prop_assert_eq!(read.shape.check(), vec![]),
            Err(problems) => prop_assert!(!problems.is_empty()),
        }
    }
}
