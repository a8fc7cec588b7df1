//! Tokens in blocks, without a division: every request is counted in blocks half a dozen times.

/// Tokens per block.
#[derive(Debug, Clone, Copy)]
pub struct BlockSize {
    tokens: u32,
    /// ⌊(2⁶⁴ − 1) ÷ tokens⌋. Then ⌊n ÷ tokens⌋ = ⌊(n + 1)·reciprocal ÷ 2⁶⁴⌋ for every n below 2³²:
    /// what the reciprocal lacks makes the product smaller by less than 1 ÷ tokens.
    reciprocal: u64,
}

impl BlockSize {
    /// Blocks of so many tokens, at least one.
    pub fn new(tokens: u32) -> Self {
        Self { tokens, reciprocal: u64::MAX / u64::from(tokens.max(1)) }
    }

    /// Tokens of a block.
    pub fn tokens(self) -> u32 {
        self.tokens
    }

    /// Blocks that `tokens` fill.
    pub fn full(self, tokens: u32) -> u32 {
        let product = (u128::from(tokens) + 1) * u128::from(self.reciprocal);
        u32::try_from(product >> 64).unwrap_or(u32::MAX) // it never exceeds `tokens`
    }

    /// Blocks that hold `tokens`.
    pub fn blocks(self, tokens: u32) -> u32 {
        self.full(tokens) + u32::from(self.beyond_full(tokens) > 0)
    }

    /// Those of `tokens` that are in the last block, if they do not fill it.
    pub fn beyond_full(self, tokens: u32) -> u32 {
        tokens - self.full(tokens) * self.tokens
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counting_is_dividing(
            size in prop_oneof![1_u32..300, any::<u32>()], tokens in any::<u32>(), near in 0_u32..3,
        ) {
            let size = size.max(1);
            let on_a_border = (tokens / size * size).saturating_add(near).saturating_sub(1);
            for tokens in [tokens, on_a_border, near, u32::MAX - near] {
                let blocks = BlockSize::new(size);
                prop_assert_eq!(blocks.full(tokens), tokens / size);
                prop_assert_eq!(blocks.blocks(tokens), tokens.div_ceil(size));
                prop_assert_eq!(blocks.beyond_full(tokens), tokens % size);
            }
        }
    }
}
