//! The step law in seconds, before it is compiled.

use serde::Serialize;

use super::compiled::BatchShape;
use crate::math;

/// Step time of a replica: terms in the tokens of a step, and three linear terms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepLaw {
    /// Terms that depend on T = P + D alone; their sum is the part all tokens of a step share.
    pub token_terms: Vec<TokenTerm>,
    /// One attention pair of a prefill, seconds (c2).
    pub s_per_pair: f64,
    /// One decode sequence beyond its token, seconds (c3).
    pub s_per_decode_seq: f64,
    /// One cached token read by a decode, seconds (c4).
    pub s_per_kv_token: f64,
}

/// One term in the tokens of a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenTerm {
    /// The same for every step.
    Constant {
        /// Seconds.
        seconds: f64,
    },
    /// Proportional to the tokens.
    PerToken {
        /// Seconds per token.
        seconds: f64,
    },
    /// Weights read and arithmetic done, partly at the same time.
    SoftRoofline(SoftRoofline),
}

/// `‖ w(T), c·T ‖_p` with `w(T) = weights + experts·(1 − (1 − share)^T)`: a roofline whose knee
/// is as soft as measured, and expert weights read as far as T tokens hit them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SoftRoofline {
    /// Weights that every step reads, seconds.
    pub weights_s: f64,
    /// All routed experts, seconds.
    pub experts_s: f64,
    /// Share of the experts that one token uses.
    pub expert_share: f64,
    /// Arithmetic of one token, seconds.
    pub compute_s_per_token: f64,
    /// Exponent of the norm, at least 1.
    pub p: f64,
}

impl SoftRoofline {
    /// Seconds for a step of `tokens`.
    pub fn seconds(&self, tokens: f64) -> f64 {
        let reading = if self.experts_s > 0.0 {
            let missed = math::pow(1.0 - self.expert_share, tokens);
            self.weights_s + self.experts_s * (1.0 - missed)
        } else {
            self.weights_s
        };
        p_norm(reading, self.compute_s_per_token * tokens, self.p)
    }
}

/// `(a^p + b^p)^(1/p)` of two non-negative numbers, without overflow.
fn p_norm(a: f64, b: f64, p: f64) -> f64 {
    let (larger, smaller) = if a >= b { (a, b) } else { (b, a) };
    if smaller <= 0.0 {
        return larger.max(0.0);
    }
    larger * math::pow(1.0 + math::pow(smaller / larger, p), 1.0 / p)
}

impl StepLaw {
    /// Seconds that all tokens of a step share.
    pub fn shared_seconds(&self, tokens: u64) -> f64 {
        let tokens = tokens as f64;
        let terms = self.token_terms.iter().map(|term| match term {
            TokenTerm::Constant { seconds } => *seconds,
            TokenTerm::PerToken { seconds } => seconds * tokens,
            TokenTerm::SoftRoofline(roofline) => roofline.seconds(tokens),
        });
        terms.sum()
    }

    /// Seconds of one step, 0 of an empty one.
    pub fn seconds(&self, shape: &BatchShape) -> f64 {
        if shape.tokens() == 0 {
            return 0.0;
        }
        self.shared_seconds(shape.tokens())
            + self.s_per_pair * shape.prefill_half_pairs as f64 / 2.0
            + self.s_per_decode_seq * shape.decode_seqs as f64
            + self.s_per_kv_token * shape.kv_tokens as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_norm_lies_between_its_larger_side_and_the_sum() {
        for p in [1.0, 1.05, 2.0, 10.0] {
            for (a, b) in [(0.0, 0.0), (0.0, 3.0), (1e-9, 2e-3), (4.0, 4.0)] {
                let norm = p_norm(a, b, p);
                assert!(norm >= a.max(b) && norm <= (a + b) * (1.0 + 1e-12), "{a} {b} {p}");
                assert!((norm - p_norm(b, a, p)).abs() < 1e-15);
            }
        }
        assert!((p_norm(3.0, 4.0, 2.0) - 5.0).abs() < 1e-12);
    }

    #[test]
    fn one_token_reads_its_own_experts_and_many_read_all() {
        let roofline = SoftRoofline {
            weights_s: 0.0,
            experts_s: 16.0,
            expert_share: 1.0 / 16.0,
            compute_s_per_token: 0.0,
            p: 2.0,
        };
        assert!((roofline.seconds(1.0) - 1.0).abs() < 1e-12);
        assert!((roofline.seconds(10_000.0) - 16.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn the_shared_part_never_falls_with_more_tokens(
            c0 in 0.0..1e-2, cw in 0.0..5e-2, experts in 0.0..5e-2, share in 0.0..1.0,
            c1 in 1e-7..1e-3, p in 1.0..10.0, tokens in 0_u64..20_000,
        ) {
            let law = StepLaw {
                token_terms: vec![
                    TokenTerm::Constant { seconds: c0 },
                    TokenTerm::SoftRoofline(SoftRoofline {
                        weights_s: cw, experts_s: experts, expert_share: share,
                        compute_s_per_token: c1, p,
                    }),
                ],
                s_per_pair: 0.0, s_per_decode_seq: 0.0, s_per_kv_token: 0.0,
            };
            let (less, more) = (law.shared_seconds(tokens), law.shared_seconds(tokens + 1));
            prop_assert!(less.is_finite() && less >= 0.0);
            prop_assert!(more >= less * (1.0 - 1e-12), "{} {}", less, more);
        }
    }
}
