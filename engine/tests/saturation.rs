//! What a saturated replica sustains, and how sure that is.

mod common;

use common::{fixed, scenario};
use goodput_engine::accounts::replica_spec;
use goodput_engine::scenario::Scenario;
use goodput_engine::sim::{Saturation, saturate};
use serde_json::json;

fn saturation(scenario: &Scenario) -> Saturation {
    let requests = scenario.offered().expect("a bounded workload");
    let replica = replica_spec(&scenario.pool).expect("it has a step law");
    saturate(&requests, &replica).expect("some requests fit")
}

/// Chat whose longest requests hold up to `p99` times what the mean one does.
fn chat(input_p99: f64, output_p99: f64) -> Scenario {
    scenario(|document| {
        let class = &mut document["workload"]["classes"][0];
        class["arrivals"]["rate_rps"] = json!(50.0);
        class["input_tokens"] = json!({ "kind": "lognormal", "mean": 512.0, "p99": input_p99 });
        class["output_tokens"] = json!({ "kind": "lognormal", "mean": 256.0, "p99": output_p99 });
    })
}

/// Spread of the sustainable rate over seeds, relative to its mean, and the largest stated error.
fn over_seeds(scenario: &Scenario) -> (f64, f64) {
    let of_seed = |seed| saturation(&Scenario { seed, ..scenario.clone() });
    let found: Vec<Saturation> = (1..=6).map(of_seed).collect();
    let mean = found.iter().map(|s| s.rps).sum::<f64>() / 6.0;
    let squares: f64 = found.iter().map(|s| (s.rps / mean - 1.0) * (s.rps / mean - 1.0)).sum();
    ((squares / 5.0).sqrt(), found.iter().map(|s| s.relative_error).fold(0.0, f64::max))
}

#[test]
fn another_seed_gives_nearly_the_same_rate_however_heavy_the_tail() {
    for (input_p99, output_p99, most) in [(2400.0, 1100.0, 0.01), (6000.0, 2400.0, 0.04)] {
        let (spread, stated) = over_seeds(&chat(input_p99, output_p99));
        println!("{input_p99} {output_p99}: {spread} {stated}");
        assert!(spread < most, "{input_p99} {output_p99}: {spread}");
        assert!(stated < 0.02, "{stated}");
    }
}

#[test]
fn requests_that_are_all_alike_leave_little_error() {
    let found = saturation(&scenario(fixed(512, 256, 10.0)));
    assert!(found.relative_error < 0.01, "{found:?}");
    assert!((found.decode_tps / found.rps - 256.0).abs() < 1e-6);
    assert!((found.prefill_tps / found.rps - 512.0).abs() < 1e-6);
}

#[test]
fn a_replica_of_very_many_seats_is_measured_within_its_budget() {
    let scenario = scenario(|document| {
        fixed(16, 4000, 10.0)(document);
        let pool = &mut document["fleet"]["pools"][0];
        pool["max_num_seqs"] = json!(65_536);
        pool["max_num_batched_tokens"] = json!(65_536);
        pool["num_gpu_blocks"] = json!(1_u64 << 40);
    });
    // Eight generations of it would be two thousand million sequences in steps.
    let found = saturation(&scenario);
    assert!(found.rps > 0.0 && found.rps.is_finite() && found.mean_batch > 30_000.0, "{found:?}");
}
