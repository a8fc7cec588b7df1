//! Simulations that the search has asked for, each done once.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::variant::Variant;
use crate::accounts::report::{MixRate, SimReport, Supply};
use crate::accounts::{Answer, Saturations, fleet_spec, missed_targets, rows, window};
use crate::scenario::Scenario;
use crate::sim::{FleetSim, FleetSpec, Progress, RunLimits, SimRun, WorkRate};
use crate::slo::{Contract, Fate, Outcome, RequestStamps, classify, gap_limits};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// Boundaries between two looks at whether a run can still hold, at least; as many as there are
/// requests where those are more, since a look visits them all.
const BOUNDARIES_BETWEEN_LOOKS: u64 = 10_000;
/// Work that a plan may do over all its runs, see [`work`]: about half a minute of computing.
pub const BUDGET: u64 = 150_000_000;
/// Drawing a request and counting what became of it takes about as long as this many boundaries.
const BOUNDARIES_PER_REQUEST: u64 = 4;

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
    /// Work that all runs may do together, and have done.
    budget: u64,
    spent: u64,
    /// The scenario's own workload by seed offset: every fleet serves the same list.
    workloads: BTreeMap<u64, Vec<OfferedRequest>>,
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
            budget,
            spent: 0,
            workloads: BTreeMap::new(),
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
        (self.spent, self.budget)
    }

    /// Whether a variant holds, or why that is not known.
    pub fn holds(&self, variant: Variant) -> Result<bool, Stop> {
        match self.verdicts.get(&variant) {
            Some(Holding::Holds) => Ok(true),
            Some(Holding::Fails) => Ok(false),
            Some(Holding::Undecided) => Err(Stop::Undecided),
            None => Err(Stop::Needed(Needed { variant, to_the_end: false })),
        }
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
            let own = self.verdicts.iter().filter(|(v, _)| v.is_own_load() && v.seed_offset == 0);
            own.filter(move |(_, known)| **known == wanted).map(|(v, _)| v.replicas)
        };
        let holds = of(Holding::Holds).min();
        let below = |n: &u32| holds.is_none_or(|holds| *n < holds);
        (of(Holding::Fails).filter(below).max(), holds)
    }

    /// Does a run, as far as the budget reaches. What cannot be simulated (a workload of more
    /// requests than one scenario may offer) does not hold.
    pub fn run(&mut self, scenario: &Scenario, needed: Needed) {
        let changed = needed.variant.apply(scenario);
        let found = if self.spent >= self.budget {
            Some(Holding::Undecided)
        } else {
            self.count += 1;
            if needed.variant.is_own_load() {
                self.own_load(&changed, needed)
            } else {
                self.other_load(&changed)
            }
        };
        let found = found.unwrap_or(Holding::Fails);
        if needed.to_the_end {
            self.summaries.entry(needed.variant).or_insert(None);
        }
        // A run to its end may be cut off where an earlier one had seen enough.
        let known = self.verdicts.entry(needed.variant).or_insert(found);
        if *known == Holding::Undecided {
            *known = found;
        }
    }

    fn own_load(&mut self, scenario: &Scenario, needed: Needed) -> Option<Holding> {
        let fleet = fleet_spec(scenario).ok()?;
        let requests = match self.workloads.entry(needed.variant.seed_offset) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(scenario.offered().ok()?),
        };
        // Among more replicas the turns of a session find less of what they said before.
        let among = if scenario.has_sessions() { fleet.replicas() } else { 0 };
        let saturations = match self.saturations.entry(among) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let (mix, Scenario { classes, horizon, .. }) = (scenario.mix().ok()?, scenario);
                let replicas = (&fleet.pools[0].replica, fleet.replicas());
                *new.insert(Saturations::of(classes, &mix, *horizon, replicas)?)
            }
        };
        let left = self.budget - self.spent;
        let rate = WorkRate::new(&saturations.mean, fleet.replicas());
        let sim = begin(scenario, requests, &fleet).weighing(&[rate]);
        let (end, work) = simulate_while_hopeful(scenario, requests, sim, left, needed.to_the_end);
        self.spent += work;
        let run = match end {
            End::Whole(run) => run,
            End::Hopeless => return Some(Holding::Fails),
            End::CutOff => return Some(Holding::Undecided),
        };
        let answer = Answer::serving(scenario, requests.clone(), vec![Some(saturations)]).ok()?;
        let report = answer.count(&run);
        if needed.variant.seed_offset == 0 {
            let Supply { required_peak, sustainable_at_peak, .. } = report.supply;
            let of_one = sustainable_at_peak.times(1.0 / f64::from(fleet.replicas()));
            self.supply.insert(fleet.replicas(), (required_peak, of_one));
        }
        self.summaries.insert(needed.variant, Some(summary(&report)));
        Some(report.contract_holds.into())
    }

    /// Whether a variant of another load, or with a constraint relaxed, holds.
    fn other_load(&mut self, scenario: &Scenario) -> Option<Holding> {
        let fleet = fleet_spec(scenario).ok()?;
        let requests = scenario.offered().ok()?;
        let left = self.budget - self.spent;
        let sim = begin(scenario, &requests, &fleet);
        let (end, work) = simulate_while_hopeful(scenario, &requests, sim, left, false);
        self.spent += work;
        let run = match end {
            End::Whole(run) => run,
            End::Hopeless => return Some(Holding::Fails),
            End::CutOff => return Some(Holding::Undecided),
        };
        let lost = |request: &OfferedRequest, stamps: &RequestStamps| {
            is_bad(contract(scenario, request), request, stamps)
        };
        let requests = run.requests.as_ref().unwrap_or(&requests);
        let copies = requests.iter().copied().zip(run.stamps.iter().copied());
        let tally = Tally::of(scenario, copies, lost);
        let rows = rows(requests, &run.stamps, &scenario.contracts);
        let missed = missed_targets(window(&rows, scenario.warmup), &scenario.contracts);
        Some((!tally.is_broken(scenario) && missed.is_empty()).into())
    }
}

fn summary(report: &SimReport) -> RunSummary {
    RunSummary {
        holds: report.contract_holds,
        attainment: report.attainment,
        good_rps: report.goodput.good_rps,
        ttft_p95_ms: report.ttft_ms.p95,
        peak_debt_s: report.debt.peak_work_s,
        cost_per_good_request: report.cost.as_ref().and_then(|cost| cost.per_good_request),
        cost_per_month: report.cost.as_ref().map(|cost| cost.per_month),
    }
}

/// How a run ended.
enum End {
    /// Everything was decided.
    Whole(SimRun),
    /// So many requests were lost for good that some class could not meet its target any more.
    Hopeless,
    /// The budget or a limit of the simulator ended it.
    CutOff,
}

/// What a run took so far: the boundaries it visited, and its attempts as so many of them.
fn work(sim: &FleetSim) -> u64 {
    sim.boundaries() + BOUNDARIES_PER_REQUEST * sim.attempts() as u64
}

fn begin<'a>(
    scenario: &'a Scenario,
    requests: &'a [OfferedRequest],
    fleet: &'a FleetSpec,
) -> FleetSim<'a> {
    let limits = RunLimits::to_the_end(scenario.horizon);
    FleetSim::new(requests, fleet, limits)
        .asked_by(&scenario.classes, scenario.seed)
        .counting_gaps_above(&gap_limits(&scenario.contracts))
}

/// A run to its end, until it is hopeless unless it is wanted `to_the_end`, or until what is `left`
/// of the budget is spent; and the work it took.
fn simulate_while_hopeful(
    scenario: &Scenario,
    requests: &[OfferedRequest],
    mut sim: FleetSim,
    left: u64,
    to_the_end: bool,
) -> (End, u64) {
    // How much users of closed loops and sessions will ask is not known before the end.
    let to_the_end = to_the_end || scenario.has_followers();
    let boundaries = BOUNDARIES_BETWEEN_LOOKS.max(requests.len() as u64);
    while let Progress::Running { .. } = sim.advance(boundaries) {
        let work = work(&sim);
        if !to_the_end && is_hopeless(scenario, requests, &sim) {
            return (End::Hopeless, work);
        }
        if work >= left {
            return (End::CutOff, work);
        }
    }
    let work = work(&sim);
    let run = sim.finish();
    let end = if run.cut_off.is_some() { End::CutOff } else { End::Whole(run) };
    (end, work)
}

/// Whether so many requests are lost by now that some class cannot meet its target any more.
fn is_hopeless(scenario: &Scenario, requests: &[OfferedRequest], sim: &FleetSim) -> bool {
    let now = sim.now();
    let lost = |request: &OfferedRequest, stamps: &RequestStamps| {
        let contract = contract(scenario, request);
        match stamps.fate {
            Fate::Unfinished => first_token_is_late(contract, request, stamps, now),
            _ => is_bad(contract, request, stamps),
        }
    };
    Tally::of(scenario, sim.rows(), lost).is_hopeless(scenario, requests)
}

fn contract<'a>(scenario: &'a Scenario, request: &OfferedRequest) -> &'a Contract {
    &scenario.contracts[request.class as usize]
}

fn is_bad(contract: &Contract, request: &OfferedRequest, stamps: &RequestStamps) -> bool {
    classify(contract, request, stamps) != Outcome::Good
}

fn first_token_is_late(
    contract: &Contract,
    request: &OfferedRequest,
    stamps: &RequestStamps,
    now: Picos,
) -> bool {
    let until = stamps.first_token.unwrap_or(now);
    contract.ttft.is_some_and(|limit| until - request.due > limit)
}

/// Requests of the measurement window and those of them that are lost, by class.
struct Tally(Vec<(u64, u64)>);

impl Tally {
    fn of(
        scenario: &Scenario,
        rows: impl Iterator<Item = (OfferedRequest, RequestStamps)>,
        lost: impl Fn(&OfferedRequest, &RequestStamps) -> bool,
    ) -> Self {
        let mut counts = vec![(0, 0); scenario.classes.len()];
        for (request, stamps) in rows.filter(|(request, _)| request.due >= scenario.warmup) {
            let (offered, bad) = &mut counts[request.class as usize];
            *offered += 1;
            *bad += u64::from(lost(&request, &stamps));
        }
        Self(counts)
    }

    /// Whether some class missed its target.
    fn is_broken(&self, scenario: &Scenario) -> bool {
        let missed = |((offered, bad), contract): (&(u64, u64), &Contract)| {
            let good = (offered - bad) as f64 / (*offered).max(1) as f64;
            *offered > 0 && good < contract.attainment_target
        };
        self.0.iter().zip(&scenario.contracts).any(missed)
    }

    /// Whether some class will miss its target even if all of `requests` that are not lost yet
    /// become good.
    fn is_hopeless(&self, scenario: &Scenario, requests: &[OfferedRequest]) -> bool {
        if self.0.iter().all(|(_, bad)| *bad == 0) {
            return false;
        }
        let mut all = self.0.iter().map(|(_, bad)| (0, *bad)).collect::<Vec<(u64, u64)>>();
        for request in requests.iter().filter(|request| request.due >= scenario.warmup) {
            all[request.class as usize].0 += 1;
        }
        Self(all).is_broken(scenario)
    }
}
