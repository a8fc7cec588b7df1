//! What is sized for.

use serde::{Deserialize, Serialize};

use super::defaults;

/// What a plan sizes for, beside the contracts of the classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "targets")]
pub struct TargetsDoc {
    /// The share of windows (runs of the scenario from warm-up to horizon) in which a fleet has to
    /// hold the contract to be the answer, 0.5 to 0.99.
    #[serde(default = "defaults::confidence", skip_serializing_if = "defaults::is_confidence")]
    pub confidence: f64,
}

impl Default for TargetsDoc {
    fn default() -> Self {
        Self { confidence: defaults::confidence() }
    }
}
