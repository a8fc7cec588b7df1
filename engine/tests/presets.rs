//! Each worked example shows what its text says, whatever the seed.

use goodput_engine::accounts::accounting::Dimension;
use goodput_engine::accounts::answer;
use goodput_engine::accounts::report::{SimReport, VerdictState};
use goodput_engine::estimate::estimate;
use goodput_engine::planner::plan;
use goodput_engine::scenario::check;
use goodput_engine::scenario::doc::ScenarioDoc;
use goodput_engine::scenario::presets::{preset, presets};
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
    let report = answer(&checked.scenario).expect("a preset can be simulated").report;
    let own_rule = &report.accounting.readings[0];
    assert_eq!(own_rule.good_rps, Some(report.goodput.good_rps), "one rate, wherever it stands");
    report
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
fn the_benchmark_says_capacity_and_about_two_of_five_are_not_good() {
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

#[test]
fn long_batch_jobs_raise_the_token_rate_and_cost_the_chat_its_first_token() {
    let id = "batch-beside-chat";
    for seed in SEEDS {
        let mut chat_alone = doc(id);
        chat_alone.workload.classes[1].enabled = false;
        let alone = report(chat_alone, seed, replicas(id));
        let beside = report(doc(id), seed, replicas(id));
        assert_eq!(alone.verdict.state, VerdictState::Holds, "{seed}");
        assert_eq!(alone.classes[0].offered, beside.classes[0].offered, "the same chat");
        let (tps_alone, tps_beside) =
            (alone.supply.completed.decode_tps, beside.supply.completed.decode_tps);
        assert!(tps_beside > 3.0 * tps_alone, "{seed}: {tps_beside} {tps_alone}");
        let (chat_alone, chat_beside) = (alone.classes[0].attainment, beside.classes[0].attainment);
        assert!(chat_beside < chat_alone - 0.5, "{seed}: {chat_beside} {chat_alone}");
        let late = &beside.classes[0].outcomes;
        let late = late[&Outcome::LateFirstToken] + late[&Outcome::LateAndSlow];
        let lost = (1.0 - chat_beside) * beside.classes[0].offered as f64;
        assert!(late as f64 > 0.9 * lost, "it is the first token that is missed: {late} of {lost}");
        // A few requests, most of the tokens.
        let batch = &beside.classes[1];
        let tokens = |class: &goodput_engine::accounts::report::ClassReport| {
            class.offered as f64 * class.output_tokens.mean
        };
        assert!((batch.offered as f64) < 0.3 * beside.offered as f64);
        assert!(tokens(batch) > 2.0 * tokens(&beside.classes[0]));
    }
}

#[test]
fn bursts_of_the_code_trace_break_a_fleet_that_its_mean_leaves_idle() {
    use goodput_engine::scenario::doc::ArrivalsDoc;
    let id = "azure-code";
    for seed in SEEDS {
        let bursty = report(doc(id), seed, replicas(id));
        assert_eq!(bursty.verdict.state, VerdictState::LateButStable, "{seed}");
        assert!(bursty.supply.required.rps < 0.2 * bursty.supply.sustainable.rps);
        let mut calm = doc(id);
        calm.workload.classes[0].arrivals = ArrivalsDoc::Poisson { rate_rps: 2.567 };
        assert_eq!(report(calm, seed, replicas(id)).verdict.state, VerdictState::Holds);
    }
}

#[test]
fn a_reasoning_budget_cuts_the_longest_answers_and_those_do_not_pass() {
    let id = "reasoning";
    let scenario = check(&doc(id)).expect("a preset is valid").scenario;
    let supply = estimate(&scenario).supply.expect("it fits");
    // Between the 95 % and the 97.5 % quantile of the table, 5,950 and 8,577.15 tokens.
    let cut = 0.05 - 0.025 * (8_192.0 - 5_950.0) / (8_577.15 - 5_950.0);
    let said = &supply.workload[0];
    assert!((said.share_at_max_output_tokens - cut).abs() < 1e-4, "{said:?}");
    let hidden = said.mean_hidden_tokens.expect("three quarters");
    assert!((hidden / said.output_tokens.mean - 0.75).abs() < 1e-9);
    for seed in SEEDS {
        let report = report(doc(id), seed, replicas(id));
        let bad = report.missed.quality as f64 / report.offered as f64;
        let due = cut + (1.0 - cut) * 0.01;
        assert!((bad - due).abs() < 4.0 * (due / report.offered as f64).sqrt(), "{seed}: {bad}");
    }
}

#[test]
fn the_bursts_of_one_tenant_are_paid_by_the_others() {
    let id = "multi-tenant";
    for seed in SEEDS {
        let together = report(doc(id), seed, replicas(id));
        let mut without = doc(id);
        without.workload.classes[2].enabled = false;
        let without = report(without, seed, replicas(id));
        for tenant in 0..2 {
            let (with, alone) = (&together.classes[tenant], &without.classes[tenant]);
            assert_eq!(with.offered, alone.offered, "the same requests");
            assert!(with.attainment < alone.attainment - 0.05, "{seed} {}", with.name);
        }
        assert!(together.classes[2].attainment > 0.99, "the bursts themselves are in time");
    }
}

#[test]
fn outcomes_are_broken_out_by_tenant() {
    let doc = doc("multi-tenant");
    let report = report(doc.clone(), 1, replicas("multi-tenant"));
    let out = report.accounting.break_outs.iter().find(|out| out.by == [Dimension::Tenant]);
    let cells = &out.expect("there are tenants").cells;
    for (class, of_document) in report.classes.iter().zip(&doc.workload.classes) {
        let cell = cells.iter().find(|cell| cell.key[0].label == of_document.tenant);
        assert_eq!(cell.map(|cell| cell.offered), Some(class.offered), "{}", class.name);
    }
}

/// What a benchmark with warm prefixes and one with cold ones differ in, and in which direction:
/// capacity by half and more, first tokens by an order of magnitude.
#[test]
fn on_a_cold_cache_the_fleets_of_warm_prompts_are_overloaded() {
    for (id, worth) in [("shared-prompts", 1.5), ("agentic-sessions", 1.3)] {
        for seed in SEEDS {
            let n = replicas(id);
            let warm = report(doc(id), seed, n);
            let mut cold = doc(id);
            cold.fleet.pools[0].enable_prefix_caching = false;
            let cold = report(cold, seed, n);
            assert_eq!(warm.verdict.state, VerdictState::Holds, "{id} {seed}");
            assert_eq!(cold.verdict.state, VerdictState::Overloaded, "{id} {seed}");
            let gain = warm.supply.sustainable.rps / cold.supply.sustainable.rps;
            assert!(gain > worth, "{id} {seed}: {gain}");
            let (late, soon) = (cold.ttft_ms.p50, warm.ttft_ms.p50);
            let slower = late.expect("served") / soon.expect("served");
            assert!(slower > 49.0, "{id} {seed}: {slower}");
            let cache = warm.prefix_cache.expect("prompts share something");
            assert!(cache.counts.hit_rate.is_some_and(|rate| rate > 0.6), "{id} {seed}");
            assert!(cache.computed_prefill_tps < 0.4 * cache.required_prefill_tps);
            assert_eq!(cold.prefix_cache.map(|cache| cache.counts.cached_tokens), Some(0));
        }
    }
}

/// The states that the texts claim, whatever the seed.
#[test]
fn the_other_examples_are_in_the_state_that_their_text_claims() {
    for (id, with_one_fewer) in [
        ("rag-answers", vec![VerdictState::LateButStable, VerdictState::Overloaded]),
        ("agentic-coding", vec![VerdictState::LateButStable]),
        ("long-documents", vec![VerdictState::Overloaded]),
        ("mooncake-conversation", vec![VerdictState::Overloaded]),
        ("voice", vec![VerdictState::LateButStable]),
    ] {
        for seed in SEEDS {
            let n = replicas(id);
            assert_eq!(state(id, seed, n), VerdictState::Holds, "{id} {seed}");
            let fewer = state(id, seed, n - 1);
            assert!(with_one_fewer.contains(&fewer), "{id} {seed}: {fewer:?}");
        }
    }
}

#[test]
fn every_example_can_be_estimated_and_planned() {
    for preset in presets() {
        let scenario = check(&preset.doc).expect("a preset is valid").scenario;
        let supply = estimate(&scenario).supply.expect("a preset fits");
        assert_eq!(supply.workload.len(), scenario.classes.len(), "{}", preset.id);
        for class in &supply.workload {
            let (input, output) = (class.input_tokens, class.output_tokens);
            for lengths in [input, output] {
                let ascending = [1.0, lengths.p50, lengths.p90, lengths.p99];
                assert!(ascending.windows(2).all(|pair| pair[0] <= pair[1]), "{}", preset.id);
                assert!(lengths.mean >= 1.0 && lengths.share_over_max_model_len < 0.01);
            }
        }
        // Five minutes of it are enough to see that it can be planned.
        let mut short = preset.doc.clone();
        short.workload.horizon_s = short.workload.horizon_s.min(300.0);
        let short = check(&short).expect("a shorter preset is valid").scenario;
        let plan = plan(&short, |_| true).expect("nobody stops it");
        assert!(!plan.sentence.is_empty(), "{}", preset.id);
    }
}
