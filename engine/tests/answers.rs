//! A scenario's report: its counts balance, its books balance, and it says what design asks of it.

use std::collections::BTreeMap;

use goodput_engine::accounts::report::{GoodputKind, SimReport, VerdictState};
use goodput_engine::accounts::{Simulated, Unanswerable, answer};
use goodput_engine::scenario::check;
use goodput_engine::scenario::doc::ScenarioDoc;
use goodput_engine::sim::CutOff;
use goodput_engine::slo::{Fate, Outcome};
use serde_json::{Value, json};

/// Chat on H100s; `overrides` are merged over it by JSON pointer.
fn scenario(overrides: &[(&str, Value)]) -> Value {
    let mut doc = json!({
        "version": 1,
        "workload": { "horizon_s": 120.0, "classes": [{
            "name": "chat",
            "arrivals": { "kind": "poisson", "rate_rps": 10.0 },
            "input_tokens": { "kind": "lognormal", "mean": 512.0, "p99": 2400.0 },
            "output_tokens": { "kind": "lognormal", "mean": 256.0, "p99": 1200.0 },
            "error_rate": 0.01,
            "quality": { "state": "assumed", "pass_rate": 0.97, "by": "this test" },
            "slo": { "ttft_ms": 1000.0, "tpot_ms": 40.0, "attainment_target": 0.9 },
        }]},
        "fleet": { "pools": [{
            "gpu": "H100-SXM", "model": "Llama-3.1-8B", "replicas": 2, "price_per_gpu_hour": 2.5,
        }]},
    });
    for (pointer, value) in overrides {
        let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
        doc.pointer_mut(parent).expect(parent)[field] = value.clone();
    }
    doc
}

fn simulate(overrides: &[(&str, Value)]) -> Result<Simulated, Unanswerable> {
    let doc: ScenarioDoc = serde_json::from_value(scenario(overrides)).expect("a document");
    answer(&check(&doc).expect("a valid scenario").scenario)
}

fn report(overrides: &[(&str, Value)]) -> SimReport {
    simulate(overrides).expect("an answer").report
}

const CLASS: &str = "/workload/classes/0";

fn at(field: &str) -> String {
    format!("{CLASS}/{field}")
}

#[test]
fn every_offered_request_has_one_outcome_at_every_break_out() {
    let overloaded = json!({ "kind": "poisson", "rate_rps": 90.0 });
    let patience = json!({ "kind": "lognormal", "median_s": 4.0, "p90_s": 15.0 });
    let report = report(&[(&at("arrivals"), overloaded), (&at("patience"), patience)]);
    assert_eq!(report.outcomes.values().sum::<u64>(), report.offered);
    assert_eq!(report.outcomes.len(), Outcome::ALL.len(), "zeros are shown");
    let by_class: u64 = report.classes.iter().map(|class| class.offered).sum();
    assert_eq!(by_class, report.offered);
    assert!(report.outcomes[&Outcome::CancelledBeforeFirst] > 0);
    assert!(report.outcomes[&Outcome::Error] > 0);
    assert_eq!(report.goodput.good, report.outcomes[&Outcome::Good]);
    assert!((report.attainment - report.goodput.good as f64 / report.offered as f64).abs() < 1e-12);
}

#[test]
fn a_fleet_with_room_holds() {
    let report = report(&[]);
    assert_eq!(report.verdict.state, VerdictState::Holds);
    assert!(report.contract_holds && report.complete);
    assert_eq!(report.goodput.kind, GoodputKind::SloGoodput);
    assert!(report.debt.growth_rps <= 0.0);
    assert!(report.supply.sustainable.rps > report.supply.required_peak.rps);
    // Quality and errors cap attainment: 0.99 × 0.97.
    assert!((report.attainment - 0.9603).abs() < 0.02, "{}", report.attainment);
}

#[test]
fn doubling_outputs_at_the_same_rate_needs_twice_the_decode_tokens_and_changes_the_supply() {
    let fixed = |tokens: u32| json!({ "kind": "fixed", "tokens": tokens });
    let even = json!({ "kind": "constant", "rate_rps": 137.0 });
    let at_length = |tokens| {
        report(&[
            (&at("arrivals"), even.clone()),
            (&at("output_tokens"), fixed(tokens)),
            ("/workload/horizon_s", json!(60.0)),
        ])
    };
    let (once, twice) = (at_length(731), at_length(1462));
    assert!((once.supply.required.decode_tps - 100_147.0).abs() < 1e-6);
    assert!((twice.supply.required.decode_tps - 200_294.0).abs() < 1e-6);
    assert!((once.supply.required.rps - twice.supply.required.rps).abs() < 1e-9);
    assert!(twice.supply.sustainable.rps < 0.55 * once.supply.sustainable.rps);
    assert_eq!(twice.verdict.state, VerdictState::Overloaded);
    assert!(twice.debt.growth_rps > once.debt.growth_rps);
}

#[test]
fn once_seats_are_full_the_queue_grows_by_offered_less_completed() {
    let overloaded = json!({ "kind": "constant", "rate_rps": 137.0 });
    let fixed = json!({ "kind": "fixed", "tokens": 731 });
    // Requests of one length run in waves of some 15 s: many of them, so that their phase is lost.
    let report = report(&[
        (&at("arrivals"), overloaded),
        (&at("output_tokens"), fixed),
        ("/workload/horizon_s", json!(400.0)),
    ]);
    let point = |t_s: f64| report.series.iter().find(|point| point.t_s >= t_s).expect("in range");
    let (from, to) = (point(60.0), point(390.0));
    let seconds = to.t_s - from.t_s;
    let slope = (to.waiting as f64 - from.waiting as f64) / seconds;
    let offered = (to.offered - from.offered) as f64 / seconds;
    let completed = (to.completed - from.completed) as f64 / seconds;
    assert!((slope / (offered - completed) - 1.0).abs() < 0.02, "{slope} {offered} {completed}");
    let window = report.series.iter().filter(|point| point.t_s > from.t_s && point.t_s <= to.t_s);
    let decode_tps: Vec<f64> = window.map(|point| point.decode_tps).collect();
    let streamed = decode_tps.iter().sum::<f64>() / decode_tps.len() as f64;
    let sustained = report.supply.sustainable.decode_tps;
    assert!((streamed / sustained - 1.0).abs() < 0.02, "{streamed} of {sustained}");
}

#[test]
fn the_books_sum_to_what_is_paid() {
    for rate_rps in [10.0, 90.0] {
        let arrivals = json!({ "kind": "poisson", "rate_rps": rate_rps });
        let tight =
            [(at("arrivals"), arrivals), ("/fleet/pools/0/num_gpu_blocks".to_owned(), json!(3000))];
        let overrides: Vec<(&str, Value)> =
            tight.iter().map(|(path, value)| (path.as_str(), value.clone())).collect();
        let report = report(&overrides);
        let cost = report.cost.expect("a price is set");
        let sum: f64 = cost.lines.iter().map(|line| line.usd).sum();
        assert!((sum - cost.total).abs() < 1e-9 * cost.total);
        assert!((cost.total - cost.gpu_hours * 2.5).abs() < 1e-12 * cost.total);
        assert!(cost.lines.iter().all(|line| line.usd >= -1e-9), "{:?}", cost.lines);
        let lines: BTreeMap<&str, f64> =
            cost.lines.iter().map(|line| (line.line.as_str(), line.usd)).collect();
        assert!(lines["good"] > 0.0 && lines["idle"] > 0.0);
        let per_good = cost.per_good_request.expect("somebody was well served");
        assert!((per_good * report.goodput.good as f64 - cost.total).abs() < 1e-9 * cost.total);
    }
}

#[test]
fn nobody_good_means_no_cost_per_good_request() {
    let report = report(&[(&at("slo"), json!({ "ttft_ms": 0.001 }))]);
    let cost = report.cost.expect("a price is set");
    assert_eq!(cost.per_good_request, None);
    assert!(cost.total > 0.0);
    assert!(report.attainment <= 0.0);
}

#[test]
fn without_a_price_there_is_no_cost_and_without_a_check_no_slo_goodput() {
    let report = report(&[
        ("/fleet/pools/0/price_per_gpu_hour", Value::Null),
        (&at("quality"), json!({ "state": "not_checked" })),
    ]);
    assert!(report.cost.is_none());
    assert_eq!(report.goodput.kind, GoodputKind::LatencyOnlyGoodput);
}

#[test]
fn tightening_a_limit_never_raises_goodput() {
    let good = |ttft_ms: f64| {
        let slo = json!({ "ttft_ms": ttft_ms, "tpot_ms": 40.0 });
        let arrivals = json!({ "kind": "poisson", "rate_rps": 60.0 });
        report(&[(&at("slo"), slo), (&at("arrivals"), arrivals)]).goodput.good
    };
    let counts: Vec<u64> = [30.0, 60.0, 120.0, 500.0, 5000.0].map(good).into();
    assert!(counts.is_sorted() && counts[0] < counts[4], "{counts:?}");
}

#[test]
fn splitting_a_class_into_equal_halves_changes_no_total() {
    let class = scenario(&[])["workload"]["classes"][0].clone();
    let fixed = |name: &str, rate_rps: f64| {
        let mut half = class.clone();
        half["name"] = json!(name);
        half["arrivals"] = json!({ "kind": "constant", "rate_rps": rate_rps });
        half["input_tokens"] = json!({ "kind": "fixed", "tokens": 400 });
        half["output_tokens"] = json!({ "kind": "fixed", "tokens": 200 });
        half["error_rate"] = json!(0.0);
        half["quality"] = json!({ "state": "not_checked" });
        half
    };
    // Two streams of half the rate that are due at the same moments, against pairs of one class.
    let halves = json!([fixed("a", 5.0), fixed("b", 5.0)]);
    let report = report(&[("/workload/classes", halves)]);
    let [a, b] = report.classes.as_slice() else { panic!("two classes") };
    assert_eq!((a.offered, b.offered), (600, 600));
    assert!((a.attainment - b.attainment).abs() < 1e-12);
    assert_eq!(report.offered, 1200);
}

#[test]
fn declared_rates_have_no_simulated_answer() {
    let declared = json!({ "source": {
        "kind": "declared", "declared_input_tps": 1e6, "declared_output_tps": 120_000.0,
    }});
    let refused = simulate(&[("/fleet/pools/0/step_time", declared)]).expect_err("no latency");
    assert_eq!(refused, Unanswerable::DeclaredRatesOnly { pool: 0 });
    assert!(refused.problem().message.contains("never a latency"));
}

#[test]
fn what_does_not_fit_has_no_simulated_answer() {
    let refused = simulate(&[("/fleet/pools/0/model", json!("Llama-3.1-405B"))]);
    assert_eq!(refused.expect_err("weights of 810 GB"), Unanswerable::DoesNotFit { pool: 0 });
}

#[test]
fn the_warm_up_is_simulated_and_not_counted() {
    let whole = simulate(&[]).expect("an answer");
    let warm = simulate(&[("/workload/warmup_s", json!(60.0))]).expect("an answer");
    assert_eq!(whole.run.stamps, warm.run.stamps);
    let late = whole.requests.iter().filter(|request| request.due.as_secs() >= 60.0).count();
    assert_eq!(warm.report.offered, late as u64);
    assert!(whole.run.stamps.iter().all(|stamps| stamps.fate != Fate::Unfinished));
}

#[test]
fn windows_of_a_hybrid_model_take_their_share_of_the_blocks() {
    let blocks = |model: &str| {
        let doc = scenario(&[("/fleet/pools/0/model", json!(model))]);
        let doc: ScenarioDoc = serde_json::from_value(doc).expect("a document");
        check(&doc).expect("a valid scenario").scenario.pool.window_blocks_per_seq()
    };
    // Half of the layers keep 128 tokens: 8 blocks of 16 beside the other half's.
    assert_eq!(blocks("gpt-oss-120b"), 8);
    assert_eq!(blocks("Llama-3.1-8B"), 0);
}

#[test]
fn a_class_of_which_nobody_came_breaks_no_contract() {
    let mut rare = scenario(&[])["workload"]["classes"][0].clone();
    rare["name"] = json!("rare");
    rare["arrivals"] = json!({ "kind": "trace", "due_s": [1.0] });
    let mut doc = scenario(&[("/workload/warmup_s", json!(10.0))]);
    doc["workload"]["classes"].as_array_mut().expect("classes").push(rare);
    let doc: ScenarioDoc = serde_json::from_value(doc).expect("a document");
    let report = answer(&check(&doc).expect("valid").scenario).expect("an answer").report;
    assert_eq!(report.classes[1].offered, 0);
    assert!(report.contract_holds, "as the plan sees it: {:?}", report.verdict);
    assert_eq!(report.verdict.state, VerdictState::Holds);
}

#[test]
fn an_empty_window_tells_nothing_and_an_empty_workload_says_so() {
    let early = json!({ "kind": "trace", "due_s": [1.0, 2.0] });
    let report = report(&[(&at("arrivals"), early), ("/workload/warmup_s", json!(10.0))]);
    assert_eq!(report.verdict.state, VerdictState::NotMeasuredHere);
    assert!(!report.contract_holds && report.offered == 0);
    let never = json!({ "kind": "poisson", "rate_rps": 1e-9 });
    assert_eq!(
        simulate(&[(&at("arrivals"), never)]).expect_err("nobody"),
        Unanswerable::NobodyAsks
    );
}

#[test]
fn a_run_that_was_cut_off_claims_nothing() {
    // A step of two days: the end of time comes before the last of these answers.
    let coefficients = json!({
        "c0_s": 0.0, "cw_s": 0.0, "c1_s_per_token": 60.0, "c2_s_per_pair": 0.0,
        "c3_s_per_decode_seq": 60.0, "c4_s_per_kv_token": 60.0, "p": 1.0,
    });
    let source = json!({ "kind": "coefficients", "coefficients": coefficients, "by": "a test" });
    let report = report(&[
        (&at("arrivals"), json!({ "kind": "trace", "due_s": [0.0] })),
        (&at("slo"), json!({})),
        ("/fleet/pools/0/step_time", json!({ "source": source })),
        ("/workload/horizon_s", json!(2_592_000.0)),
    ]);
    assert_eq!(report.cut_off_by, Some(CutOff::Time));
    assert!(!report.complete && report.outcomes[&Outcome::Unfinished] == 1);
    assert_ne!(report.verdict.state, VerdictState::LateButStable);
    assert!(!report.verdict.sentence.contains("All work is done"), "{:?}", report.verdict);
}

#[test]
fn goodput_per_gpu_hour_counts_the_hours_of_its_window() {
    let with = report(&[("/workload/warmup_s", json!(60.0))]);
    let hours = 2.0 * (with.ended_s.max(with.horizon_s) - with.warmup_s) / 3600.0;
    let expected = with.goodput.good as f64 / hours;
    let per_hour = |report: &SimReport| report.goodput.good_per_gpu_hour.expect("hours");
    assert!((per_hour(&with) / expected - 1.0).abs() < 1e-12);
    let without = report(&[]);
    let ratio = per_hour(&with) / per_hour(&without);
    assert!((ratio - 1.0).abs() < 0.15, "a warm-up does not halve goodput: {ratio}");
}
