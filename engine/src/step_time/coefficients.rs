//! The step law by its coefficients: what the library holds, a fit yields and a link carries.

use serde::{Deserialize, Serialize};

use super::law::{SoftRoofline, StepLaw, TokenTerm};
use crate::problem::Problem;

/// Coefficients of
/// `t = c0 + ‖ w(T), c1·T ‖_p + c2·A + c3·D + c4·KV`,
/// `w(T) = cw + cE·(1 − (1 − k/E)^T)`,
/// for a step of T = P + D tokens: P of prefills with A attention pairs, and D decode sequences
/// that read KV cached tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepCoefficients {
    /// Fixed time of a step, seconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub c0_s: f64,
    /// Reading the weights that every step reads, seconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cw_s: f64,
    /// Reading all routed experts, seconds; 0 for a dense model.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cw_experts_s: f64,
    /// Share k/E of the experts that one token uses; 0 for a dense model.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub expert_share: f64,
    /// Arithmetic of one token, seconds.
    pub c1_s_per_token: f64,
    /// One attention pair of a prefill, seconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub c2_s_per_pair: f64,
    /// One decode sequence beyond its token, seconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub c3_s_per_decode_seq: f64,
    /// One cached token read by a decode, seconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub c4_s_per_kv_token: f64,
    /// Exponent of the norm: 1 adds reading and arithmetic, large overlaps them fully.
    pub p: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// Coefficients of a law that says nothing of some term: what a fit moves has to be there. Three
/// are far below what a step takes, and an exponent that is not there is an ordinary one.
const SMALLEST: StepCoefficients = StepCoefficients {
    c0_s: 1e-4,
    cw_s: 1e-4,
    cw_experts_s: 0.0,
    expert_share: 0.0,
    c1_s_per_token: 1e-7,
    c2_s_per_pair: 1e-11,
    c3_s_per_decode_seq: 1e-6,
    c4_s_per_kv_token: 1e-10,
    p: 2.0,
};

impl StepCoefficients {
    /// The coefficients that a fit determines or leaves assumed, as documents name them.
    pub const NAMES: [&str; 7] = [
        "c0_s",
        "cw_s",
        "cw_experts_s",
        "c1_s_per_token",
        "c2_s_per_pair",
        "c3_s_per_decode_seq",
        "c4_s_per_kv_token",
    ];

    /// The exponent is fitted between 1.05 and 10; beyond this the norm is its larger side.
    pub const LARGEST_P: f64 = 64.0;

    /// Coefficients near `law`, each above zero, for a fit to begin with. They are not the law
    /// itself: two rooflines become one, and what stands beside a roofline becomes part of it.
    pub fn like(law: &StepLaw) -> Self {
        let (mut c0, mut c1, mut p) = (0.0, 0.0, SMALLEST.p);
        let mut like = SMALLEST;
        for term in &law.token_terms {
            match term {
                TokenTerm::Constant { seconds } => c0 += seconds,
                TokenTerm::PerToken { seconds } => c1 += seconds,
                TokenTerm::SoftRoofline(roofline) => {
                    like.cw_s += roofline.weights_s;
                    like.cw_experts_s += roofline.experts_s;
                    like.expert_share = like.expert_share.max(roofline.expert_share);
                    c1 += roofline.compute_s_per_token;
                    p = roofline.p;
                }
            }
        }
        Self {
            c0_s: c0.max(SMALLEST.c0_s),
            c1_s_per_token: c1.max(SMALLEST.c1_s_per_token),
            c2_s_per_pair: law.s_per_pair.max(SMALLEST.c2_s_per_pair),
            c3_s_per_decode_seq: law.s_per_decode_seq.max(SMALLEST.c3_s_per_decode_seq),
            c4_s_per_kv_token: law.s_per_kv_token.max(SMALLEST.c4_s_per_kv_token),
            p,
            ..like
        }
    }

    /// The same law `factor` times as slow.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            c0_s: factor * self.c0_s,
            cw_s: factor * self.cw_s,
            cw_experts_s: factor * self.cw_experts_s,
            expert_share: self.expert_share,
            c1_s_per_token: factor * self.c1_s_per_token,
            c2_s_per_pair: factor * self.c2_s_per_pair,
            c3_s_per_decode_seq: factor * self.c3_s_per_decode_seq,
            c4_s_per_kv_token: factor * self.c4_s_per_kv_token,
            p: self.p,
        }
    }

    /// The law these coefficients describe.
    pub fn law(&self) -> StepLaw {
        StepLaw {
            token_terms: vec![
                TokenTerm::Constant { seconds: self.c0_s },
                TokenTerm::SoftRoofline(SoftRoofline {
                    weights_s: self.cw_s,
                    experts_s: self.cw_experts_s,
                    expert_share: self.expert_share,
                    compute_s_per_token: self.c1_s_per_token,
                    p: self.p,
                }),
            ],
            s_per_pair: self.c2_s_per_pair,
            s_per_decode_seq: self.c3_s_per_decode_seq,
            s_per_kv_token: self.c4_s_per_kv_token,
        }
    }

    /// Everything that is wrong with the numbers; paths are relative to the coefficients.
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (path, value) in [
            ("c0_s", self.c0_s),
            ("cw_s", self.cw_s),
            ("cw_experts_s", self.cw_experts_s),
            ("c1_s_per_token", self.c1_s_per_token),
            ("c2_s_per_pair", self.c2_s_per_pair),
            ("c3_s_per_decode_seq", self.c3_s_per_decode_seq),
            ("c4_s_per_kv_token", self.c4_s_per_kv_token),
        ] {
            if !(0.0..=LARGEST_COEFFICIENT_S).contains(&value) {
                problems.push(Problem::error(
                    path,
                    format!("{value} is no time in seconds that a step could take"),
                    format!("0 to {LARGEST_COEFFICIENT_S}"),
                ));
            }
        }
        if self.c0_s + self.cw_s + self.c1_s_per_token <= 0.0 {
            problems.push(Problem::error(
                "c1_s_per_token",
                "a step of one token would take no time",
                "a positive c0_s, cw_s or c1_s_per_token",
            ));
        }
        if !(1.0..=Self::LARGEST_P).contains(&self.p) {
            problems.push(Problem::error(
                "p",
                format!("{} is no exponent of a norm", self.p),
                format!("1 (reading and arithmetic add up) to {} (they overlap)", Self::LARGEST_P),
            ));
        }
        if !(0.0..=1.0).contains(&self.expert_share) {
            problems.push(Problem::error(
                "expert_share",
                format!("{} is no share of the experts", self.expert_share),
                "k of E experts per token: 0 to 1",
            ));
        }
        if self.cw_experts_s > 0.0 && self.expert_share == 0.0 {
            problems.push(Problem::error(
                "expert_share",
                "experts are read (cw_experts_s) but no token uses any",
                "k/E, e.g. 0.0625 for 8 of 128",
            ));
        }
        problems
    }
}

/// No coefficient is larger than this: a step of a minute is not serving.
const LARGEST_COEFFICIENT_S: f64 = 60.0;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Round numbers near those of an 8B model on a large GPU.
    pub(crate) fn example() -> StepCoefficients {
        StepCoefficients {
            c0_s: 1e-3,
            cw_s: 5e-3,
            cw_experts_s: 0.0,
            expert_share: 0.0,
            c1_s_per_token: 2e-5,
            c2_s_per_pair: 7e-10,
            c3_s_per_decode_seq: 3e-6,
            c4_s_per_kv_token: 4e-8,
            p: 2.0,
        }
    }

    #[test]
    fn coefficients_survive_json_and_leave_zeros_out() {
        let json = serde_json::to_string(&example()).expect("serialises");
        assert!(!json.contains("expert"), "{json}");
        assert_eq!(serde_json::from_str::<StepCoefficients>(&json).expect("parses"), example());
        assert!(serde_json::from_str::<StepCoefficients>("{\"c9\":1}").is_err());
    }

    #[test]
    fn impossible_coefficients_are_named() {
        type Spoil = fn(&mut StepCoefficients);
        assert_eq!(example().check(), vec![]);
        let cases: [(&str, Spoil); 5] = [
            ("c0_s", |c| c.c0_s = -1.0),
            ("c4_s_per_kv_token", |c| c.c4_s_per_kv_token = f64::NAN),
            ("p", |c| c.p = 0.5),
            ("expert_share", |c| c.cw_experts_s = 1e-3),
            ("c1_s_per_token", |c| {
                (c.c0_s, c.cw_s, c.c1_s_per_token) = (0.0, 0.0, 0.0);
            }),
        ];
        for (path, spoil) in cases {
            let mut coefficients = example();
            spoil(&mut coefficients);
            assert!(coefficients.check().iter().any(|p| p.path == path), "{path}");
        }
    }
}
