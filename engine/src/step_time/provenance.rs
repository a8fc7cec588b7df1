//! Where a step time comes from, how far off it may be, and where it was measured.

use serde::{Deserialize, Serialize};

/// Kinds of source, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Fitted from the user's own files.
    Measured,
    /// Fitted from published kernel tables of exactly this configuration.
    Library,
    /// One law per GPU, shared by models: not measured for this model.
    Physics,
    /// Datasheet rates and typical efficiencies: not measured on this GPU.
    Datasheet,
    /// Typed in.
    Declared,
}

impl Origin {
    /// The tag beside a number.
    pub fn label(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Library => "library",
            Self::Physics => "physics",
            Self::Datasheet => "datasheet",
            Self::Declared => "declared",
        }
    }
}

/// How far the true step time may be from the predicted one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorBand {
    /// Mean absolute relative error, e.g. 0.04.
    pub typical: f64,
    /// Lowest plausible true ÷ predicted.
    pub low: f64,
    /// Highest plausible true ÷ predicted.
    pub high: f64,
}

impl ErrorBand {
    /// A band of plus and minus `spread` around the prediction.
    pub fn symmetric(typical: f64, spread: f64) -> Self {
        Self { typical, low: (1.0 - spread).max(0.1), high: 1.0 + spread }
    }
}

/// Origin, source and band of a step law.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Provenance {
    /// Kind of source.
    pub origin: Origin,
    /// Citation: repository and version, file, or whoever declared it.
    pub source: String,
    /// Licence of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// How far off it may be; none for declared numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<ErrorBand>,
    /// What the band was found on, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band_basis: Option<String>,
}

/// The range of batch shapes that a law was fitted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hull {
    /// Prompt tokens of one step without decodes.
    pub max_prefill_tokens: u64,
    /// Cached tokens before a chunk.
    pub max_prefill_context: u64,
    /// Decode sequences of one step.
    pub max_decode_seqs: u64,
    /// Fewest cached tokens of a decode.
    pub min_kv_per_seq: u64,
    /// Most cached tokens of a decode.
    pub max_kv_per_seq: u64,
    /// Prompt tokens of a step with decodes.
    pub max_mixed_prefill_tokens: u64,
    /// Decode sequences of a step with prompts.
    pub max_mixed_decode_seqs: u64,
    /// Cached tokens of a decode in a step with prompts.
    pub max_mixed_kv_per_seq: u64,
}

/// The largest batch shapes that a scenario brings about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// Prompt tokens of one step.
    pub prefill_tokens: u64,
    /// Cached tokens before a chunk.
    pub prefill_context: u64,
    /// Decode sequences of one step.
    pub decode_seqs: u64,
    /// Cached tokens of a decode.
    pub kv_per_seq: u64,
}

impl Hull {
    /// The grid of `calibration/iteration`, on which library rows and physics laws were fitted.
    pub const KERNEL_GRID: Self = Self {
        max_prefill_tokens: 16_384,
        max_prefill_context: 12_288,
        max_decode_seqs: 512,
        min_kv_per_seq: 128,
        max_kv_per_seq: 32_768,
        max_mixed_prefill_tokens: 2_048,
        max_mixed_decode_seqs: 256,
        max_mixed_kv_per_seq: 8_192,
    };

    /// In which respects a load lies outside what was measured, in words.
    pub fn extrapolations(&self, load: &Load) -> Vec<String> {
        let mut beyond = Vec::new();
        let mut over = |what: &str, value: u64, limit: u64| {
            if value > limit {
                beyond.push(format!("{what}: {value}, measured up to {limit}"));
            }
        };
        let mixed = load.prefill_tokens > 0 && load.decode_seqs > 0;
        over("prompt tokens in one step", load.prefill_tokens, self.max_prefill_tokens);
        over("cached tokens before a chunk", load.prefill_context, self.max_prefill_context);
        over("decodes in one step", load.decode_seqs, self.max_decode_seqs);
        over("cached tokens of a decode", load.kv_per_seq, self.max_kv_per_seq);
        if mixed {
            let prefill = load.prefill_tokens.min(self.max_prefill_tokens);
            over("prompt tokens in a step with decodes", prefill, self.max_mixed_prefill_tokens);
            let decodes = load.decode_seqs.min(self.max_decode_seqs);
            over("decodes in a step with prompts", decodes, self.max_mixed_decode_seqs);
            let kv = load.kv_per_seq.min(self.max_kv_per_seq);
            over("cached tokens in a step with prompts", kv, self.max_mixed_kv_per_seq);
        }
        if load.decode_seqs > 0 && load.kv_per_seq < self.min_kv_per_seq {
            beyond.push(format!(
                "cached tokens of a decode: {}, measured from {}",
                load.kv_per_seq, self.min_kv_per_seq
            ));
        }
        beyond
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_budget_of_8192_leaves_the_grid_only_in_mixed_steps() {
        let load = Load { prefill_tokens: 8192, prefill_context: 0, decode_seqs: 0, kv_per_seq: 0 };
        assert_eq!(Hull::KERNEL_GRID.extrapolations(&load), Vec::<String>::new());
        let mixed = Load { decode_seqs: 64, kv_per_seq: 1000, ..load };
        assert_eq!(
            Hull::KERNEL_GRID.extrapolations(&mixed),
            vec!["prompt tokens in a step with decodes: 8192, measured up to 2048"]
        );
    }

    #[test]
    fn each_side_of_the_hull_is_guarded() {
        let inside =
            Load { prefill_tokens: 2048, prefill_context: 0, decode_seqs: 256, kv_per_seq: 8192 };
        let count = |load: Load| Hull::KERNEL_GRID.extrapolations(&load).len();
        assert_eq!(count(inside), 0);
        assert_eq!(count(Load { prefill_context: 20_000, ..inside }), 1);
        assert_eq!(count(Load { decode_seqs: 257, ..inside }), 1);
        assert_eq!(count(Load { decode_seqs: 600, ..inside }), 2);
        assert_eq!(count(Load { kv_per_seq: 100, ..inside }), 1);
        assert_eq!(count(Load { kv_per_seq: 40_000, ..inside }), 2);
    }
}
