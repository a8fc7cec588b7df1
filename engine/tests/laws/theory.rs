//! Queueing theory with degenerate step laws: one token a step of constant length, so that a
//! request is a job and a seat is a server.

use goodput_engine::math;
use goodput_engine::sim::{ReplicaSpec, SimRun};
use goodput_engine::units::Picos;
use goodput_engine::workload::OfferedRequest;

use super::common::{exponential_tokens, law, poisson, replica, run};

/// One replica with `seats` servers that serve one token in `token_s`, whatever the batch.
fn servers(seats: u32, token_s: f64) -> ReplicaSpec {
    ReplicaSpec { max_num_seqs: seats, ..replica(law(token_s, 0.0, 0.0)) }
}

/// Mean wait from due to scheduled, seconds.
fn mean_wait_s(requests: &[OfferedRequest], run: &SimRun) -> f64 {
    let waits = requests.iter().zip(&run.stamps).map(|(request, stamps)| {
        (stamps.scheduled.expect("everybody is served") - request.due).as_secs()
    });
    waits.sum::<f64>() / requests.len() as f64
}

/// Mean and standard error of `measure` over eight seeds.
fn over_seeds(measure: impl Fn(u64) -> f64) -> (f64, f64) {
    let values: Vec<f64> = (1..=8).map(measure).collect();
    let mean = values.iter().sum::<f64>() / 8.0;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / 7.0;
    (mean, (variance / 8.0).sqrt())
}

/// The theory must lie within four standard errors, or within `grain` where steps are coarse.
fn agrees(theory: f64, (mean, error): (f64, f64), grain: f64) {
    assert!((mean - theory).abs() <= 4.0 * error + grain, "{mean} ± {error}, theory {theory}");
    assert!(error < 0.1 * theory, "a test that could not fail: ± {error} of {theory}");
}

/// Probability of waiting with `servers` servers at `erlangs` of load (Erlang 1917).
fn erlang_c(servers: u32, erlangs: f64) -> f64 {
    let mut blocked = 1.0;
    for n in 1..=servers {
        blocked = erlangs * blocked / (f64::from(n) + erlangs * blocked);
    }
    let n = f64::from(servers);
    n * blocked / (n - erlangs * (1.0 - blocked))
}

#[test]
fn constant_service_waits_as_m_d_1() {
    for utilization in [0.3, 0.7, 0.9] {
        let waits = over_seeds(|seed| {
            let requests = poisson(40_000, utilization, seed, |_| (1, 1));
            mean_wait_s(&requests, &run(&requests, servers(1, 1.0), 1))
        });
        agrees(utilization / (2.0 * (1.0 - utilization)), waits, 0.0);
    }
}

#[test]
fn exponential_service_waits_as_m_m_1() {
    for utilization in [0.3, 0.7] {
        let waits = over_seeds(|seed| {
            let lengths = |i| (1, exponential_tokens(200.0, seed, i));
            let requests = poisson(20_000, utilization, seed, lengths);
            mean_wait_s(&requests, &run(&requests, servers(1, 1.0 / 200.0), 1))
        });
        agrees(utilization / (1.0 - utilization), waits, 0.0);
    }
}

#[test]
fn many_seats_wait_as_m_m_c() {
    let (seats, utilization) = (8, 0.85);
    let waits = over_seeds(|seed| {
        let lengths = |i| (1, exponential_tokens(200.0, seed, i));
        let requests = poisson(30_000, f64::from(seats) * utilization, seed, lengths);
        mean_wait_s(&requests, &run(&requests, servers(seats, 1.0 / 200.0), 1))
    });
    let erlangs = f64::from(seats) * utilization;
    let theory = erlang_c(seats, erlangs) / (f64::from(seats) - erlangs);
    // A free seat is taken at the next step, up to one step later.
    agrees(theory, waits, 1.0 / 200.0);
}

#[test]
fn a_call_centre_of_53_answers_five_in_six_within_20_s() {
    // 350 calls in 30 min of 240 s each: 46.67 erlangs. With 53 servers 83.9 % are answered within
    // 20 s (Erlang C).
    let erlangs = 350.0 * 240.0 / 1800.0;
    let theory = 1.0 - erlang_c(53, erlangs) * math::exp(-(53.0 - erlangs) * 20.0 / 240.0);
    assert!((theory - 0.839).abs() < 5e-4, "{theory}");
    let in_time = over_seeds(|seed| {
        let lengths = |i| (1, exponential_tokens(480.0, seed, i));
        let requests = poisson(12_000, 350.0 / 1800.0, seed, lengths);
        let run = run(&requests, servers(53, 0.5), 1);
        let waits = requests.iter().zip(&run.stamps).map(|(r, s)| s.scheduled.unwrap() - r.due);
        let limit = Picos::from_secs(20.0);
        waits.filter(|wait| *wait <= limit).count() as f64 / requests.len() as f64
    });
    agrees(theory, in_time, 2e-3);
}

#[test]
fn live_requests_are_rate_times_sojourn() {
    // Little: L = λ·W, at moments that do not care who is there.
    let requests = poisson(20_000, 5.0, 3, |i| (100, exponential_tokens(200.0, 3, i)));
    let run = run(&requests, replica(law(10e-3, 1e-5, 1e-8)), 1);
    let sojourn: f64 =
        requests.iter().zip(&run.stamps).map(|(r, s)| (s.ended.unwrap() - r.due).as_secs()).sum();
    let by_little = sojourn / run.ended.as_secs();
    let seen = run.samples.iter().map(|s| (s.waiting + s.running) as f64).sum::<f64>()
        / run.samples.len() as f64;
    assert!((seen / by_little - 1.0).abs() < 0.1, "{seen} against {by_little}");
}
