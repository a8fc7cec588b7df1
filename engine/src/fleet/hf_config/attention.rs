//! Which attention each layer has.

use super::super::model::LayerGroup;
use super::Widths;
use super::reader::Reader;

/// Attention of one layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Full,
    Window(u32),
    Linear,
}

/// Keys of architectures whose layers cannot be read from the config alone.
const UNREADABLE: &[&str] = &[
    "hybrid_override_pattern",
    "attn_layer_period",
    "attn_layer_indices",
    "attn_type_list",
    "linear_attn_config",
    "ssm_cfg",
    "mamba_d_state",
    "block_types",
];

/// Layers grouped by attention, in the order in which each kind first occurs.
pub(super) fn layer_groups(reader: &mut Reader<'_>, widths: &Widths) -> Vec<LayerGroup> {
    if let Some(key) = UNREADABLE.iter().find(|key| reader.has(key)) {
        reader.problem(
            key,
            format!("layers described by {key} are not read"),
            "enter the layer groups by numbers: layers, kv_heads, head_dim, state_bytes_per_layer",
        );
        return Vec::new();
    }
    remarks(reader);
    let mut kinds: Vec<(Kind, u32)> = Vec::new();
    for kind in layer_kinds(reader, widths) {
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, layers)) => *layers += 1,
            None => kinds.push((kind, 1)),
        }
    }
    kinds.into_iter().map(|(kind, layers)| group(reader, widths, kind, layers)).collect()
}

/// What a config may hold that the cache arithmetic does not take into account.
fn remarks(reader: &mut Reader<'_>) {
    if reader.has("index_topk") {
        reader.note(
            "Sparse attention (index_topk): the index cache and the saving in attention time are \
             left out.",
        );
    }
    if reader.count(&["num_kv_shared_layers"]).is_some_and(|layers| layers > 0) {
        reader.note(
            "Layers that share another layer's cache (num_kv_shared_layers) are charged a cache \
             of their own: an upper bound.",
        );
    }
}

fn layer_kinds(reader: &mut Reader<'_>, widths: &Widths) -> Vec<Kind> {
    let window = window(reader, widths);
    let by_index = |kind: &dyn Fn(u32) -> Kind| (0..widths.layers).map(kind).collect();
    if let Some(kinds) = listed_kinds(reader, widths, window) {
        return kinds;
    }
    if let Some(interval) = reader.count(&["full_attention_interval"]) {
        // Qwen3-Next: every n-th layer has full attention, the others are linear.
        return by_index(&|i| if is_nth(i, interval) { Kind::Full } else { Kind::Linear });
    }
    let Some(window) = window else {
        return by_index(&|_| Kind::Full);
    };
    if let Some(first) = reader.count(&["max_window_layers"]) {
        // Qwen2: the first layers keep every token.
        return by_index(&|i| if i < first { Kind::Full } else { Kind::Window(window) });
    }
    match full_every(reader) {
        Some(every) => {
            by_index(&|i| if is_nth(i, every) { Kind::Full } else { Kind::Window(window) })
        }
        None => by_index(&|_| Kind::Window(window)),
    }
}

fn is_nth(index: u32, every: u32) -> bool {
    every != 0 && (index + 1).is_multiple_of(every)
}

const WINDOW_KEYS: &[&str] = &["sliding_window", "sliding_window_size", "attention_chunk_size"];

/// The window in tokens, where one is in use and shorter than the context.
fn window(reader: &mut Reader<'_>, widths: &Widths) -> Option<u32> {
    if reader.flag("use_sliding_window") == Some(false) {
        return None;
    }
    let window = reader.count(WINDOW_KEYS);
    window.filter(|window| *window > 0 && *window < widths.max_context)
}

/// One layer in how many keeps every token, by key or by a model type whose code says so.
fn full_every(reader: &mut Reader<'_>) -> Option<u32> {
    let key = ["sliding_window_pattern", "_sliding_window_pattern", "no_rope_layer_interval"];
    if let Some(every) = reader.count(&key) {
        return Some(every);
    }
    let every = if reader.model_type_is(&["gemma2"]) {
        2
    } else if reader.model_type_is(&["gemma3", "gemma3_text"]) {
        6
    } else if reader.model_type_is(&["llama4", "llama4_text", "cohere2"]) {
        4
    } else {
        return None;
    };
    reader.note(format!(
        "The config does not list its layers: one in {every} keeps every token, as the library \
         does for this model type."
    ));
    Some(every)
}

/// Layers that the config lists one by one.
fn listed_kinds(
    reader: &mut Reader<'_>,
    widths: &Widths,
    window: Option<u32>,
) -> Option<Vec<Kind>> {
    let windowed = window.map_or(Kind::Full, Kind::Window);
    if let Some(list) = reader.list("layer_types") {
        let sliding = |name: &str| {
            matches!(name, "sliding_attention" | "chunked_attention" | "local_sliding")
        };
        let any_sliding = list.iter().any(|value| value.as_str().is_some_and(sliding));
        if any_sliding && !WINDOW_KEYS.iter().any(|key| reader.has(key)) {
            reader.need("window of the sliding layers", WINDOW_KEYS);
        }
        let kinds = list.iter().map(|value| match value.as_str() {
            Some("full_attention" | "attention" | "global") => Ok(Kind::Full),
            Some(name) if sliding(name) => Ok(windowed),
            Some("linear_attention") => Ok(Kind::Linear),
            _ => Err(value.to_string().chars().take(40).collect::<String>()),
        });
        return Some(listed(reader, "layer_types", kinds.collect(), widths));
    }
    for (key, full) in [("hybrid_layer_pattern", 0), ("no_rope_layers", 0)] {
        if let Some(list) = reader.list(key) {
            let kinds = list.iter().map(|value| match value.as_u64() {
                Some(flag) if flag == full => Ok(Kind::Full),
                Some(_) => Ok(windowed),
                None => Err(value.to_string().chars().take(40).collect::<String>()),
            });
            return Some(listed(reader, key, kinds.collect(), widths));
        }
    }
    None
}

fn listed(
    reader: &mut Reader<'_>,
    key: &str,
    kinds: Result<Vec<Kind>, String>,
    widths: &Widths,
) -> Vec<Kind> {
    match kinds {
        Err(other) => {
            reader.problem(
                key,
                format!("layers of kind {other} are not read"),
                "full_attention, sliding_attention, chunked_attention or linear_attention; or \
                 enter the layer groups by numbers",
            );
            Vec::new()
        }
        Ok(kinds) if kinds.len() < widths.layers as usize => {
            reader.problem(
                key,
                format!("{} entries for {} layers", kinds.len(), widths.layers),
                "one entry per layer",
            );
            Vec::new()
        }
        Ok(mut kinds) => {
            if kinds.len() > widths.layers as usize {
                reader.note(format!(
                    "{key} lists more than num_hidden_layers; the rest is left out."
                ));
                kinds.truncate(widths.layers as usize);
            }
            kinds
        }
    }
}

fn group(reader: &mut Reader<'_>, widths: &Widths, kind: Kind, layers: u32) -> LayerGroup {
    match kind {
        Kind::Linear => LayerGroup::Linear { layers, state_bytes_per_layer: linear_state(reader) },
        Kind::Full if reader.has("kv_lora_rank") => LayerGroup::Mla {
            layers,
            kv_lora_rank: reader.need("latent width", &["kv_lora_rank"]),
            qk_rope_head_dim: reader.need("positional key width", &["qk_rope_head_dim"]),
            qk_nope_head_dim: reader.need("key width without position", &["qk_nope_head_dim"]),
            v_head_dim: reader.need("value width", &["v_head_dim"]),
        },
        Kind::Full => {
            let (kv_heads, head_dim, v_head_dim) = heads(
                reader,
                widths,
                &["num_global_key_value_heads"],
                &["global_head_dim"],
                &["v_head_dim"],
            );
            LayerGroup::Full { layers, kv_heads, head_dim, v_head_dim }
        }
        Kind::Window(window_tokens) => {
            let (kv_heads, head_dim, v_head_dim) = heads(
                reader,
                widths,
                &["swa_num_key_value_heads"],
                &["swa_head_dim"],
                &["swa_v_head_dim", "v_head_dim"],
            );
            LayerGroup::SlidingWindow { layers, kv_heads, head_dim, v_head_dim, window_tokens }
        }
    }
}

/// Key-value heads, key width and, where it differs, value width; keys of this kind of layer
/// first, then those of all layers.
fn heads(
    reader: &mut Reader<'_>,
    widths: &Widths,
    own_heads: &[&str],
    own_width: &[&str],
    value_width: &[&str],
) -> (u32, u32, Option<u32>) {
    let shared_heads =
        ["num_key_value_heads", "n_kv_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num"];
    let kv_heads = reader.count(own_heads).or_else(|| reader.count(&shared_heads));
    let kv_heads = kv_heads.unwrap_or_else(|| {
        if reader.flag("multi_query") == Some(true) {
            return 1;
        }
        reader.note(
            "The config does not say num_key_value_heads: every attention head has its own, which \
             is the library's default.",
        );
        widths.heads
    });
    let width = reader
        .count(own_width)
        .or_else(|| reader.count(&["head_dim", "attention_head_dim", "kv_channels"]));
    let head_dim = width.unwrap_or_else(|| {
        if !widths.hidden.is_multiple_of(widths.heads) && !reader.has_problems() {
            reader.problem(
                "head_dim",
                format!(
                    "the config has no head_dim, and a hidden size of {} does not divide by {} \
                     heads",
                    widths.hidden, widths.heads
                ),
                "add head_dim, or enter the model by numbers",
            );
        }
        (widths.hidden / widths.heads).max(1)
    });
    let v_head_dim = reader.count(value_width).filter(|width| *width != head_dim);
    (kv_heads, head_dim, v_head_dim)
}

/// Recurrent and convolution state of a gated delta-net layer (Qwen3-Next), bytes: 32-bit
/// key × value matrices, and 16-bit inputs of the convolution.
fn linear_state(reader: &mut Reader<'_>) -> u64 {
    let dims = LinearDims::read(reader);
    let recurrent = dims.values().saturating_mul(u64::from(dims.key_dim)).saturating_mul(4);
    let kernel = reader.need("convolution width", &["linear_conv_kernel_dim"]);
    let convolution = (2 * dims.keys() + dims.values())
        .saturating_mul(u64::from(kernel).saturating_sub(1))
        .saturating_mul(2);
    recurrent.saturating_add(convolution)
}

/// Widths of a gated delta-net layer.
pub(super) struct LinearDims {
    key_heads: u32,
    value_heads: u32,
    key_dim: u32,
    value_dim: u32,
}

impl LinearDims {
    pub(super) fn read(reader: &mut Reader<'_>) -> Self {
        Self {
            key_heads: reader.need("key heads of linear layers", &["linear_num_key_heads"]),
            value_heads: reader.need("value heads of linear layers", &["linear_num_value_heads"]),
            key_dim: reader.need("key width of linear layers", &["linear_key_head_dim"]),
            value_dim: reader.need("value width of linear layers", &["linear_value_head_dim"]),
        }
    }

    /// All keys of a token.
    pub(super) fn keys(&self) -> u64 {
        u64::from(self.key_heads) * u64::from(self.key_dim)
    }

    /// All values of a token.
    pub(super) fn values(&self) -> u64 {
        u64::from(self.value_heads) * u64::from(self.value_dim)
    }
}
