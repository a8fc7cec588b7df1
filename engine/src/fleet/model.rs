//! A model's architecture: what decides its memory and its arithmetic.

use serde::{Deserialize, Serialize};

/// A decoder-only transformer by its numbers.
///
/// Weights are described by two totals. With k of E experts per token the routed experts hold
/// `(total − active) / (1 − k/E)` parameters; the rest is always active. So memory follows
/// `params_total_billions` and decode reads follow `params_active_billions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelShape {
    /// Catalogue id, or any name for a model entered by numbers.
    pub name: String,
    /// All parameters, embeddings included, 1e9.
    pub params_total_billions: f64,
    /// Parameters that one token uses, embeddings included, 1e9; none for a dense model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params_active_billions: Option<f64>,
    /// Width of the residual stream.
    pub hidden_size: u32,
    /// Query heads of every attention layer.
    pub num_attention_heads: u32,
    /// Vocabulary size.
    pub vocab_size: u32,
    /// Whether embedding and LM head are one matrix.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tied_embeddings: bool,
    /// Longest context the model was made for, tokens.
    pub max_context_tokens: u32,
    /// Layers by the attention they have.
    pub layer_groups: Vec<LayerGroup>,
    /// Routed experts, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moe: Option<MoeShape>,
}

/// Layers of one kind of attention.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "attention", rename_all = "snake_case", deny_unknown_fields)]
pub enum LayerGroup {
    /// Every token attends to all before it (MHA, GQA, MQA).
    Full {
        /// Layers of this kind.
        layers: u32,
        /// Key-value heads.
        kv_heads: u32,
        /// Width of a key head, and of a value head unless `v_head_dim` says otherwise.
        head_dim: u32,
        /// Width of a value head where it differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        v_head_dim: Option<u32>,
    },
    /// Every token attends to the last `window_tokens`; older cache entries are freed.
    SlidingWindow {
        /// Layers of this kind.
        layers: u32,
        /// Key-value heads.
        kv_heads: u32,
        /// Width of a key head, and of a value head unless `v_head_dim` says otherwise.
        head_dim: u32,
        /// Width of a value head where it differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        v_head_dim: Option<u32>,
        /// Tokens that stay visible.
        window_tokens: u32,
    },
    /// Multi-head latent attention (DeepSeek-V2 and later): one latent vector per token, which
    /// every tensor-parallel rank holds whole.
    Mla {
        /// Layers of this kind.
        layers: u32,
        /// Width of the latent.
        kv_lora_rank: u32,
        /// Width of the shared positional key.
        qk_rope_head_dim: u32,
        /// Width of a head's key without its positional part.
        qk_nope_head_dim: u32,
        /// Width of a head's value.
        v_head_dim: u32,
    },
    /// Linear attention or state-space layers: a state of fixed size per sequence.
    Linear {
        /// Layers of this kind.
        layers: u32,
        /// State of one layer and sequence, all ranks together, bytes.
        state_bytes_per_layer: u64,
    },
}

/// Routed experts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoeShape {
    /// Routed experts of one layer.
    pub num_experts: u32,
    /// Experts that one token uses.
    pub experts_per_token: u32,
    /// Layers that have experts; none if all have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moe_layers: Option<u32>,
    /// Experts that every token uses beside the routed ones (counted in the active parameters).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub shared_experts: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl LayerGroup {
    /// Layers of this kind.
    pub fn layers(&self) -> u32 {
        match self {
            Self::Full { layers, .. }
            | Self::SlidingWindow { layers, .. }
            | Self::Mla { layers, .. }
            | Self::Linear { layers, .. } => *layers,
        }
    }

    /// Tokens after which the cache of a sequence stops growing.
    pub fn window_tokens(&self) -> Option<u32> {
        match self {
            Self::SlidingWindow { window_tokens, .. } => Some(*window_tokens),
            _ => None,
        }
    }

    /// Values that one token leaves in the cache of one layer on one of `tensor_parallel` GPUs.
    ///
    /// Key-value heads are split over the ranks and replicated when there are more ranks than
    /// heads; the latent of MLA is held whole by each rank.
    pub fn kv_elements_per_token(&self, tensor_parallel: u32) -> u64 {
        match self {
            Self::Full { kv_heads, head_dim, v_head_dim, .. }
            | Self::SlidingWindow { kv_heads, head_dim, v_head_dim, .. } => {
                let heads = kv_heads.div_ceil(tensor_parallel.max(1));
                u64::from(heads)
                    * (u64::from(*head_dim) + u64::from(v_head_dim.unwrap_or(*head_dim)))
            }
            Self::Mla { kv_lora_rank, qk_rope_head_dim, .. } => {
                u64::from(*kv_lora_rank) + u64::from(*qk_rope_head_dim)
            }
            Self::Linear { .. } => 0,
        }
    }

    /// Key-value heads, where the group has them.
    pub fn kv_heads(&self) -> Option<u32> {
        match self {
            Self::Full { kv_heads, .. } | Self::SlidingWindow { kv_heads, .. } => Some(*kv_heads),
            Self::Mla { .. } | Self::Linear { .. } => None,
        }
    }

    /// Key width plus value width of one query head during prefill; none without attention.
    pub fn head_widths(&self) -> Option<u32> {
        match self {
            Self::Full { head_dim, v_head_dim, .. }
            | Self::SlidingWindow { head_dim, v_head_dim, .. } => {
                Some(head_dim.saturating_add(v_head_dim.unwrap_or(*head_dim)))
            }
            Self::Mla { qk_rope_head_dim, qk_nope_head_dim, v_head_dim, .. } => {
                Some(qk_rope_head_dim.saturating_add(*qk_nope_head_dim).saturating_add(*v_head_dim))
            }
            Self::Linear { .. } => None,
        }
    }
}

impl ModelShape {
    /// All layers.
    pub fn layers(&self) -> u32 {
        self.layer_groups.iter().fold(0, |sum, group| sum.saturating_add(group.layers()))
    }

    /// Layers with routed experts.
    pub fn moe_layers(&self) -> u32 {
        self.moe.as_ref().map_or(0, |moe| moe.moe_layers.unwrap_or_else(|| self.layers()))
    }

    /// All parameters.
    pub fn params_total(&self) -> f64 {
        self.params_total_billions * 1e9
    }

    /// Parameters that one token uses.
    pub fn params_active(&self) -> f64 {
        self.params_active_billions.map_or(self.params_total(), |billions| billions * 1e9)
    }

    /// Parameters of the embedding, and as many of the LM head.
    pub fn embedding_params(&self) -> f64 {
        f64::from(self.vocab_size) * f64::from(self.hidden_size)
    }

    /// Parameters of embedding and LM head as stored: once if they are tied.
    pub fn stored_embedding_params(&self) -> f64 {
        self.embedding_params() * if self.tied_embeddings { 1.0 } else { 2.0 }
    }

    /// Share of the routed experts that one token uses, k/E; 0 for a dense model.
    pub fn expert_share(&self) -> f64 {
        self.moe
            .as_ref()
            .map_or(0.0, |moe| f64::from(moe.experts_per_token) / f64::from(moe.num_experts.max(1)))
    }

    /// Parameters of all routed experts, from the two totals and k/E.
    pub fn expert_params(&self) -> f64 {
        let share = self.expert_share();
        if self.moe.is_none() || share >= 1.0 {
            return 0.0;
        }
        (self.params_total() - self.params_active()) / (1.0 - share)
    }

    /// Parameters of everything that each token passes through, embedding and LM head left out.
    pub fn linear_params(&self) -> f64 {
        self.params_total() - self.expert_params() - self.stored_embedding_params()
    }

    /// Whether two models do the same arithmetic, whatever they are called and trained for.
    pub fn same_architecture(&self, other: &Self) -> bool {
        let relative =
            |a: f64, b: f64| (a - b).abs() <= SAME_PARAMS_TOLERANCE * a.abs().max(b.abs());
        self.hidden_size == other.hidden_size
            && self.num_attention_heads == other.num_attention_heads
            && self.vocab_size == other.vocab_size
            && self.tied_embeddings == other.tied_embeddings
            && self.sorted_layer_groups() == other.sorted_layer_groups()
            && self.moe == other.moe
            && relative(self.params_total(), other.params_total())
            && relative(self.params_active(), other.params_active())
    }

    fn sorted_layer_groups(&self) -> Vec<&LayerGroup> {
        let mut groups: Vec<&LayerGroup> = self.layer_groups.iter().collect();
        groups.sort_unstable();
        groups
    }
}

/// Two counts of one architecture (norms and biases counted or not) differ by less than this.
const SAME_PARAMS_TOLERANCE: f64 = 2e-3;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A dense model whose parameters are counted from its widths, with an MLP of 3.5 hidden.
    pub(crate) fn dense(
        hidden: u32,
        heads: u32,
        layers: u32,
        kv_heads: u32,
        head_dim: u32,
    ) -> ModelShape {
        let (h, n) = (f64::from(hidden), f64::from(layers));
        let attention = h * f64::from((2 * heads + 2 * kv_heads) * head_dim);
        let params = n * (attention + 3.0 * 3.5 * h * h) + 2.0 * 32_000.0 * h;
        ModelShape {
            name: "test".into(),
            params_total_billions: params / 1e9,
            params_active_billions: None,
            hidden_size: hidden,
            num_attention_heads: heads,
            vocab_size: 32_000,
            tied_embeddings: false,
            max_context_tokens: 131_072,
            layer_groups: vec![LayerGroup::Full { layers, kv_heads, head_dim, v_head_dim: None }],
            moe: None,
        }
    }

    #[test]
    fn a_sound_model_has_no_problems_and_survives_json() {
        let model = dense(4096, 32, 32, 8, 128);
        assert_eq!(model.check(), vec![]);
        let json = serde_json::to_string(&model).expect("serialises");
        assert!(!json.contains("moe"), "{json}");
        assert_eq!(serde_json::from_str::<ModelShape>(&json).expect("parses"), model);
    }

    #[test]
    fn unknown_fields_are_refused_also_inside_a_layer_group() {
        let json = serde_json::to_string(&dense(4096, 32, 32, 8, 128)).expect("serialises");
        let misspelt = json.replace("\"kv_heads\"", "\"kv_head\"");
        assert!(serde_json::from_str::<ModelShape>(&misspelt).is_err());
        let extra = json.replace("\"head_dim\"", "\"window_tokens\":5,\"head_dim\"");
        assert!(serde_json::from_str::<ModelShape>(&extra).is_err());
    }

    #[test]
    fn experts_follow_from_the_two_totals() {
        let mut model = dense(4096, 64, 94, 4, 128);
        model.params_total_billions = 235.0;
        model.params_active_billions = Some(22.0);
        model.moe = Some(MoeShape {
            num_experts: 128,
            experts_per_token: 8,
            moe_layers: None,
            shared_experts: 0,
        });
        let rest = model.linear_params() + model.stored_embedding_params();
        assert!((rest + model.expert_params() - 235e9).abs() < 1.0);
        assert!((rest + model.expert_params() * 8.0 / 128.0 - 22e9).abs() < 1.0);
        assert_eq!(model.check(), vec![]);
    }
}
