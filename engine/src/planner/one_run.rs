//! One run of a plan: to its end, until it is hopeless, or until the budget is spent; and whether
//! the contract held in it.

use crate::accounts::{missed_targets, rows, window};
use crate::scenario::Scenario;
use crate::sim::{FleetSim, FleetSpec, Progress, RunLimits, SimRun};
use crate::slo::{Contract, Fate, Outcome, RequestStamps, classify, gap_limits};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// Boundaries between two looks at whether a run can still hold, at least; as many as there are
/// requests where those are more, since a look visits them all.
const BOUNDARIES_BETWEEN_LOOKS: u64 = 10_000;
/// Drawing a request and counting what became of it takes about as long as this many boundaries.
const BOUNDARIES_PER_REQUEST: u64 = 4;

/// How a run ended.
pub enum End {
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

/// A run that has not begun.
pub fn begin<'a>(
    scenario: &'a Scenario,
    requests: &'a [OfferedRequest],
    fleet: &'a FleetSpec,
) -> FleetSim<'a> {
    let limits = RunLimits::to_the_end(scenario.horizon);
    FleetSim::new(requests, fleet, limits)
        .asked_by(&scenario.classes, scenario.seed)
        .counting_gaps_above(&gap_limits(&scenario.contracts))
}

/// Whether every class met its targets in a run that went to its end.
pub fn holds(scenario: &Scenario, requests: &[OfferedRequest], run: &SimRun) -> bool {
    let lost = |request: &OfferedRequest, stamps: &RequestStamps| {
        is_bad(contract(scenario, request), request, stamps)
    };
    let requests = run.requests.as_deref().unwrap_or(requests);
    let copies = requests.iter().copied().zip(run.stamps.iter().copied());
    let tally = Tally::of(scenario, copies, lost);
    let rows = rows(requests, &run.stamps, &scenario.contracts);
    let missed = missed_targets(window(&rows, scenario.warmup), &scenario.contracts);
    !tally.is_broken(scenario) && missed.is_empty()
}

/// A run to its end, until it is hopeless unless it is wanted `to_the_end`, or until what is `left`
/// of the budget is spent; and the work it took.
pub fn simulate_while_hopeful(
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
