//! Capacity is not a constant: tables over outputs, prompts and batches.

mod common;

use common::{fixed, scenario};
use goodput_engine::estimate::{CapacityAxis, CapacityPoint, capacity, estimate};
use serde_json::json;

fn table(over: CapacityAxis) -> Vec<CapacityPoint> {
    let scenario = scenario(fixed(512, 256, 10.0));
    let capacity = capacity(&scenario, over).expect("a table");
    assert!(capacity.points.is_sorted_by(|a, b| a.value < b.value), "{capacity:?}");
    capacity.points
}

#[test]
fn the_present_row_is_the_estimate() {
    let report = estimate(&scenario(fixed(512, 256, 10.0)));
    let supply = report.supply.expect("it fits");
    for over in [CapacityAxis::Output, CapacityAxis::Prompt, CapacityAxis::Batch] {
        let table = table(over);
        let present: Vec<_> = table.iter().filter(|point| point.is_present).collect();
        let [present] = present.as_slice() else { panic!("one of {over:?}") };
        assert!((present.sustainable_rps / supply.sustainable_rps - 1.0).abs() < 1e-9, "{over:?}");
        let steps = supply.kv_token_steps_per_request;
        assert!((present.kv_token_steps_per_request / steps - 1.0).abs() < 1e-9);
        if over != CapacityAxis::Batch {
            let deliverable = supply.deliverable_rps.expect("a step law");
            assert!((present.deliverable_rps.expect("one") / deliverable - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn longer_outputs_and_longer_prompts_cost_requests_and_not_by_the_same_factor() {
    for over in [CapacityAxis::Output, CapacityAxis::Prompt] {
        let table = table(over);
        assert!(table.is_sorted_by(|a, b| a.sustainable_rps > b.sustainable_rps), "{over:?}");
        assert!(table.is_sorted_by(|a, b| a.deliverable_rps >= b.deliverable_rps));
        assert!(
            table
                .iter()
                .all(|p| p.deliverable_rps.expect("a law") <= p.sustainable_rps * (1.0 + 1e-9))
        );
        let (first, last) = (table[0], table[table.len() - 1]);
        let decode = last.sustainable_decode_tps / first.sustainable_decode_tps;
        // Tokens per second move too: neither supply is a constant of the fleet.
        assert!((decode - 1.0).abs() > 0.2, "{over:?}: {decode}");
    }
}

#[test]
fn doubling_an_output_more_than_doubles_what_it_holds() {
    let table = table(CapacityAxis::Output);
    let at = |tokens: f64| table.iter().find(|p| (p.value - tokens).abs() < 1e-6).expect("a row");
    let (once, twice) = (at(256.0), at(512.0));
    // 512 × (512 + 256) against 256 × (512 + 128).
    let ratio = twice.kv_token_steps_per_request / once.kv_token_steps_per_request;
    assert!((ratio - 2.4).abs() < 1e-9, "{ratio}");
}

#[test]
fn demand_keeps_as_many_sequences_alive_as_its_batch_and_more_than_there_are_when_overloaded() {
    let of = |rate_rps| estimate(&scenario(fixed(512, 256, rate_rps))).supply.expect("it fits");
    let stable = of(10.0);
    let (alive, batch) = (stable.required_live_sequences, stable.mean_batch);
    assert!((alive.expect("a law") / batch.expect("stable") - 1.0).abs() < 1e-6, "Little's law");
    let kv_tokens = stable.required_kv_tokens.expect("a law");
    let mean_context = 512.0 + 128.0;
    assert!((kv_tokens / (alive.expect("a law") * mean_context) - 1.0).abs() < 0.01, "{kv_tokens}");
    let overloaded = of(200.0);
    assert!(overloaded.required_live_sequences.expect("a law") > 256.0);
    assert!(overloaded.mean_batch.is_none());
}

#[test]
fn a_larger_batch_gives_more_tokens_and_slower_ones() {
    let table = table(CapacityAxis::Batch);
    assert!(table.len() > 5);
    assert!(table.is_sorted_by(|a, b| a.sustainable_decode_tps < b.sustainable_decode_tps));
    assert!(table.is_sorted_by(|a, b| a.tpot_ms < b.tpot_ms));
    let (one, full) = (table[0], table[table.len() - 1]);
    let gain = full.sustainable_decode_tps / one.sustainable_decode_tps;
    assert!(gain > 10.0 && gain < full.value / one.value, "{gain} for {} seats", full.value);
}

#[test]
fn what_cannot_be_tabulated_is_said() {
    let declared = scenario(|document| {
        document["fleet"]["pools"][0]["step_time"] =
            json!({ "source": { "kind": "declared", "declared_output_tps": 120_000.0 } });
    });
    let problem = capacity(&declared, CapacityAxis::Batch).expect_err("no batches");
    assert!(problem.message.contains("no batches"));
    let outputs = capacity(&declared, CapacityAxis::Output).expect("rates scale");
    assert!(outputs.points.iter().all(|p| p.deliverable_rps.is_none() && p.tpot_ms.is_none()));
    let short = scenario(|document| {
        document["fleet"]["pools"][0]["max_model_len"] = json!(1024);
        fixed(512, 256, 10.0)(document);
    });
    let outputs = capacity(&short, CapacityAxis::Output).expect("a table");
    assert!(outputs.left_out.iter().any(|why| why.contains("max_model_len")), "{outputs:?}");
    let too_large =
        scenario(|document| document["fleet"]["pools"][0]["model"] = json!("llama-3.1-405b"));
    assert!(capacity(&too_large, CapacityAxis::Output).expect_err("no").message.contains("fit"));
}
