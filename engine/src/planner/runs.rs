//! Simulations that the search has asked for, each done once.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::variant::Variant;
use crate::accounts::report::SimReport;
use crate::accounts::{Answer, fleet_spec};
use crate::scenario::Scenario;
use crate::sim::{RunLimits, Saturation, saturate, simulate};
use crate::slo::{Contract, Outcome, classify};
use crate::workload::OfferedRequest;

/// What the planner keeps of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Every class met its target.
    pub holds: bool,
    /// good ÷ offered.
    pub attainment: f64,
    /// Only of runs at the scenario's own load.
    pub details: Option<RunDetails>,
}

/// The part of a report that stands in a fleet's row.
#[derive(Debug, Clone, PartialEq)]
pub struct RunDetails {
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
pub struct Needed(pub Variant);

/// Runs done so far.
#[derive(Debug, Default)]
pub struct Runs {
    done: BTreeMap<Variant, RunSummary>,
    /// The scenario's own workload by seed offset: every fleet serves the same list.
    workloads: BTreeMap<u64, Vec<OfferedRequest>>,
    /// What one replica sustains of the scenario's own mix.
    saturation: Option<Saturation>,
}

impl Runs {
    /// How many.
    pub fn count(&self) -> u32 {
        u32::try_from(self.done.len()).unwrap_or(u32::MAX)
    }

    /// The summary of a run, or that it is needed first.
    pub fn get(&self, variant: Variant) -> Result<&RunSummary, Needed> {
        self.done.get(&variant).ok_or(Needed(variant))
    }

    /// Does a run. A workload that cannot be generated (more requests than one scenario may offer)
    /// does not hold.
    pub fn run(&mut self, scenario: &Scenario, Needed(variant): Needed) {
        let changed = variant.apply(scenario);
        let own_load = variant == Variant::size(variant.replicas, variant.seed_offset);
        let summary =
            if own_load { self.own_load(&changed, variant) } else { other_load(&changed) };
        let never = RunSummary { holds: false, attainment: 0.0, details: None };
        self.done.insert(variant, summary.unwrap_or(never));
    }

    fn own_load(&mut self, scenario: &Scenario, variant: Variant) -> Option<RunSummary> {
        let fleet = fleet_spec(&scenario.pool).ok()?;
        let requests = match self.workloads.entry(variant.seed_offset) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(scenario.offered().ok()?),
        };
        let saturation = match self.saturation {
            Some(saturation) => saturation,
            None => *self.saturation.insert(saturate(requests, &fleet.replica)?),
        };
        let answer = Answer::serving(scenario, requests.clone(), saturation).ok()?;
        let run = simulate(requests, &fleet, RunLimits::to_the_end(scenario.horizon));
        let report = answer.report(run).report;
        Some(RunSummary {
            holds: report.contract_holds,
            attainment: report.attainment,
            details: Some(details(&report)),
        })
    }
}

fn details(report: &SimReport) -> RunDetails {
    RunDetails {
        ttft_p95_ms: report.ttft_ms.p95,
        peak_debt_s: report.debt.peak_work_s,
        cost_per_good_request: report.cost.as_ref().and_then(|cost| cost.per_good_request),
        cost_per_month: report.cost.as_ref().map(|cost| cost.per_month),
    }
}

/// A run of which only the verdict is wanted.
fn other_load(scenario: &Scenario) -> Option<RunSummary> {
    let fleet = fleet_spec(&scenario.pool).ok()?;
    let requests = scenario.offered().ok()?;
    let run = simulate(&requests, &fleet, RunLimits::to_the_end(scenario.horizon));
    let mut counts = vec![(0_u64, 0_u64); scenario.classes.len()];
    for (request, stamps) in requests.iter().zip(&run.stamps) {
        if request.due >= scenario.warmup {
            let class = request.class as usize;
            let outcome = classify(&scenario.contracts[class], request, stamps);
            counts[class].0 += 1;
            counts[class].1 += u64::from(outcome == Outcome::Good);
        }
    }
    let share = |(offered, good): (u64, u64)| good as f64 / offered.max(1) as f64;
    let met = |(counts, contract): (&(u64, u64), &Contract)| {
        counts.0 == 0 || share(*counts) >= contract.attainment_target
    };
    let total = counts.iter().fold((0, 0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1));
    Some(RunSummary {
        holds: counts.iter().zip(&scenario.contracts).all(met),
        attainment: share(total),
        details: None,
    })
}
