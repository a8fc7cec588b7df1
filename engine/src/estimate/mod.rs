//! The instant answer by arithmetic: memory, supply, capacity and fluid debt.
//!
//! Demand is an *expectation*: arrival rates × mean lengths of the distributions, whatever the
//! seed, so that evenly spaced arrivals of fixed lengths are exact and a random mix has no noise.
//! (A simulation reports what its draw realised.) Only a replayed trace is its own expectation.
//!
//! Supply is a mean-field steady state of one replica (`mean_field`). It knows no queue, no burst
//! and no spread of batch sizes: it explains the arithmetic and brackets the searches. Whether a
//! contract holds, a simulation says.

mod cached;
mod capacity;
mod closed_loop;
mod debt;
mod demand;
mod latency;
mod leaves_out;
mod lengths;
mod mean_field;
mod memory;
mod pools;
mod reasons;
pub mod report;
mod service;
mod sessions;
mod supply;
mod timeline;
mod workload;

pub use capacity::{Capacity, CapacityAxis, CapacityPoint, capacity};
pub use lengths::{ClassLengths, class_lengths};
pub use mean_field::{LengthMoments, MeanField, MeanShape, Operating, Prompt, ReplicaLimits};
pub use service::ReplicaModel;

use report::{EstimateReport, EstimateVerdict};

use crate::scenario::Scenario;

/// Memory, supply, capacity and debt of `scenario`, in well under 5 ms.
pub fn estimate(scenario: &Scenario) -> EstimateReport {
    let memory = memory::report(scenario.pools());
    if let Some(does_not_fit) = scenario.pools().find_map(|pool| pool.memory.does_not_fit.as_ref())
    {
        return EstimateReport {
            verdict: EstimateVerdict::DoesNotFit,
            memory,
            smallest_fitting: does_not_fit.smallest_fitting.map(Into::into),
            supply: None,
            pools: Vec::new(),
        };
    }
    let (verdict, supply, pools) = pools::estimate(scenario);
    EstimateReport { verdict, memory, smallest_fitting: None, supply: Some(supply), pools }
}
