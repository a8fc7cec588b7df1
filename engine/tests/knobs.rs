//! What an operator's knobs do, as they are known to in real engines: each by its direction and
//! size, on the simulator.

mod common;

use common::{fixed, scenario};
use goodput_engine::accounts::report::{SaturatedBy, SimReport};
use goodput_engine::accounts::{Simulated, answer};
use goodput_engine::estimate::estimate;
use goodput_engine::slo;
use goodput_engine::units::Picos;
use serde_json::{Value, json};

fn simulated(edit: impl FnOnce(&mut Value)) -> Simulated {
    answer(&scenario(edit)).expect("an answer")
}

fn pool(document: &mut Value) -> &mut Value {
    &mut document["fleet"]["pools"][0]
}

/// A step law with one term per step and one per token.
fn law(c0_s: f64, c1_s_per_token: f64) -> Value {
    json!({ "source": { "kind": "coefficients", "by": "a test", "coefficients": {
        "c0_s": c0_s, "cw_s": 0.0, "cw_experts_s": 0.0, "expert_share": 0.0,
        "c1_s_per_token": c1_s_per_token, "c2_s_per_pair": 0.0, "c3_s_per_decode_seq": 0.0,
        "c4_s_per_kv_token": 0.0, "p": 1.0,
    }}})
}

/// When the last of 32 prompts of 1,024 tokens that come at once has its first token, in steps.
fn steps_to_the_last_first_token(output_tokens: u32, max_num_batched_tokens: u32) -> f64 {
    let run = simulated(|document| {
        fixed(1024, output_tokens, 1.0)(document);
        document["workload"]["horizon_s"] = json!(1.0);
        document["workload"]["classes"][0]["arrivals"] =
            json!({ "kind": "trace", "due_s": vec![0.0; 32] });
        let pool = pool(document);
        pool["max_num_seqs"] = json!(64);
        pool["max_num_batched_tokens"] = json!(max_num_batched_tokens);
        pool["async_scheduling"] = json!(false);
        pool["step_time"] = law(0.010, 0.0);
    });
    let first = |(request, stamps)| slo::ttft(request, stamps).expect("a first token");
    let last = run.requests.iter().zip(&run.run.stamps).map(first).max().expect("requests");
    last.as_secs() / 0.010
}

#[test]
fn a_burst_of_prompts_takes_as_many_steps_as_its_tokens_need() {
    for (output_tokens, budget, steps) in
        [(1, 2_048, 16.0), (2, 2_048, 17.0), (1, 65_536, 1.0), (2, 65_536, 1.0)]
    {
        let took = steps_to_the_last_first_token(output_tokens, budget);
        assert!((took - steps).abs() < 1e-6, "{output_tokens} out, {budget}: {took} steps");
    }
}

/// Smallest of some limits that at most one gap between tokens in a hundred exceeds: the 99th
/// percentile of all gaps, as fine as the limits are.
fn itl_p99_ms(edit: impl Fn(&mut Value)) -> f64 {
    let exceeded = |ms: f64| {
        let run = simulated(|document| {
            edit(document);
            document["workload"]["classes"][0]["slo"] =
                json!({ "itl_percentile": { "percentile": 99, "ms": ms } });
        });
        let stamps = || run.run.stamps.iter();
        let above: u64 = stamps().map(|stamps| u64::from(stamps.gaps_above)).sum();
        let gaps: u64 = stamps().map(|stamps| u64::from(stamps.generated.saturating_sub(1))).sum();
        above as f64 > 0.01 * gaps as f64
    };
    let mut limits = std::iter::successors(Some(5.0), |ms| Some(ms * 1.15)).take(40);
    limits.find(|ms| !exceeded(*ms)).expect("a limit that is not exceeded")
}

/// Long prompts in bursts beside answers that stream, or short prompts and long answers.
fn load(document: &mut Value, [input, output]: [u32; 2], [quiet_rps, burst_rps]: [f64; 2]) {
    fixed(input, output, 1.0)(document);
    document["workload"]["horizon_s"] = json!(300.0);
    document["workload"]["classes"][0]["arrivals"] = json!({
        "kind": "bursts", "quiet_rps": quiet_rps, "burst_rps": burst_rps,
        "mean_quiet_s": 20.0, "mean_burst_s": 5.0,
    });
}

#[test]
fn a_larger_token_budget_trades_stalls_for_first_tokens_where_prompts_are_long() {
    let of = |lengths: [u32; 2], rates: [f64; 2]| {
        move |budget: u32| {
            let edit = move |document: &mut Value| {
                load(document, lengths, rates);
                pool(document)["max_num_batched_tokens"] = json!(budget);
            };
            let ttft_p99_ms = simulated(edit).report.ttft_ms.p99.expect("first tokens");
            (ttft_p99_ms, itl_p99_ms(edit))
        }
    };
    let mixed = of([6_000, 300], [1.0, 8.0]);
    let (small, large) = (mixed(512), mixed(16_384));
    assert!(large.0 < 0.95 * small.0, "TTFT p99 falls: {small:?} {large:?}");
    assert!(large.1 > 1.5 * small.1, "ITL p99 rises: {small:?} {large:?}");
    let decoding = of([64, 600], [4.0, 8.0]);
    let (small, large) = (decoding(2_048), decoding(16_384));
    assert!((large.0 / small.0 - 1.0).abs() < 0.02, "neither: {small:?} {large:?}");
    assert!((large.1 / small.1 - 1.0).abs() < 0.02, "neither: {small:?} {large:?}");
}

#[test]
fn a_threshold_spares_short_prompts_the_wait_behind_long_ones() {
    let ttft_p99_ms = |threshold: u32| {
        let run = simulated(|document| {
            let of = |name: &str, rate_rps: f64, input: u32| {
                json!({
                    "name": name,
                    "arrivals": { "kind": "poisson", "rate_rps": rate_rps },
                    "input_tokens": { "kind": "fixed", "tokens": input },
                    "output_tokens": { "kind": "fixed", "tokens": 100 },
                    "slo": { "ttft_ms": 1000.0 }
                })
            };
            document["workload"]["horizon_s"] = json!(300.0);
            document["workload"]["classes"] =
                json!([of("chat", 2.0, 200), of("documents", 0.2, 60_000)]);
            pool(document)["long_prefill_token_threshold"] = json!(threshold);
        });
        let of_class = |index: u32| {
            let rows = run.requests.iter().zip(&run.run.stamps);
            let mut all: Vec<Picos> = rows
                .filter(|(request, _)| request.class == index)
                .map(|(request, stamps)| slo::ttft(request, stamps).expect("a first token"))
                .collect();
            all.sort_unstable();
            all[all.len() * 99 / 100].as_millis()
        };
        [of_class(0), of_class(1)]
    };
    let ([chat, documents], [spared, split]) = (ttft_p99_ms(0), ttft_p99_ms(512));
    assert!(spared < 0.5 * chat, "short prompts: {chat} to {spared} ms");
    assert!(split > 1.05 * documents, "long prompts pay: {documents} to {split} ms");
}

#[test]
fn a_stream_interval_trades_gaps_for_events_and_nothing_else() {
    let with = |interval: u32| {
        simulated(|document| {
            document["workload"]["horizon_s"] = json!(120.0);
            pool(document)["stream_interval"] = json!(interval);
        })
        .report
    };
    let (each, eighth) = (with(1), with(8));
    assert_eq!(each.ttft_ms, eighth.ttft_ms);
    assert_eq!(each.tpot_ms, eighth.tpot_ms);
    let stall_p50_ms = |report: &SimReport| report.longest_stall_ms.p50.expect("streams");
    let ratio = stall_p50_ms(&eighth) / stall_p50_ms(&each);
    // Eight steps, of which the longest alone was the longest gap before.
    assert!((1.5..8.0).contains(&ratio), "{ratio}");
}

#[test]
fn under_overload_priority_serves_the_urgent_first_and_no_more_in_all() {
    let of_policy = |policy: &str| {
        let run = simulated(|document| {
            let of = |name: &str, rate_rps: f64, priority: i32| {
                json!({
                    "name": name, "priority": priority,
                    "arrivals": { "kind": "poisson", "rate_rps": rate_rps },
                    "input_tokens": { "kind": "fixed", "tokens": 600 },
                    "output_tokens": { "kind": "fixed", "tokens": 200 },
                    "slo": { "ttft_ms": 1000.0 }
                })
            };
            document["workload"]["horizon_s"] = json!(120.0);
            document["workload"]["classes"] = json!([of("batch", 40.0, 5), of("chat", 4.0, 0)]);
            let pool = pool(document);
            pool["max_num_seqs"] = json!(64);
            pool["scheduling_policy"] = json!(policy);
        });
        let good = run.report.classes.iter().map(|class| class.attainment);
        (good.collect::<Vec<f64>>(), run.run.ended.as_secs())
    };
    let ((fcfs, fcfs_s), (priority, priority_s)) = (of_policy("fcfs"), of_policy("priority"));
    assert!(priority[1] > 0.95 && fcfs[1] < 0.5, "chat: {fcfs:?} to {priority:?}");
    assert!((priority_s / fcfs_s - 1.0).abs() < 0.02, "the same work: {fcfs_s} and {priority_s} s");
}

/// Case C9: gaps three times as variable as Poisson's.
#[test]
fn bursty_arrivals_wait_three_times_as_long_for_the_same_throughput() {
    let with = |arrivals: Value| {
        simulated(|document| {
            document["workload"]["horizon_s"] = json!(3_000.0);
            document["workload"]["classes"][0]["arrivals"] = arrivals;
            pool(document)["max_num_seqs"] = json!(256);
        })
    };
    let rate_rps = {
        let supply = with(json!({ "kind": "poisson", "rate_rps": 10.0 })).report.supply;
        0.85 * supply.sustainable.rps
    };
    let mean_wait = |run: &Simulated| {
        let waits = run.requests.iter().zip(&run.run.stamps);
        let waits: Vec<f64> =
            waits.filter_map(|(r, s)| slo::queue_wait(r, s).map(Picos::as_secs)).collect();
        waits.iter().sum::<f64>() / waits.len() as f64
    };
    let poisson = with(json!({ "kind": "poisson", "rate_rps": rate_rps }));
    let bursty = with(json!({ "kind": "gamma", "rate_rps": rate_rps, "cv": 3.0 }));
    let (calm, stormy) = (mean_wait(&poisson), mean_wait(&bursty));
    assert!(stormy > 3.0 * calm, "mean waits {calm} and {stormy} s");
    let tokens = |run: &Simulated| run.report.goodput.output_tps / run.requests.len() as f64;
    let ratio = tokens(&bursty) / tokens(&poisson);
    assert!((ratio - 1.0).abs() < 0.02, "tokens per offered request: {ratio}");
}

/// Case C4: a mean rate that equals the capacity is not enough. 4.5 prompts a second are served;
/// the rate swings between 1 and 8.
#[test]
fn a_sinusoid_whose_mean_is_the_capacity_piles_up_a_thousand_requests() {
    let run = simulated(|document| {
        fixed(8_000, 1, 1.0)(document);
        document["workload"]["horizon_s"] = json!(900.0);
        document["workload"]["classes"][0]["arrivals"] = json!({
            "kind": "sinusoid", "min_rps": 1.0, "max_rps": 8.0, "period_s": 900.0, "noise": "none",
        });
        let pool = pool(document);
        pool["max_num_batched_tokens"] = json!(8_000);
        pool["async_scheduling"] = json!(false);
        pool["step_time"] = law(0.0, 1.0 / 4.5 / 8_000.0);
    });
    let debt = &run.report.debt;
    let peak = debt.peak_waiting as f64;
    assert!((peak / 1_003.0 - 1.0).abs() < 0.03, "{peak} waiting");
    assert!((debt.peak_at_s - 675.0).abs() < 10.0, "at {} s", debt.peak_at_s);
    assert!((debt.waiting_at_end as f64 / 501.0 - 1.0).abs() < 0.03, "{}", debt.waiting_at_end);
}

#[test]
fn runs_short_of_memory_and_of_seats_say_so() {
    let bound = |edit: fn(&mut Value)| {
        let run = simulated(|document| {
            fixed(1_000, 500, 60.0)(document);
            document["workload"]["horizon_s"] = json!(60.0);
            edit(pool(document));
        });
        run.report.supply.saturated_by
    };
    let memory = bound(|pool| pool["num_gpu_blocks"] = json!(2_000));
    let seats = bound(|pool| pool["max_num_seqs"] = json!(16));
    assert_eq!((memory, seats), (SaturatedBy::KvMemory, SaturatedBy::Seats));
}

/// One GPU holds the weights and little else, eight spend their time talking: the best is between.
#[test]
fn more_tensor_parallelism_is_not_more_goodput_per_gpu() {
    let per_gpu_hour = |tensor_parallel: u32| {
        let run = simulated(|document| {
            document["workload"]["horizon_s"] = json!(300.0);
            let class = &mut document["workload"]["classes"][0];
            class["arrivals"] =
                json!({ "kind": "poisson", "rate_rps": 12.0 * f64::from(tensor_parallel) });
            class["slo"] = json!({ "ttft_ms": 3_000.0, "tpot_ms": 150.0 });
            document["fleet"]["admission"] = json!({ "max_queue_age_s": 1.0 });
            let pool = pool(document);
            pool["model"] = json!("qwen3-32b");
            pool["tensor_parallel"] = json!(tensor_parallel);
        });
        run.report.goodput.good_per_gpu_hour.expect("hours")
    };
    let [one, two, eight] = [1, 2, 8].map(per_gpu_hour);
    assert!(two > 1.2 * one && two > 1.2 * eight, "at TP 1, 2, 8: {one} {two} {eight}");
}

#[test]
fn the_estimate_says_which_rules_of_the_scheduler_it_leaves_out() {
    let says = |edit: fn(&mut Value)| {
        estimate(&scenario(edit)).supply.expect("it fits").leaves_out.join("; ")
    };
    let by_priority = |document: &mut Value| {
        pool(document)["scheduling_policy"] = json!("priority");
    };
    assert_eq!(says(by_priority), "", "one class: all are alike");
    let urgent = says(|document| {
        pool(document)["scheduling_policy"] = json!("priority");
        let mut urgent = document["workload"]["classes"][0].clone();
        (urgent["name"], urgent["priority"]) = (json!("urgent"), json!(-1));
        document["workload"]["classes"].as_array_mut().expect("classes").push(urgent);
    });
    assert!(urgent.contains("by priority"), "{urgent}");
    let split = says(|document| pool(document)["long_prefill_token_threshold"] = json!(512));
    assert!(split.contains("long_prefill_token_threshold"), "{split}");
    let events = says(|document| pool(document)["stream_interval"] = json!(8));
    assert!(events.contains("stream_interval"), "{events}");
}
