//! The scenario: the document people edit, its check, its links and its presets.

#[cfg(test)]
mod arbitrary;
mod check;
mod described;
pub mod doc;
mod fingerprint;
mod from_trace;
pub mod link;
mod pool;
pub mod presets;
mod refs;

pub use check::{Checked, MAX_CLASSES, MAX_REPLICAS, arrivals_of, check, lengths_of};
pub use described::DescribedLengths;
pub use from_trace::{TraceForm, TraceWorkload};
pub use pool::{Pool, Price, Scheduler, Service, StepTime};
pub use refs::{CatalogRef, GpuRef, ModelRef};

use crate::problem::Problem;
use crate::slo::Contract;
use crate::units::Picos;
use crate::workload::{OfferedRequest, TrafficClass, generate};

/// A document that has passed its check: everything behind this point may rely on what it holds.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// A name for people.
    pub name: String,
    /// Seed of every random draw.
    pub seed: u64,
    /// Requests due in `[0, horizon)` are offered.
    pub horizon: Picos,
    /// Requests due before this are simulated but not counted.
    pub warmup: Picos,
    /// Who asks; at least one.
    pub classes: Vec<TrafficClass>,
    /// What counts, one contract per class, at the same index.
    pub contracts: Vec<Contract>,
    /// What serves.
    pub pool: Pool,
}

impl Scenario {
    /// The requests that the scenario offers, in order of due; the same whatever serves them.
    ///
    /// # Errors
    /// Chance may lift a Poisson scenario that is just allowed over
    /// [`crate::workload::MAX_REQUESTS`].
    pub fn offered(&self) -> Result<Vec<OfferedRequest>, Problem> {
        generate(&self.classes, self.seed, self.horizon)
    }
}
