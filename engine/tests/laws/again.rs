//! Clients who try again: conservation, books, determinism and metamorphic relations over random
//! configurations, and each rule in the smallest scenario that shows it.

use goodput_engine::fleet::Admission;
use goodput_engine::sim::{FleetSpec, SimRun};
use goodput_engine::slo::Fate;
use goodput_engine::units::Picos;
use goodput_engine::workload::{ClientBehaviour, OfferedRequest, Retries, RetryOn};
use proptest::prelude::*;

use super::clients::{Case, cases, class, one_seat, run};
use super::common::{charges_every_step, request};

const EVERY_WAY: [RetryOn; 5] = [
    RetryOn::Rejected,
    RetryOn::Error,
    RetryOn::TimedOut,
    RetryOn::CancelledBeforeFirst,
    RetryOn::CancelledMidStream,
];

fn retries() -> impl Strategy<Value = Retries> {
    let on = prop::sample::subsequence(EVERY_WAY.to_vec(), 1..=5);
    let back_off = (0.0..0.5_f64, 1.0..3.0_f64, 0.0..1.0_f64);
    (2_u32..6, on, back_off, 0.0..1.0_f64).prop_map(|(attempts, on, back_off, jitter)| {
        let retries = Retries::new(attempts, on).expect("in range");
        retries.with_back_off(back_off, jitter).expect("in range")
    })
}

/// The cases of clients who leave, and some of them try again.
fn again() -> impl Strategy<Value = Case> {
    let retries = || prop::option::of(retries());
    (cases(), retries(), retries(), span(), 0.0..0.5_f64).prop_map(
        |(mut case, urgent, other, retry_after, error_rate)| {
            case.classes[0].clients.retries = urgent;
            case.classes[1].clients.retries = other;
            case.classes[1].error_rate = error_rate;
            case.fleet.admission.retry_after = retry_after;
            case
        },
    )
}

fn span() -> impl Strategy<Value = Option<Picos>> {
    prop::option::of((0.001..1.0_f64).prop_map(Picos::from_secs))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn requests_and_attempts_are_conserved_at_every_moment(case in again()) {
        let run = run(&case);
        for sample in &run.samples {
            let accounted = sample.completed + sample.lost + sample.waiting + sample.deferred;
            prop_assert!(accounted <= sample.offered, "nobody is counted twice");
            prop_assert!(accounted + sample.running >= sample.offered, "nobody disappears");
        }
        let last = run.samples.last().expect("a sample at time zero at least");
        prop_assert_eq!(last.completed + last.lost, case.requests.len() as u64);
        prop_assert_eq!((last.deferred, last.running, last.kv_used_tokens), (0, 0, 0));
        prop_assert_eq!(last.backlog_prefill_tokens + last.backlog_decode_tokens, 0);
        let completed = run.stamps.iter().filter(|s| s.fate == Fate::Completed).count();
        prop_assert_eq!(last.completed, completed as u64, "one outcome each");
        let attempts: u64 = run.stamps.iter().map(|stamps| u64::from(stamps.attempts)).sum();
        prop_assert_eq!(last.attempts, attempts);
    }

    #[test]
    fn causes_precede_effects_and_attempts_end(case in again()) {
        let run = run(&case);
        for (request, stamps) in case.requests.iter().zip(&run.stamps) {
            let chain = [
                Some(request.due), stamps.queued, stamps.scheduled, stamps.first_token, stamps.ended,
            ];
            let seen: Vec<Picos> = chain.into_iter().flatten().collect();
            prop_assert!(seen.is_sorted(), "{:?}", stamps);
            prop_assert!(stamps.fate != Fate::Unfinished);
            let retries = &case.classes[request.class as usize].clients.retries;
            let most = if retries.is_some() { 5 } else { 1 };
            prop_assert!((1..=most).contains(&stamps.attempts));
        }
    }

    #[test]
    fn the_books_of_all_attempts_sum_to_the_time_in_steps(case in again()) {
        let run = run(&case);
        prop_assert!(charges_every_step(&run, &case.fleet.pools[0].replica, case.fleet.replicas()));
        for stamps in &run.stamps {
            prop_assert!(stamps.retried + stamps.recomputed <= stamps.busy);
            prop_assert!(stamps.retried == Picos::ZERO || stamps.attempts > 1);
        }
    }

    #[test]
    fn the_same_scenario_gives_the_same_run(case in again()) {
        let (a, b) = (run(&case), run(&case));
        prop_assert_eq!(a.stamps, b.stamps);
        prop_assert_eq!(a.samples, b.samples);
    }

    #[test]
    fn clients_who_could_try_again_and_need_not_change_nothing(mut case in cases()) {
        // Nobody is turned away, nothing is cut off, nobody fails: there is nothing to try again.
        case.fleet.admission = Admission::default();
        for request in &mut case.requests {
            (request.patience, request.fails) = (None, false);
        }
        for class in &mut case.classes {
            class.clients = ClientBehaviour::default();
        }
        let plain = run(&case);
        for class in &mut case.classes {
            class.clients.retries = Retries::new(5, EVERY_WAY).ok();
        }
        let ready = run(&case);
        prop_assert_eq!(plain.stamps, ready.stamps);
        prop_assert_eq!(plain.samples, ready.samples);
    }
}

/// One second a step, one seat, at most one request in the queue.
fn one_waits() -> FleetSpec {
    let mut fleet = one_seat();
    fleet.admission.max_waiting = Some(1);
    fleet
}

fn with_retries(requests: Vec<OfferedRequest>, fleet: FleetSpec, retries: Retries) -> SimRun {
    let clients = ClientBehaviour { retries: Some(retries), ..ClientBehaviour::default() };
    run(&Case { requests, classes: vec![class(clients, 0)], fleet })
}

fn back_off(max_attempts: u32, base_s: f64) -> Retries {
    let retries = Retries::new(max_attempts, EVERY_WAY).expect("in range");
    retries.with_back_off((base_s, 2.0, 60.0), 0.0).expect("in range")
}

#[test]
fn a_client_who_is_turned_away_comes_back_and_its_clock_runs_from_the_first_time() {
    // The first runs until 10 s; the second waits from 1 s; the third is turned away at 2, 3, 5 and
    // 9 s (waits of 1, 2 and 4 s) and let in at 17 s.
    let requests = vec![request(0.0, 10, 10), request(1.0, 10, 3), request(2.0, 10, 2)];
    let last = with_retries(requests.clone(), one_waits(), back_off(5, 1.0)).stamps[2];
    assert_eq!((last.fate, last.attempts), (Fate::Completed, 5));
    assert_eq!(last.queued, Some(Picos::from_secs(17.0)));
    assert_eq!(last.first_token, Some(Picos::from_secs(18.0)), "16 s after it was first due");
    // With one attempt less it is lost, turned away for the last time at 9 s.
    let lost = with_retries(requests.clone(), one_waits(), back_off(4, 1.0)).stamps[2];
    assert_eq!((lost.fate, lost.attempts), (Fate::Rejected, 4));
    assert_eq!(lost.ended, Some(Picos::from_secs(9.0)));
    // Told to come back after 9 s, it does so at 11 s.
    let mut fleet = one_waits();
    fleet.admission.retry_after = Some(Picos::from_secs(9.0));
    let told = with_retries(requests, fleet, back_off(5, 1.0)).stamps[2];
    assert_eq!((told.attempts, told.queued), (2, Some(Picos::from_secs(11.0))));
}

#[test]
fn work_on_attempts_that_failed_is_booked_as_retried() {
    // The first attempt fails after it was served; the class fails nothing, so the second does not.
    let failing = OfferedRequest { fails: true, ..request(0.0, 10, 4) };
    let run = with_retries(vec![failing], one_seat(), back_off(3, 0.5));
    let stamps = run.stamps[0];
    assert_eq!((stamps.fate, stamps.attempts), (Fate::Completed, 2));
    assert_eq!(stamps.first_token, Some(Picos::from_secs(5.5)));
    assert_eq!((stamps.busy, stamps.retried), (Picos::from_secs(8.0), Picos::from_secs(4.0)));
    assert_eq!(run.samples.last().map(|s| (s.completed, s.lost, s.attempts)), Some((1, 0, 2)));
}

#[test]
fn what_can_never_fit_is_not_tried_again() {
    let mut fleet = one_seat();
    fleet.pools[0].replica.max_model_len = 12;
    let run = with_retries(vec![request(0.0, 10, 4)], fleet, back_off(3, 0.5));
    assert_eq!((run.stamps[0].fate, run.stamps[0].attempts), (Fate::TooLong, 1));
}

#[test]
fn trying_again_is_new_load() {
    // Patience of 2.5 s; of a burst of ten the third and later are not served in time. Who comes
    // back at once meets the others who came back.
    let burst: Vec<_> = (0..10)
        .map(|_| OfferedRequest {
            patience: Some(Picos::from_secs(2.5).into()),
            ..request(0.0, 10, 2)
        })
        .collect();
    let run = with_retries(burst, one_seat(), back_off(3, 0.0));
    let attempts: u32 = run.stamps.iter().map(|stamps| stamps.attempts).sum();
    let served = run.stamps.iter().filter(|stamps| stamps.fate == Fate::Completed).count();
    assert!(attempts > 20, "{attempts} attempts for ten requests");
    assert!((3..10).contains(&served), "{served}");
    assert!(run.stamps.iter().all(|stamps| stamps.attempts <= 3));
}
