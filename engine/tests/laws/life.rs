//! Replicas that come and go lose nobody: conservation, causality and books with failures, drains,
//! cold starts and scaling.

use goodput_engine::fleet::{Autoscaler, Crash, Failures, Life, Routing, Scaling, Signal};
use goodput_engine::sim::{FleetSpec, PoolSpec, RunLimits, SimRun, StintEnd, simulate};
use goodput_engine::slo::Fate;
use goodput_engine::units::Picos;
use goodput_engine::workload::OfferedRequest;
use proptest::prelude::*;

use super::always::{replicas, requests};
use super::common::{charges_every_step, law, replica, request};

fn span(longest_s: f64) -> impl Strategy<Value = Picos> {
    prop_oneof![Just(Picos::ZERO), (0.0..longest_s).prop_map(Picos::from_secs)]
}

fn scaling() -> impl Strategy<Value = Scaling> {
    let entry = (0.1..4.0_f64, 0_u32..5);
    let schedule = prop::collection::vec(entry, 1..5).prop_map(|entries| {
        let mut at = Picos::ZERO;
        let mut later = |s: f64| {
            at += Picos::from_secs(s);
            at
        };
        let mut entries: Vec<_> = entries.into_iter().map(|(s, n)| (later(s), n)).collect();
        entries.push((later(1.0), 1)); // so that everybody is served in the end
        Scaling::Schedule(entries)
    });
    let signal = prop::sample::select(vec![Signal::Outstanding, Signal::Waiting]);
    let auto = (signal, 0.5..5.0_f64, span(1.0), span(3.0), 3_u32..6);
    let auto = auto.prop_map(|(signal, target, delay, cooldown, max)| {
        Scaling::Auto(Autoscaler {
            signal,
            target,
            interval: Picos::from_secs(0.3),
            delay,
            up_cooldown: Picos::ZERO,
            down_cooldown: cooldown,
            min: 1,
            max,
        })
    });
    prop_oneof![Just(Scaling::Fixed), schedule, auto]
}

fn lives() -> impl Strategy<Value = Life> {
    let crash = (0.0..6.0_f64, 0_u32..4)
        .prop_map(|(at_s, replica)| Crash { at: Picos::from_secs(at_s), replica });
    let crashes = prop::collection::vec(crash, 0..4);
    (span(3.0), any::<bool>(), span(3.0), scaling(), crashes).prop_map(
        |(start_up, cold_start, slow_start, scaling, crashes)| Life {
            start_up,
            cold_start,
            slow_start,
            scaling,
            failures: Failures { mean_time_between: None, crashes },
        },
    )
}

fn run_of(requests: &[OfferedRequest], pool: PoolSpec, routing: Routing) -> SimRun {
    let horizon = requests.last().map_or(Picos(1), |last| last.due.max(Picos(1)));
    let fleet =
        FleetSpec { pools: vec![pool], routing, ..FleetSpec::open(replica(law(1.0, 0.0, 0.0)), 1) };
    simulate(requests, &fleet, RunLimits::to_the_end(horizon))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn nobody_is_lost_but_by_a_failure_and_everything_is_paid_for(
        requests in requests(), replica in replicas(), n in 1_u32..4, life in lives(),
        routing in prop::sample::select(vec![
            Routing::LeastOutstanding, Routing::RoundRobin, Routing::PowerOfTwo, Routing::LeastKv,
        ]),
    ) {
        let pool = PoolSpec { life, ..PoolSpec::constant(replica.clone(), n) };
        let run = run_of(&requests, pool, routing);
        prop_assert_eq!(run.cut_off, None);
        let stints = &run.pools[0].stints;
        for sample in &run.samples {
            let accounted = sample.completed + sample.lost + sample.waiting + sample.running;
            prop_assert!(accounted >= sample.offered, "nobody disappears");
            let there = sample.replicas;
            let counted = stints.iter().filter(|s| s.from <= sample.at && sample.at < s.to).count();
            let states = there.starting + there.ready + there.draining + there.crashed;
            let constant = stints.is_empty();
            prop_assert!(constant || sample.at >= run.ended || states as usize == counted);
        }
        let last = run.samples.last().expect("a sample at least");
        prop_assert_eq!(last.completed + last.lost, requests.len() as u64);
        prop_assert_eq!((last.waiting, last.running, last.kv_used_tokens), (0, 0, 0));
        prop_assert_eq!(last.backlog_prefill_tokens + last.backlog_decode_tokens, 0);
        let engines = u32::try_from(stints.len()).expect("few").max(n);
        prop_assert!(charges_every_step(&run, &replica, engines));
        let crashed: Vec<_> = stints.iter().filter(|s| s.end == StintEnd::Crashed).collect();
        for (request, stamps) in requests.iter().zip(&run.stamps) {
            prop_assert!(stamps.fate != Fate::Unfinished);
            let served_and_failed = request.fails && stamps.generated == request.output_tokens;
            let by_a_crash = crashed.iter().any(|stint| {
                stint.replica == stamps.replica && Some(stint.to) == stamps.ended
            });
            prop_assert!(stamps.fate != Fate::Failed || served_and_failed || by_a_crash);
            let Some(queued) = stamps.queued else { continue };
            prop_assert!(queued - request.due == stamps.held);
            // It joined a replica that was ready, and left no later than that was gone.
            let on_it = stints.iter().any(|stint| {
                stint.replica == stamps.replica && stint.ready <= queued && queued <= stint.to
                    && stamps.ended <= Some(stint.to)
            });
            prop_assert!(stints.is_empty() || on_it, "{:?} {:?}", stamps, stints);
        }
        for stint in stints {
            prop_assert!(stint.from <= stint.ready && stint.ready <= stint.to);
        }
    }
}

/// One replica crashes while a prompt is half computed: the request comes again, and what had been
/// computed is computed again from the start.
#[test]
fn a_failure_forgets_a_partial_prefill() {
    let spec = goodput_engine::sim::ReplicaSpec {
        max_num_batched_tokens: 100,
        ..replica(law(0.1, 0.0, 0.0))
    };
    let crashes = vec![Crash { at: Picos::from_secs(0.25), replica: 0 }];
    let life = Life {
        start_up: Picos::from_secs(1.0),
        failures: Failures { mean_time_between: None, crashes },
        ..Life::default()
    };
    let pool = PoolSpec { life, ..PoolSpec::constant(spec, 1) };
    let run = run_of(&[request(0.0, 500, 1), request(2.0, 500, 1)], pool, Routing::default());
    let [lost, next] = [&run.stamps[0], &run.stamps[1]];
    assert_eq!((lost.fate, lost.generated), (Fate::Failed, 0));
    assert_eq!(lost.ended, Some(Picos::from_secs(0.25)));
    assert_eq!(lost.busy, Picos::from_secs(0.25), "the step in progress is charged until then");
    assert_eq!(next.first_token, Some(Picos::from_secs(2.5)), "five chunks, none was kept");
}
