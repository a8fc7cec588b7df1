//! Users of a closed loop from the first second on, and what a warm-up leaves out of a peak.

mod common;

use common::{fixed, scenario};
use goodput_engine::accounts::answer;
use goodput_engine::accounts::report::{SimReport, VerdictState};
use goodput_engine::estimate::estimate;
use serde_json::{Value, json};

fn report(edit: impl FnOnce(&mut Value)) -> SimReport {
    answer(&scenario(edit)).expect("an answer").report
}

fn crowd(users: u32, think_time: Value) -> impl FnOnce(&mut Value) {
    move |document| {
        fixed(128, 8, 1.0)(document);
        document["workload"]["horizon_s"] = json!(120.0);
        let class = &mut document["workload"]["classes"][0];
        class["arrivals"] =
            json!({ "kind": "closed_loop", "users": users, "think_time": think_time });
    }
}

/// Answers take a thousandth of the think time: N users ask N ÷ (think + response) times a second,
/// in the first seconds as in all others, whatever the law.
#[test]
fn no_law_of_think_times_begins_with_a_burst() {
    for think_time in [
        json!({ "kind": "fixed", "s": 30.0 }),
        json!({ "kind": "uniform", "min_s": 0.0, "max_s": 60.0 }),
        json!({ "kind": "uniform", "min_s": 20.0, "max_s": 40.0 }),
        json!({ "kind": "exponential", "mean_s": 30.0 }),
    ] {
        let report = report(crowd(1_500, think_time.clone()));
        let response_s = report.classes[0].closed_loop.expect("users").mean_response_s;
        let expected = 1_500.0 / (30.0 + response_s.expect("answers"));
        for window in &report.supply.demand {
            // 500 requests in 10 s: five standard deviations of a count, at most.
            let off = (window.rps - expected).abs() * report.supply.peak_window_s;
            assert!(off < 5.0 * (10.0 * expected).sqrt(), "{think_time}: {window:?} {expected}");
        }
    }
}

/// More users than the fleet can answer wait, all of them in the end: that is said, and not that
/// debt does not grow.
#[test]
fn users_who_all_wait_are_named() {
    let overrun = report(crowd(20_000, json!({ "kind": "exponential", "mean_s": 30.0 })));
    assert_eq!(overrun.verdict.state, VerdictState::LateButStable);
    let sentence = &overrun.verdict.sentence;
    assert!(sentence.contains("debt grows until all users wait"), "{sentence}");
    assert!(sentence.contains("of 20,000 users"), "{sentence}");
    assert!(!sentence.contains("All work is done"), "{sentence}");
    assert!(overrun.debt.waiting_at_end > 1_000, "{:?}", overrun.debt);
}

/// What is due in the warm-up is not counted, so its peak is not that of what is.
#[test]
fn a_peak_in_the_warm_up_is_no_peak_of_the_window() {
    let spike = |warmup_s: f64| {
        scenario(move |document| {
            fixed(512, 64, 1.0)(document);
            document["workload"]["horizon_s"] = json!(200.0);
            document["workload"]["warmup_s"] = json!(warmup_s);
            document["workload"]["classes"][0]["arrivals"] = json!({
                "kind": "spike", "base_rps": 5.0, "peak_rps": 50.0, "start_s": 20.0,
                "duration_s": 10.0,
            });
        })
    };
    for (warmup_s, peak_rps) in [(0.0, 50.0), (25.0, 50.0), (60.0, 5.0)] {
        let scenario = spike(warmup_s);
        let simulated = answer(&scenario).expect("an answer").report.supply;
        let estimated = estimate(&scenario).supply.expect("it fits");
        for (peak, from_s) in [
            (simulated.required_peak.rps, simulated.peak_from_s),
            (estimated.required_peak.rps, estimated.peak_from_s),
        ] {
            assert!((peak - peak_rps).abs() < 1e-6, "{warmup_s}: {peak}");
            assert!(from_s + simulated.peak_window_s > warmup_s, "{from_s}");
        }
    }
}
