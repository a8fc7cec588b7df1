//! From a benchmark's rate to a deliverable one: every row is a simulation, the last one the plan's.

use goodput_engine::bridge::{Bridge, How, bridge};
use goodput_engine::ingest::{ParsedFile, read_files};
use goodput_engine::planner::plan;
use goodput_engine::scenario::{Scenario, check, doc};

/// A result as `vllm bench serve` saves it: equal prompts of 1,000 tokens, answers of 250.
const RESULT: &str = r#"{"date": "20260901-101500", "endpoint_type": "openai",
    "model_id": "meta-llama/Llama-3.1-8B", "num_prompts": 600, "request_rate": "inf",
    "burstiness": 1.0, "max_concurrency": 128, "duration": 29.0, "completed": 600,
    "total_input_tokens": 600000, "total_output_tokens": 150000, "request_throughput": 20.69,
    "output_throughput": 5172.4, "total_token_throughput": 25862.0, "mean_ttft_ms": 480.0,
    "median_ttft_ms": 350.0, "std_ttft_ms": 300.0, "p99_ttft_ms": 1900.0, "mean_tpot_ms": 22.0,
    "median_tpot_ms": 22.5, "std_tpot_ms": 3.0, "p99_tpot_ms": 30.0, "mean_itl_ms": 22.0,
    "median_itl_ms": 18.0, "std_itl_ms": 20.0, "p99_itl_ms": 90.0}"#;

const LIKE_THE_BENCHMARK: &str = r#"{"name": "alike", "arrivals": {"kind": "constant", "rate_rps": 12},
    "input_tokens": {"kind": "fixed", "tokens": 1000},
    "output_tokens": {"kind": "fixed", "tokens": 250}, "slo": {"ttft_ms": 2000}}"#;

const CHAT: &str = r#"{"name": "chat", "arrivals": {"kind": "gamma", "rate_rps": 14, "cv": 4},
    "input_tokens": {"kind": "lognormal", "mean": 900, "p99": 6000},
    "output_tokens": {"kind": "lognormal", "mean": 300, "p99": 1500},
    "shared_prefix": {"tokens": 64, "count": 2}, "max_output_tokens": 900,
    "slo": {"ttft_ms": 400, "tpot_ms": 40, "attainment_target": 0.95}}"#;

const SUMMARIES: &str = r#"{"name": "summaries", "arrivals": {"kind": "poisson", "rate_rps": 2},
    "input_tokens": {"kind": "fixed", "tokens": 5000},
    "output_tokens": {"kind": "fixed", "tokens": 200}, "error_rate": 0.02,
    "slo": {"ttft_ms": 3000, "attainment_target": 0.9}}"#;

fn file(text: &str) -> ParsedFile {
    read_files("result.json", text.as_bytes()).swap_remove(0)
}

fn scenario(classes: &[&str], pool: &str) -> Scenario {
    let text = format!(
        r#"{{"version": 1, "workload": {{"horizon_s": 120, "classes": [{}]}},
            "fleet": {{"pools": [{{{pool}}}]}}}}"#,
        classes.join(",")
    );
    check(&doc::parse(&text).expect("JSON")).expect("valid").scenario
}

fn pool(replicas: u32) -> String {
    format!(r#""gpu": "H100-SXM", "model": "Llama-3.1-8B", "replicas": {replicas}"#)
}

fn ids(bridge: &Bridge) -> Vec<&str> {
    bridge.steps.iter().map(|step| step.id.as_str()).collect()
}

#[test]
fn the_last_row_is_what_the_plan_says_is_deliverable() {
    let scenario = scenario(&[CHAT, SUMMARIES], &pool(2));
    let bridge = bridge(&file(RESULT), None, &scenario).expect("comparable");
    let plan = plan(&scenario, |_| true).expect("an answer");
    let last = bridge.steps.last().expect("rows");
    assert_eq!(last.how, How::Delivered);
    assert!(last.rate.is_some());
    assert_eq!(last.rate, plan.deliverable, "{bridge:#?}");
}

#[test]
fn each_row_changes_one_condition_and_its_effect_is_over_the_row_before() {
    let scenario = scenario(&[CHAT, SUMMARIES], &pool(2));
    let bridge = bridge(&file(RESULT), None, &scenario).expect("comparable");
    assert_eq!(
        ids(&bridge),
        [
            "measured",
            "reproduced",
            "load",
            "mean_lengths",
            "classes",
            "length_distribution",
            "shared_prefixes",
            "stopping_rule",
            "contract",
            "arrivals",
            "failures_and_clients",
        ]
    );
    assert_eq!(bridge.alike, ["sessions of several turns", "replicas that start and fail"]);
    for pair in bridge.steps.windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(|step| step.rate.expect("a rate"));
        let effect = after.decode_tps / before.decode_tps - 1.0;
        assert!((effect - pair[1].effect.expect("an effect")).abs() < 1e-12);
        assert!(!pair[1].is_least, "{:?}", pair[1]);
    }
    let effect = |id: &str| {
        let step = bridge.steps.iter().find(|step| step.id == id).expect("the row");
        step.effect.expect("an effect")
    };
    // Less prefill for the same answers; and nobody delivers more than is sustained.
    assert!(effect("shared_prefixes") > 0.0, "{bridge:#?}");
    assert!(effect("contract") < 0.0, "{bridge:#?}");
    // Gaps that vary four times as much as Poisson's cost something where TTFT is limited.
    assert!(effect("arrivals") < 0.0, "{bridge:#?}");
}

#[test]
fn of_a_scenario_like_the_benchmark_only_load_and_contract_differ() {
    let scenario = scenario(&[LIKE_THE_BENCHMARK], &pool(1));
    let bridge = bridge(&file(RESULT), None, &scenario).expect("comparable");
    assert_eq!(ids(&bridge), ["measured", "reproduced", "load", "contract"]);
    let rate = |index: usize| bridge.steps[index].rate.expect("a rate");
    assert!((rate(0).decode_tps - 5172.4).abs() < 1e-6, "one replica: as the file says");
    // Seats for 256 and a queue that never empties do at least what 128 in flight do.
    assert!(rate(2).decode_tps > rate(1).decode_tps, "{bridge:#?}");
}

#[test]
fn rates_are_of_the_replicas_of_the_scenario() {
    let of = |replicas| {
        let scenario = scenario(&[LIKE_THE_BENCHMARK], &pool(replicas));
        bridge(&file(RESULT), None, &scenario).expect("comparable")
    };
    let (one, three) = (of(1), of(3));
    for index in 0..3 {
        let [one, three] = [&one, &three].map(|bridge| bridge.steps[index].rate.expect("a rate"));
        assert!((three.decode_tps / one.decode_tps - 3.0).abs() < 1e-9);
    }
}

#[test]
fn what_cannot_be_compared_says_why() {
    let h100 = scenario(&[LIKE_THE_BENCHMARK], &pool(1));
    let l4 = r#""gpu": "L4", "model": "Llama-3.1-8B", "replicas": 1"#;
    let other_model = RESULT.replace("Llama-3.1-8B", "Mixtral-8x7B");
    let failed = RESULT.replace(r#""completed": 600"#, r#""completed": 300, "failed": 300"#);
    let unstated =
        RESULT.replace(r#""request_rate": "inf","#, "").replace(r#""max_concurrency": 128,"#, "");
    let on_a_gpu = RESULT.replacen('{', r#"{"gpu": "A100","#, 1);
    assert_ne!(on_a_gpu, RESULT);
    for (text, scenario, why) in [
        (other_model.as_str(), &h100, "model is"),
        (failed.as_str(), &h100, "failed"),
        (unstated.as_str(), &h100, "load is not stated"),
    ] {
        let problems = bridge(&file(text), None, scenario).expect_err("not comparable");
        assert!(problems.iter().any(|p| p.message.contains(why)), "{why}: {problems:?}");
        assert!(problems.iter().all(|p| !p.hint.is_empty()));
    }
    let missing = bridge(&file(RESULT), Some(7), &h100).expect_err("one run");
    assert!(missing[0].message.contains("row 7"), "{missing:?}");
    // A file that names no GPU is taken at the pool's word, and says so.
    let l4 = bridge(&file(RESULT), None, &scenario(&[LIKE_THE_BENCHMARK], l4)).expect("supposed");
    assert!(l4.assumptions.iter().any(|supposed| supposed.contains("GPU of the benchmark: L4")));
}

#[test]
fn a_contract_that_no_load_meets_has_no_rate_and_says_why() {
    let strict = CHAT.replace(r#""ttft_ms": 400"#, r#""ttft_ms": 1"#);
    let scenario = scenario(&[&strict], &pool(1));
    let bridge = bridge(&file(RESULT), None, &scenario).expect("comparable");
    let last = bridge.steps.last().expect("rows");
    assert_eq!(last.rate, None);
    assert!(last.note.as_ref().is_some_and(|note| note.contains("first token")), "{last:?}");
    assert!(bridge.sentence.contains("no rate to plan with"), "{}", bridge.sentence);
}

#[test]
fn what_is_only_known_to_be_more_has_no_effect_and_nothing_is_said_to_be_lost() {
    // A hundredth of what a replica could do: the multiples that are tried end long before.
    let idle = LIKE_THE_BENCHMARK.replace(r#""rate_rps": 12"#, r#""rate_rps": 1"#);
    let scenario = scenario(&[&idle], &pool(1));
    let bridge = bridge(&file(RESULT), None, &scenario).expect("comparable");
    let last = bridge.steps.last().expect("rows");
    assert!(last.is_least && last.effect.is_none(), "{last:?}");
    assert!(bridge.sentence.contains("at least"), "{}", bridge.sentence);
    assert!(!bridge.sentence.contains("contract ("), "{}", bridge.sentence);
}

#[test]
fn the_benchmark_says_its_own_rate_and_an_autoscaler_adds_no_condition() {
    let scaled = r#""gpu": "H100-SXM", "model": "Llama-3.1-8B", "replicas": 1,
        "autoscaler": { "target": 30, "max_replicas": 3 }"#;
    let bridge =
        bridge(&file(RESULT), None, &scenario(&[LIKE_THE_BENCHMARK], scaled)).expect("comparable");
    assert_eq!(bridge.replicas, 3);
    assert!(bridge.sentence.contains("says 5,170 output tok/s on 1 replica, so 15,500 on 3"));
    assert!(bridge.alike.iter().any(|condition| condition.contains("replicas")));
}
