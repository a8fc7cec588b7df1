//! How one replica of a model is spread over GPUs.

use serde::{Deserialize, Serialize};

use super::model::ModelShape;
use crate::problem::Problem;

/// Parallelism of one replica, as vLLM's options of the same names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Layout {
    /// GPUs that share each layer.
    pub tensor_parallel: u32,
    /// Stages that share the layers.
    pub pipeline_parallel: u32,
    /// Copies of the attention part, each with a cache of its own; the experts are spread over
    /// all of them.
    pub data_parallel: u32,
    /// Ranks of a tensor-parallel group that share the tokens of a cache they would each hold
    /// whole.
    pub decode_context_parallel: u32,
    /// Whole experts on each GPU of the tensor and data parallel group, instead of a slice of
    /// every expert.
    pub expert_parallel: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self::tensor_parallel(1)
    }
}

impl Layout {
    /// A plain tensor-parallel group.
    pub fn tensor_parallel(gpus: u32) -> Self {
        Self {
            tensor_parallel: gpus,
            pipeline_parallel: 1,
            data_parallel: 1,
            decode_context_parallel: 1,
            expert_parallel: false,
        }
    }

    /// GPUs of one replica.
    pub fn gpus(&self) -> u32 {
        self.tensor_parallel
            .saturating_mul(self.pipeline_parallel)
            .saturating_mul(self.data_parallel)
    }

    /// GPUs that the routed experts of one stage are spread over, whole or sliced: vLLM joins
    /// the tensor and data parallel ranks for them.
    pub fn expert_gpus(&self) -> u32 {
        self.tensor_parallel.saturating_mul(self.data_parallel)
    }

    /// Whether a tensor-parallel size divides the model's heads as engines demand: the query
    /// heads, and the key-value heads or their copies.
    pub fn divides_heads(tensor_parallel: u32, model: &ModelShape) -> bool {
        tensor_parallel > 0
            && model.num_attention_heads.is_multiple_of(tensor_parallel)
            && model.layer_groups.iter().filter_map(super::LayerGroup::kv_heads).all(|heads| {
                heads.is_multiple_of(tensor_parallel) || tensor_parallel.is_multiple_of(heads)
            })
    }

    /// Tensor-parallel sizes up to `most` that the model's heads allow.
    pub fn allowed_tensor_parallel(model: &ModelShape, most: u32) -> Vec<u32> {
        (1..=most).filter(|size| Self::divides_heads(*size, model)).collect()
    }

    /// Everything that keeps the model from being laid out so; paths are relative to the layout.
    pub fn check(&self, model: &ModelShape) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (path, value) in [
            ("tensor_parallel", self.tensor_parallel),
            ("pipeline_parallel", self.pipeline_parallel),
            ("data_parallel", self.data_parallel),
            ("decode_context_parallel", self.decode_context_parallel),
        ] {
            if value == 0 || value > 1024 {
                problems.push(Problem::error(path, format!("{value} GPUs"), "1 to 1024"));
            }
        }
        if !problems.is_empty() {
            return problems;
        }
        if !Self::divides_heads(self.tensor_parallel, model) {
            problems.push(head_problem(self.tensor_parallel, model));
        }
        if self.pipeline_parallel > model.layers() {
            problems.push(Problem::error(
                "pipeline_parallel",
                format!("{} stages for {} layers", self.pipeline_parallel, model.layers()),
                format!("at most {}", model.layers()),
            ));
        }
        if !self.tensor_parallel.is_multiple_of(self.decode_context_parallel) {
            problems.push(Problem::error(
                "decode_context_parallel",
                format!(
                    "{} ranks cannot share the cache of {} tensor-parallel ranks",
                    self.decode_context_parallel, self.tensor_parallel
                ),
                "a divisor of tensor_parallel",
            ));
        }
        if self.decode_context_parallel > replicas_of_kv(self.tensor_parallel, model) {
            problems.push(Problem::error(
                "decode_context_parallel",
                format!(
                    "each token's cache is held by only {} of the {} tensor-parallel ranks",
                    replicas_of_kv(self.tensor_parallel, model),
                    self.tensor_parallel
                ),
                "at most the number of ranks that hold the same key-value head",
            ));
        }
        if self.expert_parallel && model.moe.is_none() {
            problems.push(Problem::error(
                "expert_parallel",
                format!("{} has no routed experts", model.name),
                "false for a dense model",
            ));
        }
        problems
    }
}

/// Ranks of a tensor-parallel group that would each hold the same key-value head.
fn replicas_of_kv(tensor_parallel: u32, model: &ModelShape) -> u32 {
    let heads = model.layer_groups.iter().filter_map(super::LayerGroup::kv_heads).max();
    (tensor_parallel / heads.unwrap_or(1).max(1)).max(1)
}

fn head_problem(tensor_parallel: u32, model: &ModelShape) -> Problem {
    let allowed = Layout::allowed_tensor_parallel(model, 16);
    let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    let kv_heads = model.layer_groups.iter().find_map(super::LayerGroup::kv_heads);
    let kv_heads = kv_heads.map_or(String::new(), |heads| format!(" ({heads} key-value heads)"));
    Problem::error(
        "tensor_parallel",
        format!(
            "{tensor_parallel} GPUs cannot share the {} attention heads of {} evenly{kv_heads}",
            model.num_attention_heads, model.name
        ),
        format!("one of {}", allowed.join(", ")),
    )
}
