//! Closed loops: users are not requests in flight, and how often they ask is an outcome.

use goodput_engine::sim::{CutOff, FleetSim, FleetSpec, Progress, ReplicaSpec, RunLimits, SimRun};
use goodput_engine::slo::Fate;
use goodput_engine::units::Picos;
use goodput_engine::workload::{
    Arrivals, ClientBehaviour, ClosedLoop, Lengths, OfferedRequest, ThinkTime, TrafficClass,
};
use proptest::prelude::*;

use super::clients::class;
use super::common::{law, replica};

/// `users` users who ask for `output` tokens after one prompt token and think in between.
fn crowd(users: u32, think: ThinkTime, output: Lengths) -> TrafficClass {
    TrafficClass {
        arrivals: Arrivals::ClosedLoop(ClosedLoop::new(users, think).expect("some users")),
        output,
        ..class(ClientBehaviour::default(), 0)
    }
}

fn fixed(tokens: u32) -> Lengths {
    Lengths::fixed(tokens).expect("a length")
}

/// Runs `classes` beside what is `given`, with users who ask until `horizon_s`.
fn run(
    given: &[OfferedRequest],
    classes: &[TrafficClass],
    fleet: &FleetSpec,
    (horizon_s, seed): (f64, u64),
) -> SimRun {
    let limits = RunLimits::to_the_end(Picos::from_secs(horizon_s));
    let mut sim = FleetSim::new(given, fleet, limits).asked_by(classes, seed);
    while let Progress::Running { .. } = sim.advance(u64::MAX) {}
    sim.finish()
}

/// Rate of requests due, mean response and mean requests in flight from `from_s` to `to_s`.
fn measure(run: &SimRun, from_s: f64, to_s: f64) -> (f64, f64, f64) {
    let requests = run.requests.as_ref().expect("users asked");
    let (from, to) = (Picos::from_secs(from_s), Picos::from_secs(to_s));
    let (mut n, mut response_s, mut flight_s) = (0.0, 0.0, 0.0);
    for (request, stamps) in requests.iter().zip(&run.stamps) {
        let ended = stamps.ended.expect("everybody is decided");
        flight_s += (ended.max(from).min(to) - request.due.max(from).min(to)).as_secs();
        if (from..to).contains(&request.due) {
            n += 1.0;
            response_s += (ended - request.due).as_secs();
        }
    }
    (n / (to_s - from_s), response_s / n, flight_s / (to_s - from_s))
}

/// Ten replicas of so many seats whose steps take 8 ms whatever is in them: 14 tokens are 112 ms.
fn ten_replicas(seats: u32) -> FleetSpec {
    let replica = ReplicaSpec { max_num_seqs: seats, ..replica(law(8e-3, 0.0, 0.0)) };
    FleetSpec::open(replica, 10)
}

#[test]
fn a_thousand_users_who_think_are_130_requests_in_flight() {
    // Case C3: 1000 = X·(R + 0.75). Served in 0.112 s plus the wait for a step, X is about 1,160/s
    // and 130 are in flight. Users who do not think are a thousand in flight, and where no more
    // than 1,160/s are served they wait 0.86 s, nearly eight times as long.
    let think = ThinkTime::uniform(0.5, 1.0).expect("a range");
    let thinking = run(&[], &[crowd(1_000, think, fixed(14))], &ten_replicas(64), (60.0, 1));
    let (rate, response_s, in_flight) = measure(&thinking, 10.0, 60.0);
    assert!((rate * (response_s + 0.75) / 1_000.0 - 1.0).abs() < 0.01, "users = X·(R + Z)");
    assert!((rate / 1_160.0 - 1.0).abs() < 0.01, "{rate}");
    assert!((response_s / 0.112 - 1.0).abs() < 0.05, "{response_s}");
    assert!((in_flight / 130.0 - 1.0).abs() < 0.05, "{in_flight}");
    let hasty = ThinkTime::fixed(0.0).expect("no time");
    let hasty = run(&[], &[crowd(1_000, hasty, fixed(14))], &ten_replicas(13), (60.0, 1));
    let (rate, waiting_s, in_flight) = measure(&hasty, 10.0, 60.0);
    assert!((rate / 1_160.0 - 1.0).abs() < 0.01, "{rate}");
    assert!((waiting_s / 0.86 - 1.0).abs() < 0.02, "{waiting_s}");
    assert!((in_flight - 1_000.0).abs() < 1.0, "{in_flight}");
}

#[test]
fn users_at_one_server_ask_as_the_machine_repairman_says() {
    // N machines that run for an exponential time Z and one repairman who takes an exponential time
    // S: the classic closed queue (M/M/1//N). The repairman is idle with probability p0 = 1/Σ
    // N!/(N − k)!·(S/Z)^k, and X = (1 − p0)/S.
    let (users, think_s, tokens, step_s) = (6_u32, 2.0, 400.0, 1.25e-3);
    let service_s = tokens * step_s;
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 0..users {
        term *= f64::from(users - k) * service_s / think_s;
        sum += term;
    }
    let theory = (1.0 - 1.0 / sum) / service_s;
    // Exponential lengths as quantiles, fine enough that the mean is theirs within a fifth of a
    // percent.
    let rows: Vec<(f64, f64)> = (0..2_000)
        .map(|i| (f64::from(i) + 0.5) / 2_000.0)
        .map(|p| (p, (-goodput_engine::math::ln(1.0 - p) * tokens).max(1.0)))
        .collect();
    let one_server = ReplicaSpec { max_num_seqs: 1, ..replica(law(step_s, 0.0, 0.0)) };
    let fleet = FleetSpec::open(one_server, 1);
    let rates: Vec<f64> = (1..=8)
        .map(|seed| {
            let think = ThinkTime::exponential(think_s).expect("a mean");
            let output = Lengths::quantiles(&rows).expect("a table");
            let run = run(&[], &[crowd(users, think, output)], &fleet, (4_000.0, seed));
            measure(&run, 100.0, 4_000.0).0
        })
        .collect();
    let mean = rates.iter().sum::<f64>() / 8.0;
    let variance = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / 7.0;
    let error = (variance / 8.0).sqrt();
    assert!(error < 0.01 * theory, "a test that could not fail: ± {error}");
    assert!((mean - theory).abs() <= 4.0 * error + 0.003 * theory, "{mean} ± {error}, {theory}");
}

#[test]
fn a_user_who_is_turned_away_at_once_does_not_ask_without_end() {
    let hasty = crowd(3, ThinkTime::fixed(0.0).expect("no time"), fixed(1_000));
    let replica = ReplicaSpec { max_model_len: 100, ..replica(law(8e-3, 0.0, 0.0)) };
    let run = run(&[], &[hasty], &FleetSpec::open(replica, 1), (2.0, 1));
    assert_eq!(run.stamps.len(), 3 * 2_000, "one each a millisecond");
    assert!(run.stamps.iter().all(|stamps| stamps.fate == Fate::TooLong));
}

#[test]
fn more_attempts_than_a_run_may_have_cut_it_off() {
    let hasty = [crowd(3, ThinkTime::fixed(0.0).expect("no time"), fixed(1_000))];
    let replica = ReplicaSpec { max_model_len: 100, ..replica(law(8e-3, 0.0, 0.0)) };
    let fleet = FleetSpec::open(replica, 1);
    let limits = RunLimits { max_attempts: 500, ..RunLimits::to_the_end(Picos::from_secs(2.0)) };
    let mut sim = FleetSim::new(&[], &fleet, limits).asked_by(&hasty, 1);
    while let Progress::Running { .. } = sim.advance(u64::MAX) {}
    let run = sim.finish();
    assert_eq!(run.cut_off, Some(CutOff::Attempts));
    assert!((500..510).contains(&run.stamps.len()), "{}", run.stamps.len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn nobody_has_two_requests_in_flight_and_all_are_decided(
        users in 1_u32..30, seats in 1_u32..8, think_s in 0.0..1.0_f64, seed in any::<u64>(),
        others in prop::collection::vec((0.0..20.0_f64, 1_u32..50), 0..30),
    ) {
        // Users beside requests that come whatever happens.
        let mut given: Vec<OfferedRequest> =
            others.iter().map(|(due_s, tokens)| super::common::request(*due_s, 10, *tokens)).collect();
        given.sort_by_key(|request| request.due);
        let think = ThinkTime::exponential(think_s).expect("a mean");
        let classes =
            [class(ClientBehaviour::default(), 0), crowd(users, think, fixed(20))];
        let replica = ReplicaSpec { max_num_seqs: seats, ..replica(law(8e-3, 0.0, 0.0)) };
        let fleet = FleetSpec::open(replica, 2);
        let first = run(&given, &classes, &fleet, (20.0, seed));
        let requests = first.requests.as_ref().expect("users asked");
        prop_assert_eq!(requests.len(), first.stamps.len());
        prop_assert!(requests.is_sorted_by_key(|request| (request.due, request.class)));
        let still_given = requests.iter().filter(|request| request.class == 0).count();
        prop_assert_eq!(still_given, given.len());
        prop_assert!(first.stamps.iter().all(|stamps| stamps.fate == Fate::Completed));
        let most = u64::from(users) + given.len() as u64;
        prop_assert!(first.samples.iter().all(|s| s.waiting + s.running <= most));
        let at_horizon = |request: &OfferedRequest| request.due < Picos::from_secs(20.0);
        prop_assert!(requests.iter().all(at_horizon));
        let second = run(&given, &classes, &fleet, (20.0, seed));
        prop_assert_eq!(first.stamps, second.stamps);
        prop_assert_eq!(first.requests, second.requests);
    }
}
