//! Conservation, causality, determinism, work conservation and metamorphic relations over random
//! configurations.

use goodput_engine::sim::{FleetSpec, ReplicaSpec, RunLimits, SimRun, simulate, simulate_stepwise};
use goodput_engine::slo::Fate;
use goodput_engine::step_time::BatchShape;
use goodput_engine::units::Picos;
use goodput_engine::workload::OfferedRequest;
use proptest::prelude::*;

use super::common::{charges_every_step, law, replica, request, run};

/// Small replicas under all kinds of pressure.
pub fn replicas() -> impl Strategy<Value = ReplicaSpec> {
    let sizes = (20_u64..400, prop::sample::select(vec![1_u32, 4, 16]), 1_u32..24, 32_u32..600);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>());
    (sizes, 0_u32..4, switches).prop_map(
        |((blocks, block_size, seats, budget), window, switches)| {
            let (prefix_caching, reserve_full_isl, async_scheduling) = switches;
            ReplicaSpec {
                usable_blocks: blocks,
                block_size,
                window_blocks_per_seq: window,
                max_num_seqs: seats,
                max_num_batched_tokens: budget.max(seats),
                prefix_caching,
                reserve_full_isl,
                async_scheduling,
                ..replica(law(5e-3, 4e-5, 2.6e-8))
            }
        },
    )
}

/// Some requests, often due at once, some of people in a hurry.
pub fn requests() -> impl Strategy<Value = Vec<OfferedRequest>> {
    let one =
        (0.0..0.4_f64, 1_u32..700, 1_u32..120, prop::option::of(0.01..3.0_f64), any::<bool>());
    prop::collection::vec(one, 1..60).prop_map(|rows| {
        let mut due_s = 0.0;
        rows.into_iter()
            .map(|(gap_s, input, output, patience_s, fails)| {
                // A third of the gaps are zero, so that ties are common.
                due_s += if gap_s < 0.13 { 0.0 } else { gap_s };
                OfferedRequest {
                    patience: patience_s.map(|s| Picos::from_secs(s).into()),
                    fails: fails && input % 5 == 0,
                    ..request(due_s, input, output)
                }
            })
            .collect()
    })
}

fn decided_as(run: &SimRun, fate: Fate) -> u64 {
    run.stamps.iter().filter(|stamps| stamps.fate == fate).count() as u64
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn requests_are_conserved_at_every_moment(
        requests in requests(), replica in replicas(), n in 1_u32..4,
    ) {
        let run = run(&requests, replica, n);
        for sample in &run.samples {
            let accounted = sample.completed + sample.lost + sample.waiting + sample.running;
            // Work of users who gave up leaves its batch at the next boundary.
            prop_assert!(accounted >= sample.offered, "nobody disappears");
            let patient = requests.iter().all(|request| request.patience.is_none());
            prop_assert!(!patient || accounted == sample.offered, "nobody appears");
        }
        let last = run.samples.last().expect("a sample at time zero at least");
        prop_assert_eq!(last.completed + last.lost, requests.len() as u64);
        prop_assert_eq!(last.backlog_prefill_tokens + last.backlog_decode_tokens, 0);
        prop_assert_eq!(last.waiting_prefill_tokens + last.waiting_decode_tokens, 0);
        prop_assert_eq!(last.kv_used_tokens, 0, "every block came back");
        prop_assert_eq!(last.completed, decided_as(&run, Fate::Completed));
        prop_assert_eq!(decided_as(&run, Fate::Unfinished), 0);
    }

    #[test]
    fn no_sample_and_no_request_is_worse_than_a_peak(
        requests in requests(), replica in replicas(), n in 1_u32..4,
    ) {
        let run = run(&requests, replica, n);
        let peaks = run.peaks;
        let mut owed = 0;
        for sample in &run.samples {
            let tokens = sample.backlog_prefill_tokens + sample.backlog_decode_tokens;
            owed = owed.max(tokens);
            prop_assert!(sample.waiting <= peaks.waiting);
            prop_assert!(sample.oldest_age <= peaks.oldest_age);
            prop_assert!(tokens <= peaks.backlog_tokens);
            // Without a rate of work a token is a second.
            prop_assert!(tokens as f64 <= peaks.work_s);
        }
        let offered: u64 =
            requests.iter().map(|r| u64::from(r.input_tokens) + u64::from(r.output_tokens)).sum();
        prop_assert!(peaks.waiting <= requests.len() as u64);
        let preempted = run.stamps.iter().any(|stamps| stamps.preemptions > 0);
        prop_assert!(preempted || peaks.backlog_tokens <= offered);
        let waited = requests.iter().zip(&run.stamps).filter_map(|(request, stamps)| {
            let until = stamps.scheduled.or(stamps.ended)?;
            (stamps.queued? < until).then_some(until - request.due)
        });
        let longest = waited.max().unwrap_or(Picos::ZERO);
        prop_assert!(longest <= peaks.oldest_age);
        prop_assert!(preempted || longest == peaks.oldest_age);
    }

    #[test]
    fn causes_precede_effects(requests in requests(), replica in replicas(), n in 1_u32..4) {
        let run = run(&requests, replica.clone(), n);
        for (request, stamps) in requests.iter().zip(&run.stamps) {
            let chain = [
                Some(request.due), stamps.queued, stamps.scheduled, stamps.first_token, stamps.ended,
            ];
            let seen: Vec<Picos> = chain.into_iter().flatten().collect();
            prop_assert!(seen.is_sorted(), "{:?}", stamps);
            if stamps.fate == Fate::Completed {
                prop_assert_eq!(stamps.generated, request.output_tokens);
                prop_assert_eq!(seen.len(), 5);
            }
            let never = replica.can_never_fit(request.input_tokens, request.output_tokens);
            prop_assert_eq!(stamps.fate == Fate::TooLong, never);
            if let (Some(first), Some(patience)) = (stamps.first_token, request.patience) {
                prop_assert!(first <= request.due + patience.picos(), "served after its user left");
            }
        }
    }

    #[test]
    fn what_slows_a_stream_down_is_a_part_of_its_time(
        requests in requests(), replica in replicas(), n in 1_u32..3,
    ) {
        let run = run(&requests, replica.clone(), n);
        let completed = requests.iter().zip(&run.stamps).filter(|(_, s)| s.fate == Fate::Completed);
        for (request, stamps) in completed {
            let stream = stamps.stream;
            let span = stamps.ended.zip(stamps.first_token).map(|(end, first)| end - first);
            // Alone, each step decodes one sequence and reads what was cached before it.
            let alone = (0..u64::from(request.output_tokens - 1)).map(|token| {
                let kv_tokens = u64::from(request.input_tokens) + token;
                replica.law.step(BatchShape { decode_seqs: 1, kv_tokens, ..BatchShape::default() })
            });
            let in_steps = stream.beside_prefill
                + if stamps.preemptions == 0 {
                    alone.fold(Picos::ZERO, |sum, step| sum + step)
                } else {
                    stream.preempted
                };
            prop_assert!(Some(in_steps) <= span, "{:?}", stamps);
            prop_assert!(stream.preempted >= Picos::ZERO && stream.beside_prefill >= Picos::ZERO);
            if stamps.preemptions == 0 {
                prop_assert_eq!(stream.preempted, Picos::ZERO);
                prop_assert!(!stream.stalled_by_preemption);
            }
            if stream.stalled_by_preemption {
                prop_assert!(stream.preempted >= stamps.longest_stall);
            }
            if replica.max_num_seqs == 1 {
                prop_assert_eq!(stream.beside_prefill, Picos::ZERO, "nobody is beside it");
            }
        }
    }

    #[test]
    fn a_run_ends_when_its_last_request_does(requests in requests(), replica in replicas()) {
        // Not when the patience of somebody served long since would have.
        let run = run(&requests, replica, 2);
        prop_assert_eq!(Some(run.ended), run.stamps.iter().filter_map(|s| s.ended).max());
    }

    #[test]
    fn the_books_of_all_requests_sum_to_the_time_in_steps(
        requests in requests(), replica in replicas(), n in 1_u32..4,
    ) {
        let run = run(&requests, replica.clone(), n);
        prop_assert!(charges_every_step(&run, &replica, n));
        for stamps in &run.stamps {
            prop_assert!(stamps.recomputed <= stamps.busy);
            prop_assert!(stamps.recomputed == Picos::ZERO || stamps.preemptions > 0);
        }
    }

    #[test]
    fn the_same_scenario_gives_the_same_run(requests in requests(), replica in replicas()) {
        let (a, b) = (run(&requests, replica.clone(), 2), run(&requests, replica, 2));
        prop_assert_eq!(a.stamps, b.stamps);
        prop_assert_eq!(a.samples, b.samples);
    }

    #[test]
    fn a_replica_with_work_is_never_idle(requests in requests(), mut replica in replicas()) {
        // Everything at once and patient: one replica works without a pause until all is done.
        replica.async_scheduling = false;
        let at_once: Vec<_> = requests
            .iter()
            .map(|r| OfferedRequest { due: Picos::ZERO, patience: None, ..*r })
            .collect();
        let run = run(&at_once, replica, 1);
        prop_assert_eq!(run.busy, run.ended);
    }

    #[test]
    fn steps_twice_as_fast_for_users_twice_as_hurried_change_nothing_else(
        requests in requests(), replica in replicas(),
    ) {
        let halved = |time: Picos| Picos(time.0 / 2);
        // Even picoseconds, so that halves are exact.
        let even = |time: Picos| Picos(time.0 / 2 * 2);
        let slow: Vec<_> = requests
            .iter()
            .map(|r| OfferedRequest { due: even(r.due), patience: r.patience.map(|p| even(p.picos()).into()), ..*r })
            .collect();
        let fast: Vec<_> = slow
            .iter()
            .map(|r| OfferedRequest { due: halved(r.due), patience: r.patience.map(|p| halved(p.picos()).into()), ..*r })
            .collect();
        let with_law = |base_s, token_s, kv_s| ReplicaSpec {
            law: law(base_s, token_s, kv_s), ..replica.clone()
        };
        let slow = run(&slow, with_law(4e-3, 4e-5, 2e-8), 1);
        let fast = run(&fast, with_law(2e-3, 2e-5, 1e-8), 1);
        for (slow, fast) in slow.stamps.iter().zip(&fast.stamps) {
            prop_assert_eq!(slow.fate, fast.fate);
            prop_assert_eq!(slow.ended.map(halved), fast.ended);
            prop_assert_eq!(slow.preemptions, fast.preemptions);
        }
    }
}

#[test]
fn pressure_on_memory_is_part_of_the_random_configurations() {
    // The laws above mean little if nobody is ever preempted in them.
    let requests: Vec<_> = (0..40).map(|i| request(f64::from(i) * 0.01, 200, 100)).collect();
    let tight = ReplicaSpec { usable_blocks: 60, ..replica(law(5e-3, 4e-5, 2.6e-8)) };
    let run = run(&requests, tight, 1);
    assert!(run.stamps.iter().map(|stamps| stamps.preemptions).sum::<u32>() > 10);
    assert!(run.stamps.iter().any(|stamps| stamps.kept_tokens > 0), "some prefixes survived");
}

#[test]
fn blocks_come_back_when_one_leaves_in_the_step_in_which_another_finishes() {
    let first = request(0.0, 10, 2);
    let second =
        OfferedRequest { patience: Some(Picos::from_secs(0.1).into()), ..request(0.05, 10, 2) };
    let fleet = FleetSpec::open(replica(law(0.1, 0.0, 0.0)), 1);
    for engine in [simulate, simulate_stepwise] {
        let limits = RunLimits::to_the_end(Picos::from_secs(1.0));
        let run = engine(&[first, second], &fleet, limits);
        let [first, second] = [&run.stamps[0], &run.stamps[1]];
        assert_eq!(first.ended, Some(Picos::from_secs(0.2)));
        assert_eq!((second.fate, second.scheduled), (Fate::Cancelled, Some(Picos::from_secs(0.1))));
        assert_eq!(run.samples.last().map(|sample| sample.kv_used_tokens), Some(0));
    }
}

#[test]
fn a_limit_cuts_the_run_off_and_says_so() {
    use goodput_engine::sim::CutOff;
    let requests: Vec<_> = (0..100).map(|i| request(f64::from(i), 100, 1000)).collect();
    let fleet = FleetSpec::open(replica(law(5e-3, 4e-5, 0.0)), 1);
    let horizon = Picos::from_secs(100.0);
    let limits = RunLimits { until: Picos::from_secs(50.0), ..RunLimits::to_the_end(horizon) };
    let run = simulate(&requests, &fleet, limits);
    assert_eq!(run.cut_off, Some(CutOff::Time));
    assert!(decided_as(&run, Fate::Unfinished) >= 49);
    assert!(run.ended <= Picos::from_secs(50.0));
    for (request, stamps) in requests.iter().zip(&run.stamps) {
        let seen_to = if request.due <= run.ended { run.ended } else { Picos::NEVER };
        assert!(stamps.fate != Fate::Unfinished || stamps.ended.unwrap_or(Picos::NEVER) == seen_to);
    }
    let limits = RunLimits { max_steps: 1000, ..RunLimits::to_the_end(horizon) };
    assert_eq!(simulate(&requests, &fleet, limits).cut_off, Some(CutOff::Steps));
    assert_eq!(simulate(&requests, &fleet, RunLimits::to_the_end(horizon)).cut_off, None);
}

/// A hundred requests at once, and all done before the next of 240 samples is taken.
#[test]
fn a_burst_between_two_samples_is_seen() {
    let mut requests: Vec<_> = (0..100).map(|_| request(1.0, 100, 2)).collect();
    requests.push(request(3600.0, 1, 1));
    let replica = ReplicaSpec { max_num_seqs: 10, ..replica(law(5e-3, 4e-5, 2.6e-8)) };
    let run = run(&requests, replica, 1);
    assert!(run.samples.iter().all(|sample| sample.waiting == 0), "the samples miss it");
    assert_eq!(run.peaks.waiting, 90, "ten are in the batch at once");
    assert_eq!(run.peaks.backlog_tokens, 100 * 102);
    assert_eq!(run.peaks.work_at, Picos::from_secs(1.0));
    let last = run.stamps[99].scheduled.expect("served");
    assert_eq!(run.peaks.oldest_age, last - requests[99].due);
    assert!(run.peaks.oldest_age.as_secs() > 0.05);
}
