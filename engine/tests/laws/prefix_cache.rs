//! What prompts share is found where it is still in memory, and only there.

use std::num::NonZeroU32;

use goodput_engine::sim::{FleetSim, FleetSpec, ReplicaSpec, RunLimits, SimRun};
use goodput_engine::slo::Fate;
use goodput_engine::units::Picos;
use goodput_engine::workload::{
    Arrivals, Lengths, Lineage, OfferedRequest, RateProfile, Session, ThinkTime, TrafficClass,
    generate,
};

use super::common::{law, poisson, replica, request, run};

/// The same prompt with `tokens` of the shared prefix of that number.
fn sharing(prefix: u32, tokens: u32, request: OfferedRequest) -> OfferedRequest {
    let prefix_tokens = tokens.min(request.input_tokens - 1);
    let prefix = NonZeroU32::new(prefix);
    OfferedRequest { lineage: Lineage { prefix, prefix_tokens, ..Lineage::NONE }, ..request }
}

fn found(run: &SimRun) -> u64 {
    run.stamps.iter().map(|stamps| u64::from(stamps.cached_tokens)).sum()
}

fn prompts(requests: &[OfferedRequest]) -> u64 {
    requests.iter().map(|request| u64::from(request.input_tokens)).sum()
}

/// Users whose sessions have `turns` turns, on `replicas` replicas.
fn sessions(turns: u32, spec: &ReplicaSpec, replicas: u32) -> (SimRun, Vec<OfferedRequest>) {
    let horizon = Picos::from_secs(400.0);
    let class = TrafficClass {
        session: Some(Session {
            turns: Lengths::fixed(turns).expect("a number"),
            think: ThinkTime::exponential(5.0).expect("a time"),
            new_tokens: None,
        }),
        ..TrafficClass::new(
            "talk",
            Arrivals::Poisson(RateProfile::constant(0.5).expect("a rate")),
            Lengths::lognormal(300.0, 900.0).expect("a law"),
            Lengths::lognormal(100.0, 300.0).expect("a law"),
        )
    };
    let classes = [class];
    let given = generate(&classes, 1, horizon).expect("a bounded workload");
    let fleet = FleetSpec::open(spec.clone(), replicas);
    let mut sim =
        FleetSim::new(&given, &fleet, RunLimits::to_the_end(horizon)).asked_by(&classes, 1);
    sim.advance(u64::MAX);
    let mut run = sim.finish();
    let requests = run.requests.take().expect("turns follow");
    (run, requests)
}

#[test]
fn three_requests_by_hand() {
    // Blocks of 10 and 20 tokens a step of one second. 35 tokens are shared: three whole blocks.
    // The first computes 50 tokens in 0–3 s. The second comes in the first step and is scheduled in
    // the third, beside the last ten tokens of the first: it finds 30 tokens that were computed and
    // has the budget for ten of its fifteen others. The third is alone, and shares what it can: all
    // of its 31 tokens but the last, and of those three whole blocks.
    let requests = [
        sharing(1, 35, request(0.0, 50, 3)),
        sharing(1, 35, request(0.5, 45, 1)),
        sharing(1, 35, request(20.0, 31, 1)),
    ];
    let spec = ReplicaSpec {
        block_size: 10,
        usable_blocks: 40,
        max_num_batched_tokens: 20,
        ..replica(law(1.0, 0.0, 0.0))
    };
    let run = run(&requests, spec.clone(), 1);
    let at = |s: f64| Some(Picos::from_secs(s));
    let first_tokens: Vec<_> = run.stamps.iter().map(|stamps| stamps.first_token).collect();
    assert_eq!(first_tokens, [at(3.0), at(4.0), at(21.0)]);
    let cached: Vec<_> = run.stamps.iter().map(|stamps| stamps.cached_tokens).collect();
    assert_eq!(cached, [0, 30, 30]);
    assert_eq!(run.stamps[1].scheduled, at(2.0));
    // Cold, the second computes 45 tokens in 10 + 19 + 16, and the third needs a step more.
    let cold = super::common::run(&requests, ReplicaSpec { prefix_caching: false, ..spec }, 1);
    let first_tokens: Vec<_> = cold.stamps.iter().map(|stamps| stamps.first_token).collect();
    assert_eq!(first_tokens, [at(3.0), at(5.0), at(22.0)]);
}

#[test]
fn a_cold_cache_is_as_if_prompts_shared_nothing() {
    let plain = poisson(400, 20.0, 3, |i| (100 + u32::try_from(i % 37).unwrap_or(0) * 20, 30));
    let shared: Vec<_> = (0..).zip(&plain).map(|(i, r)| sharing(1 + i % 3, 400, *r)).collect();
    let off = ReplicaSpec { prefix_caching: false, ..replica(law(0.005, 1e-4, 1e-7)) };
    assert_eq!(run(&shared, off.clone(), 2), run(&plain, off.clone(), 2));
    let on = ReplicaSpec { prefix_caching: true, ..off };
    let (cold, warm) = (run(&plain, on.clone(), 2), run(&shared, on, 2));
    assert!(found(&warm) > 0 && warm.busy < cold.busy);
}

#[test]
fn what_is_found_and_what_is_computed_are_the_prompts() {
    let requests: Vec<_> = (0..300_u32)
        .map(|i| sharing(1 + i % 5, 100, request(f64::from(i) * 0.02, 50 + 3 * (i % 90), 20)))
        .collect();
    let run = run(&requests, replica(law(0.004, 1e-4, 1e-7)), 1);
    assert!(run.stamps.iter().all(|s| s.fate == Fate::Completed && s.preemptions == 0));
    let computed = run.samples.last().expect("an end").prefill_tokens;
    assert_eq!(found(&run) + computed, prompts(&requests));
    for (request, stamps) in requests.iter().zip(&run.stamps) {
        assert!(stamps.cached_tokens <= request.lineage.prefix_tokens);
        assert_eq!(stamps.cached_tokens % 16, 0, "whole blocks");
    }
}

#[test]
fn with_ample_memory_a_turn_finds_all_that_was_said_but_the_last_partial_block() {
    let spec = ReplicaSpec { usable_blocks: 1 << 20, ..replica(law(0.004, 1e-5, 1e-8)) };
    let (run, requests) = sessions(6, &spec, 1);
    let later = || requests.iter().zip(&run.stamps).filter(|(r, _)| r.lineage.history_tokens > 0);
    assert!(later().count() > 500);
    for (request, stamps) in later().filter(|(_, stamps)| stamps.scheduled.is_some()) {
        // The last token of an answer is never read back, so it is not computed.
        let computed = request.lineage.history_tokens - 1;
        assert_eq!(stamps.cached_tokens, computed / 16 * 16);
    }
}

#[test]
fn the_more_replicas_a_session_is_spread_over_the_less_it_finds() {
    let spec = ReplicaSpec { usable_blocks: 1 << 20, ..replica(law(0.02, 1e-5, 1e-8)) };
    let rate = |replicas| {
        let (run, requests) = sessions(6, &spec, replicas);
        found(&run) as f64 / prompts(&requests) as f64
    };
    let rates = [1, 2, 4, 8].map(rate);
    assert!(rates.windows(2).all(|pair| pair[1] < 0.97 * pair[0]), "{rates:?}");
}

#[test]
fn one_prefix_in_ample_memory_is_found_by_its_share_of_the_prompts() {
    // 1,600 of 2,000 tokens; all but the first request find them.
    let n = 500_u32;
    let requests: Vec<_> =
        (0..n).map(|i| sharing(1, 1_600, request(f64::from(i) * 0.1, 2_000, 5))).collect();
    let run = run(&requests, replica(law(0.004, 1e-5, 1e-8)), 1);
    assert_eq!(found(&run), u64::from(n - 1) * 1_600);
}

#[test]
fn half_the_memory_never_finds_more_where_requests_come_one_by_one() {
    // The order of use is the same whatever the memory, so a larger one holds all of a smaller.
    let requests: Vec<_> = (0..400_u32)
        .map(|i| {
            let prefix = 1 + i * i % 17;
            sharing(prefix, 300, request(f64::from(i), 320 + 16 * (i % 9), 8))
        })
        .collect();
    let (mut first, mut last) = (None, u64::MAX);
    for usable_blocks in [640, 320, 160, 80, 40] {
        let spec = ReplicaSpec { usable_blocks, ..replica(law(0.004, 1e-5, 1e-8)) };
        let found = found(&run(&requests, spec, 1));
        assert!(found <= last, "{usable_blocks} blocks find {found}, twice as many {last}");
        first = first.or(Some(found));
        last = found;
    }
    assert!(first.is_some_and(|first| 4 * last < first), "memory matters here");
}

#[test]
fn a_lost_turn_ends_its_session_and_what_was_not_asked_is_counted() {
    let short = ReplicaSpec { max_model_len: 1_200, ..replica(law(0.004, 1e-5, 1e-8)) };
    let (run, requests) = sessions(6, &short, 1);
    let [unasked] = run.unasked[..] else { panic!("one class") };
    let firsts = requests.iter().filter(|request| request.lineage.history_tokens == 0).count();
    let all = unasked.after_a_lost_turn + unasked.beyond_max_model_len + unasked.after_the_horizon;
    assert_eq!(requests.len() as u64 + all, 6 * firsts as u64, "every turn is asked or counted");
    assert!(unasked.beyond_max_model_len > 0 && unasked.after_the_horizon > 0);
    // A first prompt that is too long is lost, and with it the rest of its session.
    let too_long = run.stamps.iter().filter(|stamps| stamps.fate == Fate::TooLong).count();
    assert_eq!(unasked.after_a_lost_turn, 5 * too_long as u64);
}
