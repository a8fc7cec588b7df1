//! The plan of one pool.
//!
//! First what no count can mend (`alone`). Then the smallest fleet: bracketed by the estimate,
//! bisected by simulation on one workload that every fleet serves, confirmed on other seeds. Then
//! the largest multiple α of the mix at which the present fleet holds, and the same with each
//! constraint relaxed alone: the one with the largest gain binds.
//!
//! A [`PoolPlanner`] keeps no state but the runs that are done: the searches start again
//! from the beginning after each and look the earlier ones up.
//!
//! All runs share one budget of computing. What it does not suffice for is neither "holds" nor "does
//! not hold" but undecided, and the report says which of its parts are.

use super::report::{FleetRow, PlanAnswer, PlanBudget, PlanReport, Relaxation};
use super::runs::{Needed, RunSummary, Runs, Stop};
use super::search::{LARGEST_ALPHA_STEPS, Search};
use super::variant::{ALPHA_STEPS, Constraint, Variant};
use super::{Progress, beyond, marginal, words};
use crate::accounts::report::MixRate;
use crate::estimate::estimate;
use crate::estimate::report::SupplyEstimate;
use crate::scenario::{MAX_REPLICAS, Scenario};
use crate::stats;

/// Seeds that confirm an answer, where anything is drawn.
const SEEDS: u64 = 5;

/// A plan of one pool in progress.
#[derive(Debug)]
pub struct PoolPlanner {
    scenario: Scenario,
    supply: Option<SupplyEstimate>,
    /// Why no count helps, if so.
    beyond_count: Option<PlanAnswer>,
    /// Seeds that confirm an answer; one where nothing is drawn.
    seeds: u64,
    /// Beyond this many, replicas only idle: there are no more requests.
    most_replicas: u32,
    runs: Runs,
    report: Option<PlanReport>,
    needed: Option<Needed>,
}

/// What a fleet delivers of a mix at its contract.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delivered {
    /// The largest multiple of the mix at which the contract holds, times [`ALPHA_STEPS`].
    pub alpha_steps: u32,
    /// That multiple of the demand at its peak, as rates that can last; `None` where no multiple
    /// holds, and beside closed loops.
    pub rate: Option<MixRate>,
}

impl PoolPlanner {
    /// A plan whose simulations may do so much work in all, in the unit of [`PlanBudget`]. What is
    /// not decided by then the report leaves open, and says so.
    pub fn within(scenario: &Scenario, budget: u64) -> Self {
        let supply = estimate(scenario).supply;
        let seeds = if is_drawn(scenario) { SEEDS } else { 1 };
        let beyond_count = beyond::beyond_count(scenario, supply.as_ref(), seeds);
        let mut planner = Self {
            scenario: scenario.clone(),
            supply,
            beyond_count,
            seeds,
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
        let answer = match &self.beyond_count {
            Some(answer) => answer.clone(),
            None => self.count()?,
        };
        let report = report.insert(PlanReport {
            sentence: words::sentence(&self.scenario, &answer, &[]),
            answer,
            pool: None,
            other_pools: Vec::new(),
            notes: Vec::new(),
            fleets: Vec::new(),
            marginal: Vec::new(),
            replicas_floor: self.supply.as_ref().map_or(0, |supply| supply.replicas_floor),
            alpha: None,
            alpha_is_least: false,
            deliverable: None,
            binding: Vec::new(),
            seeds: (0..self.seeds).map(|offset| self.scenario.seed.wrapping_add(offset)).collect(),
            simulations: self.runs.count(),
            undecided: Vec::new(),
            budget: self.budget(),
        });
        if matches!(report.answer, PlanAnswer::Undecided { .. }) {
            report.undecided.push("replicas".to_owned());
        }
        if self.scenario.pool.step_time().is_none() || self.supply.is_none() {
            return Ok(());
        }
        self.add_fleets(report)?;
        let base = self.add_alpha(report)?;
        self.add_binding(report, base)
    }

    fn budget(&self) -> PlanBudget {
        let (spent_work, max_work) = self.runs.spent();
        PlanBudget { spent_work, max_work }
    }

    fn search(&self) -> Search<'_> {
        Search { runs: &self.runs, seeds: self.seeds, most_replicas: self.most_replicas }
    }

    fn count(&self) -> Result<PlanAnswer, Needed> {
        let gpus_per_replica = self.scenario.pool.gpus_per_replica;
        let found = decided(self.search().smallest_fleet(self.guess_replicas()))?;
        let Some(found) = found else {
            let (fails, holds) = self.runs.bracket();
            return Ok(PlanAnswer::Undecided { fails, holds });
        };
        Ok(match found {
            Ok(replicas) => {
                let gpus = replicas.saturating_mul(gpus_per_replica);
                PlanAnswer::Replicas { replicas, gpus, gpus_per_replica }
            }
            Err(tried) => PlanAnswer::NotFound { tried },
        })
    }

    /// Rows of the present fleet and of the answer and its neighbours, in every seed.
    fn add_fleets(&self, report: &mut PlanReport) -> Result<(), Needed> {
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
            if let Some(mut row) = self.row(replicas)? {
                row.is_present = replicas == present;
                row.is_answer = Some(replicas) == answer;
                report.fleets.push(row);
            }
        }
        let is_whole = |row: &FleetRow| u64::from(row.runs) == self.seeds;
        if report.fleets.len() < count_of_sizes || !report.fleets.iter().all(is_whole) {
            report.undecided.push("fleets".to_owned());
        }
        report.sentence = words::sentence(&self.scenario, &report.answer, &report.fleets);
        report.marginal = marginal::steps(&report.fleets);
        Ok(())
    }

    /// What a fleet does in the seeds that are decided, if any is.
    fn row(&self, replicas: u32) -> Result<Option<FleetRow>, Needed> {
        let run = |seed_offset| self.runs.summary(Variant::size(replicas, seed_offset));
        let all: Vec<Option<&RunSummary>> = (0..self.seeds).map(run).collect::<Result<_, _>>()?;
        let runs: Vec<&RunSummary> = all.iter().flatten().copied().collect();
        if runs.is_empty() {
            return Ok(None);
        }
        let mean = |value: fn(&&RunSummary) -> Option<f64>| {
            stats::mean(&runs.iter().filter_map(value).collect::<Vec<_>>())
        };
        Ok(Some(FleetRow {
            replicas,
            is_present: false,
            is_answer: false,
            attainment: runs.iter().map(|run| run.attainment).sum::<f64>() / runs.len() as f64,
            good_rps: mean(|run| Some(run.good_rps)).unwrap_or(0.0),
            holds_in: count(runs.iter().filter(|run| run.holds).count()),
            runs: count(runs.len()),
            undecided: count(all.len() - runs.len()),
            ttft_p95_ms: mean(|run| run.ttft_p95_ms),
            peak_debt_s: mean(|run| Some(run.peak_debt_s)).unwrap_or(0.0),
            cost_per_good_request: mean(|run| run.cost_per_good_request),
            cost_per_month: mean(|run| run.cost_per_month),
            alpha: None,
            alpha_is_least: false,
        }))
    }

    /// The largest multiple at which the present fleet holds; returns it in steps, if it is decided.
    fn add_alpha(&self, report: &mut PlanReport) -> Result<Option<u32>, Needed> {
        let Some(found) = self.delivered()? else {
            report.undecided.push("alpha".to_owned());
            return Ok(None);
        };
        report.alpha = found.alpha();
        report.alpha_is_least = found.is_least();
        report.deliverable = found.rate;
        if let Some(row) = report.fleets.iter_mut().find(|row| row.is_present) {
            row.alpha = report.alpha;
            row.alpha_is_least = report.alpha_is_least;
        }
        Ok(Some(found.alpha_steps))
    }

    /// What the present fleet delivers at its contract, `None` where that is undecided.
    fn delivered(&self) -> Result<Option<Delivered>, Needed> {
        let present = self.scenario.pool.replicas;
        let guess = self.guess_alpha_steps();
        let Some(base) = decided(self.search().largest_alpha(present, None, (0, guess)))? else {
            return Ok(None);
        };
        // Demand and supply are those of a run at its own load.
        self.runs.summary(Variant::size(present, 0))?;
        let alpha = f64::from(base) / f64::from(ALPHA_STEPS);
        // So many times the users do not ask so many times as often.
        let in_proportion = base > 0 && !self.scenario.has_closed_loop();
        let supply = self.runs.supply(present).filter(|_| in_proportion);
        let rate = supply
            .map(|(peak, of_one)| at_most(&peak.times(alpha), &of_one.times(f64::from(present))));
        Ok(Some(Delivered { alpha_steps: base, rate }))
    }

    /// The same after as many simulations as that takes; what no count can mend delivers nothing.
    pub fn find_delivered(mut self) -> Result<Option<Delivered>, String> {
        if let Some(beyond_count) = &self.beyond_count {
            return Err(words::sentence(&self.scenario, beyond_count, &[]));
        }
        loop {
            match self.delivered() {
                Ok(found) => return Ok(found),
                Err(needed) => self.runs.run(&self.scenario, needed),
            }
        }
    }

    /// The gain of each constraint relaxed alone, largest first.
    fn add_binding(&self, report: &mut PlanReport, base: Option<u32>) -> Result<(), Needed> {
        let present = self.scenario.pool.replicas;
        // Gains are over α: without it, or beyond what is tried, there is none to state.
        let Some(base) = base.filter(|base| *base < LARGEST_ALPHA_STEPS) else { return Ok(()) };
        for constraint in Constraint::ALL {
            // A gain is looked for, so from the present α up.
            let known = (base, base + 1);
            let relaxed = self.search().largest_alpha(present, Some(constraint), known);
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
        let all_known = report.binding.len() == Constraint::ALL.len() && beyond <= 1;
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

impl Delivered {
    /// That multiple; `None` where none holds.
    pub fn alpha(&self) -> Option<f64> {
        (self.alpha_steps > 0).then(|| f64::from(self.alpha_steps) / f64::from(ALPHA_STEPS))
    }

    /// Whether it is the largest that is tried, so that there may be more.
    pub fn is_least(&self) -> bool {
        self.alpha_steps >= LARGEST_ALPHA_STEPS
    }
}

/// As much of `wanted` as `sustainable` allows of every kind.
fn at_most(wanted: &MixRate, sustainable: &MixRate) -> MixRate {
    let room = |get: fn(&MixRate) -> f64| {
        let wanted = get(wanted);
        if wanted > 0.0 { get(sustainable) / wanted } else { f64::INFINITY }
    };
    let room = room(|r| r.rps).min(room(|r| r.prefill_tps)).min(room(|r| r.decode_tps));
    if room >= 1.0 {
        return *wanted;
    }
    // No more by a rounding either.
    MixRate {
        rps: (room * wanted.rps).min(sustainable.rps),
        prefill_tps: (room * wanted.prefill_tps).min(sustainable.prefill_tps),
        decode_tps: (room * wanted.decode_tps).min(sustainable.decode_tps),
    }
}

/// What was found, `None` where it is undecided, or that a run is needed first.
fn decided<T>(found: Result<T, Stop>) -> Result<Option<T>, Needed> {
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
