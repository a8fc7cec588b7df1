//! Experts, and how many parameters there are.

use serde_json::Value;

use super::super::model::{LayerGroup, MoeShape};
use super::Widths;
use super::attention::LinearDims;
use super::reader::Reader;

/// Model types whose feed-forward layer has two matrices instead of three.
const UNGATED: &[&str] = &[
    "gpt2",
    "gpt_bigcode",
    "gpt_neo",
    "gpt_neox",
    "gptj",
    "opt",
    "bloom",
    "falcon",
    "mpt",
    "phi",
    "starcoder2",
    "nemotron",
];

const INTERMEDIATE_KEYS: &[&str] =
    &["intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "d_ff"];

/// Routed experts with their width.
pub(super) struct Experts {
    pub shape: MoeShape,
    /// Width of one routed expert.
    pub intermediate: u32,
    /// Width of everything shared, all shared experts together.
    pub shared_intermediate: u32,
    pub moe_layers: u32,
}

/// The experts, if the model has any.
pub(super) fn experts(reader: &mut Reader<'_>, widths: &Widths) -> Option<Experts> {
    let num_experts = reader
        .count(&[
            "num_local_experts",
            "n_routed_experts",
            "num_experts",
            "moe_num_experts",
            "num_moe_experts",
        ])
        .filter(|experts| *experts > 1)?;
    let experts_per_token = reader.need(
        "experts per token",
        &[
            "num_experts_per_tok",
            "num_experts_per_token",
            "moe_topk",
            "moe_top_k",
            "moe_k",
            "experts_per_token",
            "num_selected_experts",
        ],
    );
    let intermediate = reader
        .count(&["moe_intermediate_size", "expert_intermediate_size", "moe_ffn_hidden_size"])
        .unwrap_or_else(|| reader.need("width of an expert", INTERMEDIATE_KEYS));
    let (shared_experts, shared_intermediate) = shared(reader, intermediate);
    let moe_layers = moe_layers(reader, widths);
    Some(Experts {
        shape: MoeShape {
            num_experts,
            experts_per_token,
            moe_layers: (moe_layers != widths.layers).then_some(moe_layers),
            shared_experts,
        },
        intermediate,
        shared_intermediate,
        moe_layers,
    })
}

/// Shared experts and their width, all together.
fn shared(reader: &mut Reader<'_>, intermediate: u32) -> (u32, u32) {
    if let Some(width) = reader.count(&["shared_expert_intermediate_size"]) {
        return (u32::from(width > 0), width);
    }
    if reader.model_type_is(&["llama4", "llama4_text"]) {
        return (1, intermediate);
    }
    let keys = ["n_shared_experts", "num_shared_experts", "moe_num_shared_experts"];
    let experts = reader.count(&keys).unwrap_or(0);
    (experts, experts.saturating_mul(intermediate))
}

/// How many layers have experts.
fn moe_layers(reader: &mut Reader<'_>, widths: &Widths) -> u32 {
    let layers = widths.layers;
    let count = |has: &dyn Fn(u32) -> bool| (0..layers).map(|i| u32::from(has(i))).sum::<u32>();
    if let Some(list) = reader.list("mlp_layer_types") {
        let sparse = list.iter().filter(|kind| kind.as_str() == Some("sparse")).count();
        return u32::try_from(sparse).unwrap_or(layers).min(layers);
    }
    if let Some(list) = reader.list("moe_layer_freq") {
        let with = list.iter().filter(|flag| flag.as_u64().is_some_and(|flag| flag > 0)).count();
        return u32::try_from(with).unwrap_or(layers).min(layers);
    }
    if let Some(step) = reader.count(&["interleave_moe_layer_step"]) {
        // Llama 4: the last of every `step` layers.
        return layers.checked_div(step).unwrap_or(0);
    }
    if let Some(step) = reader.count(&["decoder_sparse_step"]) {
        let dense: Vec<u64> = reader
            .list("mlp_only_layers")
            .map(|list| list.iter().filter_map(Value::as_u64).collect())
            .unwrap_or_default();
        let step = step.max(1);
        return count(&|i| (i + 1).is_multiple_of(step) && !dense.contains(&u64::from(i)));
    }
    let first = reader.count(&["first_k_dense_replace", "moe_layer_start_index"]).unwrap_or(0);
    let every = reader.count(&["moe_layer_freq", "moe_layer_interval"]).unwrap_or(1).max(1);
    count(&|i| i >= first && i.is_multiple_of(every))
}

/// All parameters, and those that one token uses.
pub(super) fn count(
    reader: &mut Reader<'_>,
    widths: &Widths,
    groups: &[LayerGroup],
    experts: Option<&Experts>,
    tied: bool,
) -> (f64, f64) {
    let hidden = f64::from(widths.hidden);
    let attention: f64 = groups
        .iter()
        .map(|group| f64::from(group.layers()) * attention_params(reader, widths, group))
        .sum();
    let matrices = if reader.model_type_is(UNGATED) { 2.0 } else { 3.0 };
    let mlp = |width: u32| matrices * hidden * f64::from(width);
    let dense_layers = widths.layers - experts.map_or(0, |e| e.moe_layers.min(widths.layers));
    let dense = if dense_layers == 0 {
        0.0
    } else {
        f64::from(dense_layers) * mlp(dense_intermediate(reader, widths))
    };
    let embeddings = f64::from(widths.vocab) * hidden * if tied { 1.0 } else { 2.0 };
    let always = attention + dense + embeddings;
    let Some(experts) = experts else {
        return (always, always);
    };
    let moe_layers = f64::from(experts.moe_layers);
    let routed = f64::from(experts.shape.num_experts);
    let beside = mlp(experts.shared_intermediate) + routed * hidden;
    let each = mlp(experts.intermediate);
    let used = f64::from(experts.shape.experts_per_token);
    (always + moe_layers * (beside + routed * each), always + moe_layers * (beside + used * each))
}

fn dense_intermediate(reader: &mut Reader<'_>, widths: &Widths) -> u32 {
    if reader.model_type_is(UNGATED) && !INTERMEDIATE_KEYS.iter().any(|key| reader.has(key)) {
        return widths.hidden.saturating_mul(4);
    }
    if reader.model_type_is(&["llama4", "llama4_text"]) && reader.has("intermediate_size_mlp") {
        return reader.need("feed-forward width", &["intermediate_size_mlp"]);
    }
    reader.need("feed-forward width", INTERMEDIATE_KEYS)
}

/// Attention matrices of one layer.
fn attention_params(reader: &mut Reader<'_>, widths: &Widths, group: &LayerGroup) -> f64 {
    let (hidden, heads) = (f64::from(widths.hidden), f64::from(widths.heads));
    match group {
        LayerGroup::Full { kv_heads, head_dim, v_head_dim, .. }
        | LayerGroup::SlidingWindow { kv_heads, head_dim, v_head_dim, .. } => {
            let (key, value) = (f64::from(*head_dim), f64::from(v_head_dim.unwrap_or(*head_dim)));
            // Qwen3-Next gates the attention output with one more matrix.
            let gate = if reader.flag("attn_output_gate") == Some(true)
                || reader.model_type_is(&["qwen3_next"])
            {
                hidden * heads * value
            } else {
                0.0
            };
            hidden * (heads + f64::from(*kv_heads)) * (key + value) + gate
        }
        LayerGroup::Mla {
            kv_lora_rank, qk_rope_head_dim, qk_nope_head_dim, v_head_dim, ..
        } => {
            let rank = f64::from(*kv_lora_rank);
            let (rope, nope) = (f64::from(*qk_rope_head_dim), f64::from(*qk_nope_head_dim));
            let value = f64::from(*v_head_dim);
            let queries = match reader.count(&["q_lora_rank"]) {
                Some(rank) if rank > 0 => f64::from(rank) * (hidden + heads * (nope + rope)),
                _ => hidden * heads * (nope + rope),
            };
            queries
                + hidden * (rank + rope)
                + rank * heads * (nope + value)
                + heads * value * hidden
        }
        LayerGroup::Linear { .. } => {
            let dims = LinearDims::read(reader);
            let (keys, values) = (dims.keys() as f64, dims.values() as f64);
            hidden * (2.0 * keys + 3.0 * values)
        }
    }
}
