//! Each worked example shows what its text says, whatever the seed.

use goodput_engine::accounts::answer;
use goodput_engine::accounts::report::{SimReport, VerdictState};
use goodput_engine::scenario::check;
use goodput_engine::scenario::doc::ScenarioDoc;
use goodput_engine::scenario::presets::preset;
use goodput_engine::slo::Outcome;

/// The page opens with seed 1; the others show that it is no accident.
const SEEDS: [u64; 3] = [1, 2, 3];

fn doc(id: &str) -> ScenarioDoc {
    preset(id).unwrap_or_else(|| panic!("no preset {id}")).doc.clone()
}

fn report(mut doc: ScenarioDoc, seed: u64, replicas: u32) -> SimReport {
    doc.workload.seed = seed;
    doc.fleet.pools[0].replicas = replicas;
    let checked = check(&doc).expect("a preset is valid");
    answer(&checked.scenario).expect("a preset can be simulated").report
}

fn replicas(id: &str) -> u32 {
    doc(id).fleet.pools[0].replicas
}

fn state(id: &str, seed: u64, replicas: u32) -> VerdictState {
    report(doc(id), seed, replicas).verdict.state
}

#[test]
fn the_chat_example_holds_and_one_replica_fewer_is_overloaded() {
    for seed in SEEDS {
        assert_eq!(state("chat-peak", seed, replicas("chat-peak")), VerdictState::Holds);
        assert_eq!(state("chat-peak", seed, replicas("chat-peak") - 1), VerdictState::Overloaded);
    }
}

#[test]
fn outputs_double_and_the_same_fleet_is_overloaded_at_the_peak_alone() {
    for seed in SEEDS {
        let single = report(doc("chat-peak"), seed, 2);
        let double = report(doc("outputs-double"), seed, 2);
        assert_eq!(double.verdict.state, VerdictState::Overloaded);
        assert_eq!(double.offered, single.offered);
        let ratio = double.supply.required.decode_tps / single.supply.required.decode_tps;
        assert!((ratio - 2.0).abs() < 0.02, "{ratio}");
        let (peak, mean) = (double.supply.required_peak.rps, double.supply.required.rps);
        let sustainable = double.supply.sustainable.rps;
        assert!(mean < sustainable && sustainable < peak, "{mean} {sustainable} {peak}");
    }
}

#[test]
fn the_benchmark_says_capacity_and_about_40_of_100_requests_are_not_good() {
    // TensorRT-LLM v1.0 performance overview, per H100, 1,000 in and 1,000 out.
    let benchmark_tps = 2.0 * 15_220.0;
    for seed in SEEDS {
        let report = report(doc("benchmark-says-capacity"), seed, 2);
        assert!(report.supply.required_peak.decode_tps < 0.5 * benchmark_tps);
        assert!((0.57..=0.65).contains(&report.attainment), "{seed}: {}", report.attainment);
        for outcome in [
            Outcome::CancelledBeforeFirst,
            Outcome::LateFirstToken,
            Outcome::LateAndSlow,
            Outcome::SlowTokens,
            Outcome::Error,
            Outcome::LowQuality,
        ] {
            let share = report.outcomes[&outcome] as f64 / report.offered as f64;
            assert!(share > 0.01, "{outcome:?} {share}");
        }
    }
}

#[test]
fn the_azure_example_holds_and_one_replica_fewer_is_late_but_stable() {
    for seed in SEEDS {
        let id = "azure-conversation";
        assert_eq!(state(id, seed, replicas(id)), VerdictState::Holds);
        assert_eq!(state(id, seed, replicas(id) - 1), VerdictState::LateButStable);
    }
}

#[test]
fn the_even_example_holds_and_doubled_its_queue_grows_at_offered_less_completed() {
    use goodput_engine::scenario::doc::LengthsDoc;
    let id = "evenly-spaced";
    let holds = report(doc(id), 1, replicas(id));
    assert_eq!(holds.verdict.state, VerdictState::Holds);
    assert!((holds.supply.required.decode_tps - 100_147.0).abs() < 1e-6);
    let mut doubled = doc(id);
    doubled.workload.classes[0].output_tokens = LengthsDoc::Fixed { tokens: 1_462 };
    let doubled = report(doubled, 1, replicas(id));
    assert_eq!(doubled.verdict.state, VerdictState::Overloaded);
    assert!((doubled.supply.required.decode_tps - 200_294.0).abs() < 1e-6);
    assert!(doubled.supply.sustainable.rps < 0.6 * holds.supply.sustainable.rps);
    let at = |t_s: f64| doubled.series.iter().find(|point| point.t_s >= t_s).unwrap();
    let (from, to) = (at(50.0), at(100.0));
    let grown = to.waiting as f64 - from.waiting as f64;
    let due = (to.offered - from.offered) as f64 - (to.completed - from.completed) as f64;
    assert!((grown / due - 1.0).abs() < 0.02, "{grown} {due}");
}
