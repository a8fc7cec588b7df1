//! What can be wrong with a model's numbers.

use super::model::{LayerGroup, ModelShape};
use crate::problem::Problem;

impl ModelShape {
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
mod tests {
    use super::*;
    use crate::fleet::{MoeShape, dense_model as dense};

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
