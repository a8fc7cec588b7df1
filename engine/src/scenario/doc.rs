//! The scenario document, version 1: the only editable state.
//!
//! A link, a file, an undo step, the worker and the command line all carry this and nothing else.
//! A document may be invalid; [`super::check`] turns it into a [`super::Scenario`] or says
//! everything that is wrong with it. Unknown fields are refused, absent ones take the defaults
//! that version 1 froze (`defaults.rs`) and are left out again in writing.

mod admission;
mod arrivals;
mod clients;
mod defaults;
mod fleet;
mod lengths;
mod life;
mod targets;
mod text;
mod workload;

pub use admission::*;
pub use arrivals::*;
pub use clients::*;
use defaults::is_default;
pub use fleet::*;
pub use lengths::*;
pub use life::*;
use serde::{Deserialize, Deserializer, Serialize};
pub use targets::*;
pub(super) use text::to_minimal_json;
pub use text::{MAX_TEXT_BYTES, parse, to_json};
pub use workload::*;

/// The schema version this engine writes and the newest it reads.
pub const VERSION: u32 = 1;

/// What is asked (workload), what counts (contract, in each class), and what serves (fleet).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a scenario document")]
pub struct ScenarioDoc {
    /// Schema version, [`VERSION`].
    pub version: u32,
    /// A name for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Who asks.
    pub workload: WorkloadDoc,
    /// What serves.
    pub fleet: FleetDoc,
    /// What is sized for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub targets: TargetsDoc,
}

/// Refuses fields beside the tag of a variant that has none of its own, which serde would ignore.
fn no_more_fields<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    Nothing::deserialize(deserializer).map(|Nothing {}| ())
}
