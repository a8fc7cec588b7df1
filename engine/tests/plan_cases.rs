//! Public cases of sizing with right answers, each under its id (C1 is in `cli.rs`, C7 in
//! `replica_life.rs`, E5 beside the books), and plans over time, inverted and as commands.

mod common;

use common::{document, fixed, scenario};
use goodput_engine::accounts;
use goodput_engine::ingest::RequestTrace;
use goodput_engine::math;
use goodput_engine::planner::over_time::over_time;
use goodput_engine::planner::report::{Inverse, PlanAnswer, PlanReport};
use goodput_engine::planner::serve::serve;
use goodput_engine::planner::{Planner, Progress, Scope, plan, plan_with};
use goodput_engine::scenario::{Scenario, TraceForm, TraceWorkload, check, doc};
use goodput_engine::units::Picos;
use serde_json::{Value, json};

fn whole_plan(scenario: &Scenario) -> PlanReport {
    plan(scenario, |_| true).expect("nobody stops it")
}

fn replicas(report: &PlanReport) -> u32 {
    match report.answer {
        PlanAnswer::Replicas { replicas, .. } => replicas,
        ref other => panic!("no count: {other:?}"),
    }
}

/// A law by which prompts take 1 s per `tps` tokens, and nothing else takes time.
fn prefill_alone(tps: f64) -> Value {
    json!({ "source": { "kind": "coefficients", "by": "a test", "coefficients":
        { "c0_s": 0.0, "c1_s_per_token": 1.0 / tps, "p": 1.0 } } })
}

/// One request a second for an hour, and a burst of so many within a second in the middle.
fn with_a_burst(burst: u32) -> RequestTrace {
    let mut due_s: Vec<f64> = (0..3_600).map(f64::from).collect();
    due_s.extend((0..burst).map(|i| 1_800.0 + f64::from(i) / f64::from(burst)));
    due_s.sort_by(f64::total_cmp);
    let lengths = |tokens| vec![tokens; due_s.len()];
    let (input_tokens, output_tokens) = (lengths(2_000), lengths(28));
    RequestTrace { due_s, input_tokens, output_tokens, ..RequestTrace::default() }
}

/// The supply floors of a trace, on replicas that compute so many tokens a second: for the mean, the
/// busiest minute, and the busiest ten seconds.
fn floors(trace: &RequestTrace, tps: f64) -> [u32; 3] {
    let workload = TraceWorkload::of(trace, TraceForm::Replay).expect("a workload");
    let scenario = scenario(|document| {
        document["workload"]["horizon_s"] = json!(workload.horizon_s);
        let class = &mut document["workload"]["classes"][0];
        class["arrivals"] = json!(workload.arrivals);
        class["input_tokens"] = json!(workload.input_tokens);
        class["output_tokens"] = json!(workload.output_tokens);
        document["fleet"]["pools"][0]["step_time"] = prefill_alone(tps);
    });
    // What a floor takes is no simulation: a budget for one is enough.
    let mut planner = Planner::within(&scenario, 1);
    while let Progress::Working { .. } = planner.advance() {}
    let report = planner.report().expect("a floor");
    let of = |window_s: f64| {
        let floor =
            report.peak_floors.iter().find(|floor| (floor.window_s - window_s).abs() < 1e-9);
        floor.expect("fits the horizon").replicas
    };
    [report.replicas_floor, of(60.0), of(10.0)]
}

/// C10: a mean hides the busiest minute, and that the busiest ten seconds.
#[test]
fn c10_a_trace_has_a_floor_for_its_mean_and_for_its_peaks() {
    // 1 prompt a second in the mean, (300 + 60) ÷ 60 in a minute, (300 + 10) ÷ 10 in ten seconds,
    // of 3,100 ÷ 2,028 a second and replica.
    assert_eq!(floors(&with_a_burst(300), 3_100.0), [1, 4, 21]);
    assert_eq!(floors(&with_a_burst(1), 3_100.0), [1, 1, 1]);
}

/// C4: a rate between 1 and 8 a second whose mean is what one replica computes. The mean says
/// nothing: 1,003 are owed at 675 s, half of that at the end; two replicas hold.
#[test]
fn c4_a_mean_rate_equal_to_the_capacity_takes_two() {
    let points: Vec<Value> = (0..=180)
        .map(|i| {
            let t_s = f64::from(i) * 5.0;
            let rate_rps = 4.5 - 3.5 * (2.0 * std::f64::consts::PI * t_s / 900.0).cos();
            json!({ "t_s": t_s, "rate_rps": rate_rps })
        })
        .collect();
    let scenario = scenario(|document| {
        fixed(8_000, 1, 1.0)(document);
        document["workload"]["horizon_s"] = json!(900.0);
        let class = &mut document["workload"]["classes"][0];
        class["arrivals"] = json!({ "kind": "profile", "points": points, "noise": "none" });
        class["slo"] = json!({ "ttft_ms": 3_000.0 });
        document["fleet"]["pools"][0]["step_time"] = prefill_alone(36_000.0);
    });
    let one = accounts::answer(&scenario).expect("it can be simulated").report;
    assert!((one.debt.peak_waiting as f64 / 1_003.0 - 1.0).abs() < 0.03, "{:?}", one.debt);
    assert!((one.debt.peak_at_s - 675.0).abs() <= 10.0, "{}", one.debt.peak_at_s);
    assert!((one.debt.waiting_at_end as f64 / 501.0 - 1.0).abs() < 0.03, "{:?}", one.debt);
    assert!(!one.contract_holds);
    let report = whole_plan(&scenario);
    // The floor is for the mean, and the mean is what misleads.
    assert_eq!((replicas(&report), report.replicas_floor), (2, 1));
    let two = report.fleets.iter().find(|row| row.replicas == 2).expect("a row");
    assert!(two.peak_debt_s < 1.0, "{two:?}");
}

/// D-9: 16,000 tokens a second of prompts. From the rate that was measured, 4,783 a second, four
/// GPUs are the floor; from the library's row in 16 bits, three.
#[test]
fn d_9_the_floor_is_by_its_source() {
    let floor = |source: Value| {
        let scenario = scenario(|document| {
            fixed(16_000, 200, 1.0)(document);
            let pool = &mut document["fleet"]["pools"][0];
            (pool["gpu"], pool["model"]) = (json!("A100-80G-SXM"), json!("Qwen3-14B"));
            pool["step_time"] = source;
        });
        whole_plan(&scenario).replicas_floor
    };
    let declared = json!({ "source": { "kind": "declared", "declared_input_tps": 4_783.0 } });
    assert_eq!(floor(declared), 4);
    assert_eq!(floor(json!({})), 3);
}

/// E6: a replica of eight GPUs takes 13 users, 32 are wanted: three replicas, 24 GPUs, in one
/// sentence, whatever the user counts in.
#[test]
fn e6_replicas_and_gpus_are_told_apart() {
    let report = whole_plan(&scenario(|document| {
        fixed(512, 128, 1.0)(document);
        let class = &mut document["workload"]["classes"][0];
        class["arrivals"] = json!({ "kind": "closed_loop", "users": 32, "think_time": { "kind": "fixed", "s": 0.001 } });
        class["slo"] = json!({ "ttft_ms": 400.0 });
        let pool = &mut document["fleet"]["pools"][0];
        (pool["gpu"], pool["model"]) = (json!("H200-SXM"), json!("Llama-3.1-70B"));
        (pool["tensor_parallel"], pool["max_num_seqs"]) = (json!(8), json!(13));
        document["workload"]["horizon_s"] = json!(60.0);
    }));
    assert!(report.sentence.contains("3 replicas (24 GPUs = 3 × TP8)"), "{}", report.sentence);
}

/// A minute of chat that two replicas hold.
fn chat(edit: impl FnOnce(&mut Value)) -> Scenario {
    scenario(|document| {
        document["workload"]["horizon_s"] = json!(60.0);
        document["workload"]["classes"][0]["arrivals"]["rate_rps"] = json!(20.0);
        let pool = &mut document["fleet"]["pools"][0];
        (pool["replicas"], pool["max_num_seqs"]) = (json!(2), json!(32));
        edit(document);
    })
}

fn inverse(scenario: &Scenario) -> Inverse {
    let scope = Scope { inverse: true, ..Scope::default() };
    plan_with(scenario, scope, |_| true).expect("a plan").inverse.expect("asked for")
}

/// In how many of the windows that choose a scenario holds.
fn holds_in(scenario: &Scenario, windows: u64) -> f64 {
    let held = (1..=windows).filter(|offset| {
        let seed = scenario.seed + offset;
        let changed = Scenario { seed, ..scenario.clone() };
        accounts::answer(&changed).expect("it can be simulated").report.contract_holds
    });
    held.count() as f64 / windows as f64
}

#[test]
fn the_present_fleet_holds_at_its_distances_and_not_beyond_them() {
    let scenario = chat(|_| {});
    let found = inverse(&scenario);
    assert_eq!(found.stretches.len(), 3);
    let changed = |of: &str, alpha: f64| {
        let mut changed = scenario.clone();
        for class in &mut changed.classes {
            match of {
                "rate" => class.arrivals = class.arrivals.scaled(alpha),
                "outputs" => class.output = class.output.scaled(alpha),
                _ => class.arrivals = class.arrivals.bunched(alpha).expect("Poisson"),
            }
        }
        changed
    };
    for row in &found.stretches {
        let alpha = row.alpha.expect("it holds at some multiple");
        let share = holds_in(&changed(&row.of, alpha), 20);
        assert!(share >= 0.95, "{}: {share} at {alpha}", row.of);
        let beyond = holds_in(&changed(&row.of, alpha + 0.02), 20);
        assert!(row.alpha_is_least || beyond < 0.95, "{}: {beyond} beyond {alpha}", row.of);
    }
    let rate = &found.stretches[0];
    let (alpha, months) = (rate.alpha.expect("one"), found.months_of_headroom.expect("above 1"));
    assert!((math::pow(1.1, months) / alpha - 1.0).abs() < 1e-9, "{months} {alpha}");
    assert!((rate.value.expect("a rate") / (20.0 * alpha) - 1.0).abs() < 1e-9);
}

/// A tightest limit holds in the windows it was read from, and nothing tighter does.
#[test]
fn the_tightest_limits_hold_and_a_little_less_does_not() {
    let scenario = chat(|_| {});
    let found = inverse(&scenario);
    let row = &found.tightest[0];
    for (ms, is_ttft) in [(row.ttft_ms.expect("one"), true), (row.tpot_ms.expect("one"), false)] {
        let under = |ms: f64| {
            let mut changed = scenario.clone();
            let limit = Some(Picos::from_millis(ms));
            let contract = &mut changed.contracts[0];
            if is_ttft {
                contract.ttft = limit;
            } else {
                contract.tpot = limit;
            }
            holds_in(&changed, u64::from(row.runs))
        };
        assert!(under(ms * (1.0 + 1e-9)) >= 0.95, "{ms}");
        assert!(under(ms * 0.999) < 0.95, "{ms}");
    }
}

#[test]
fn users_are_counted_where_there_are_some() {
    let scenario = chat(|document| {
        document["workload"]["classes"][0]["arrivals"] = json!({
            "kind": "closed_loop", "users": 40, "think_time": { "kind": "fixed", "s": 2.0 }
        });
    });
    let found = inverse(&scenario);
    let rate = &found.stretches[0];
    let alpha = rate.alpha.expect("it holds");
    let users = f64::from(found.users.expect("there are some"));
    assert!((0.0..1.0).contains(&(40.0 * alpha - users)), "{users} {alpha}");
    assert_eq!((rate.value, found.stretches[2].alpha), (None, None), "a rate is an outcome here");
}

/// What arrives is a session where a class has them, and one arrival asks several times.
#[test]
fn a_rate_of_sessions_is_called_so() {
    let with = |session: bool| {
        chat(move |document| {
            if session {
                document["workload"]["classes"][0]["session"] = json!({
                    "turns": { "kind": "fixed", "tokens": 3 },
                    "think_time": { "kind": "fixed", "s": 2.0 },
                });
            }
        })
    };
    for (session, unit) in [
        (false, "requests per second in the mean"),
        (true, "sessions begun per second in the mean"),
    ] {
        let found = inverse(&with(session));
        let rate = &found.stretches[0];
        assert_eq!(rate.unit, unit);
        let begun = with(session).classes[0].expected(Picos::ZERO, with(session).horizon);
        let now = begun / with(session).horizon.as_secs();
        let value = rate.value.zip(rate.alpha).map(|(value, alpha)| value / alpha);
        assert!(value.is_none_or(|value| (value / now - 1.0).abs() < 1e-9), "{value:?} {now}");
    }
}

/// A day in ten minutes: a timetable has what a fixed fleet has at the peak, and pays for less.
#[test]
fn a_timetable_holds_with_fewer_replicas_in_the_mean_and_an_autoscaler_is_late() {
    let day = chat(|document| {
        document["workload"]["horizon_s"] = json!(600.0);
        document["workload"]["classes"][0]["arrivals"] = json!({ "kind": "profile", "points": [
            { "t_s": 0.0, "rate_rps": 4.0 }, { "t_s": 200.0, "rate_rps": 4.0 },
            { "t_s": 201.0, "rate_rps": 40.0 }, { "t_s": 400.0, "rate_rps": 40.0 },
            { "t_s": 401.0, "rate_rps": 4.0 }, { "t_s": 600.0, "rate_rps": 4.0 } ] });
        let pool = &mut document["fleet"]["pools"][0];
        (pool["start_up_s"], pool["price_per_gpu_hour"]) = (json!(60.0), json!(2.0));
    });
    let report = whole_plan(&day);
    let found = over_time(&day, &report).expect("one pool and a count");
    assert_eq!(found.peak_replicas, replicas(&report));
    assert_eq!(found.windows.iter().map(|w| w.replicas).max(), Some(found.peak_replicas));
    assert!(found.mean_replicas < 0.7 * f64::from(found.peak_replicas));
    let [fixed, scheduled, autoscaled] = &found.fleets[..] else { panic!("three fleets") };
    assert!((fixed.mean_replicas / f64::from(found.peak_replicas) - 1.0).abs() < 1e-9);
    assert!(scheduled.mean_replicas < fixed.mean_replicas - 0.5, "{scheduled:?}");
    assert!(scheduled.holds_in >= 4 && scheduled.cost < fixed.cost, "{scheduled:?}");
    // Nobody foresees the step: what comes in the meantime is owed.
    assert!(autoscaled.peak_debt_s > 2.0 * scheduled.peak_debt_s, "{autoscaled:?} {scheduled:?}");
    assert!((found.forecast_horizon_s - 75.0).abs() < 1e-9, "15 s to look and 60 s to start");
}

#[test]
fn spare_replicas_for_failures_are_no_worse_than_none() {
    let scenario = chat(|document| {
        document["fleet"]["pools"][0]["start_up_s"] = json!(120.0);
    });
    let report = whole_plan(&scenario);
    let [none, one, two] = &report.failures[..] else { panic!("{:?}", report.failures) };
    let answer = replicas(&report);
    assert_eq!([none.replicas, one.replicas, two.replicas], [answer, answer + 1, answer + 2]);
    assert_eq!([none.failing, one.failing, two.failing], [1, 1, 2]);
    assert!((none.at_s - 30.0).abs() < 1e-9 && (none.start_up_s - 120.0).abs() < 1e-9);
    assert!(none.probability <= one.probability, "{none:?} {one:?}");
    // That it is what a simulation of that crash says.
    let mut crashed = scenario.clone();
    crashed.pool.replicas = answer;
    let crash = goodput_engine::fleet::Crash { at: Picos::from_secs(30.0), replica: 0 };
    crashed.pool.life.failures.crashes = vec![crash];
    let first = report.seeds[0];
    let held = (0..u64::from(none.runs)).filter(|offset| {
        let changed = Scenario { seed: first + offset, ..crashed.clone() };
        accounts::answer(&changed).expect("it can be simulated").report.contract_holds
    });
    assert_eq!(held.count(), none.holds_in as usize);
}

#[test]
fn a_plan_is_a_command_with_every_setting_under_its_flag() {
    let document = document(|document| {
        let pool = &mut document["fleet"]["pools"][0];
        (pool["tensor_parallel"], pool["max_num_seqs"]) = (json!(2), json!(64));
        (pool["max_num_batched_tokens"], pool["kv_precision"]) = (json!(4096), json!("fp8"));
        (pool["weight_precision"], pool["enable_prefix_caching"]) = (json!("fp8"), json!(false));
        (pool["max_model_len"], pool["num_gpu_blocks"]) = (json!(16_384), json!(20_000));
        document["workload"]["horizon_s"] = json!(30.0);
        document["workload"]["classes"][0]["max_output_tokens"] = json!(900);
        document["fleet"]["admission"] = json!({ "max_waiting": 100 });
    });
    let doc = doc::parse(&document.to_string()).expect("a document");
    let scenario = check(&doc).expect("valid").scenario;
    let report = whole_plan(&scenario);
    let serve = serve(&doc, &scenario, &report);
    let [pool] = &serve.pools[..] else { panic!("one pool") };
    assert_eq!(
        (pool.replicas, pool.is_answer, pool.gpus_per_replica),
        (replicas(&report), true, 2)
    );
    let command = pool.command.replace(" \\\n ", "");
    assert_eq!(
        command,
        "vllm serve meta-llama/Llama-3.1-8B-Instruct --tensor-parallel-size 2 --max-model-len 16384 \
         --max-num-seqs 64 --max-num-batched-tokens 4096 \
         --long-prefill-token-threshold 0 --stream-interval 1 --block-size 16 \
         --gpu-memory-utilization 0.9 --scheduling-policy fcfs --num-gpu-blocks-override 20000 \
         --enable-chunked-prefill --no-enable-prefix-caching --async-scheduling \
         --scheduler-reserve-full-isl --quantization fp8 --kv-cache-dtype fp8"
    );
    let says = |text: &str| serve.not_expressed.iter().any(|what| what.contains(text));
    assert!(says("max_tokens 900 for chat") && says("limits at the door") && says("router"));
}

/// A benchmark of one replica at several rates: rate, and the p99 of TTFT in milliseconds.
fn benchmark(stages: &[(f64, f64)]) -> String {
    let row =
        |(rps, p99_ms): &(f64, f64)| format!("{rps},{rps},1000,1000,{},{p99_ms}\n", p99_ms / 3.0);
    let header = "request_rate,completed_rps,num_prompts,completed,mean_ttft_ms,p99_ttft_ms\n";
    std::iter::once(header.to_owned()).chain(stages.iter().map(row)).collect()
}

/// A3: 400 requests a second with a TTFT p99 of at most 200 ms. The last stage that keeps it decides:
/// 91.4 a second of the baseline, five replicas; 126.5 with other settings, four. By throughput the
/// baseline would look like four.
#[test]
fn a3_the_last_passing_stage_decides_and_throughput_does_not() {
    use goodput_engine::ingest::{BenchmarkPoint, Parsed, read_file};
    use goodput_engine::planner::measured::measured_size;
    let contract = scenario(|document| {
        document["workload"]["classes"][0]["slo"] = json!({
            "percentile_targets": [{ "of": "ttft", "percentile": 99.0, "limit_ms": 200.0 }] });
    });
    let size = |stages: &[(f64, f64)]| {
        let file = read_file("sweep.csv", benchmark(stages).as_bytes());
        let points: Vec<BenchmarkPoint> =
            file.parsed.iter().flat_map(Parsed::points).cloned().collect();
        assert_eq!(points.len(), stages.len(), "{:?}", file.refused);
        let points: Vec<&BenchmarkPoint> = points.iter().collect();
        measured_size(&points, &contract.contracts[0], 400.0)
    };
    let baseline = size(&[(31.4, 43.6), (91.4, 181.8), (101.2, 2_300.0)]).expect("a size");
    assert_eq!((baseline.replicas, baseline.by_throughput_alone), (5, 4));
    assert_eq!(baseline.first_failing_rps, Some(101.2));
    assert!(baseline.sentence.starts_with("5 replicas for 400 req/s"), "{}", baseline.sentence);
    let tuned = size(&[(62.0, 30.0), (126.5, 42.0), (152.0, 455.0)]).expect("a size");
    assert_eq!(tuned.replicas, 4);
    assert!(size(&[(31.4, 250.0)]).is_err_and(|why| why.contains("breaks the contract already")));
}
