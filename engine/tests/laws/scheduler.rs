//! The scheduler's rules, each in the smallest scenario that shows it.

use goodput_engine::sim::{FleetSim, FleetSpec, Progress, ReplicaSpec, RunLimits, saturate};
use goodput_engine::slo::Fate;
use goodput_engine::units::Picos;
use goodput_engine::workload::OfferedRequest;

use super::common::{law, poisson, replica, request, run};

/// One second a step, whatever is in it.
fn one_second_steps() -> ReplicaSpec {
    replica(law(1.0, 0.0, 0.0))
}

#[test]
fn a_burst_of_prompts_is_prefilled_in_budget_sized_steps() {
    // 32 prompts of 1,024 at a budget of 2,048: 16 steps if each is done with its first token; 17
    // if they go on to decode, because running decodes take their token first.
    for (budget, output, steps) in [(2048, 1, 16.0), (2048, 2, 17.0), (65_536, 2, 1.0)] {
        let burst: Vec<_> = (0..32).map(|_| request(0.0, 1024, output)).collect();
        let spec = ReplicaSpec { max_num_batched_tokens: budget, ..one_second_steps() };
        let run = run(&burst, spec, 1);
        let last = run.stamps.iter().filter_map(|stamps| stamps.first_token).max();
        assert_eq!(last, Some(Picos::from_secs(steps)), "budget {budget}, {output} tokens");
        assert_eq!(run.stamps[0].first_token, Some(Picos::from_secs(1.0)));
    }
}

#[test]
fn a_threshold_lets_short_prompts_share_the_steps_of_a_long_one() {
    // Alone a prompt of 4,096 takes two whole steps of 2,048, and nobody else is in them. In parts of
    // 512 it takes eight, and the short one is in the first.
    let requests = [request(0.0, 4096, 1), request(0.0, 64, 1)];
    for (threshold, chunked, first_s) in [
        (0, true, [2.0, 3.0]),
        (4096, true, [2.0, 3.0]),
        (512, true, [8.0, 1.0]),
        (512, false, [8.0, 1.0]), // as vLLM: the threshold splits prompts that nothing else splits
    ] {
        let spec = ReplicaSpec {
            long_prefill_token_threshold: threshold,
            chunked_prefill: chunked,
            ..one_second_steps()
        };
        let run = run(&requests, spec, 1);
        let first: Vec<_> = run.stamps.iter().map(|stamps| stamps.first_token).collect();
        assert_eq!(first, first_s.map(|s| Some(Picos::from_secs(s))), "threshold {threshold}");
    }
}

#[test]
fn under_a_threshold_as_many_prompts_share_a_step_as_its_budget_holds() {
    // Four prompts of 1,024 in parts of 512 fill two steps of 2,048; a fifth gets what the four leave
    // from the third step on.
    let requests: Vec<_> = (0..5).map(|_| request(0.0, 1024, 1)).collect();
    let spec = ReplicaSpec { long_prefill_token_threshold: 512, ..one_second_steps() };
    let run = run(&requests, spec, 1);
    let first: Vec<_> = run.stamps.iter().map(|stamps| stamps.first_token).collect();
    assert_eq!(first, [2.0, 2.0, 2.0, 2.0, 4.0].map(|s| Some(Picos::from_secs(s))));
}

#[test]
fn under_asynchronous_scheduling_an_arrival_waits_for_the_step_after_next() {
    // The first request runs from 0; the second comes during the first step.
    let requests = [request(0.0, 10, 10), request(0.5, 10, 1)];
    for (lag, scheduled_s) in [(false, 1.0), (true, 2.0)] {
        let spec = ReplicaSpec { async_scheduling: lag, ..one_second_steps() };
        let run = run(&requests, spec, 1);
        assert_eq!(run.stamps[1].scheduled, Some(Picos::from_secs(scheduled_s)), "lag {lag}");
        assert_eq!(run.stamps[0].scheduled, Some(Picos::ZERO), "an idle engine starts at once");
    }
}

#[test]
fn under_asynchronous_scheduling_a_seat_is_free_one_step_late() {
    // One decodes on, so that the engine is never idle; the second gives its seat to the third.
    let requests = [request(0.0, 10, 10), request(0.0, 10, 2), request(0.0, 10, 2)];
    for (lag, scheduled_s) in [(false, 2.0), (true, 3.0)] {
        let spec = ReplicaSpec { max_num_seqs: 2, async_scheduling: lag, ..one_second_steps() };
        let run = run(&requests, spec, 1);
        assert_eq!(run.stamps[2].scheduled, Some(Picos::from_secs(scheduled_s)), "lag {lag}");
    }
}

#[test]
fn the_tail_is_preempted_and_returns_with_what_survived() {
    // Ten blocks of 16. Two prompts of 64 hold four each; both grow, and when the first needs the
    // eleventh block the second loses its own.
    let requests = [request(0.0, 64, 40), request(0.0, 64, 40)];
    let tight = ReplicaSpec { usable_blocks: 10, ..one_second_steps() };
    let kept = run(&requests, tight.clone(), 1);
    assert_eq!(kept.stamps[0].preemptions, 0);
    assert_eq!(kept.stamps[1].preemptions, 1);
    assert!(kept.stamps[1].kept_tokens > 0, "its blocks were not all taken");
    let forgotten = run(&requests, ReplicaSpec { prefix_caching: false, ..tight }, 1);
    assert_eq!(forgotten.stamps[1].kept_tokens, 0);
    assert!(forgotten.stamps[1].recomputed > kept.stamps[1].recomputed);
    for run in [kept, forgotten] {
        assert!(run.stamps.iter().all(|stamps| stamps.fate == Fate::Completed));
    }
}

#[test]
fn a_prompt_is_admitted_only_when_all_of_it_would_fit() {
    // The first holds 4 of 10 blocks; the second needs 8 in all but its first chunk only 2.
    let requests = [request(0.0, 64, 30), request(0.0, 128, 2)];
    for (reserve, waits) in [(true, true), (false, false)] {
        let spec = ReplicaSpec {
            usable_blocks: 10,
            max_num_batched_tokens: 96,
            reserve_full_isl: reserve,
            ..one_second_steps()
        };
        let run = run(&requests, spec, 1);
        let scheduled = run.stamps[1].scheduled.expect("served in the end");
        assert_eq!(scheduled > Picos::from_secs(2.0), waits, "reserve {reserve}");
    }
}

#[test]
fn what_can_never_fit_is_refused_at_once() {
    let spec = ReplicaSpec { usable_blocks: 10, max_model_len: 150, ..one_second_steps() };
    // 10 blocks of 16 hold 160 tokens, and the last token needs no place.
    let requests = [request(0.0, 100, 61), request(0.0, 100, 50), request(0.0, 100, 51)];
    let longer = ReplicaSpec { max_model_len: 1000, ..spec.clone() };
    let fates = |spec| run(&requests, spec, 1).stamps.iter().map(|s| s.fate).collect::<Vec<_>>();
    assert_eq!(fates(spec), [Fate::TooLong, Fate::Completed, Fate::TooLong]);
    assert_eq!(fates(longer), [Fate::Completed; 3]);
}

#[test]
fn whoever_gives_up_frees_the_place() {
    let impatient =
        OfferedRequest { patience: Some(Picos::from_secs(3.0).into()), ..request(0.0, 10, 5) };
    let spec = ReplicaSpec { max_num_seqs: 1, ..one_second_steps() };
    let requests = [request(0.0, 10, 10), impatient, request(0.0, 10, 1)];
    let run = run(&requests, spec, 1);
    assert_eq!(run.stamps[1].fate, Fate::Cancelled);
    assert_eq!(run.stamps[1].ended, Some(Picos::from_secs(3.0)));
    assert_eq!(run.stamps[2].first_token, Some(Picos::from_secs(11.0)));
}

#[test]
fn a_first_token_in_the_last_moment_of_patience_counts() {
    let patient =
        |s| OfferedRequest { patience: Some(Picos::from_secs(s).into()), ..request(0.0, 10, 5) };
    let just = run(&[patient(1.0)], one_second_steps(), 1);
    assert_eq!(just.stamps[0].fate, Fate::Completed);
    let less = run(&[patient(0.999)], one_second_steps(), 1);
    assert_eq!(less.stamps[0].fate, Fate::Cancelled);
}

/// Alone, every token takes a second: ten that are hidden are ten seconds more to the first that is
/// shown, and a preemption in between or a retry would count in it.
#[test]
fn the_first_visible_token_comes_after_the_hidden_ones() {
    let hides = |hidden_tokens, output_tokens| OfferedRequest {
        hidden_tokens,
        ..request(0.0, 10, output_tokens)
    };
    for (asked, first_visible) in [
        (hides(0, 21), None),
        (hides(1, 21), Some(2.0)),
        (hides(10, 21), Some(11.0)),
        (hides(20, 21), Some(21.0)),
        (hides(21, 21), None),
    ] {
        let run = run(&[asked], one_second_steps(), 1);
        assert_eq!(run.stamps[0].first_token, Some(Picos::from_secs(1.0)));
        assert_eq!(run.stamps[0].first_visible, first_visible.map(Picos::from_secs), "{asked:?}");
    }
}

/// Steps of one second beside a prompt that takes three: of ten gaps one is longer than two seconds,
/// whatever of them the limit of another class counts.
#[test]
fn gaps_above_a_limit_are_counted_exactly() {
    let law = law(1.0, 0.001, 0.0);
    let spec = ReplicaSpec { max_num_batched_tokens: 4_000, ..replica(law) };
    let beside = OfferedRequest { class: 1, ..request(4.5, 2_000, 2) };
    let requests = [request(0.0, 10, 11), beside];
    let fleet = FleetSpec::open(spec, 1);
    let limits = RunLimits::to_the_end(Picos::from_secs(5.0));
    let counted = |limits_s: [Option<f64>; 2]| {
        let limits_at = limits_s.map(|limit| limit.map(Picos::from_secs));
        let mut sim = FleetSim::new(&requests, &fleet, limits).counting_gaps_above(&limits_at);
        while let Progress::Running { .. } = sim.advance(u64::MAX) {}
        sim.finish().stamps.iter().map(|stamps| stamps.gaps_above).collect::<Vec<_>>()
    };
    assert_eq!(counted([Some(2.0), None]), [1, 0]);
    assert_eq!(counted([Some(1.0), Some(1.0)]), [10, 1]);
    assert_eq!(counted([Some(3.5), Some(2.0)]), [0, 0]);
    assert_eq!(counted([None, None]), [0, 0]);
}

#[test]
fn requests_go_to_the_replica_with_the_fewest() {
    let requests: Vec<_> = (0..12).map(|_| request(0.0, 10, 5)).collect();
    let run = run(&requests, one_second_steps(), 4);
    for replica in 0..4 {
        assert_eq!(run.stamps.iter().filter(|stamps| stamps.replica == replica).count(), 3);
    }
}

#[test]
fn more_replicas_never_serve_fewer_in_time() {
    let requests = poisson(3000, 20.0, 1, |i| (200 + 100 * u32::try_from(i % 7).unwrap(), 100));
    let in_time = |replicas| {
        let run = run(&requests, replica(law(20e-3, 4e-5, 2e-8)), replicas);
        let waits = requests.iter().zip(&run.stamps).map(|(r, s)| s.first_token.unwrap() - r.due);
        waits.filter(|wait| *wait <= Picos::from_millis(200.0)).count()
    };
    let counts: Vec<usize> = (1..=6).map(in_time).collect();
    assert!(counts.is_sorted(), "{counts:?}");
    assert!(counts[0] < counts[5]);
}

#[test]
fn a_saturated_replica_does_what_an_overloaded_one_completes() {
    let lengths = |i: u64| (256 + 64 * u32::try_from(i % 9).unwrap(), 50 + 10 * (i % 20) as u32);
    let spec = replica(law(10e-3, 4e-5, 2e-8));
    let mix = poisson(6000, 100.0, 1, lengths);
    let sustained = saturate(&mix, &spec).expect("everything fits");
    // Twice the sustainable rate.
    let requests = poisson(2500, 2.0 * sustained.rps, 2, lengths);
    let overloaded = run(&requests, spec, 1);
    let (from, to) = (&overloaded.samples[72], &overloaded.samples[216]);
    let seconds = (to.at - from.at).as_secs();
    let completed = (to.completed - from.completed) as f64 / seconds;
    assert!((completed / sustained.rps - 1.0).abs() < 0.02, "{completed} of {}", sustained.rps);
    // And the queue grows by what is left over.
    let slope = (to.waiting as f64 - from.waiting as f64) / seconds;
    let offered = (to.offered - from.offered) as f64 / seconds;
    assert!((slope / (offered - completed) - 1.0).abs() < 0.02);
    assert!(sustained.refusals.seats > 10 * sustained.refusals.kv_memory);
}

#[test]
fn windows_take_their_blocks_from_the_same_pool() {
    // Ten blocks; each request holds two of its length and three for its windows.
    let requests = [request(0.0, 20, 5), request(0.0, 20, 5), request(0.0, 20, 5)];
    let spec = ReplicaSpec { usable_blocks: 10, window_blocks_per_seq: 3, ..one_second_steps() };
    assert!(spec.can_never_fit(100, 14), "7 blocks of its length and 3 are all there are");
    assert!(!spec.can_never_fit(100, 13));
    let run = run(&requests, spec, 1);
    let scheduled: Vec<_> = run.stamps.iter().map(|stamps| stamps.scheduled).collect();
    assert_eq!(scheduled[..2], [Some(Picos::ZERO); 2]);
    assert_eq!(scheduled[2], Some(Picos::from_secs(5.0)));
}

#[test]
fn a_pool_that_is_never_full_serves_like_any_larger_one() {
    // Ten million blocks are taken and given back, of 2^40: memory is for what was preempted.
    let requests = poisson(200, 20.0, 1, |_| (50_000, 20));
    let with = |usable_blocks| {
        let spec = ReplicaSpec { usable_blocks, block_size: 1, ..replica(law(5e-3, 4e-7, 0.0)) };
        run(&requests, spec, 1)
    };
    let (roomy, huge) = (with(1 << 24), with(1 << 40));
    assert_eq!(roomy.stamps, huge.stamps);
    assert!(huge.samples.iter().any(|sample| sample.kv_used_tokens > 50_000));
}
