//! The step law as a replica uses it: integer picoseconds and no power in the hot loop.

use std::sync::Arc;

use super::law::StepLaw;
use crate::units::{PICOS_PER_S, Picos};

/// What one step computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BatchShape {
    /// Prompt tokens computed (P).
    pub prefill_tokens: u64,
    /// Twice the attention pairs of the prefills, 2A = Σ chunk·(2·context + chunk): an integer.
    pub prefill_half_pairs: u64,
    /// Sequences that decode one token each (D).
    pub decode_seqs: u64,
    /// Cached tokens that the decodes read (KV).
    pub kv_tokens: u64,
}

impl BatchShape {
    /// Tokens of the step, T = P + D.
    pub fn tokens(&self) -> u64 {
        self.prefill_tokens + self.decode_seqs
    }

    /// Twice the attention pairs of `chunk` prompt tokens behind `context` cached ones.
    pub fn half_pairs(context: u64, chunk: u64) -> u64 {
        chunk * (2 * context + chunk)
    }

    /// Adds `chunk` prompt tokens behind `context` cached ones.
    pub fn add_prefill(&mut self, context: u64, chunk: u64) {
        self.prefill_tokens += chunk;
        self.prefill_half_pairs += Self::half_pairs(context, chunk);
    }

    /// Adds one decode that reads `context` cached tokens.
    pub fn add_decode(&mut self, context: u64) {
        self.decode_seqs += 1;
        self.kv_tokens += context;
    }
}

/// One step's seconds by the terms that caused them; they sum to the step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepParts {
    /// Shared by all tokens of the step alike, per token.
    pub shared_s_per_token: f64,
    /// Per half attention pair of a prefill.
    pub s_per_half_pair: f64,
    /// Per decode sequence, beyond its token.
    pub s_per_decode_seq: f64,
    /// Per cached token read.
    pub s_per_kv_token: f64,
}

impl StepParts {
    /// Seconds that a prefill chunk is charged.
    pub fn prefill_s(&self, tokens: u64, half_pairs: u64) -> f64 {
        self.shared_s_per_token * tokens as f64 + self.s_per_half_pair * half_pairs as f64
    }

    /// Seconds that one decode is charged.
    pub fn decode_s(&self, kv_tokens: u64) -> f64 {
        self.shared_s_per_token + self.s_per_decode_seq + self.s_per_kv_token * kv_tokens as f64
    }
}

/// A law with its tokens tabulated. The time of a composition (P, A, D) is rounded once to a
/// picosecond and grows by a whole number of them per cached token, so that a run of decode
/// steps can be summed exactly. Cloning shares the table.
#[derive(Debug, Clone)]
pub struct CompiledLaw {
    /// Seconds that all tokens share, by T; longer steps are computed.
    shared_s: Arc<[f64]>,
    /// Time of a composition of decodes alone, by their number, as far as the table goes.
    decodes: Arc<[Picos]>,
    law: StepLaw,
    scale: f64,
    step_overhead_s: f64,
    s_per_half_pair: f64,
    s_per_decode_seq: f64,
    per_decode_seq: Picos,
    picos_per_kv_token: i64,
}

/// The table is no longer than this many tokens, whatever the token budget.
const LONGEST_TABLE: u64 = 1 << 17;

impl CompiledLaw {
    /// Tabulates up to `max_tokens` of a step. `scale` multiplies the whole law (a fitted
    /// scalar), `step_overhead_s` is added to each step (scheduler, sampling).
    pub fn new(law: &StepLaw, max_tokens: u64, scale: f64, step_overhead_s: f64) -> Self {
        let shared = |tokens| scale * law.shared_seconds(tokens) + step_overhead_s;
        let tokens = 0..=max_tokens.min(LONGEST_TABLE);
        let mut this = Self {
            shared_s: tokens.clone().map(shared).collect(),
            decodes: Arc::new([]),
            law: law.clone(),
            scale,
            step_overhead_s,
            s_per_half_pair: scale * law.s_per_pair / 2.0,
            s_per_decode_seq: scale * law.s_per_decode_seq,
            per_decode_seq: Picos::from_secs(scale * law.s_per_decode_seq),
            picos_per_kv_token: Picos::from_secs(scale * law.s_per_kv_token).0,
        };
        this.decodes = tokens.map(|decodes| this.composition(0, 0, decodes)).collect();
        this
    }

    /// Seconds that all tokens of a step share.
    pub fn shared_s(&self, tokens: u64) -> f64 {
        let tabulated = usize::try_from(tokens).ok().and_then(|index| self.shared_s.get(index));
        tabulated
            .copied()
            .unwrap_or_else(|| self.scale * self.law.shared_seconds(tokens) + self.step_overhead_s)
    }

    /// Time of a composition before any cached token is read; zero of an empty step.
    pub fn composition(&self, prefill_tokens: u64, half_pairs: u64, decode_seqs: u64) -> Picos {
        let tokens = prefill_tokens + decode_seqs;
        if tokens == 0 {
            return Picos::ZERO;
        }
        Picos::from_secs(
            self.shared_s(tokens)
                + self.s_per_half_pair * half_pairs as f64
                + self.s_per_decode_seq * decode_seqs as f64,
        )
    }

    /// The same of decodes alone, tabulated.
    pub fn decode_composition(&self, decode_seqs: u64) -> Picos {
        let tabulated = usize::try_from(decode_seqs).ok().and_then(|index| self.decodes.get(index));
        tabulated.copied().unwrap_or_else(|| self.composition(0, 0, decode_seqs))
    }

    /// Time that one cached token adds.
    pub fn per_kv_token(&self) -> Picos {
        Picos(self.picos_per_kv_token)
    }

    /// Time charged to one decode sequence beyond its token.
    pub fn per_decode_seq(&self) -> Picos {
        self.per_decode_seq
    }

    /// Time charged to the attention pairs of a prefill, given twice their number.
    pub fn pairs(&self, half_pairs: u64) -> Picos {
        Picos::from_secs(self.s_per_half_pair * half_pairs as f64)
    }

    /// Time of one step; zero of an empty one.
    pub fn step(&self, shape: BatchShape) -> Picos {
        let composition =
            self.composition(shape.prefill_tokens, shape.prefill_half_pairs, shape.decode_seqs);
        composition + self.reads(shape.kv_tokens)
    }

    /// Time that reading `kv_tokens` cached tokens adds to a step.
    pub fn reads(&self, kv_tokens: u64) -> Picos {
        Picos(self.picos_per_kv_token).times(i64::try_from(kv_tokens).unwrap_or(i64::MAX))
    }

    /// How a step's seconds are shared out: the marginal terms to what caused them, the rest
    /// alike over its tokens.
    pub fn parts(&self, shape: BatchShape) -> StepParts {
        let tokens = shape.tokens();
        StepParts {
            shared_s_per_token: if tokens == 0 {
                0.0
            } else {
                self.shared_s(tokens) / tokens as f64
            },
            s_per_half_pair: self.s_per_half_pair,
            s_per_decode_seq: self.s_per_decode_seq,
            s_per_kv_token: self.picos_per_kv_token as f64 / PICOS_PER_S as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::coefficients::tests::example;
    use super::*;

    fn shapes() -> impl Strategy<Value = BatchShape> {
        (0_u64..4096, 0_u64..20_000, 0_u64..512, 0_u64..8192).prop_map(|(p, context, d, kv)| {
            let mut shape = BatchShape { decode_seqs: d, kv_tokens: d * kv, ..Default::default() };
            shape.add_prefill(context, p);
            shape
        })
    }

    #[test]
    fn an_empty_step_takes_no_time() {
        let law = CompiledLaw::new(&example().law(), 2048, 1.0, 1e-3);
        assert_eq!(law.step(BatchShape::default()), Picos::ZERO);
    }

    #[test]
    fn a_step_equals_the_law_by_hand() {
        // 2 decodes over 1,000 cached tokens each and a chunk of 500 behind 100:
        // T = 502, w = 5 ms, c1·T = 10.04 ms, norm = 11.21631…, A = 175,000.
        let law = CompiledLaw::new(&example().law(), 2048, 1.0, 0.0);
        let mut shape = BatchShape::default();
        shape.add_prefill(100, 500);
        shape.add_decode(1000);
        shape.add_decode(1000);
        let norm = (0.005_f64 * 0.005 + 0.010_04 * 0.010_04).sqrt();
        let expected = 1e-3 + norm + 7e-10 * 175_000.0 + 3e-6 * 2.0 + 4e-8 * 2000.0;
        assert!((law.step(shape).as_secs() - expected).abs() < 1e-12);
    }

    #[test]
    fn the_compiled_table_is_the_same_on_every_platform() {
        let mut coefficients = example();
        coefficients.cw_experts_s = 1.3e-2;
        coefficients.expert_share = 0.0625;
        coefficients.p = 1.65;
        let law = CompiledLaw::new(&coefficients.law(), 2048, 1.07, 2e-4);
        let mut digest = 0xcbf2_9ce4_8422_2325_u64;
        for tokens in 0..=2048 {
            for byte in law.composition(tokens, 3 * tokens, tokens % 7).0.to_le_bytes() {
                digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        assert_eq!(digest, 0xb6d9_c0da_2f56_03e8);
    }

    proptest! {
        #[test]
        fn a_step_is_positive_and_more_work_never_takes_less(
            shape in shapes(), more in shapes(), scale in 0.1..10.0, overhead in 0.0..1e-2,
        ) {
            let law = CompiledLaw::new(&example().law(), 2048, scale, overhead);
            let sum = BatchShape {
                prefill_tokens: shape.prefill_tokens + more.prefill_tokens,
                prefill_half_pairs: shape.prefill_half_pairs + more.prefill_half_pairs,
                decode_seqs: shape.decode_seqs + more.decode_seqs,
                kv_tokens: shape.kv_tokens + more.kv_tokens,
            };
            prop_assert!(law.step(sum) >= law.step(shape));
            prop_assert!(shape.tokens() == 0 || law.step(shape) > Picos::ZERO);
        }

        #[test]
        fn the_table_and_the_law_beyond_it_agree(shape in shapes()) {
            let short = CompiledLaw::new(&example().law(), 16, 1.25, 1e-4);
            let long = CompiledLaw::new(&example().law(), 8192, 1.25, 1e-4);
            prop_assert_eq!(short.step(shape), long.step(shape));
            let seconds = if shape.tokens() == 0 { 0.0 } else {
                1.25 * example().law().seconds(&shape) + 1e-4
            };
            let rounding = 1e-12 * (1.0 + shape.kv_tokens as f64);
            prop_assert!((long.step(shape).as_secs() - seconds).abs() <= rounding);
        }

        #[test]
        fn time_is_affine_in_the_cache_to_the_picosecond(shape in shapes(), kv in 0_u64..1 << 20) {
            let law = CompiledLaw::new(&example().law(), 2048, 1.0, 0.0);
            let longer = BatchShape { kv_tokens: shape.kv_tokens + kv, ..shape };
            let grown = law.per_kv_token().0 * i64::try_from(kv).expect("small");
            prop_assert_eq!(law.step(longer).0 - law.step(shape).0, grown);
        }

        #[test]
        fn the_parts_sum_to_the_step(shape in shapes()) {
            let law = CompiledLaw::new(&example().law(), 2048, 1.3, 1e-3);
            let parts = law.parts(shape);
            let prefill = parts.prefill_s(shape.prefill_tokens, shape.prefill_half_pairs);
            let decodes = (0..shape.decode_seqs).map(|_| parts.decode_s(0)).sum::<f64>();
            let reading = parts.s_per_kv_token * shape.kv_tokens as f64;
            let step = law.step(shape).as_secs();
            prop_assert!((prefill + decodes + reading - step).abs() < 1e-11 + 1e-12 * step);
        }
    }
}
