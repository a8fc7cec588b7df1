//! Simulations that the search has asked for, each done once.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::one_run::{End, begin, holds, simulate_while_hopeful};
use super::tightest::{Tightest, tightest};
use super::variant::Variant;
use super::workloads::Workloads;
use crate::accounts::report::{MixRate, SimReport, Supply};
use crate::accounts::{Answer, Saturations, fleet_spec, rows, window};
use crate::scenario::Scenario;
use crate::sim::{FleetSpec, WorkRate};

/// Work that a plan may do over all its runs, see [`work`]: about half a minute of computing.
pub const BUDGET: u64 = 150_000_000;
/// The part of it, as a divisor, that the size may take before α and what binds have theirs.
const SHARE_FOR_SIZES: u64 = 2;

/// Whether a fleet holds the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holding {
    /// It does.
    Holds,
    /// It does not.
    Fails,
    /// The budget ended, or a limit of the simulator, before it was clear.
    Undecided,
}

impl From<bool> for Holding {
    fn from(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Fails }
    }
}

/// What the planner keeps of a run that went to its end at the scenario's own load: the part of
/// its report that stands in a fleet's row.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Every class met its target.
    pub holds: bool,
    /// good ÷ offered.
    pub attainment: f64,
    /// Good requests per second.
    pub good_rps: f64,
    /// 95th percentile of TTFT; none if it never comes.
    pub ttft_p95_ms: Option<f64>,
    /// Peak debt, seconds of fleet work.
    pub peak_debt_s: f64,
    /// USD per good request; none without a price or a good request.
    pub cost_per_good_request: Option<f64>,
    /// USD per month; none without a price.
    pub cost_per_month: Option<f64>,
    /// The tightest limits it could have promised, by class.
    pub tightest: Vec<Tightest>,
}

/// The work that all runs may do together, and have done.
#[derive(Debug, Clone, Copy, Default)]
struct Spending {
    budget: u64,
    spent: u64,
    /// Work of the largest run of the scenario's own load in the first seed, before any other: how
    /// many windows can be afforded is counted out by it, once.
    largest: u64,
    is_counted_out: bool,
}

impl Spending {
    fn left(&self) -> u64 {
        self.budget.saturating_sub(self.spent)
    }

    /// The work of a run: of the scenario's own load in a seed, or of another load.
    fn charge(&mut self, work: u64, seed_offset: Option<u64>) {
        self.spent += work;
        match seed_offset {
            Some(0) if !self.is_counted_out => self.largest = self.largest.max(work),
            Some(0) | None => {}
            Some(_) => self.is_counted_out = true,
        }
    }
}

/// A run that the search needs and that has not been done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Needed {
    /// Of what.
    pub variant: Variant,
    /// To its end, for its numbers; else until it is clear whether it holds.
    pub to_the_end: bool,
}

/// Why a search does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// A run is needed first.
    Needed(Needed),
    /// A run that it rests on is undecided.
    Undecided,
}

/// Runs done so far.
#[derive(Debug)]
pub struct Runs {
    verdicts: BTreeMap<Variant, Holding>,
    /// `None` of a run that was to go to its end and was cut off.
    summaries: BTreeMap<Variant, Option<RunSummary>>,
    count: u32,
    spending: Spending,
    workloads: Workloads,
    /// What one replica sustains of the scenario's own mix, by the replicas among which turns are
    /// spread where there are sessions.
    saturations: BTreeMap<u32, Saturations>,
    /// Demand at the peak of the first seed, and what one replica sustains of that mix, as the
    /// report of a simulation of so many replicas has them.
    supply: BTreeMap<u32, (MixRate, MixRate)>,
}

impl Runs {
    /// How many.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// No runs, and what they may compute.
    pub fn within(budget: u64) -> Self {
        Self {
            verdicts: BTreeMap::new(),
            summaries: BTreeMap::new(),
            count: 0,
            spending: Spending { budget, ..Spending::default() },
            workloads: Workloads::default(),
            saturations: BTreeMap::new(),
            supply: BTreeMap::new(),
        }
    }

    /// Demand at the peak, and what one of so many replicas sustains of its mix; none before a run
    /// has shown.
    pub fn supply(&self, replicas: u32) -> Option<(MixRate, MixRate)> {
        self.supply.get(&replicas).copied()
    }

    /// Work done so far, and what may be.
    pub fn spent(&self) -> (u64, u64) {
        (self.spending.spent, self.spending.budget)
    }

    /// Whether a variant holds, or why that is not known.
    pub fn holds(&self, needed: Needed) -> Result<bool, Stop> {
        match self.verdicts.get(&needed.variant) {
            Some(Holding::Holds) => Ok(true),
            Some(Holding::Fails) => Ok(false),
            Some(Holding::Undecided) => Err(Stop::Undecided),
            None => Err(Stop::Needed(needed)),
        }
    }

    /// The share of the budget that is for sizes.
    pub fn share_for_sizes(&self) -> u64 {
        self.spending.budget / SHARE_FOR_SIZES
    }

    /// The same share in runs of the scenario's own load, by the largest there was.
    pub fn share_in_runs(&self) -> u64 {
        self.share_for_sizes() / self.spending.largest.max(1)
    }

    /// The numbers of a variant at the scenario's own load, `None` where they are undecided, or
    /// that a run is needed first.
    pub fn summary(&self, variant: Variant) -> Result<Option<&RunSummary>, Needed> {
        let known = self.summaries.get(&variant).map(Option::as_ref);
        known.ok_or(Needed { variant, to_the_end: true })
    }

    /// Of the scenario's own workload: the largest fleet below `N` that is known not to hold, and
    /// the smallest fleet `N` that is known to, in the first seed.
    pub fn bracket(&self) -> (Option<u32>, Option<u32>) {
        let of = |wanted: Holding| {
            let own = self.verdicts.iter().filter(|(v, _)| **v == Variant::size(v.replicas, 0));
            own.filter(move |(_, known)| **known == wanted).map(|(v, _)| v.replicas)
        };
        let holds = of(Holding::Holds).min();
        let below = |n: &u32| holds.is_none_or(|holds| *n < holds);
        (of(Holding::Fails).filter(below).max(), holds)
    }

    /// Does a run, as far as the budget reaches. What cannot be simulated (a workload of more
    /// requests than one scenario may offer) does not hold.
    pub fn run(&mut self, scenario: &Scenario, needed: Needed) {
        let Needed { variant, to_the_end } = needed;
        let changed = variant.apply(scenario);
        let (found, summary) = if self.spending.left() == 0 {
            (Holding::Undecided, None)
        } else {
            self.count += 1;
            let found = if to_the_end {
                self.measured(&changed, variant.seed_offset)
            } else {
                self.verdict(&changed, variant).map(|holding| (holding, None))
            };
            found.unwrap_or((Holding::Fails, None))
        };
        if to_the_end {
            self.summaries.insert(variant, summary);
        }
        // A run to its end may be cut off where an earlier one had seen enough.
        let known = self.verdicts.entry(variant).or_insert(found);
        if *known == Holding::Undecided {
            *known = found;
        }
    }

    /// A run at the scenario's own load to its end, for its numbers.
    fn measured(
        &mut self,
        scenario: &Scenario,
        seed_offset: u64,
    ) -> Option<(Holding, Option<RunSummary>)> {
        let fleet = fleet_spec(scenario).ok()?;
        let first = Scenario { seed: scenario.seed.wrapping_sub(seed_offset), ..scenario.clone() };
        let saturations = self.saturations(&first, &fleet)?;
        let left = self.spending.left();
        let requests = self.workloads.of(scenario, seed_offset)?;
        let rate = WorkRate::new(&saturations.mean, fleet.replicas());
        let sim = begin(scenario, requests, &fleet).weighing(&[rate]);
        let (end, work) = simulate_while_hopeful(scenario, requests, sim, left, true);
        self.spending.charge(work, Some(seed_offset));
        let End::Whole(run) = end else { return Some((Holding::Undecided, None)) };
        let answer = Answer::serving(scenario, requests.clone(), vec![Some(saturations)]).ok()?;
        let report = answer.count(&run);
        if seed_offset == 0 {
            let Supply { required_peak, sustainable_at_peak, .. } = report.supply;
            let of_one = sustainable_at_peak.times(1.0 / f64::from(fleet.replicas()));
            self.supply.insert(fleet.replicas(), (required_peak, of_one));
        }
        let asked = run.requests.as_deref().unwrap_or(requests);
        let rows = rows(asked, &run.stamps, &scenario.contracts);
        let tightest = tightest(scenario, window(&rows, scenario.warmup));
        Some((report.contract_holds.into(), Some(summary(&report, tightest))))
    }

    /// What a saturated replica of that fleet does, of the mix of the first seed.
    fn saturations(&mut self, scenario: &Scenario, fleet: &FleetSpec) -> Option<Saturations> {
        // Among more replicas the turns of a session find less of what they said before.
        let among = if scenario.has_sessions() { fleet.replicas() } else { 0 };
        Some(match self.saturations.entry(among) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let (mix, Scenario { classes, warmup, horizon, .. }) =
                    (scenario.mix().ok()?, scenario);
                let replicas = (&fleet.pools[0].replica, fleet.replicas());
                *new.insert(Saturations::of(classes, &mix, (*warmup, *horizon), replicas)?)
            }
        })
    }

    /// Whether a variant holds.
    fn verdict(&mut self, scenario: &Scenario, variant: Variant) -> Option<Holding> {
        let fleet = fleet_spec(scenario).ok()?;
        let left = self.spending.left();
        let drawn;
        let requests = if variant.is_own_load() {
            self.workloads.of(scenario, variant.seed_offset)?
        } else {
            drawn = scenario.offered().ok()?;
            &drawn
        };
        let sim = begin(scenario, requests, &fleet);
        let (end, work) = simulate_while_hopeful(scenario, requests, sim, left, false);
        let holding = match end {
            End::Whole(run) => holds(scenario, requests, &run).into(),
            End::Hopeless => Holding::Fails,
            End::CutOff => Holding::Undecided,
        };
        self.spending.charge(work, variant.is_own_load().then_some(variant.seed_offset));
        Some(holding)
    }
}

fn summary(report: &SimReport, tightest: Vec<Tightest>) -> RunSummary {
    RunSummary {
        holds: report.contract_holds,
        attainment: report.attainment,
        good_rps: report.goodput.good_rps,
        ttft_p95_ms: report.ttft_ms.p95,
        peak_debt_s: report.debt.peak_work_s,
        cost_per_good_request: report.cost.as_ref().and_then(|cost| cost.per_good_request),
        cost_per_month: report.cost.as_ref().map(|cost| cost.per_month),
        tightest,
    }
}
