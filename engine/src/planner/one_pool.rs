//! The plan of one pool.
//!
//! First what no count can mend (`alone`). Then the smallest fleet: bracketed by the estimate,
//! bisected by simulation on one workload that every fleet serves, chosen by some windows and
//! confirmed by others (`search`, `odds`). Then the largest multiple α of the mix at which the
//! present fleet holds, and the same with each constraint relaxed alone: the one with the largest
//! gain binds.
//!
//! A [`PoolPlanner`] keeps no state but the runs that are done: the searches start again
//! from the beginning after each and look the earlier ones up.
//!
//! All runs share one budget of computing. What it does not suffice for is neither "holds" nor "does
//! not hold" but undecided, and the report says which of its parts are.

mod delivered;

pub use delivered::Delivered;

use super::report::{FleetRow, PeakFloor, PlanAnswer, PlanBudget, PlanReport, Relaxation, Sizing};
use super::runs::{Needed, Runs, Stop};
use super::search::{Block, LARGEST_ALPHA_STEPS, Search, Sized};
use super::variant::{ALPHA_STEPS, Constraint, Variant};
use super::{Progress, Scope, beyond, failures, fleets, inverse, marginal, peaks, words};
use crate::estimate::estimate;
use crate::estimate::report::SupplyEstimate;
use crate::scenario::{MAX_REPLICAS, Scenario};

/// A plan of one pool in progress.
#[derive(Debug)]
pub struct PoolPlanner {
    scenario: Scenario,
    scope: Scope,
    supply: Option<SupplyEstimate>,
    /// What the busiest moments would take if they lasted.
    peak_floors: Vec<PeakFloor>,
    /// Why no count helps, if so.
    beyond_count: Option<PlanAnswer>,
    /// Whether another seed gives another window.
    is_drawn: bool,
    /// Beyond this many, replicas only idle: there are no more requests.
    most_replicas: u32,
    runs: Runs,
    report: Option<PlanReport>,
    needed: Option<Needed>,
}

impl PoolPlanner {
    /// A plan whose simulations may do so much work in all, in the unit of [`PlanBudget`]. What is
    /// not decided by then the report leaves open, and says so.
    pub fn within(scenario: &Scenario, scope: Scope, budget: u64) -> Self {
        let supply = estimate(scenario).supply;
        let is_drawn = is_drawn(scenario);
        let beyond_count = beyond::beyond_count(scenario, supply.as_ref(), is_drawn);
        let peak_floors =
            supply.as_ref().map_or_else(Vec::new, |supply| peaks::floors(scenario, supply));
        let mut planner = Self {
            scenario: scenario.clone(),
            scope,
            supply,
            peak_floors,
            beyond_count,
            is_drawn,
            most_replicas: most_in_flight(scenario).clamp(1, MAX_REPLICAS),
            runs: Runs::within(budget),
            report: None,
            needed: None,
        };
        planner.think();
        planner
    }

    /// Whether its report is complete.
    pub fn is_done(&self) -> bool {
        self.needed.is_none()
    }

    /// Simulations so far.
    pub fn simulations(&self) -> u32 {
        self.runs.count()
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        match self.needed {
            Some(needed) => {
                Progress::Working { done: self.runs.count(), next: words::next(needed.variant) }
            }
            None => Progress::Done,
        }
    }

    /// Does one simulation, if one is needed.
    pub fn advance(&mut self) {
        if let Some(needed) = self.needed.take() {
            self.runs.run(&self.scenario, needed);
            self.think();
        }
    }

    /// What is known so far: nothing until the answer is; fleets, α and what binds follow.
    pub fn report(&self) -> Option<&PlanReport> {
        self.report.as_ref()
    }

    /// Draws every conclusion that the runs allow, up to the first that is missing.
    fn think(&mut self) {
        let mut report = None;
        self.needed = self.conclude(&mut report).err();
        self.report = report;
    }

    fn conclude(&self, report: &mut Option<PlanReport>) -> Result<(), Needed> {
        let block = match &self.beyond_count {
            Some(answer) => {
                *report = Some(self.begin(answer.clone(), None));
                None
            }
            None => self.size(report)?,
        };
        let Some(report) = report else { return Ok(()) };
        if self.scenario.pool.step_time().is_none() || self.supply.is_none() {
            return Ok(());
        }
        let block = block.unwrap_or(Block::Confirming(0));
        self.add_fleets(report, block)?;
        let base = self.add_alpha(report)?;
        self.add_binding(report, base)?;
        if let PlanAnswer::Replicas { replicas, .. } = report.answer {
            report.failures = failures::rows(&self.search(), &self.scenario, replicas, block)?;
        }
        if self.scope.inverse {
            let (_, share_of_work) = self.runs.spent();
            let search = Search { share_of_work, ..self.search() };
            let alpha_steps = base.unwrap_or(ALPHA_STEPS);
            let inverse = inverse::inverse(&search, &self.scenario, self.scope, alpha_steps)?;
            report.inverse = Some(inverse);
        }
        Ok(())
    }

    /// The answer: what the choosing windows say, and then what those that confirm it do. Returns
    /// the windows that say how often it holds.
    fn size(&self, report: &mut Option<PlanReport>) -> Result<Option<Block>, Needed> {
        let search = self.search();
        let Some(chosen) = decided(search.chosen(self.guess_replicas()))? else {
            let (fails, holds) = self.runs.bracket();
            let report = report.insert(self.begin(PlanAnswer::Undecided { fails, holds }, None));
            report.undecided.push("replicas".to_owned());
            return Ok(None);
        };
        *report = Some(self.begin(self.answer(chosen), chosen.ok()));
        let Ok(chosen) = chosen else { return Ok(None) };
        let confirmed = decided(search.confirmed(chosen))?;
        let found = confirmed.unwrap_or(Ok(chosen));
        let report = report.insert(self.begin(self.answer(found), found.ok()));
        if found.is_ok_and(|sized| !sized.is_confirmed) {
            report.undecided.push("confirmation".to_owned());
        }
        Ok(found.ok().map(|sized| sized.block))
    }

    fn answer(&self, found: Result<Sized, u32>) -> PlanAnswer {
        let gpus_per_replica = self.scenario.pool.gpus_per_replica;
        match found {
            Ok(Sized { replicas, .. }) => {
                let gpus = replicas.saturating_mul(gpus_per_replica);
                PlanAnswer::Replicas { replicas, gpus, gpus_per_replica }
            }
            Err(tried) => PlanAnswer::NotFound { tried },
        }
    }

    /// A report that has an answer and nothing else yet.
    fn begin(&self, answer: PlanAnswer, sized: Option<Sized>) -> PlanReport {
        let Scenario { confidence, horizon, warmup, seed, .. } = self.scenario;
        let block = sized.map_or(Block::Confirming(0), |sized| sized.block);
        let standing = sized.and_then(|Sized { replicas, block, .. }| {
            let search = self.search();
            search.standing(Variant::size(replicas, 0), block, search.most_windows(block)).ok()
        });
        PlanReport {
            sentence: words::first_sentence(&self.scenario, &answer, standing),
            answer,
            sizing: Sizing {
                confidence,
                window_s: (horizon - warmup).as_secs(),
                is_confirmed: sized.is_some_and(|sized| sized.is_confirmed),
                rule: words::rule(&self.search()),
            },
            pool: None,
            other_pools: Vec::new(),
            present_is_most: false,
            notes: Vec::new(),
            fleets: Vec::new(),
            marginal: Vec::new(),
            failures: Vec::new(),
            replicas_floor: self.supply.as_ref().map_or(0, |supply| supply.replicas_floor),
            peak_floors: self.peak_floors.clone(),
            alpha: None,
            alpha_is_least: false,
            alpha_seed: None,
            deliverable: None,
            binding: Vec::new(),
            inverse: None,
            seeds: self.search().measured(block).map(|offset| seed.wrapping_add(offset)).collect(),
            simulations: self.runs.count(),
            undecided: Vec::new(),
            budget: self.budget(),
        }
    }

    fn budget(&self) -> PlanBudget {
        let (spent_work, max_work) = self.runs.spent();
        PlanBudget { spent_work, max_work }
    }

    fn search(&self) -> Search<'_> {
        Search {
            runs: &self.runs,
            confidence: self.scenario.confidence,
            is_drawn: self.is_drawn,
            most_replicas: self.most_replicas,
            share_of_work: self.runs.share_for_sizes(),
            windows_asked_for: self.scope.most_windows,
        }
    }

    /// Rows of the present fleet and of the answer and its neighbours.
    fn add_fleets(&self, report: &mut PlanReport, block: Block) -> Result<(), Needed> {
        let answer = match report.answer {
            PlanAnswer::Replicas { replicas, .. } => Some(replicas),
            _ => None,
        };
        let present = self.scenario.pool.replicas;
        let around = answer.into_iter().flat_map(|n| [n - 1, n, n.saturating_add(1)]);
        let mut sizes: Vec<u32> = around.chain([present]).filter(|n| *n > 0).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let count_of_sizes = sizes.len();
        for replicas in sizes {
            let bounds = answer.is_some_and(|n| replicas == n || replicas + 1 == n);
            if let Some(mut row) = fleets::row(&self.search(), (replicas, bounds), block)? {
                row.is_present = replicas == present;
                row.is_answer = Some(replicas) == answer;
                if answer.is_some_and(|n| replicas + 1 == n) {
                    row.judged = fleets::judged(&self.search(), &row, block)?;
                }
                report.fleets.push(row);
            }
        }
        let is_whole = |row: &FleetRow| row.undecided == 0;
        if report.fleets.len() < count_of_sizes || !report.fleets.iter().all(is_whole) {
            report.undecided.push("fleets".to_owned());
        }
        report.sentence = words::sentence(&self.scenario, report);
        report.marginal = marginal::steps(&report.fleets);
        Ok(())
    }

    /// The largest multiple at which the present fleet holds; returns it in steps, if it is decided.
    fn add_alpha(&self, report: &mut PlanReport) -> Result<Option<u32>, Needed> {
        let Some(found) = self.delivered()? else {
            report.undecided.push("alpha".to_owned());
            return Ok(None);
        };
        report.alpha = found.alpha();
        report.alpha_seed = Some(self.scenario.seed);
        report.alpha_is_least = found.is_least();
        report.deliverable = found.rate;
        if let Some(row) = report.fleets.iter_mut().find(|row| row.is_present) {
            row.alpha = report.alpha;
            row.alpha_is_least = report.alpha_is_least;
        }
        Ok(Some(found.alpha_steps))
    }

    /// The gain of each constraint relaxed alone, largest first.
    fn add_binding(&self, report: &mut PlanReport, base: Option<u32>) -> Result<(), Needed> {
        let present = self.scenario.pool.replicas;
        // Gains are over α: without it, or beyond what is tried, there is none to state.
        let Some(base) = base.filter(|base| *base < LARGEST_ALPHA_STEPS) else { return Ok(()) };
        let constraints = || Constraint::ALL.into_iter().filter(|c| c.is_there(&self.scenario));
        for constraint in constraints() {
            // A gain is looked for, so from the present α up.
            let known = (base, base + 1);
            let fleet = Variant { relaxed: Some(constraint), ..Variant::size(present, 0) };
            let relaxed = self.search().largest_alpha(fleet, known);
            let Some(relaxed) = decided(relaxed)? else {
                report.undecided.push(constraint.name().to_owned());
                continue;
            };
            let steps = relaxed - base;
            report.binding.push(Relaxation {
                constraint: constraint.name().to_owned(),
                label: constraint.label().to_owned(),
                gain: f64::from(steps) / f64::from(ALPHA_STEPS),
                gain_is_least: relaxed >= LARGEST_ALPHA_STEPS,
                binds: false,
            });
            report.binding.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        }
        // One that is not decided might have gained more, and so might one of several that reach
        // the end of what is tried.
        let beyond = report.binding.iter().filter(|relaxation| relaxation.gain_is_least).count();
        let all_known = report.binding.len() == constraints().count() && beyond <= 1;
        if let Some(first) = report.binding.first_mut() {
            first.binds = all_known && first.gain > 0.0;
        }
        Ok(())
    }

    /// Where the estimate puts the answer.
    fn guess_replicas(&self) -> u32 {
        let Some(supply) = &self.supply else { return 1 };
        let present = f64::from(self.scenario.pool.replicas);
        let per_replica = supply.deliverable_rps.unwrap_or(supply.sustainable_rps) / present;
        let exact = supply.required_peak.rps / per_replica.max(f64::MIN_POSITIVE);
        whole(exact.ceil()).clamp(supply.replicas_floor, MAX_REPLICAS)
    }

    /// Where the estimate puts α, in steps.
    fn guess_alpha_steps(&self) -> u32 {
        let Some(supply) = &self.supply else { return 1 };
        if self.beyond_count.is_some() {
            return 1;
        }
        let deliverable = supply.deliverable_rps.unwrap_or(supply.sustainable_rps);
        whole(f64::from(ALPHA_STEPS) * deliverable / supply.required_peak.rps)
    }
}

/// What was found, `None` where it is undecided, or that a run is needed first.
pub fn decided<T>(found: Result<T, Stop>) -> Result<Option<T>, Needed> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Stop::Undecided) => Ok(None),
        Err(Stop::Needed(needed)) => Err(needed),
    }
}

/// Whether another seed gives another workload.
fn is_drawn(scenario: &Scenario) -> bool {
    let other = Scenario { seed: scenario.seed.wrapping_add(1), ..scenario.clone() };
    scenario.has_followers() || scenario.offered() != other.offered()
}

/// As many requests as can be in flight at once.
fn most_in_flight(scenario: &Scenario) -> u32 {
    let crowds = scenario.classes.iter().filter_map(|class| class.arrivals.closed_loop());
    let users = crowds.fold(0_u32, |sum, crowd| sum.saturating_add(crowd.users));
    count(scenario.offered().map_or(1, |requests| requests.len())).saturating_add(users)
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
fn whole(x: f64) -> u32 {
    x as u32
}
