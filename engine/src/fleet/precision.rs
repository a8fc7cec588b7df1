//! How many bytes a weight or a cached value takes, and which matrix units compute with it.

use serde::{Deserialize, Serialize};

/// Precision of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeightPrecision {
    /// 16 bits (bf16 or fp16).
    #[default]
    Bf16,
    /// 8-bit floating point, per-tensor or block-wise scales; embeddings stay in 16 bits.
    Fp8,
    /// NVFP4: 4 bits and one 8-bit scale per 16 weights.
    Nvfp4,
    /// MXFP4 experts (4 bits and one 8-bit scale per 32 weights), everything else in 16 bits,
    /// as the gpt-oss checkpoints ship.
    Mxfp4Experts,
    /// 8-bit integer weights computed in 16 bits (GPTQ-Int8, W8A16).
    Int8,
    /// 4-bit integer weights in groups of 128, computed in 16 bits (AWQ, GPTQ-Int4).
    #[serde(alias = "awq", alias = "gptq_int4")]
    Int4,
    /// Any other format by its average size over all parameters.
    BytesPerParam(f64),
}

/// Matrix units that multiply the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MathUnit {
    /// 16-bit.
    Bf16,
    /// 8-bit floating point.
    Fp8,
    /// 4-bit floating point.
    Fp4,
}

/// 16-bit values: embeddings, LM head and everything a format leaves alone.
const BF16_BYTES: f64 = 2.0;
/// 4 bits, and an 8-bit scale per 16 weights.
const NVFP4_BYTES: f64 = 0.5625;
/// 4 bits, and an 8-bit scale per 32 weights.
const MXFP4_BYTES: f64 = 0.531_25;
/// 4 bits, and a 16-bit scale with a 4-bit zero point per 128 weights.
const INT4_GROUP_128_BYTES: f64 = 0.519_531_25;

impl WeightPrecision {
    /// Bytes per weight of attention and dense layers.
    pub fn linear_bytes(self) -> f64 {
        match self {
            Self::Bf16 | Self::Mxfp4Experts => BF16_BYTES,
            Self::Fp8 | Self::Int8 => 1.0,
            Self::Nvfp4 => NVFP4_BYTES,
            Self::Int4 => INT4_GROUP_128_BYTES,
            Self::BytesPerParam(bytes) => bytes,
        }
    }

    /// Bytes per weight of routed experts.
    pub fn expert_bytes(self) -> f64 {
        match self {
            Self::Mxfp4Experts => MXFP4_BYTES,
            other => other.linear_bytes(),
        }
    }

    /// Bytes per weight of the embedding and the LM head, which quantised checkpoints leave in
    /// 16 bits.
    pub fn embedding_bytes(self) -> f64 {
        match self {
            Self::BytesPerParam(bytes) => bytes,
            _ => BF16_BYTES,
        }
    }

    /// The units that would multiply these weights on a GPU that has them.
    pub fn math_unit(self) -> MathUnit {
        match self {
            Self::Fp8 => MathUnit::Fp8,
            Self::Nvfp4 => MathUnit::Fp4,
            Self::Bf16 | Self::Mxfp4Experts | Self::Int8 | Self::Int4 | Self::BytesPerParam(_) => {
                MathUnit::Bf16
            }
        }
    }
}

/// Precision of the key-value cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KvPrecision {
    /// 16 bits (bf16 or fp16).
    #[default]
    Bf16,
    /// 8-bit floating point.
    Fp8,
    /// llama.cpp's `q8_0`: 34 bytes per 32 values.
    Q8_0,
    /// llama.cpp's `q4_0`: 18 bytes per 32 values.
    Q4_0,
}

impl KvPrecision {
    /// Bytes that `elements` cached values take, rounded up.
    pub fn bytes(self, elements: u64) -> u64 {
        let (bytes, per_values) = match self {
            Self::Bf16 => (2, 1),
            Self::Fp8 => (1, 1),
            Self::Q8_0 => (34, 32),
            Self::Q4_0 => (18, 32),
        };
        elements.saturating_mul(bytes).div_ceil(per_values)
    }
}

/// Precision of weights and cache.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Precision {
    /// Weights.
    pub weights: WeightPrecision,
    /// Key-value cache.
    pub kv: KvPrecision,
}
