//! The estimate's sustainable rate against a saturated replica over random scenarios: where it is
//! not flagged it is near.

mod common;

use common::{fixed, scenario};
use goodput_engine::accounts::replica_spec;
use goodput_engine::estimate::estimate;
use goodput_engine::math;
use goodput_engine::rng::{Key, Stream, keyed};
use goodput_engine::scenario::presets::presets;
use goodput_engine::scenario::{Scenario, check};
use goodput_engine::sim::saturate;
use rand::RngExt;
use serde_json::{Value, json};

/// Scenarios drawn.
const SCENARIOS: u64 = 250;
/// The error that is allowed where nothing is flagged.
const BOUND: f64 = 0.10;

/// The `i`-th random scenario: from one seat to hundreds, from less than one sequence in memory to
/// thousands, prompts and answers from a few tokens to thousands, fixed and spread.
fn random(i: u64) -> (String, Scenario) {
    let key = Key { seed: 7, stream: Stream::Quality, class: 0, request: i, attempt: 0 };
    let mut rng = keyed(key);
    let mut log = |from: f64, to: f64| from * math::pow(to / from, rng.random());
    let input = log(16.0, 8000.0).round();
    let output = log(2.0, 1500.0).round();
    let seats = log(1.0, 256.0).floor();
    let room = log(1.2, 400.0);
    let budget = log(512.0, 8192.0).round().max(seats);
    let spread = log(0.5, 6.0);
    let model = ["llama-3.1-8b", "qwen3-30b-a3b"][(i % 2) as usize];
    let lengths = |mean: f64| -> Value {
        if spread < 1.5 {
            json!({ "kind": "fixed", "tokens": whole(mean) })
        } else {
            json!({ "kind": "lognormal", "mean": mean, "p99": mean * spread })
        }
    };
    let blocks = (room * (input + output) / 16.0).ceil().max(4.0) + 2.0;
    let edit = |document: &mut Value| {
        let class = &mut document["workload"]["classes"][0];
        class["input_tokens"] = lengths(input);
        class["output_tokens"] = lengths(output);
        let pool = &mut document["fleet"]["pools"][0];
        pool["model"] = json!(model);
        pool["max_num_seqs"] = json!(whole(seats));
        pool["max_num_batched_tokens"] = json!(whole(budget));
        pool["num_gpu_blocks"] = json!(whole(blocks));
        pool["async_scheduling"] = json!(!i.is_multiple_of(3));
    };
    let name = format!(
        "{i}: {input} in {output} out x{spread:.1}, {seats} seats, room {room:.1}, budget {budget}"
    );
    (name, scenario(edit))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
fn whole(x: f64) -> u64 {
    x as u64
}

#[test]
fn where_the_estimate_is_not_flagged_it_is_near_what_a_saturated_replica_does() {
    let mut flagged = 0;
    let mut far = Vec::new();
    for i in 0..SCENARIOS {
        let (name, scenario) = random(i);
        let requests = scenario.offered().expect("a bounded workload");
        let replica = replica_spec(&scenario.pool).expect("it has a step law");
        let Some(measured) = saturate(&requests, &replica) else { continue };
        let supply = estimate(&scenario).supply.expect("it fits");
        let off = supply.sustainable_rps / measured.rps - 1.0;
        let reasons: Vec<&str> =
            supply.outside_trusted_range.iter().map(|d| d.reason.as_str()).collect();
        println!("{off:+.3} {reasons:?} {} {name}", supply.binding_constraint);
        flagged += u64::from(!reasons.is_empty());
        if reasons.is_empty() && off.abs() > BOUND {
            far.push(format!("{off:+.3} {name}"));
        }
    }
    assert!(far.is_empty(), "{far:#?}");
    // A flag on everything would say nothing. Half of what is drawn has few seats or little room.
    assert!(flagged < SCENARIOS * 2 / 3, "{flagged} of {SCENARIOS} are flagged");
}

#[test]
fn no_worked_example_lies_where_the_estimate_may_not_be_trusted() {
    for preset in presets() {
        let checked = check(&preset.doc).expect("a preset is valid");
        let supply = estimate(&checked.scenario).supply.expect("it fits");
        let reasons: Vec<_> =
            supply.outside_trusted_range.iter().map(|why| why.reason.as_str()).collect();
        // What these two are about lives in the memory that running requests take.
        let expected: &[&str] = match preset.id {
            "agentic-sessions" | "shared-prompts" => &["cache_in_full_memory"],
            _ => &[],
        };
        assert_eq!(reasons, expected, "{}", preset.id);
    }
}

#[test]
fn each_reason_not_to_trust_it_is_given_by_name() {
    type Edit = fn(&mut Value);
    let cases: [(&str, Edit); 3] = [
        ("few_seats", |d| d["fleet"]["pools"][0]["max_num_seqs"] = json!(8)),
        ("few_sequences", |d| {
            fixed(3000, 100, 1.0)(d);
            d["fleet"]["pools"][0]["num_gpu_blocks"] = json!(500);
        }),
        ("lockstep", |d| fixed(200, 5, 1.0)(d)),
    ];
    for (reason, edit) in cases {
        let supply = estimate(&scenario(edit)).supply.expect("it fits");
        let reasons: Vec<&str> =
            supply.outside_trusted_range.iter().map(|d| d.reason.as_str()).collect();
        assert_eq!(reasons, [reason]);
        assert!(supply.outside_trusted_range[0].message.ends_with("simulate"));
    }
}
