//! How many replicas hold the contract, how far the present fleet is from the cliff, what binds.
//!
//! A fleet of several pools is planned pool by pool: routes have fixed shares, so what is asked of a
//! pool is a workload of its own, and a pool is large enough when its part of every class meets the
//! contract of that class.
//!
//! A [`Planner`] advances one simulation at a time, so that a caller can show what is known so far
//! and stop at any time.

mod alone;
mod beyond;
mod failures;
mod fleets;
mod inverse;
mod marginal;
pub mod measured;
mod odds;
mod one_pool;
mod one_run;
pub mod over_time;
mod peaks;
pub mod report;
mod runs;
mod search;
pub mod serve;
mod tightest;
mod variant;
mod words;
mod workloads;

pub use variant::{ALPHA_STEPS, Constraint, Stretch, Variant};
pub use words::interval;

pub use one_pool::Delivered;
use one_pool::PoolPlanner;
use report::PlanReport;

use crate::estimate::estimate;
use crate::fleet::Scaling;
use crate::scenario::Scenario;
use runs::BUDGET;

/// What a plan answers beside how many replicas hold, how far the present fleet is from the cliff
/// and what binds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scope {
    /// What the present fleet could do: [`report::Inverse`].
    pub inverse: bool,
    /// Growth of the load a month for which its headroom is counted, 0.1 is 10 %.
    pub growth_per_month: f64,
    /// Windows in which a fleet is simulated at most, to choose it and again to confirm it: fewer
    /// answer sooner and less surely, and the sentence says in how many.
    pub most_windows: u32,
}

impl Default for Scope {
    fn default() -> Self {
        Self { inverse: false, growth_per_month: 0.1, most_windows: u32::MAX }
    }
}

/// How far a plan has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    Working {
        /// Simulations done.
        done: u32,
        /// What the next one is for, in words.
        next: String,
    },
    /// The report is complete.
    Done,
}

/// A plan in progress.
#[derive(Debug)]
pub struct Planner {
    /// In the order of the document.
    pools: Vec<(String, PoolPlanner)>,
    /// Of each, whether an autoscaler or a timetable decides how many replicas it has.
    scaled: Vec<bool>,
    /// Index of the pool with the least to spare.
    first: usize,
    notes: Vec<String>,
    report: Option<PlanReport>,
}

/// The whole plan. `watch` is told before every simulation and ends the plan early by returning
/// false, with what is known by then: `None` if that is nothing.
pub fn plan(scenario: &Scenario, watch: impl FnMut(&Progress) -> bool) -> Option<PlanReport> {
    plan_with(scenario, Scope::default(), watch)
}

/// The same with what else is asked.
pub fn plan_with(
    scenario: &Scenario,
    scope: Scope,
    mut watch: impl FnMut(&Progress) -> bool,
) -> Option<PlanReport> {
    let mut planner = Planner::asked(scenario, scope, BUDGET);
    loop {
        let progress = planner.progress();
        if progress == Progress::Done || !watch(&progress) {
            return planner.report;
        }
        planner.advance();
    }
}

/// What a fleet of one pool delivers of its mix at its contract: that part of its plan alone. `None`
/// where the budget of a plan does not decide it.
///
/// # Errors
/// What no count of replicas can mend, in a sentence.
pub fn deliverable(scenario: &Scenario) -> Result<Option<Delivered>, String> {
    PoolPlanner::within(&of_constant_size(scenario.clone()), Scope::default(), BUDGET)
        .find_delivered()
}

impl Planner {
    /// A plan that has not begun, with the usual budget.
    pub fn new(scenario: &Scenario) -> Self {
        Self::within(scenario, BUDGET)
    }

    /// A plan whose simulations may do so much work in all, in the unit of
    /// [`report::PlanBudget`], pools alike. What is not decided by then the report leaves open, and
    /// says so.
    pub fn within(scenario: &Scenario, budget: u64) -> Self {
        Self::asked(scenario, Scope::default(), budget)
    }

    /// The same with what else is asked.
    pub fn asked(scenario: &Scenario, scope: Scope, budget: u64) -> Self {
        let parts: Vec<Scenario> = if scenario.has_several_pools() {
            scenario.parts().iter().map(|part| part.without_idle_classes()).collect()
        } else {
            vec![scenario.clone()]
        };
        let is_scaled = |part: &Scenario| part.pool.life.scaling != Scaling::Fixed;
        let scaled = parts.iter().map(is_scaled).collect();
        let parts: Vec<Scenario> = parts.into_iter().map(of_constant_size).collect();
        let load = |part: &Scenario| estimate(part).supply.map_or(0.0, |s| s.utilization_peak);
        let several = parts.len() > 1;
        let loads: Vec<f64> =
            parts.iter().map(|part| if several { load(part) } else { 0.0 }).collect();
        let most = loads.iter().copied().fold(0.0, f64::max);
        let first = loads.iter().position(|load| *load >= most).unwrap_or(0);
        let share = budget / parts.len() as u64;
        let pools = parts
            .iter()
            .map(|part| (part.pool.name.clone(), PoolPlanner::within(part, scope, share)));
        let (pools, notes) = (pools.collect(), words::notes(scenario));
        let mut planner = Self { pools, scaled, first, notes, report: None };
        planner.put_together();
        planner
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        let Some((name, pool)) = self.pools.iter().find(|(_, pool)| !pool.is_done()) else {
            return Progress::Done;
        };
        match pool.progress() {
            Progress::Working { next, .. } if self.pools.len() > 1 => {
                let done = self.pools.iter().map(|(_, pool)| pool.simulations()).sum();
                Progress::Working { done, next: format!("pool {name}: {next}") }
            }
            progress => progress,
        }
    }

    /// Does one simulation, if one is needed.
    pub fn advance(&mut self) -> Progress {
        if let Some((_, pool)) = self.pools.iter_mut().find(|(_, pool)| !pool.is_done()) {
            pool.advance();
            self.put_together();
        }
        self.progress()
    }

    /// What is known so far: nothing until the answer is; fleets, α and what binds follow.
    pub fn report(&self) -> Option<&PlanReport> {
        self.report.as_ref()
    }

    /// The report of the pool with the least to spare, and beside it those of the others.
    fn put_together(&mut self) {
        self.report = self.pools[self.first].1.report().cloned();
        let Some(report) = &mut self.report else { return };
        report.notes.clone_from(&self.notes);
        report.present_is_most = self.scaled[self.first];
        if self.pools.len() == 1 {
            return;
        }
        let pools = self.pools.iter().zip(&self.scaled);
        let named = pools.filter_map(|((name, pool), &present_is_most)| {
            let pool = pool.report()?.clone();
            Some(PlanReport { pool: Some(name.clone()), present_is_most, ..pool })
        });
        let all: Vec<PlanReport> = named.collect();
        report.sentence = words::of_pools(&all);
        report.pool = Some(self.pools[self.first].0.clone());
        report.other_pools = all.into_iter().filter(|other| other.pool != report.pool).collect();
    }
}

/// The same with as many replicas as there are at most, all the time: a size is what is planned.
pub fn of_constant_size(mut scenario: Scenario) -> Scenario {
    scenario.pool.replicas = scenario.pool.most_replicas();
    scenario.pool.life.scaling = Scaling::Fixed;
    scenario
}
