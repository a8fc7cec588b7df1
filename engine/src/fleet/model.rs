//! A model's architecture: what decides its memory and its arithmetic.

use serde::{Deserialize, Serialize};

use crate::problem::Problem;

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
            && self.layer_groups == other.layer_groups
            && self.moe == other.moe
            && relative(self.params_total(), other.params_total())
            && relative(self.params_active(), other.params_active())
    }

    /// Everything that is wrong with the numbers; paths are relative to the model.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.check_counts(&mut problems);
        for (index, group) in self.layer_groups.iter().enumerate() {
            check_group(group, self.num_attention_heads, index, &mut problems);
        }
        if problems.is_empty() {
            self.check_parameters(&mut problems);
        }
        problems
    }

    fn check_counts(&self, problems: &mut Vec<Problem>) {
        for (path, value, max) in [
            ("hidden_size", self.hidden_size, 1 << 20),
            ("num_attention_heads", self.num_attention_heads, 1 << 14),
            ("vocab_size", self.vocab_size, 1 << 24),
            ("max_context_tokens", self.max_context_tokens, 1 << 30),
        ] {
            if value == 0 || value > max {
                problems.push(Problem::error(
                    path,
                    format!("{value} is out of range"),
                    format!("1 to {max}"),
                ));
            }
        }
        let layers = self.layers();
        if layers == 0 || layers > 10_000 {
            problems.push(Problem::error(
                "layer_groups",
                format!("{layers} layers in all groups together"),
                "1 to 10000",
            ));
        } else if self.layer_groups.iter().all(|group| group.kv_elements_per_token(1) == 0) {
            problems.push(Problem::error(
                "layer_groups",
                "no layer keeps keys and values, so there is no cache to plan",
                "at least one group with full, sliding_window or mla attention",
            ));
        }
        if let Some(moe) = &self.moe {
            if moe.experts_per_token == 0 || moe.experts_per_token > moe.num_experts {
                problems.push(Problem::error(
                    "moe.experts_per_token",
                    format!("{} of {} experts", moe.experts_per_token, moe.num_experts),
                    "1 to num_experts",
                ));
            }
            if moe.moe_layers.is_some_and(|n| n == 0 || n > layers) {
                problems.push(Problem::error(
                    "moe.moe_layers",
                    format!("{} of {layers} layers have experts", self.moe_layers()),
                    format!("1 to {layers}; leave it out if all have"),
                ));
            }
        }
    }

    fn check_parameters(&self, problems: &mut Vec<Problem>) {
        let (total, active) = (self.params_total(), self.params_active());
        if !(total.is_finite() && total > 0.0 && total < 1e15) {
            problems.push(Problem::error(
                "params_total_billions",
                format!("{} is no parameter count", self.params_total_billions),
                "above 0, at most 1000000 (billions)",
            ));
            return;
        }
        if !(active > 0.0 && active <= total) {
            problems.push(Problem::error(
                "params_active_billions",
                "one token cannot use more parameters than there are, nor none",
                format!("above 0, at most params_total_billions, {}", self.params_total_billions),
            ));
            return;
        }
        match (&self.moe, self.params_active_billions) {
            (Some(_), None) => problems.push(Problem::error(
                "params_active_billions",
                "a model with experts needs its active parameters",
                "the parameters that one token uses, 1e9, e.g. 22.2 of 235.1",
            )),
            (None, Some(billions)) if billions < self.params_total_billions => {
                problems.push(Problem::error(
                    "moe",
                    "fewer parameters are active than there are, but no experts are given",
                    "num_experts and experts_per_token, or no params_active_billions",
                ));
            }
            _ => {
                if self.linear_params() <= 0.0 {
                    problems.push(Problem::error(
                        "params_total_billions",
                        "embeddings and experts alone exceed it",
                        "check the two totals, vocab_size × hidden_size and k of E experts",
                    ));
                }
            }
        }
    }
}

/// Two counts of one architecture (norms and biases counted or not) differ by less than this.
const SAME_PARAMS_TOLERANCE: f64 = 2e-3;

fn check_group(group: &LayerGroup, heads: u32, index: usize, problems: &mut Vec<Problem>) {
    let path = |field: &str| format!("layer_groups[{index}].{field}");
    let mut positive = |field: &str, value: u64, max: u64| {
        if value == 0 || value > max {
            problems.push(Problem::error(
                path(field),
                format!("{value} is out of range"),
                format!("1 to {max}"),
            ));
        }
    };
    positive("layers", u64::from(group.layers()), 10_000);
    match group {
        LayerGroup::Full { kv_heads, head_dim, v_head_dim, .. }
        | LayerGroup::SlidingWindow { kv_heads, head_dim, v_head_dim, .. } => {
            positive("kv_heads", u64::from(*kv_heads), u64::from(heads));
            positive("head_dim", u64::from(*head_dim), 1 << 14);
            positive("v_head_dim", u64::from(v_head_dim.unwrap_or(*head_dim)), 1 << 14);
            positive("window_tokens", u64::from(group.window_tokens().unwrap_or(1)), 1 << 30);
        }
        LayerGroup::Mla {
            kv_lora_rank, qk_rope_head_dim, qk_nope_head_dim, v_head_dim, ..
        } => {
            positive("kv_lora_rank", u64::from(*kv_lora_rank), 1 << 16);
            positive("qk_rope_head_dim", u64::from(*qk_rope_head_dim), 1 << 14);
            positive("qk_nope_head_dim", u64::from(*qk_nope_head_dim), 1 << 14);
            positive("v_head_dim", u64::from(*v_head_dim), 1 << 14);
        }
        LayerGroup::Linear { state_bytes_per_layer, .. } => {
            positive("state_bytes_per_layer", *state_bytes_per_layer, 1 << 40);
        }
    }
}

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

    #[test]
    fn impossible_numbers_are_named() {
        type Spoil = fn(&mut ModelShape);
        let sound = dense(4096, 32, 32, 8, 128);
        let cases: [(&str, Spoil); 8] = [
            ("hidden_size", |m| m.hidden_size = 0),
            ("layer_groups", |m| m.layer_groups.clear()),
            ("params_total_billions", |m| m.params_total_billions = f64::NAN),
            ("params_total_billions", |m| m.params_total_billions = 0.1),
            ("params_active_billions", |m| m.params_active_billions = Some(1e6)),
            ("moe", |m| m.params_active_billions = Some(1.0)),
            ("layer_groups[0].kv_heads", |m| {
                m.layer_groups = vec![LayerGroup::Full {
                    layers: 1,
                    kv_heads: 33,
                    head_dim: 128,
                    v_head_dim: None,
                }];
            }),
            ("moe.experts_per_token", |m| {
                m.moe = Some(MoeShape {
                    num_experts: 8,
                    experts_per_token: 9,
                    moe_layers: None,
                    shared_experts: 0,
                });
            }),
        ];
        for (path, spoil) in cases {
            let mut model = sound.clone();
            spoil(&mut model);
            let problems = model.check();
            assert!(problems.iter().any(|p| p.path == path), "{path}: {problems:?}");
        }
    }
}
