//! Simulations that the search has asked for, each done once.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::variant::Variant;
use crate::accounts::report::SimReport;
use crate::accounts::{Answer, fleet_spec, missed_targets, rows, window};
use crate::scenario::Scenario;
use crate::sim::{FleetSim, FleetSpec, Progress, RunLimits, Saturation, SimRun, saturate};
use crate::slo::{Contract, Fate, Outcome, RequestStamps, classify};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// Boundaries between two looks at whether a run can still hold.
const BOUNDARIES_BETWEEN_LOOKS: u64 = 10_000;

/// What the planner keeps of a run that went to its end at the scenario's own load: the part of
/// its report that stands in a fleet's row.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Every class met its target.
    pub holds: bool,
    /// good ÷ offered.
    pub attainment: f64,
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

/// Runs done so far.
#[derive(Debug, Default)]
pub struct Runs {
    verdicts: BTreeMap<Variant, bool>,
    summaries: BTreeMap<Variant, RunSummary>,
    count: u32,
    /// The scenario's own workload by seed offset: every fleet serves the same list.
    workloads: BTreeMap<u64, Vec<OfferedRequest>>,
    /// What one replica sustains of the scenario's own mix.
    saturation: Option<Saturation>,
}

impl Runs {
    /// How many.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether a variant holds, or that a run is needed first.
    pub fn holds(&self, variant: Variant) -> Result<bool, Needed> {
        self.verdicts.get(&variant).copied().ok_or(Needed { variant, to_the_end: false })
    }

    /// The numbers of a variant at the scenario's own load, or that a run is needed first.
    pub fn summary(&self, variant: Variant) -> Result<&RunSummary, Needed> {
        self.summaries.get(&variant).ok_or(Needed { variant, to_the_end: true })
    }

    /// Does a run. What cannot be simulated (a workload of more requests than one scenario may
    /// offer) does not hold.
    pub fn run(&mut self, scenario: &Scenario, needed: Needed) {
        let changed = needed.variant.apply(scenario);
        self.count += 1;
        let holds = if needed.variant.is_own_load() {
            self.own_load(&changed, needed)
        } else {
            other_load(&changed)
        };
        self.verdicts.insert(needed.variant, holds.unwrap_or(false));
    }

    fn own_load(&mut self, scenario: &Scenario, needed: Needed) -> Option<bool> {
        let fleet = fleet_spec(&scenario.pool).ok()?;
        let requests = match self.workloads.entry(needed.variant.seed_offset) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(scenario.offered().ok()?),
        };
        let saturation = match self.saturation {
            Some(saturation) => saturation,
            None => *self.saturation.insert(saturate(requests, &fleet.replica)?),
        };
        let Some(run) = simulate_while_hopeful(scenario, requests, &fleet, needed.to_the_end)
        else {
            return Some(false);
        };
        let answer = Answer::serving(scenario, requests.clone(), saturation).ok()?;
        let report = answer.count(&run);
        self.summaries.insert(needed.variant, summary(&report));
        Some(report.contract_holds)
    }
}

fn summary(report: &SimReport) -> RunSummary {
    RunSummary {
        holds: report.contract_holds,
        attainment: report.attainment,
        ttft_p95_ms: report.ttft_ms.p95,
        peak_debt_s: report.debt.peak_work_s,
        cost_per_good_request: report.cost.as_ref().and_then(|cost| cost.per_good_request),
        cost_per_month: report.cost.as_ref().map(|cost| cost.per_month),
    }
}

/// Whether a variant of another load, or with a constraint relaxed, holds.
fn other_load(scenario: &Scenario) -> Option<bool> {
    let fleet = fleet_spec(&scenario.pool).ok()?;
    let requests = scenario.offered().ok()?;
    let run = simulate_while_hopeful(scenario, &requests, &fleet, false);
    Some(run.is_some_and(|run| {
        let lost = |(request, stamps): (&OfferedRequest, &RequestStamps)| {
            is_bad(contract(scenario, request), request, stamps)
        };
        let rows = rows(&requests, &run.stamps, &scenario.contracts);
        !Tally::of(scenario, requests.iter().zip(&run.stamps), lost).is_broken(scenario)
            && missed_targets(window(&rows, scenario.warmup), &scenario.contracts).is_empty()
    }))
}

/// A run to its end; `None` as soon as so many requests are lost for good that some class cannot
/// meet its target any more.
fn simulate_while_hopeful(
    scenario: &Scenario,
    requests: &[OfferedRequest],
    fleet: &FleetSpec,
    to_the_end: bool,
) -> Option<SimRun> {
    let mut sim = FleetSim::new(requests, fleet, RunLimits::to_the_end(scenario.horizon));
    let budget = if to_the_end { u64::MAX } else { BOUNDARIES_BETWEEN_LOOKS };
    while let Progress::Running { .. } = sim.advance(budget) {
        let now = sim.now();
        let lost = |(request, stamps): (&OfferedRequest, &RequestStamps)| {
            let contract = contract(scenario, request);
            match stamps.fate {
                Fate::Unfinished => first_token_is_late(contract, request, stamps, now),
                _ => is_bad(contract, request, stamps),
            }
        };
        let rows = requests.iter().zip(sim.stamps()).take_while(|(request, _)| request.due <= now);
        if Tally::of(scenario, rows, lost).is_hopeless(scenario, requests) {
            return None;
        }
    }
    Some(sim.finish())
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
    fn of<'a>(
        scenario: &Scenario,
        rows: impl Iterator<Item = (&'a OfferedRequest, &'a RequestStamps)>,
        lost: impl Fn((&'a OfferedRequest, &'a RequestStamps)) -> bool,
    ) -> Self {
        let mut counts = vec![(0, 0); scenario.classes.len()];
        for row in rows.filter(|(request, _)| request.due >= scenario.warmup) {
            let (offered, bad) = &mut counts[row.0.class as usize];
            *offered += 1;
            *bad += u64::from(lost(row));
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
