//! What the cache of a sequence takes: affine in its length once the windows are full.

use serde::Serialize;

use super::layout::Layout;
use super::model::ModelShape;
use super::precision::KvPrecision;

/// Cache of one sequence on one GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KvFootprint {
    /// Layer groups with a cache per token.
    pub groups: Vec<KvGroup>,
    /// State of linear-attention layers: fixed per sequence, bytes.
    pub state_bytes: u64,
    /// Ranks that share the tokens of a sequence.
    pub decode_context_parallel: u32,
}

/// Cache of one layer group on one GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KvGroup {
    /// Bytes that one token takes in all layers of the group.
    pub bytes_per_token: u64,
    /// Tokens after which the group stops growing.
    pub window_tokens: Option<u32>,
}

impl KvFootprint {
    /// The footprint on the fullest GPU of a replica laid out so. A pipeline stage holds its
    /// share of every group, rounded up.
    pub fn per_gpu(model: &ModelShape, layout: &Layout, kv: KvPrecision) -> Self {
        let stages = layout.pipeline_parallel.max(1);
        let mut state_bytes = 0_u64;
        let mut groups = Vec::new();
        for group in &model.layer_groups {
            let layers = u64::from(group.layers().div_ceil(stages));
            if let super::LayerGroup::Linear { state_bytes_per_layer, .. } = group {
                let whole = layers.saturating_mul(*state_bytes_per_layer);
                let share = whole.div_ceil(u64::from(layout.tensor_parallel.max(1)));
                state_bytes = state_bytes.saturating_add(share);
                continue;
            }
            let elements = group.kv_elements_per_token(layout.tensor_parallel);
            groups.push(KvGroup {
                bytes_per_token: kv.bytes(elements.saturating_mul(layers)),
                window_tokens: group.window_tokens(),
            });
        }
        let decode_context_parallel = layout.decode_context_parallel.max(1);
        Self { groups, state_bytes, decode_context_parallel }
    }

    /// The footprint of the whole model, as if one GPU held it.
    pub fn whole_model(model: &ModelShape, kv: KvPrecision) -> Self {
        Self::per_gpu(model, &Layout::tensor_parallel(1), kv)
    }

    /// Bytes that one more token takes while no window is full.
    pub fn bytes_per_token(&self) -> u64 {
        self.groups.iter().map(|group| group.bytes_per_token).sum()
    }

    /// Bytes that one more token takes once every window is full; all groups' bytes when each
    /// has a window.
    pub fn growing_bytes_per_token(&self) -> u64 {
        let open = self.groups.iter().filter(|group| group.window_tokens.is_none());
        match open.map(|group| group.bytes_per_token).sum() {
            0 => self.bytes_per_token(),
            growing => growing,
        }
    }

    /// Whether every token takes the same: no window and no state.
    pub fn is_proportional(&self) -> bool {
        self.state_bytes == 0 && self.groups.iter().all(|group| group.window_tokens.is_none())
    }

    /// Bytes that a sequence of `context_tokens` takes on this GPU.
    pub fn sequence_bytes(&self, context_tokens: u64) -> u64 {
        let cached = self.groups.iter().map(|group| {
            let held = group.window_tokens.map_or(context_tokens, |w| context_tokens.min(w.into()));
            let here = held.div_ceil(u64::from(self.decode_context_parallel));
            here.saturating_mul(group.bytes_per_token)
        });
        cached.fold(self.state_bytes, u64::saturating_add)
    }

    /// Bytes of one block of `block_size` tokens.
    pub fn block_bytes(&self, block_size: u32) -> u64 {
        self.growing_bytes_per_token().saturating_mul(u64::from(block_size))
    }

    /// Blocks that a sequence of `context_tokens` takes. Without windows this is the length in
    /// whole blocks; windowed layers and states add what they hold, in the same unit.
    pub fn sequence_blocks(&self, context_tokens: u64, block_size: u32) -> u64 {
        let span = u64::from(block_size.max(1)) * u64::from(self.decode_context_parallel);
        let whole = context_tokens.div_ceil(span).saturating_mul(span);
        self.sequence_bytes(whole).div_ceil(self.block_bytes(block_size).max(1))
    }

    /// The longest sequence that fits into so many whole `blocks` of `block_size` tokens, in tokens, up
    /// to `at_most`.
    pub fn longest_sequence(&self, blocks: u64, block_size: u32, at_most: u64) -> u64 {
        let (mut low, mut high) = (0, at_most);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.sequence_blocks(middle, block_size) <= blocks {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fleet::{LayerGroup, dense_model as dense};

    fn gemma_4_12b() -> ModelShape {
        let mut model = dense(3840, 16, 48, 8, 256);
        model.layer_groups = vec![
            LayerGroup::Full { layers: 8, kv_heads: 1, head_dim: 512, v_head_dim: None },
            LayerGroup::SlidingWindow {
                layers: 40,
                kv_heads: 8,
                head_dim: 256,
                v_head_dim: None,
                window_tokens: 1024,
            },
        ];
        model
    }

    #[test]
    fn sliding_windows_cap_the_cache_of_a_long_sequence() {
        // llama-toolchest pull request 58: 1.32 GB in q8_0 at 131,072 tokens, not 27.4 GB.
        let footprint = KvFootprint::whole_model(&gemma_4_12b(), KvPrecision::Q8_0);
        let gb = footprint.sequence_bytes(131_072) as f64 / 1e9;
        assert!((gb / 1.32 - 1.0).abs() < 0.03, "{gb}");
        let naive_gb = footprint.bytes_per_token() as f64 * 131_072.0 / 1e9;
        assert!((naive_gb / gb) > 18.0, "{naive_gb}");
    }

    #[test]
    fn a_windowed_sequence_is_affine_beyond_its_window_not_linear() {
        let footprint = KvFootprint::whole_model(&gemma_4_12b(), KvPrecision::Bf16);
        let at = |tokens| footprint.sequence_bytes(tokens);
        assert_eq!(at(8192) - at(4096), at(4096) - at(2048) + (at(6144) - at(4096)));
        assert_eq!(at(4097) - at(4096), footprint.growing_bytes_per_token());
        assert!(at(8192) < 2 * at(4096));
    }

    #[test]
    fn a_linear_attention_state_does_not_grow() {
        let mut model = dense(2048, 16, 12, 2, 256);
        model.layer_groups.push(LayerGroup::Linear { layers: 36, state_bytes_per_layer: 1 << 21 });
        let footprint = KvFootprint::whole_model(&model, KvPrecision::Bf16);
        assert_eq!(footprint.sequence_bytes(0), 36 << 21);
        assert_eq!(
            footprint.sequence_bytes(1000) - footprint.sequence_bytes(0),
            1000 * footprint.bytes_per_token()
        );
        assert!(!footprint.is_proportional());
    }

    #[test]
    fn halving_the_precision_halves_the_bytes() {
        let model = dense(4096, 32, 32, 8, 128);
        let bf16 = KvFootprint::whole_model(&model, KvPrecision::Bf16).bytes_per_token();
        let fp8 = KvFootprint::whole_model(&model, KvPrecision::Fp8).bytes_per_token();
        assert_eq!((bf16, fp8), (131_072, 65_536));
    }

    proptest! {
        #[test]
        fn a_longer_sequence_never_takes_fewer_blocks(
            a in 0_u64..300_000, b in 0_u64..300_000, block_size in 1_u32..257,
        ) {
            let footprint = KvFootprint::whole_model(&gemma_4_12b(), KvPrecision::Bf16);
            let (short, long) = (a.min(b), a.max(b));
            prop_assert!(
                footprint.sequence_blocks(short, block_size)
                    <= footprint.sequence_blocks(long, block_size)
            );
        }

        #[test]
        fn without_windows_blocks_are_whole_blocks_of_tokens(
            tokens in 0_u64..300_000, block_size in 1_u32..257,
        ) {
            let model = dense(4096, 32, 32, 8, 128);
            let footprint = KvFootprint::whole_model(&model, KvPrecision::Bf16);
            prop_assert_eq!(
                footprint.sequence_blocks(tokens, block_size),
                tokens.div_ceil(u64::from(block_size))
            );
        }

        #[test]
        fn the_longest_sequence_fits_into_whole_blocks_and_one_more_token_does_not(
            blocks in 0_u64..1 << 24, block_size in 1_u32..257,
        ) {
            for model in [gemma_4_12b(), dense(4096, 32, 32, 8, 128)] {
                let footprint = KvFootprint::whole_model(&model, KvPrecision::Bf16);
                let longest = footprint.longest_sequence(blocks, block_size, 1 << 40);
                let takes = |tokens| footprint.sequence_blocks(tokens, block_size);
                prop_assert!(longest == 0 || takes(longest) <= blocks);
                prop_assert!(longest == 1 << 40 || takes(longest + 1) > blocks);
                if footprint.is_proportional() {
                    prop_assert_eq!(longest, blocks * u64::from(block_size));
                }
            }
        }
    }
}
