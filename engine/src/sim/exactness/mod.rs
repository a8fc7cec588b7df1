//! The leaping engine gives the same run as the stepwise one: every stamp, count and sample equal.
//!
//! Thousands of random configurations here, a hundred thousand in a long test:
//! `cargo test --release -p goodput-engine --lib exactness -- --ignored`.

mod configuration;
mod life;
mod people;
mod script;

use configuration::{Configuration, SEED};

use super::clients::serve_clients;
use super::replica::{Leaping, ReplicaEngine, Stepwise};
use super::saturate::saturated_by;
use super::{
    CutOff, FleetSim, ReplicaSpec, SchedulingPolicy, SimRun, Stamps, StintEnd, UnaskedTurns, run,
};
use crate::slo::Fate;
use crate::units::Picos;
use crate::workload::{OfferedRequest, unfolded};

const NONE: UnaskedTurns =
    UnaskedTurns { after_a_lost_turn: 0, beyond_max_model_len: 0, after_the_horizon: 0 };

fn simulated<'a, R: ReplicaEngine<'a>>(configuration: &'a Configuration) -> SimRun {
    let Configuration { fleet, requests, classes, limits, gap_limits } = configuration;
    let sim = FleetSim::<R>::with_engine(requests, fleet, *limits).asked_by(classes, SEED);
    run(sim.counting_gaps_above(gap_limits))
}

/// What two runs differ in, if they do.
fn difference(stepwise: &SimRun, leaping: &SimRun) -> Option<String> {
    let rows = stepwise.stamps.iter().zip(&leaping.stamps).enumerate();
    for (id, (stepwise, leaping)) in rows {
        if stepwise != leaping {
            return Some(format!("request {id}: {stepwise:?}\nagainst {leaping:?}"));
        }
    }
    for (stepwise, leaping) in stepwise.samples.iter().zip(&leaping.samples) {
        if stepwise != leaping {
            return Some(format!("{stepwise:?}\nagainst {leaping:?}"));
        }
    }
    let totals =
        |run: &SimRun| SimRun { stamps: Stamps::default(), samples: vec![], ..run.clone() };
    (stepwise != leaping).then(|| format!("{:?}\nagainst {:?}", totals(stepwise), totals(leaping)))
}

fn fleets_agree(seed: u64) {
    let configuration = Configuration::of(seed);
    let stepwise = simulated::<Stepwise>(&configuration);
    let leaping = simulated::<Leaping>(&configuration);
    if let Some(difference) = difference(&stepwise, &leaping) {
        panic!("seed {seed}: {difference}");
    }
}

/// A benchmark's clients and a saturated replica.
fn measurements_agree(seed: u64) {
    let Configuration { fleet, requests, classes, .. } = Configuration::of(seed);
    let spec = &fleet.pools[0].replica;
    let cap = [None, Some(1), Some(3), Some(10)][usize::try_from(seed % 4).expect("small")];
    let patient: Vec<_> =
        requests.iter().map(|request| OfferedRequest { patience: None, ..*request }).collect();
    let longest: Vec<u32> = fleet.pools.iter().map(|pool| pool.replica.max_model_len).collect();
    let bounds = (Picos::from_secs(20.0), longest.as_slice());
    let mix = unfolded(&classes, patient.clone(), SEED, bounds).expect("a few");
    let one_of = (spec, fleet.pools[0].replicas);
    assert_eq!(
        serve_clients::<Stepwise>(&patient, spec, cap),
        serve_clients::<Leaping>(&patient, spec, cap),
        "clients of seed {seed}"
    );
    assert_eq!(
        saturated_by::<Stepwise>(&mix, one_of, 60),
        saturated_by::<Leaping>(&mix, one_of, 60),
        "saturation of seed {seed}"
    );
}

#[test]
fn fleets_are_simulated_alike() {
    (0..6000).for_each(fleets_agree);
}

#[test]
fn clients_and_saturated_replicas_are_simulated_alike() {
    (0..1500).for_each(measurements_agree);
}

#[test]
fn whoever_leaves_in_mid_stream_leaves_alike() {
    (0..4000).for_each(script::agrees);
}

#[test]
#[ignore = "takes minutes: run it after changing an engine"]
fn a_hundred_thousand_configurations_are_simulated_alike() {
    for seed in 1_000_000..1_100_000 {
        fleets_agree(seed);
        if seed.is_multiple_of(5) {
            measurements_agree(seed);
            script::agrees(seed);
        }
    }
}

#[test]
fn the_random_configurations_are_under_pressure() {
    // Equality means little where nothing happens.
    let runs: Vec<SimRun> =
        (0..300).map(|seed| simulated::<Leaping>(&Configuration::of(seed))).collect();
    let runs_with =
        |happens: &dyn Fn(&SimRun) -> bool| runs.iter().filter(|run| happens(run)).count();
    let any = |happens: fn(&crate::slo::RequestStamps) -> bool| {
        runs_with(&|run| run.stamps.iter().any(happens))
    };
    let turns = |happens: fn(u32, u32) -> bool| {
        move |run: &SimRun| {
            let rows = run.requests.iter().flatten().zip(&run.stamps);
            let mut served = rows.filter(|(_, stamps)| stamps.scheduled.is_some());
            served.any(|(r, stamps)| happens(stamps.cached_tokens, r.lineage.history_tokens))
        }
    };
    let ended = |run: &SimRun, end: StintEnd| {
        run.pools.iter().any(|pool| pool.stints.iter().any(|stint| stint.end == end))
    };
    for (what, happens_in, least) in [
        ("preemption", any(|stamps| stamps.preemptions > 0), 60),
        ("kept through preemption", any(|stamps| stamps.kept_tokens > 0), 30),
        ("prefix hits", any(|stamps| stamps.cached_tokens > 0), 60),
        ("session hits", runs_with(&turns(|hit, had| hit > 0 && had > 0)), 10),
        ("lost history", runs_with(&turns(|hit, had| hit + 32 < had)), 10),
        ("unasked turns", runs_with(&|run| run.unasked.iter().any(|u| *u != NONE)), 20),
        ("cancelled", any(|stamps| stamps.fate == Fate::Cancelled), 60),
        ("in mid-stream", any(|s| s.fate == Fate::Cancelled && s.generated > 0), 20),
        ("too long", any(|stamps| stamps.fate == Fate::TooLong), 30),
        ("turned away", any(|stamps| stamps.fate == Fate::Rejected), 30),
        ("timed out", any(|stamps| stamps.fate == Fate::TimedOut), 20),
        ("good at last", any(|s| s.fate == Fate::Completed && s.attempts > 1), 15),
        ("closed loops and sessions", runs_with(&|run| run.requests.is_some()), 60),
        ("gaps above a limit", any(|stamps| stamps.gaps_above > 0), 100),
        ("after a preemption", any(|s| s.gaps_above > 0 && s.preemptions > 0), 40),
        ("shown after hidden", any(|stamps| stamps.first_visible.is_some()), 100),
        ("shown when preempted", any(|s| s.first_visible.is_some() && s.preemptions > 0), 40),
        ("never shown", any(|s| s.fate == Fate::Completed && s.first_visible.is_none()), 100),
        ("several pools", runs_with(&|run| run.pools.len() > 1), 60),
        ("crash", runs_with(&|run| ended(run, StintEnd::Crashed)), 25),
        ("drain", runs_with(&|run| ended(run, StintEnd::Drained)), 25),
        ("cancelled start", runs_with(&|run| ended(run, StintEnd::Cancelled)), 5),
        ("held", any(|stamps| stamps.held > Picos::ZERO), 15),
        ("cut off", runs_with(&|run| run.cut_off.is_some()), 25),
        ("too many attempts", runs_with(&|run| run.cut_off == Some(CutOff::Attempts)), 3),
    ] {
        assert!(happens_in > least, "{what} in {happens_in} of 300 runs");
    }
}

#[test]
fn the_rules_of_the_scheduler_are_under_pressure() {
    let (mut by_priority, mut split) = (0, 0);
    for seed in 0..300 {
        let configuration = Configuration::of(seed);
        let preempted =
            simulated::<Leaping>(&configuration).stamps.iter().any(|s| s.preemptions > 0);
        let any = |rule: fn(&ReplicaSpec) -> bool| {
            configuration.fleet.pools.iter().any(|pool| rule(&pool.replica))
        };
        let ranks = |spec: &ReplicaSpec| spec.scheduling_policy != SchedulingPolicy::Fcfs;
        by_priority += u32::from(preempted && any(ranks));
        split += u32::from(preempted && any(|spec| spec.long_prefill_token_threshold > 0));
    }
    assert!(by_priority > 40 && split > 25, "{by_priority} and {split} of 300 runs");
}
