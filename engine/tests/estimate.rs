//! The estimate against exact cases and against the simulator that knows what it leaves out.

mod common;

use std::time::{Duration, Instant};

use common::{fixed, scenario};
use goodput_engine::accounts::replica_spec;
use goodput_engine::estimate::estimate;
use goodput_engine::estimate::report::{EstimateReport, EstimateVerdict, SupplyEstimate};
use goodput_engine::scenario::{check, doc};
use goodput_engine::sim::{FleetSpec, RunLimits, saturate, simulate};
use proptest::prelude::*;
use serde_json::{Value, json};

fn supply(report: &EstimateReport) -> &SupplyEstimate {
    report.supply.as_ref().expect("it fits")
}

#[test]
fn required_decode_tokens_are_exact_and_double_with_the_outputs() {
    let once = estimate(&scenario(fixed(512, 731, 137.0)));
    let twice = estimate(&scenario(fixed(512, 1462, 137.0)));
    let (once, twice) = (supply(&once), supply(&twice));
    let exactly = |value: f64, expected: f64| assert_eq!(value.to_bits(), expected.to_bits());
    exactly(once.required_decode_tps, 100_147.0);
    exactly(twice.required_decode_tps, 200_294.0);
    exactly(once.required_prefill_tps, twice.required_prefill_tps);
    assert!(twice.sustainable_rps < once.sustainable_rps);
    assert!((once.required_peak.decode_tps / 100_147.0 - 1.0).abs() < 1e-9);
}

#[test]
fn a_declared_capacity_gives_supply_and_debt_but_no_latency() {
    let declared = |output| {
        estimate(&scenario(|document| {
            fixed(512, output, 100.0)(document);
            document["fleet"]["pools"][0]["step_time"] = json!({
                "source": { "kind": "declared", "declared_output_tps": 120_000.0 }
            });
        }))
    };
    let (once, twice) = (declared(1000), declared(2000));
    assert_eq!(once.verdict, EstimateVerdict::Holds);
    assert_eq!(twice.verdict, EstimateVerdict::Overloaded);
    let (once, twice) = (supply(&once), supply(&twice));
    assert_eq!((once.required_decode_tps, twice.required_decode_tps), (100_000.0, 200_000.0));
    assert!((twice.sustainable_decode_tps - 120_000.0).abs() < 1e-6);
    assert!((twice.sustainable_rps - 60.0).abs() < 1e-9);
    // Debt grows at 80,000 tokens or 40 requests a second.
    let last = twice.debt_series.last().expect("a series");
    assert!((last.debt_requests / (40.0 * 600.0) - 1.0).abs() < 1e-9);
    assert!((last.debt_decode_tokens / (80_000.0 * 600.0) - 1.0).abs() < 1e-9);
    assert!(once.debt_series.iter().all(|debt| debt.debt_requests == 0.0));
    assert!(once.simplified && once.tpot_ms.is_none() && once.ttft_ms.is_none());
    assert!(once.deliverable_rps.is_none() && once.classes.is_empty());
    assert_eq!(once.binding_constraint, "declared_rate");
}

#[test]
fn what_does_not_fit_has_memory_and_a_smallest_layout_and_nothing_else() {
    let report = estimate(&scenario(|document| {
        document["fleet"]["pools"][0]["model"] = json!("llama-3.1-405b");
        document["fleet"]["pools"][0]["price_per_gpu_hour"] = json!(2.5);
    }));
    let json = serde_json::to_value(&report).expect("a plain report");
    let keys: Vec<&String> = json.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["memory", "smallest_fitting", "verdict"]);
    assert_eq!(json["verdict"], "does_not_fit");
    assert_eq!(json["smallest_fitting"]["gpus"], 16);
    assert!(json["memory"]["pools"][0]["kv_capacity_tokens"].is_null());
}

/// What stands beside every distribution: realised numbers of the law, not of a draw.
#[test]
fn every_class_says_what_its_lengths_come_to() {
    let report = estimate(&scenario(|document| {
        document["fleet"]["pools"][0]["max_model_len"] = json!(4_096);
        let class = &mut document["workload"]["classes"][0];
        class["tenant"] = json!("northwind");
        class["arrivals"] = json!({ "kind": "gamma", "rate_rps": 5.0, "burstiness": 0.25 });
        class["input_tokens"] = json!({ "kind": "lognormal", "p50": 500, "p90": 1_500 });
        class["output_tokens"] = json!({ "kind": "uniform", "min": 1, "max": 999 });
        class["max_output_tokens"] = json!(800);
        class["hidden_tokens"] = json!({ "kind": "share", "share": 0.5 });
    }));
    let [class] = supply(&report).workload.as_slice() else { panic!("one class") };
    assert_eq!((class.name.as_str(), class.tenant.as_str()), ("chat", "northwind"));
    assert!((class.expected_requests - 5.0 * 600.0).abs() < 1e-6);
    let (input, output) = (class.input_tokens, class.output_tokens);
    assert_eq!((input.p50, input.p90), (500.0, 1_500.0));
    assert_eq!((output.p50, output.p90, output.p99), (500.0, 800.0, 800.0));
    // 800 for a fifth, the mean of 1 to 800 for the rest.
    let cut = 199.0 / 999.0;
    assert!((class.share_at_max_output_tokens - cut).abs() < 5e-3);
    assert!((output.mean / (800.0 * cut + 400.5 * (1.0 - cut)) - 1.0).abs() < 2e-3, "{output:?}");
    assert!((class.mean_hidden_tokens.unwrap() / (0.5 * output.mean) - 1.0).abs() < 1e-9);
    // ln(1500/500)/z90 = 0.857; beyond 4,096 less some 470 tokens lie about 1 in 90.
    assert!((0.008..0.015).contains(&input.share_over_max_model_len), "{input:?}");
    assert!((input.share_over_max_model_len - output.share_over_max_model_len).abs() < 1e-12);
    let text = serde_json::to_value(&report).expect("a plain report");
    assert_eq!(text["workload"][0]["input_tokens"]["p50"], 500.0);
}

/// A draw scatters around what the estimate says of its law.
#[test]
fn what_is_drawn_is_what_the_estimate_says() {
    for (kind, output) in [
        ("gamma", json!({ "kind": "gamma", "mean": 300, "cv": 1.4 })),
        ("pareto", json!({ "kind": "pareto", "min": 60, "alpha": 1.4, "max": 20_000 })),
        (
            "mixture",
            json!({ "kind": "mixture", "parts": [
                { "weight": 3, "tokens": { "kind": "uniform", "min": 10, "max": 90 } },
                { "weight": 1, "tokens": { "kind": "lognormal", "p5": 100, "p95": 4_000 } },
            ] }),
        ),
    ] {
        let scenario = scenario(|document| {
            let class = &mut document["workload"]["classes"][0];
            class["arrivals"] = json!({ "kind": "poisson", "rate_rps": 60.0 });
            class["output_tokens"] = output.clone();
            class["input_tokens"] = json!({ "kind": "lognormal", "mean": 512, "p99": 2_048 });
            class["pairing"] = json!({ "kind": "correlated", "rank_correlation": 0.5 });
            class["hidden_tokens"] = json!({
                "kind": "added", "tokens": { "kind": "uniform", "min": 16, "max": 256 }
            });
            class["max_output_tokens"] = json!(4_000);
        });
        let report = estimate(&scenario);
        let said = supply(&report).workload[0].output_tokens;
        let requests = scenario.offered().expect("not too many");
        let max_model_len = scenario.pool.scheduler.max_model_len;
        let (_, drawn) = goodput_engine::workload::LengthSummary::of(&requests, |_| max_model_len);
        for (name, said, drawn, tolerance) in [
            ("mean", said.mean, drawn.mean, 0.03),
            ("p50", said.p50, drawn.p50, 0.03),
            ("p90", said.p90, drawn.p90, 0.04),
            ("p99", said.p99, drawn.p99, 0.10),
        ] {
            assert!((said / drawn - 1.0).abs() < tolerance, "{kind} {name}: {said} {drawn}");
        }
    }
}

/// A fluid queue whose sustainable rate equals the mean rate of a sinusoid (case C4): debt from a
/// quarter of the cycle on, at its peak at three quarters, half of that at the end.
#[test]
fn a_mean_rate_equal_to_the_capacity_is_not_enough() {
    let points: Vec<Value> = (0..=180)
        .map(|i| {
            let t_s = f64::from(i) * 5.0;
            let rate_rps = 4.5 - 3.5 * (2.0 * std::f64::consts::PI * t_s / 900.0).cos();
            json!({ "t_s": t_s, "rate_rps": rate_rps })
        })
        .collect();
    let report = estimate(&scenario(|document| {
        fixed(8000, 1000, 1.0)(document);
        document["workload"]["horizon_s"] = json!(900.0);
        document["workload"]["classes"][0]["arrivals"] =
            json!({ "kind": "profile", "points": points, "noise": "none" });
        document["fleet"]["pools"][0]["step_time"] = json!({
            "source": { "kind": "declared", "declared_input_tps": 36_000.0 }
        });
    }));
    let supply = supply(&report);
    assert_eq!(report.verdict, EstimateVerdict::Overloaded);
    assert!((supply.utilization - 1.0).abs() < 1e-3);
    let debt = |at: f64| {
        let near = |d: &&goodput_engine::estimate::report::FluidDebt| d.t_s >= at - 1e-6;
        supply.debt_series.iter().find(near).expect("within the horizon").debt_requests
    };
    assert!(debt(220.0) < 1.0);
    assert!((debt(675.0) / 1003.0 - 1.0).abs() < 0.01, "{}", debt(675.0));
    assert!((debt(900.0) / 501.0 - 1.0).abs() < 0.01, "{}", debt(900.0));
}

/// The sustainable rate against a replica that never starves, on mixes that are bound by each of
/// seats, KV memory and token budget.
#[test]
fn the_sustainable_rate_is_near_that_of_a_saturated_replica() {
    type Edit = Box<dyn FnOnce(&mut Value)>;
    let cases: [(&str, Edit); 5] = [
        ("chat", Box::new(|_| {})),
        ("fixed", Box::new(fixed(512, 731, 10.0))),
        ("long prompts", Box::new(fixed(6000, 100, 10.0))),
        ("few seats", Box::new(|d| d["fleet"]["pools"][0]["max_num_seqs"] = json!(32))),
        ("little memory", Box::new(|d| d["fleet"]["pools"][0]["num_gpu_blocks"] = json!(3000))),
    ];
    for (name, edit) in cases {
        let scenario = scenario(edit);
        let requests = scenario.offered().expect("a bounded workload");
        let replica = replica_spec(&scenario.pool).expect("it has a step law");
        let measured = saturate(&requests, &replica).expect("some requests fit");
        let report = estimate(&scenario);
        let ratio = supply(&report).sustainable_rps / measured.rps;
        println!("{name}: {} {} {ratio}", supply(&report).sustainable_rps, measured.rps);
        assert!((ratio - 1.0).abs() < 0.05, "{name}: {ratio}");
    }
}

/// Batch size, TPOT and TTFT against a simulation at moderate load, where queues are short.
#[test]
fn latencies_below_saturation_are_near_the_simulated_ones() {
    for rate_rps in [2.0, 10.0, 25.0] {
        let scenario = scenario(|document| {
            document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(rate_rps);
        });
        let requests = scenario.offered().expect("a bounded workload");
        let replica = replica_spec(&scenario.pool).expect("it has a step law");
        let fleet = FleetSpec::open(replica.clone(), scenario.pool.replicas);
        let run = simulate(&requests, &fleet, RunLimits::to_the_end(scenario.horizon));
        let ms = |from: goodput_engine::units::Picos, to: Option<goodput_engine::units::Picos>| {
            to.map(|to| (to - from).as_millis())
        };
        let rows = requests.iter().zip(&run.stamps);
        let mut ttft: Vec<f64> = rows.filter_map(|(r, s)| ms(r.due, s.first_token)).collect();
        ttft.sort_by(f64::total_cmp);
        let tokens: f64 = run.stamps.iter().map(|s| f64::from(s.generated) - 1.0).sum();
        let decoding_ms: f64 = run.stamps.iter().filter_map(|s| ms(s.first_token?, s.ended)).sum();
        let report = estimate(&scenario);
        let estimate = supply(&report);
        let tpot = estimate.tpot_ms.expect("by steps") / (decoding_ms / tokens);
        let first = estimate.ttft_ms.expect("not overloaded") / ttft[ttft.len() / 2];
        println!("{rate_rps}: TPOT {tpot} TTFT {first}");
        assert!((tpot - 1.0).abs() < 0.03, "{rate_rps}: TPOT {tpot}");
        assert!((first - 1.0).abs() < 0.15, "{rate_rps}: TTFT {first}");
    }
}

#[test]
fn where_nothing_fits_nothing_is_sustained_and_no_number_is_broken() {
    let report = estimate(&scenario(|document| {
        fixed(4000, 100, 5.0)(document);
        document["fleet"]["pools"][0]["max_model_len"] = json!(2000);
    }));
    let supply = supply(&report);
    assert_eq!(report.verdict, EstimateVerdict::LateButStable);
    assert_eq!(supply.binding_constraint, "too_long");
    assert!(supply.sustainable_rps.abs() + supply.utilization.abs() < 1e-12);
    assert!((supply.required_rps - 5.0).abs() < 1e-12, "it is asked for all the same");
    assert_no_broken_number(&report);
}

#[test]
fn answers_of_one_token_have_no_tpot() {
    let report = estimate(&scenario(fixed(512, 1, 5.0)));
    assert_eq!((supply(&report).tpot_ms, supply(&report).zero_load_tpot_ms), (None, None));
    assert!(supply(&report).ttft_ms.expect("not overloaded") > 0.0);
    assert_no_broken_number(&report);
}

/// A number that is not finite becomes `null` in JSON, which is no number when read again.
fn assert_no_broken_number(report: &EstimateReport) {
    let json = serde_json::to_string(report).expect("a plain report");
    let read = serde_json::from_str::<EstimateReport>(&json);
    assert!(read.is_ok(), "{read:?}: {json}");
}

proptest! {
    #[test]
    fn every_scenario_has_an_estimate_of_sound_numbers(
        rate_rps in 0.02..3000.0, input in 1.0..20_000.0, output in 1.0..8000.0,
        spread in 1.2..6.0, replicas in 1_u32..300, seats in 1_u32..2000, blocks in 2_u64..100_000,
        budget in 1_u32..20_000, flags in prop::array::uniform4(any::<bool>()),
        model in prop::sample::select(vec!["Llama-3.1-8B", "gpt-oss-120b", "DeepSeek-V3", "Qwen3-30B-A3B"]),
    ) {
        let [chunked, lag, fixed_blocks, declared] = flags;
        let document = common::document(|document| {
            let class = &mut document["workload"]["classes"][0];
            class["arrivals"]["rate_rps"] = json!(rate_rps);
            class["input_tokens"] = json!({ "kind": "lognormal", "mean": input, "p99": input * spread });
            class["output_tokens"] = json!({ "kind": "lognormal", "mean": output, "p99": output * spread });
            let pool = &mut document["fleet"]["pools"][0];
            pool["model"] = json!(model);
            pool["replicas"] = json!(replicas);
            pool["max_num_seqs"] = json!(seats);
            pool["max_num_batched_tokens"] = json!(budget);
            pool["enable_chunked_prefill"] = json!(chunked);
            pool["async_scheduling"] = json!(lag);
            if fixed_blocks {
                pool["num_gpu_blocks"] = json!(blocks);
            }
            if declared {
                pool["step_time"] = json!({ "source": { "kind": "declared", "declared_output_tps": 900.0 } });
            }
        });
        let doc = doc::parse(&document.to_string()).expect("a well-formed document");
        // Some combinations are no valid document, and say so; the others have an estimate.
        if let Ok(checked) = check(&doc) {
            let report = estimate(&checked.scenario);
            assert_no_broken_number(&report);
            if let Some(supply) = &report.supply {
                prop_assert!(supply.sustainable_rps >= 0.0 && supply.utilization >= 0.0);
                let deliverable = supply.deliverable_rps.unwrap_or(0.0);
                prop_assert!(deliverable <= supply.sustainable_rps * (1.0 + 1e-9));
                prop_assert!(supply.debt_series.iter().all(|debt| debt.debt_requests >= 0.0));
            }
        }
    }
}

#[test]
fn quality_below_the_target_never_holds() {
    let report = estimate(&scenario(|document| {
        document["workload"]["classes"][0]["quality"] =
            json!({ "state": "assumed", "pass_rate": 0.9, "by": "a test" });
    }));
    assert_eq!(report.verdict, EstimateVerdict::LateButStable);
    assert!((supply(&report).classes[0].attainment_cap - 0.9).abs() < 1e-12);
}

#[test]
fn more_replicas_never_lower_a_supply_and_divide_the_floor() {
    let with = |replicas: u32| {
        estimate(&scenario(|document| {
            document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(150.0);
            document["fleet"]["pools"][0]["replicas"] = json!(replicas);
        }))
    };
    let (two, four) = (with(2), with(4));
    let (two, four) = (supply(&two), supply(&four));
    assert!((four.sustainable_rps / two.sustainable_rps - 2.0).abs() < 1e-9);
    assert_eq!(two.replicas_floor, four.replicas_floor);
    assert!(f64::from(two.replicas_floor) >= 150.0 * 2.0 / two.sustainable_rps);
}

/// The estimate follows every keystroke on the main thread of a browser.
#[test]
fn it_takes_well_under_five_milliseconds() {
    let scenario = scenario(|_| {});
    let best = (0..5)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(estimate(&scenario));
            start.elapsed()
        })
        .min()
        .expect("five runs");
    // Unoptimised builds are about ten times slower; the engine is optimised in every profile.
    assert!(best < Duration::from_millis(5), "{best:?}");
}

/// Case D-9: 16,000 tokens in, 200 out. Memory holds two dozen of them, and more of it would gain
/// nothing: the GPU computes prompts all the time.
#[test]
fn long_prompts_bind_on_computing_them_whatever_limit_is_reached_first() {
    let long = |blocks: u64, seats: u32| {
        estimate(&scenario(|document| {
            fixed(16_000, 200, 1.0)(document);
            let pool = &mut document["fleet"]["pools"][0];
            pool["gpu"] = json!("A100-80G-SXM");
            pool["model"] = json!("Qwen3-14B");
            pool["weight_precision"] = json!("int4");
            pool["max_num_seqs"] = json!(seats);
            pool["num_gpu_blocks"] = json!(blocks);
        }))
    };
    for (blocks, seats) in [(25_000, 256), (50_000, 256), (25_000, 24)] {
        let report = long(blocks, seats);
        assert_eq!(supply(&report).binding_constraint, "prefill_compute", "{blocks} {seats}");
        assert!(supply(&report).replicas_floor >= 3);
    }
    let seats = estimate(&scenario(|d| d["fleet"]["pools"][0]["max_num_seqs"] = json!(16)));
    assert_eq!(supply(&seats).binding_constraint, "seats");
    let memory = estimate(&scenario(|d| d["fleet"]["pools"][0]["num_gpu_blocks"] = json!(1000)));
    assert_eq!(supply(&memory).binding_constraint, "kv_memory");
}

/// A prefix of 1,600 of 2,000 tokens in ample memory, asked for all the time.
#[test]
fn a_warm_prefix_takes_its_tokens_off_the_prefill() {
    use goodput_engine::scenario::doc::{LengthsDoc, SharedPrefixDoc};
    let mut changed =
        goodput_engine::scenario::presets::preset("shared-prompts").expect("one").doc.clone();
    let class = &mut changed.workload.classes[0];
    class.input_tokens = LengthsDoc::Fixed { tokens: 2_000 };
    class.shared_prefix =
        Some(SharedPrefixDoc { tokens: 1_600, count: 1, zipf_exponent: 0.0, name: String::new() });
    let estimated = |doc: &doc::ScenarioDoc| {
        let scenario = check(doc).expect("a valid document").scenario;
        estimate(&scenario).supply.expect("it fits")
    };
    let warm = estimated(&changed);
    let hit_rate = warm.prefix_hit_rate.expect("a prefix");
    assert!((hit_rate - 0.8).abs() < 1e-6, "{hit_rate}");
    assert!((warm.required_prefill_after_hits_tps / warm.required_prefill_tps - 0.2).abs() < 1e-6);
    let said = warm.workload[0].sharing.as_ref().expect("a prefix");
    assert!((said.mean_cached_tokens - 1_600.0).abs() < 1e-3);
    let simulated = goodput_engine::accounts::answer(&check(&changed).expect("valid").scenario);
    let cache = simulated.expect("it fits").report.prefix_cache.expect("a prefix");
    assert!((cache.counts.hit_rate.expect("prompts") - hit_rate).abs() < 0.01);
    changed.fleet.pools[0].enable_prefix_caching = false;
    let cold = estimated(&changed);
    assert_eq!(cold.prefix_hit_rate, None);
    assert!((cold.required_prefill_after_hits_tps - cold.required_prefill_tps).abs() < 1e-6);
    assert!(cold.ttft_ms > warm.ttft_ms && cold.sustainable_rps < warm.sustainable_rps);
}
