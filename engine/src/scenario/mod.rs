//! The scenario: the document people edit, its check, its links and its presets.

#[cfg(test)]
mod arbitrary;
mod check;
mod described;
pub mod doc;
mod expectation;
mod fingerprint;
mod from_trace;
pub mod link;
mod pool;
pub mod presets;
mod refs;

pub use check::{
    CONFIDENCES, Checked, MAX_CLASSES, MAX_POOLS, MAX_REPLICAS, arrivals_of, check, contract_of,
    lengths_of,
};
pub use described::{DescribedLengths, HonouredLengths, RealisedLengths};
pub use expectation::{Expectation, HEADLINES};
pub use from_trace::{LengthsWorkload, TraceForm, TraceWorkload};
pub use pool::{Pool, Price, Scheduler, Service, StepTime};
pub use refs::{CatalogRef, GpuRef, ModelRef};

use std::borrow::Cow;

use crate::fleet::{Admission, Routing};
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
    /// What serves; where there are several pools, the first of them.
    pub pool: Pool,
    /// The other pools, in the order of the document.
    pub beside: Vec<Pool>,
    /// How a request finds its replica within its pool.
    pub routing: Routing,
    /// Whom the fleet lets in.
    pub admission: Admission,
    /// The share of windows in which a fleet has to hold the contracts to be the answer of a plan.
    pub confidence: f64,
    /// What is expected of headline numbers.
    pub expectations: Vec<Expectation>,
}

impl Scenario {
    /// All pools, in the order of the document: a request's pool is an index into them.
    pub fn pools(&self) -> impl Iterator<Item = &Pool> + Clone {
        std::iter::once(&self.pool).chain(&self.beside)
    }

    /// All pools, to change them.
    pub fn pools_mut(&mut self) -> impl Iterator<Item = &mut Pool> {
        std::iter::once(&mut self.pool).chain(&mut self.beside)
    }

    /// Whether there is more than one pool.
    pub fn has_several_pools(&self) -> bool {
        !self.beside.is_empty()
    }

    /// What is asked of each pool, and that pool: one scenario of one pool each, so that whatever is
    /// said of such a one is said of a pool. Classes keep their indices; of one that is not routed
    /// there nothing is asked. What binds all pools (the door, and users of a closed loop who wait
    /// in one pool before they ask another) binds each as if it were alone.
    pub fn parts(&self) -> Vec<Cow<'_, Self>> {
        if !self.has_several_pools() {
            return vec![Cow::Borrowed(self)];
        }
        let part = |(index, pool): (u32, &Pool)| {
            Cow::Owned(Self {
                classes: self.classes.iter().map(|class| class.at(index)).collect(),
                pool: pool.clone(),
                beside: Vec::new(),
                ..self.clone()
            })
        };
        (0..).zip(self.pools()).map(part).collect()
    }

    /// The same without classes of which nothing is asked; at least one stays.
    #[must_use]
    pub fn without_idle_classes(&self) -> Self {
        let asked = |class: &TrafficClass| class.share() > 0.0;
        let first = self.classes.iter().position(asked).unwrap_or(0);
        let all = || self.classes.iter().zip(&self.contracts).enumerate();
        let kept = || all().filter(|(i, (class, _))| *i == first || asked(class));
        Self {
            classes: kept().map(|(_, (class, _))| class.clone()).collect(),
            contracts: kept().map(|(_, (_, contract))| contract.clone()).collect(),
            ..self.clone()
        }
    }

    /// The longest prompt plus output that any pool takes of a class.
    pub fn max_model_len_of(&self, class: &TrafficClass) -> u32 {
        let pool = |index: u32| self.pools().nth(index as usize).unwrap_or(&self.pool);
        let all = class.route.legs().iter().map(|leg| pool(leg.pool).scheduler.max_model_len);
        all.max().unwrap_or(self.pool.scheduler.max_model_len)
    }

    /// Whether some class is a closed loop, whose requests depend on what serves them.
    pub fn has_closed_loop(&self) -> bool {
        self.classes.iter().any(|class| class.arrivals.closed_loop().is_some())
    }

    /// Users of all closed loops; `None` where there is none.
    pub fn users(&self) -> Option<u64> {
        let crowds = self.classes.iter().filter_map(|class| class.arrivals.closed_loop());
        crowds.map(|crowd| u64::from(crowd.users)).reduce(|all, users| all + users)
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
        let longest: Vec<u32> = self.pools().map(|pool| pool.scheduler.max_model_len).collect();
        let bounds = (self.horizon, longest.as_slice());
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
