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

pub use check::{Checked, MAX_CLASSES, MAX_REPLICAS, arrivals_of, check, contract_of, lengths_of};
pub use described::DescribedLengths;
pub use from_trace::{LengthsWorkload, TraceForm, TraceWorkload};
pub use pool::{Pool, Price, Scheduler, Service, StepTime};
pub use refs::{CatalogRef, GpuRef, ModelRef};

use crate::problem::Problem;
use crate::slo::Contract;
use crate::units::Picos;
use crate::workload::{OfferedRequest, TrafficClass, Turn, generate, unfolded};

/// Users of a closed loop whose first requests stand for all of theirs.
const MOST_ASKED: u32 = 10_000;

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
    /// Whether some class is a closed loop, whose requests depend on what serves them.
    pub fn has_closed_loop(&self) -> bool {
        self.classes.iter().any(|class| class.arrivals.closed_loop().is_some())
    }

    /// Whether some request depends on when another one is served: in closed loops and sessions.
    pub fn has_followers(&self) -> bool {
        self.has_closed_loop() || self.has_sessions()
    }

    /// Whether some class asks in sessions of several turns.
    pub fn has_sessions(&self) -> bool {
        self.classes.iter().any(|class| class.session.is_some())
    }

    /// Requests that stand for the mix before it is served: those offered, all turns of sessions as
    /// if each were served at once, and of a closed loop what each user asks first, as if due when
    /// the measurement begins.
    ///
    /// # Errors
    /// As [`Scenario::offered`].
    pub fn mix(&self) -> Result<Vec<OfferedRequest>, Problem> {
        let bounds = (self.horizon, self.pool.scheduler.max_model_len);
        let mut mix = unfolded(&self.classes, self.offered()?, self.seed, bounds)?;
        for (index, class) in (0..).zip(&self.classes) {
            let users = class.arrivals.closed_loop().map_or(0, |crowd| crowd.users);
            let asks = |user| class.turn(self.seed, index, Turn { user, number: 0 }, self.warmup);
            mix.extend((0..users.min(MOST_ASKED)).filter_map(asks));
        }
        mix.sort_by_key(|request| (request.due, request.class));
        Ok(mix)
    }

    /// The requests that the scenario offers, in order of due; the same whatever serves them. Those
    /// of closed loops and later turns of sessions are not among them.
    ///
    /// # Errors
    /// Chance may lift a Poisson scenario that is just allowed over
    /// [`crate::workload::MAX_REQUESTS`].
    pub fn offered(&self) -> Result<Vec<OfferedRequest>, Problem> {
        generate(&self.classes, self.seed, self.horizon)
    }
}
