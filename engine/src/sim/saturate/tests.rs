//! What a saturated replica serves, of workloads known by hand.

use super::*;
use crate::step_time::{CompiledLaw, StepCoefficients};
use crate::workload::Lineage;

fn spec() -> ReplicaSpec {
    let coefficients = StepCoefficients {
        c0_s: 0.01,
        cw_s: 0.0,
        cw_experts_s: 0.0,
        expert_share: 0.0,
        c1_s_per_token: 0.0,
        p: 1.0,
        c2_s_per_pair: 0.0,
        c3_s_per_decode_seq: 0.0,
        c4_s_per_kv_token: 0.0,
    };
    ReplicaSpec {
        law: CompiledLaw::new(&coefficients.law(), 1, 1.0, 0.0),
        usable_blocks: 1_000,
        block_size: 16,
        window_blocks_per_seq: 0,
        max_num_seqs: 1,
        max_num_batched_tokens: 1,
        long_prefill_token_threshold: 0,
        stream_interval: 1,
        scheduling_policy: crate::sim::SchedulingPolicy::Fcfs,
        max_model_len: 1_000,
        chunked_prefill: true,
        prefix_caching: true,
        reserve_full_isl: true,
        async_scheduling: false,
        api_overhead: Picos::ZERO,
    }
}

const REQUEST: OfferedRequest = OfferedRequest {
    class: 0,
    pool: 0,
    due: Picos::ZERO,
    input_tokens: 40,
    output_tokens: 10,
    hidden_tokens: 0,
    patience: None,
    fails: false,
    acceptable: true,
    lineage: Lineage::NONE,
};

#[test]
fn prompts_longer_than_the_measurement_still_give_a_rate() {
    let spec = spec();
    // 49 steps a request; a quarter of the requests would take more steps than there are.
    let mix = Mix::of(&[REQUEST], &spec).expect("it fits");
    let found = Saturated::<Leaping>::new(Feed::new(&mix, None), &spec, 1)
        .measure((2_000, 2_000), Budget { steps: 2_000, sequence_steps: 2_000 })
        .expect("steps");
    assert!((found.rps * 0.49 - 1.0).abs() < 0.1, "{found:?}");
}

#[test]
fn a_prompt_that_no_step_may_hold_gives_no_rate() {
    let spec = ReplicaSpec { chunked_prefill: false, ..spec() };
    assert_eq!(saturate(&[REQUEST], &spec), None);
    let held = ReplicaSpec { max_num_batched_tokens: 40, ..spec };
    assert!(saturate(&[REQUEST], &held).is_some());
}
