//! What is sized for.

use serde::{Deserialize, Serialize};

use super::defaults::{self, is_default};

/// What a plan sizes for, beside the contracts of the classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "targets")]
pub struct TargetsDoc {
    /// The share of windows (runs of the scenario from warm-up to horizon) in which a fleet has to
    /// hold the contract to be the answer, 0.5 to 0.99.
    #[serde(default = "defaults::confidence", skip_serializing_if = "defaults::is_confidence")]
    pub confidence: f64,
    /// What whoever reviews the scenario wants to see: met or not, it changes no other number.
    #[serde(default, skip_serializing_if = "is_default")]
    pub expectations: Vec<ExpectationDoc>,
}

/// A headline number of the simulation, and its bounds: one of them or both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an expectation")]
pub struct ExpectationDoc {
    /// Which number, as `goodput diff` names it: `ttft_ms.p99`, `cost.per_good_request`.
    pub of: String,
    /// The most that it may be, in its unit.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at_most: Option<f64>,
    /// The least that it may be.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at_least: Option<f64>,
}

impl Default for TargetsDoc {
    fn default() -> Self {
        Self { confidence: defaults::confidence(), expectations: Vec::new() }
    }
}
