//! A model from the `config.json` of a Hugging Face repository.
//!
//! What is read is the architecture by its numbers; an unknown architecture name is no obstacle.
//! Key spellings and defaults are those of huggingface/transformers 4.57 and of the remote code
//! of the models named beside them. A config does not state parameter counts: they are counted
//! from the widths (norms and biases left out, which is below 0.2 %).

mod attention;
mod parameters;
mod reader;

use serde_json::Value;

use self::reader::Reader;
use super::model::ModelShape;
use super::precision::WeightPrecision;
use crate::problem::Problem;

/// A config is a few kilobytes; anything beyond this is something else.
const LARGEST_CONFIG_BYTES: usize = 1 << 20;
/// More layers than any model has.
pub(super) const MOST_LAYERS: u32 = 10_000;

/// What a config says.
#[derive(Debug, Clone, PartialEq)]
pub struct HfConfig {
    /// The architecture.
    pub shape: ModelShape,
    /// Precision in which the checkpoint is stored, where the config names one this engine knows.
    pub native_weights: Option<WeightPrecision>,
    /// What was assumed or left out, in sentences.
    pub notes: Vec<String>,
}

/// Reads a `config.json`. All problems are found at once; their paths are the config's keys.
pub fn parse_hf_config(text: &str) -> Result<HfConfig, Vec<Problem>> {
    let root = root_object(text).map_err(|problem| vec![problem])?;
    let mut reader = Reader::new(&root);
    let config = read(&mut reader);
    let (mut problems, notes) = reader.finish();
    if problems.is_empty() {
        problems = config.shape.check();
    }
    if problems.is_empty() { Ok(HfConfig { notes, ..config }) } else { Err(problems) }
}

fn root_object(text: &str) -> Result<serde_json::Map<String, Value>, Problem> {
    let not_a_config = |message: String| {
        Problem::error(
            "",
            message,
            "the whole config.json of a model repository, starting with { and ending with }",
        )
    };
    if text.len() > LARGEST_CONFIG_BYTES {
        return Err(not_a_config(format!("{} bytes are no model config", text.len())));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(root)) => Ok(root),
        Ok(_) => Err(not_a_config("a model config is a JSON object".into())),
        Err(why) => Err(not_a_config(format!("this is no JSON: {why}"))),
    }
}

fn read(reader: &mut Reader<'_>) -> HfConfig {
    let layers = reader.need("layers", &["num_hidden_layers", "n_layer", "num_layers", "n_layers"]);
    if layers > MOST_LAYERS {
        reader.problem("num_hidden_layers", format!("{layers} layers"), "at most 10000");
    }
    let widths = Widths {
        layers: layers.min(MOST_LAYERS),
        hidden: reader.need("hidden size", &["hidden_size", "n_embd", "d_model", "dim"]),
        heads: reader
            .need("attention heads", &["num_attention_heads", "n_head", "num_heads", "n_heads"]),
        vocab: reader.need("vocabulary size", &["vocab_size", "padded_vocab_size"]),
        max_context: reader.need("longest context", MAX_CONTEXT_KEYS),
    };
    let tied_embeddings = tied(reader);
    let layer_groups = attention::layer_groups(reader, &widths);
    let moe = parameters::experts(reader, &widths);
    let (total, active) =
        parameters::count(reader, &widths, &layer_groups, moe.as_ref(), tied_embeddings);
    HfConfig {
        shape: ModelShape {
            name: reader.model_name(),
            params_total_billions: total / 1e9,
            params_active_billions: moe.as_ref().map(|_| active / 1e9),
            hidden_size: widths.hidden,
            num_attention_heads: widths.heads,
            vocab_size: widths.vocab,
            tied_embeddings,
            max_context_tokens: widths.max_context,
            layer_groups,
            moe: moe.map(|moe| moe.shape),
        },
        native_weights: native_weights(reader),
        notes: Vec::new(),
    }
}

const MAX_CONTEXT_KEYS: &[&str] = &[
    "max_position_embeddings",
    "max_sequence_length",
    "max_seq_len",
    "n_positions",
    "seq_length",
    "model_max_length",
    "n_ctx",
];

/// The widths that everything else is counted from.
pub(super) struct Widths {
    pub layers: u32,
    pub hidden: u32,
    pub heads: u32,
    pub vocab: u32,
    pub max_context: u32,
}

fn tied(reader: &mut Reader<'_>) -> bool {
    reader.flag("tie_word_embeddings").unwrap_or_else(|| {
        reader.note(
            "The config does not say tie_word_embeddings: embedding and LM head are taken as one \
             matrix, which is the library's default.",
        );
        true
    })
}

/// The checkpoint's precision, from `quantization_config`.
fn native_weights(reader: &mut Reader<'_>) -> Option<WeightPrecision> {
    let quantization = reader.object("quantization_config")?;
    let word = |key: &str| {
        quantization.get(key).and_then(Value::as_str).unwrap_or_default().to_lowercase()
    };
    let bits = quantization.get("bits").and_then(Value::as_u64);
    let (method, algorithm) = (word("quant_method"), word("quant_algo") + &word("format"));
    let found = match (method.as_str(), bits) {
        ("mxfp4", _) => Some(WeightPrecision::Mxfp4Experts),
        ("fp8" | "fbgemm_fp8", _) => Some(WeightPrecision::Fp8),
        ("awq", _) | ("gptq", Some(4)) => Some(WeightPrecision::Int4),
        ("gptq", Some(8)) => Some(WeightPrecision::Int8),
        _ if algorithm.contains("nvfp4") => Some(WeightPrecision::Nvfp4),
        _ if algorithm.contains("fp8") || algorithm.contains("float-quantized") => {
            Some(WeightPrecision::Fp8)
        }
        _ => None,
    };
    if found.is_none() {
        reader.note(format!(
            "The checkpoint is quantised as \"{method}\", which is not read: choose the weights' \
             precision, or give bytes per parameter."
        ));
    }
    found
}

#[cfg(test)]
mod tests;
