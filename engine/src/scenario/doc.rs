//! The scenario document, version 1: the only editable state.
//!
//! A link, a file, an undo step, the worker and the command line all carry this and nothing else.
//! A document may be invalid; [`super::check`] turns it into a [`super::Scenario`] or says
//! everything that is wrong with it. Unknown fields are refused, absent ones take the defaults
//! that version 1 froze: never change a default, add a version.

mod fleet;
mod workload;

pub use fleet::*;
use serde::{Deserialize, Serialize};
pub use workload::*;

/// The schema version this engine writes and the newest it reads.
pub const VERSION: u32 = 1;

/// What is asked (workload), what counts (contract, in each class), and what serves (fleet).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioDoc {
    /// Schema version, [`VERSION`].
    pub version: u32,
    /// A name for people.
    #[serde(default)]
    pub name: String,
    /// Who asks.
    pub workload: WorkloadDoc,
    /// What serves.
    pub fleet: FleetDoc,
}
