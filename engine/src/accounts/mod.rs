//! Who got what: outcomes, attainment, debt and cost, counted from what happened.
//!
//! [`answer`] is the whole way from a checked scenario to its report. [`Answer`] is the same way
//! in steps, for a caller that wants to show progress or may have to stop.

mod account_for;
pub mod accounting;
mod answer;
mod closed_loop;
mod cost;
mod debt;
mod excess;
mod goodput;
pub mod headline;
mod latency;
mod life_cycle;
mod over_time;
mod parts;
mod pool_report;
mod prefix_cache;
mod provision;
mod proviso;
mod recount;
pub mod report;
mod spec;
mod supply;
mod tally;
mod unserved;
mod verdict;
pub mod words;

pub use account_for::cross;
pub use answer::{Answer, Simulated, answer};
pub use cost::{Provision, books};
pub use life_cycle::{ClassLifeCycle, LifeAbout, LifeCycle, Stage, life_cycle};
pub use proviso::proviso;
pub use recount::{Recount, recount};
pub use spec::{Unanswerable, fleet_spec, replica_spec};
pub use supply::{Saturations, peak_windows, sustainable};
pub use tally::{Row, attainment, missed_targets, outcomes, rows, window};
