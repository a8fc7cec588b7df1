//! Lengths in tokens, entered as people know them.

use serde::{Deserialize, Serialize};

use super::defaults::{self, is_default};

/// Lengths in tokens. Where a law has `min` and `max`, a length beyond an end becomes that end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum LengthsDoc {
    /// Every request alike.
    Fixed {
        /// Length.
        tokens: u32,
    },
    /// Every length of a range alike.
    Uniform {
        /// Shortest.
        min: u32,
        /// Longest.
        max: u32,
        /// Mean, to be checked against the law.
        #[serde(default, skip_serializing_if = "is_default")]
        mean: Option<f64>,
        /// Standard deviation, to be checked against the law.
        #[serde(default, skip_serializing_if = "is_default")]
        sd: Option<f64>,
    },
    /// Lognormal by any two of its numbers.
    Lognormal(LognormalDoc),
    /// Gamma by its mean and one of `cv` and `sd`; cv 1 is exponential.
    Gamma {
        /// Mean.
        mean: f64,
        /// Standard deviation over the mean.
        #[serde(default, skip_serializing_if = "is_default")]
        cv: Option<f64>,
        /// Standard deviation.
        #[serde(default, skip_serializing_if = "is_default")]
        sd: Option<f64>,
        /// Shortest.
        #[serde(default, skip_serializing_if = "is_default")]
        min: Option<u32>,
        /// Longest.
        #[serde(default, skip_serializing_if = "is_default")]
        max: Option<u32>,
    },
    /// Pareto by its shortest length and one of `alpha`, `p99` and `mean` (those of the law before
    /// it is cut to `max`).
    Pareto {
        /// Shortest.
        min: f64,
        /// Tail exponent: the share beyond x is (min / x)^alpha.
        #[serde(default, skip_serializing_if = "is_default")]
        alpha: Option<f64>,
        /// 99th percentile.
        #[serde(default, skip_serializing_if = "is_default")]
        p99: Option<f64>,
        /// Mean.
        #[serde(default, skip_serializing_if = "is_default")]
        mean: Option<f64>,
        /// Longest; without it alpha must be above 1.
        #[serde(default, skip_serializing_if = "is_default")]
        max: Option<u32>,
    },
    /// Several kinds of lengths, each for a share of requests.
    Mixture {
        /// The kinds.
        parts: Vec<MixturePartDoc>,
        /// Shortest.
        #[serde(default, skip_serializing_if = "is_default")]
        min: Option<u32>,
        /// Longest.
        #[serde(default, skip_serializing_if = "is_default")]
        max: Option<u32>,
    },
    /// Inverse of a table of quantiles, linear between rows, flat beyond the first and last.
    Quantiles {
        /// Rows in ascending order.
        table: Vec<QuantileDoc>,
    },
    /// Drawn with replacement from given values.
    Empirical {
        /// Observed lengths.
        samples: Vec<u32>,
    },
    /// The i-th request has the i-th length: what a replayed trace recorded.
    Recorded {
        /// One length per request of the trace.
        tokens: Vec<u32>,
        /// Factor on every length, rounded to whole tokens and at least one.
        #[serde(default = "defaults::factor", skip_serializing_if = "defaults::is_factor")]
        factor: f64,
    },
}

impl LengthsDoc {
    /// Lognormal by its mean and 99th percentile.
    pub fn lognormal(mean: f64, p99: f64) -> Self {
        Self::Lognormal(LognormalDoc {
            mean: Some(mean),
            p99: Some(p99),
            ..LognormalDoc::default()
        })
    }

    /// By a table of shares and lengths, such as that of a server's histogram.
    pub fn quantiles(rows: &[(f64, f64)]) -> Self {
        let row = |(p, tokens): &(f64, f64)| QuantileDoc { p: *p, tokens: *tokens };
        Self::Quantiles { table: rows.iter().map(row).collect() }
    }

    /// What a replayed trace recorded.
    pub fn recorded(tokens: Vec<u32>) -> Self {
        Self::Recorded { tokens, factor: defaults::factor() }
    }
}

/// A lognormal law by any two of its numbers: the mean with any other, else two percentiles, or
/// one and `sigma`. What is stated beyond two must agree with the law within 1 %.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "numbers of a lognormal law")]
pub struct LognormalDoc {
    /// Mean.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mean: Option<f64>,
    /// 99th percentile, above the mean.
    #[serde(default, skip_serializing_if = "is_default")]
    pub p99: Option<f64>,
    /// Standard deviation.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sd: Option<f64>,
    /// Standard deviation of the logarithm.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sigma: Option<f64>,
    /// 5th percentile.
    #[serde(default, skip_serializing_if = "is_default")]
    pub p5: Option<f64>,
    /// Median.
    #[serde(default, skip_serializing_if = "is_default")]
    pub p50: Option<f64>,
    /// 90th percentile.
    #[serde(default, skip_serializing_if = "is_default")]
    pub p90: Option<f64>,
    /// 95th percentile.
    #[serde(default, skip_serializing_if = "is_default")]
    pub p95: Option<f64>,
    /// Shortest.
    #[serde(default, skip_serializing_if = "is_default")]
    pub min: Option<u32>,
    /// Longest.
    #[serde(default, skip_serializing_if = "is_default")]
    pub max: Option<u32>,
}

/// One part of a mixture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a part of a mixture")]
pub struct MixturePartDoc {
    /// Weight, above 0; shares of requests are weights over their sum.
    pub weight: f64,
    /// Lengths of this part.
    pub tokens: LengthsDoc,
}

/// One row of a quantile table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a row of a quantile table")]
pub struct QuantileDoc {
    /// Share of requests at or below, 0 to 1.
    pub p: f64,
    /// Length, tokens.
    pub tokens: f64,
}

/// How the prompt and the answer of one request go together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum PairingDoc {
    /// Drawn apart; of recorded lengths, as recorded.
    #[default]
    #[serde(deserialize_with = "super::no_more_fields")]
    Apart,
    /// The i-th sample of the prompts with the i-th of the answers.
    #[serde(deserialize_with = "super::no_more_fields")]
    Together,
    /// Each of its own law, their ranks correlated (a Gaussian copula).
    Correlated {
        /// Spearman's rank correlation, -1 to 1.
        rank_correlation: f64,
    },
}

/// Tokens that a reasoning model generates and does not show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum HiddenTokensDoc {
    /// Part of the output tokens.
    Share {
        /// Share of the output tokens that is not shown, 0 to 1.
        share: f64,
    },
    /// Generated before the output tokens, which are then those that are shown.
    Added {
        /// How many, drawn apart from prompt and answer.
        tokens: Box<LengthsDoc>,
    },
}
