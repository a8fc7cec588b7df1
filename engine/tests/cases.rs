//! Public cases with right answers that no other test file holds, each under its id. Files are made
//! here, with the keys of vLLM's `bench serve --save-detailed` and numbers of our own.

use goodput_engine::ingest::read_file;
use goodput_engine::review::{MeasuredGoodput, report_under};
use goodput_engine::slo::{Limit, Outcome, parse_limits};
use serde_json::json;

/// One request: TTFT and the gap between its 11 tokens, seconds; `None` of one that failed.
type Asked = Option<(f64, f64)>;

/// A result file of `bench serve` with these requests.
fn result_file(requests: &[Asked], duration_s: f64, request_goodput: Option<f64>) -> Vec<u8> {
    let answered = requests.iter().flatten().count();
    let ttfts: Vec<f64> =
        requests.iter().map(|asked| asked.map_or(0.0, |(ttft, _)| ttft)).collect();
    let itls: Vec<Vec<f64>> =
        requests.iter().map(|asked| asked.map_or(vec![], |(_, gap)| vec![gap; 10])).collect();
    let errors: Vec<&str> =
        requests.iter().map(|asked| if asked.is_some() { "" } else { "HTTP 500" }).collect();
    let tokens = |n: u32| -> Vec<u32> {
        requests.iter().map(|asked| if asked.is_some() { n } else { 0 }).collect()
    };
    json!({
        "date": "20261001-090000", "backend": "openai", "endpoint_type": "openai",
        "model_id": "example/chat-8b", "num_prompts": requests.len(), "request_rate": 8.0,
        "duration": duration_s, "completed": answered, "failed": requests.len() - answered,
        "total_input_tokens": 2_000 * answered, "total_output_tokens": 11 * answered,
        "request_throughput": answered as f64 / duration_s, "request_goodput": request_goodput,
        "output_throughput": 11.0 * answered as f64 / duration_s,
        "input_lens": vec![2_000; requests.len()], "output_lens": tokens(11),
        "ttfts": ttfts, "itls": itls, "errors": errors,
    })
    .to_string()
    .into_bytes()
}

fn judged(requests: &[Asked], duration_s: f64, goodput: Option<f64>, slo: &str) -> MeasuredGoodput {
    let file = read_file("run.json", &result_file(requests, duration_s, goodput));
    let report = report_under(&[file], &parse_limits(slo).expect("limits"), &[]);
    let [file] = &report.files[..] else { panic!("one file") };
    assert_eq!(file.refused, None);
    let [judged] = &file.goodput[..] else { panic!("one run: {:?}", report.findings) };
    judged.clone()
}

/// Some good requests and some others.
fn mixed(good: usize, other: Asked, others: usize) -> Vec<Asked> {
    let mut requests = vec![Some((0.4, 0.040)); good];
    requests.extend(vec![other; others]);
    requests
}

/// D-8: vLLM's comparison of two colocated layouts with two disaggregated ones, 100 requests at 8
/// a second, TTFT under 1 s and ITL under 50 ms. Goodput 2.08, 2.4, 5.6 and 5.84 a second; the
/// colocated lose theirs to the gaps, the disaggregated to the first token.
#[test]
fn d_8_layouts_are_bound_by_different_limits() {
    let slow_gaps = Some((0.4, 0.065));
    let late_first = Some((1.3, 0.040));
    for (layout, good, lost, rate, bound_by) in [
        ("TP8", 26, slow_gaps, 2.08, Limit::Itl),
        ("2 × TP4", 30, slow_gaps, 2.4, Limit::Itl),
        ("1P1D, read", 70, late_first, 5.6, Limit::Ttft),
        ("1P1D, write", 73, late_first, 5.84, Limit::Ttft),
    ] {
        let requests = mixed(good, lost, 100 - good);
        let judged = judged(&requests, 12.5, Some(rate), "ttft=1s,itl_p95=50ms");
        assert_eq!((judged.offered, judged.good), (100, good as u64), "{layout}");
        assert!((judged.good_rps.expect("a duration") - rate).abs() < 1e-9, "{layout}");
        let limits = &judged.accounting.relaxing.limits;
        let most = limits.iter().max_by_key(|limit| limit.saved).expect("limits");
        assert_eq!((most.limit, most.saved), (bound_by, 100 - good as u64), "{layout}");
        // Nothing that is bound by the one limit misses the other.
        let marginals = &judged.accounting.marginals.limits;
        let alone = marginals.iter().find(|limit| limit.limit == bound_by).expect("all limits");
        assert_eq!(alone.alone, alone.missed, "{layout}");
    }
}

/// A10: 49 of 150 answers are errors. However loose the limits, no more than 67.3 % are good; 97 of
/// 150 leave 35.3 %, 130 leave 13.3 %.
#[test]
fn a10_errors_bound_goodput_however_loose_the_limits() {
    for (errors, share) in [(49, 0.673), (97, 0.353), (130, 0.133)] {
        let judged = judged(&mixed(150 - errors, None, errors), 60.0, None, "ttft=600s,e2e=600s");
        assert_eq!(judged.offered, 150);
        assert_eq!(judged.outcomes[&Outcome::Error], errors as u64);
        assert!((judged.attainment - share).abs() < 5e-4, "{}", judged.attainment);
        // Over the answered ones all is well: what a chart of their TTFT would show.
        let completed = judged.accounting.denominators.completed;
        assert_eq!((completed.good, completed.of), (150 - errors as u64, 150 - errors as u64));
        let ttft = judged.accounting.percentiles.iter().find(|p| p.of == Limit::Ttft);
        let ttft = ttft.expect("every quantity");
        let worst = |p: &goodput_engine::accounts::report::Percentiles| p.p99;
        assert_eq!(worst(&ttft.over_offered), None, "the 99th of all never came");
        assert!(worst(&ttft.over_completed).is_some());
    }
}

/// E2: 480 answers and 3 errors, 400 good: 82.8 % of the 483, beside the 83.3 % of the answered that
/// inference-perf prints. A limit without a unit is asked back (`slo::limits_text`).
#[test]
fn e2_the_denominator_is_what_was_offered() {
    let mut requests = mixed(400, Some((0.4, 0.090)), 80);
    requests.extend([None; 3]);
    let judged = judged(&requests, 100.0, None, "ttft=1s,tpot=50ms");
    assert_eq!((judged.offered, judged.good), (483, 400));
    assert!((100.0 * judged.attainment - 82.8).abs() < 0.05, "{}", judged.attainment);
    let reading = |rule: &str| {
        let found = judged.accounting.readings.iter().find(|reading| reading.rule == rule);
        found.expect("a known rule").share
    };
    let native = reading("inference-perf");
    assert_eq!((native.good, native.of), (400, 480));
    let share = native.share.expect("somebody answered");
    assert!((100.0 * share - 83.3).abs() < 0.05, "{share}");
    assert_eq!(reading("goodput").of, 483);
    assert!(parse_limits("ttft=0.2").is_err(), "0.2 of what?");
}

/// Two streams of equal TPOT: one even, one that pauses for 3 s and then bundles. Only limits on
/// gaps tell them apart, by the longest or by a percentile of the request's own.
#[test]
fn equal_tpot_hides_a_pause_of_three_seconds() {
    let even = vec![0.4; 10];
    let mut paused = vec![3.0];
    paused.extend(vec![1.0 / 9.0; 9]);
    let mut file: serde_json::Value =
        serde_json::from_slice(&result_file(&[Some((0.5, 0.4)); 2], 10.0, None)).expect("JSON");
    file["itls"] = json!([even, paused]);
    let judge = |slo: &str| {
        let read = read_file("run.json", file.to_string().as_bytes());
        let report = report_under(&[read], &parse_limits(slo).expect("limits"), &[]);
        let judged = &report.files[0].goodput[0];
        (judged.good, judged.outcomes[&Outcome::Stalled])
    };
    assert_eq!(judge("tpot=401ms"), (2, 0));
    assert_eq!(judge("tpot=401ms,stall=1s"), (1, 1));
    assert_eq!(judge("tpot=401ms,itl_p95=1s"), (1, 1));
    // One gap of ten is within what p90 allows.
    assert_eq!(judge("tpot=401ms,itl_p90=1s"), (2, 0));
}
