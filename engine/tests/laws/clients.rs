//! Conservation, causality, books and determinism where requests are turned away and clients
//! leave, over random configurations.

use goodput_engine::fleet::{Admission, Shedding, TokenBucket};
use goodput_engine::sim::{FleetSim, FleetSpec, Progress, RunLimits, SimRun};
use goodput_engine::slo::Fate;
use goodput_engine::units::Picos;
use goodput_engine::workload::{
    Arrivals, ClientBehaviour, Lengths, OfferedRequest, Patience, RateProfile, TrafficClass,
};
use proptest::prelude::*;

use super::always::{replicas, requests};
use super::common::{charges_every_step, law, replica, request};

/// A class whose requests are given, not generated: only its people matter.
pub fn class(clients: ClientBehaviour, priority: i32) -> TrafficClass {
    let arrivals = Arrivals::Even(RateProfile::constant(1.0).expect("a rate"));
    let one = || Lengths::fixed(1).expect("a length");
    TrafficClass { clients, priority, ..TrafficClass::new("given", arrivals, one(), one()) }
}

fn span(longest_s: f64) -> impl Strategy<Value = Option<Picos>> {
    prop::option::of((0.001..longest_s).prop_map(Picos::from_secs))
}

fn behaviours() -> impl Strategy<Value = ClientBehaviour> {
    let stall = prop_oneof![
        Just(None),
        (0.004..0.5_f64).prop_map(|s| Patience::fixed(s).ok()),
        (0.004..0.1_f64).prop_map(|s| Patience::lognormal(s, 3.0 * s).ok()),
    ];
    (stall, span(5.0)).prop_map(|(stall_patience, timeout)| ClientBehaviour {
        stall_patience,
        timeout,
        retries: None,
    })
}

fn admissions() -> impl Strategy<Value = Admission> {
    let bucket = (0.5..50.0_f64, 1_u32..5).prop_map(|(rate, burst)| TokenBucket::new(rate, burst));
    let bucket = prop::option::of(bucket.prop_map(|bucket| bucket.expect("in range")));
    let shedding = (0_u32..5, -1..1_i32)
        .prop_map(|(max_waiting, above_priority)| Shedding { max_waiting, above_priority });
    (prop::option::of(1_u32..10), span(0.3), bucket, prop::option::of(shedding)).prop_map(
        |(max_waiting, max_queue_age, token_bucket, shedding)| Admission {
            max_waiting,
            max_queue_age,
            token_bucket,
            shedding,
            retry_after: None,
        },
    )
}

/// Requests of two classes with all kinds of people behind them, and a fleet that turns some away.
#[derive(Debug, Clone)]
pub struct Case {
    pub requests: Vec<OfferedRequest>,
    pub classes: Vec<TrafficClass>,
    pub fleet: FleetSpec,
}

pub fn cases() -> impl Strategy<Value = Case> {
    let classes = (behaviours(), behaviours())
        .prop_map(|(urgent, other)| vec![class(urgent, 0), class(other, 1)]);
    (requests(), classes, replicas(), 1_u32..4, admissions()).prop_map(
        |(mut requests, classes, replica, replicas, admission)| {
            for request in &mut requests {
                request.class = request.input_tokens % 2;
            }
            requests.sort_by_key(|request| (request.due, request.class));
            Case {
                requests,
                classes,
                fleet: FleetSpec { admission, ..FleetSpec::open(replica, replicas) },
            }
        },
    )
}

pub fn run(case: &Case) -> SimRun {
    let horizon = case.requests.last().map_or(Picos(1), |last| last.due.max(Picos(1)));
    let limits = RunLimits::to_the_end(horizon);
    let mut sim = FleetSim::new(&case.requests, &case.fleet, limits).asked_by(&case.classes, 1);
    while let Progress::Running { .. } = sim.advance(u64::MAX) {}
    sim.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn requests_are_conserved_at_every_moment(case in cases()) {
        let run = run(&case);
        for sample in &run.samples {
            let accounted = sample.completed + sample.lost + sample.waiting + sample.running;
            prop_assert!(accounted >= sample.offered, "nobody disappears");
            // Who leaves a batch is still in it until the step is over.
            prop_assert!(sample.completed + sample.lost + sample.waiting <= sample.offered);
        }
        let last = run.samples.last().expect("a sample at time zero at least");
        prop_assert_eq!(last.completed + last.lost, case.requests.len() as u64);
        prop_assert_eq!(last.backlog_prefill_tokens + last.backlog_decode_tokens, 0);
        prop_assert_eq!(last.waiting_prefill_tokens + last.waiting_decode_tokens, 0);
        prop_assert_eq!((last.kv_used_tokens, last.running), (0, 0), "every block came back");
        prop_assert!(run.stamps.iter().all(|stamps| stamps.fate != Fate::Unfinished));
    }

    #[test]
    fn nobody_is_served_beyond_a_limit_and_everybody_leaves_at_it(case in cases()) {
        let run = run(&case);
        let admission = &case.fleet.admission;
        for (request, stamps) in case.requests.iter().zip(&run.stamps) {
            let clients = &case.classes[request.class as usize].clients;
            let chain = [
                Some(request.due), stamps.queued, stamps.scheduled, stamps.first_token, stamps.ended,
            ];
            let seen: Vec<Picos> = chain.into_iter().flatten().collect();
            prop_assert!(seen.is_sorted(), "{:?}", stamps);
            let ended = stamps.ended.expect("everybody is decided");
            if let Some(timeout) = clients.timeout {
                prop_assert!(ended <= request.due + timeout);
                prop_assert_eq!(
                    stamps.fate == Fate::TimedOut,
                    ended == request.due + timeout
                        && !matches!(stamps.fate, Fate::Completed | Fate::Failed | Fate::Cancelled
                            | Fate::Rejected | Fate::TooLong)
                );
            }
            if let (Some(age), Some(queued)) = (admission.max_queue_age, stamps.queued) {
                let waited = stamps.scheduled.unwrap_or(ended) - queued;
                prop_assert!(waited <= age);
                let turned_away = stamps.fate == Fate::Rejected;
                prop_assert!(!turned_away || (waited == age && stamps.scheduled.is_none()));
            }
            if let (Some(Patience::Fixed(patience)), Some(_)) =
                (clients.stall_patience, stamps.first_token)
            {
                prop_assert!(stamps.longest_stall <= patience, "sat through a longer gap");
            }
            prop_assert!(stamps.fate != Fate::Completed || stamps.generated == request.output_tokens);
        }
    }

    #[test]
    fn the_books_of_all_requests_sum_to_the_time_in_steps(case in cases()) {
        let run = run(&case);
        prop_assert!(charges_every_step(&run, &case.fleet.pools[0].replica, case.fleet.replicas()));
    }

    #[test]
    fn the_same_scenario_gives_the_same_run(case in cases()) {
        let (a, b) = (run(&case), run(&case));
        prop_assert_eq!(a.stamps, b.stamps);
        prop_assert_eq!(a.samples, b.samples);
    }
}

#[test]
fn every_way_to_go_is_part_of_the_random_configurations() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = [0_u32; 6];
    for _ in 0..200 {
        let case = cases().new_tree(&mut runner).expect("a case").current();
        for stamps in run(&case).stamps {
            let streamed = stamps.first_token.is_some();
            match stamps.fate {
                Fate::Completed => seen[0] += 1,
                Fate::Rejected if stamps.queued.is_none() => seen[1] += 1,
                Fate::Rejected => seen[2] += 1,
                Fate::TimedOut => seen[3] += 1,
                Fate::Cancelled if streamed => seen[4] += 1,
                Fate::Cancelled => seen[5] += 1,
                _ => {}
            }
        }
    }
    assert!(seen.iter().all(|count| *count > 5), "{seen:?}");
}

/// One second a step, whatever is in it, and one seat.
pub fn one_seat() -> FleetSpec {
    let replica = replica(law(1.0, 0.0, 0.0));
    FleetSpec::open(goodput_engine::sim::ReplicaSpec { max_num_seqs: 1, ..replica }, 1)
}

#[test]
fn who_is_cut_off_mid_stream_frees_the_seat_at_the_next_step() {
    let clients = ClientBehaviour { timeout: Some(Picos::from_secs(3.5)), ..<_>::default() };
    let requests = vec![request(0.0, 10, 10), request(0.2, 10, 1)];
    let case = Case { requests, classes: vec![class(clients, 0)], fleet: one_seat() };
    let run = run(&case);
    let first = run.stamps[0];
    assert_eq!((first.fate, first.ended), (Fate::TimedOut, Some(Picos::from_secs(3.5))));
    assert_eq!(first.generated, 3, "tokens left at 1, 2 and 3 s");
    // The step that was running then is paid by who it was for.
    assert_eq!(first.busy, Picos::from_secs(4.0));
    // The other waits from 0.2 s; its own time-out is at 3.7 s, before its seat is free.
    assert_eq!(run.stamps[1].fate, Fate::TimedOut);
    assert_eq!(run.stamps[1].scheduled, None);
}

#[test]
fn the_last_token_in_the_last_moment_counts() {
    for (timeout_s, fate) in [(2.0, Fate::Completed), (1.999, Fate::TimedOut)] {
        let clients =
            ClientBehaviour { timeout: Some(Picos::from_secs(timeout_s)), ..<_>::default() };
        let requests = vec![request(0.0, 10, 2)];
        let case = Case { requests, classes: vec![class(clients, 0)], fleet: one_seat() };
        assert_eq!(run(&case).stamps[0].fate, fate);
    }
    for (patience_s, fate) in [(1.0, Fate::Completed), (0.999, Fate::Cancelled)] {
        let stall_patience = Patience::fixed(patience_s).ok();
        let clients = ClientBehaviour { stall_patience, ..<_>::default() };
        let requests = vec![request(0.0, 10, 2)];
        let case = Case { requests, classes: vec![class(clients, 0)], fleet: one_seat() };
        assert_eq!(run(&case).stamps[0].fate, fate);
    }
    for (age_s, fate) in [(2.0, Fate::Completed), (1.999, Fate::Rejected)] {
        let mut fleet = one_seat();
        fleet.admission.max_queue_age = Some(Picos::from_secs(age_s));
        let requests = vec![request(0.0, 10, 2), request(0.0, 10, 1)];
        let run = run(&Case { requests, classes: Vec::new(), fleet });
        assert_eq!(run.stamps[1].fate, fate, "scheduled when the first is done, after 2 s");
    }
}
