//! What is said of a fit: outcomes, rows left out, the next measurement, and the law in a scenario.

use super::*;
use crate::calibration::BenchmarkFile;
use crate::scenario::doc::ScenarioDoc;
use crate::scenario::link;
use crate::step_time::{Load, Origin};

/// What `clients` would have measured of a pool, latencies and duration `distort` times as long, as a
/// file.
fn file(pool: &Pool, clients: u64, distort: f64) -> BenchmarkFile {
    let requests = 6 * clients.max(8);
    let mut result = json!({
        "date": "20260101-120000", "endpoint_type": "vllm", "label": null, "model_id": "Llama-3.1-8B",
        "num_prompts": requests, "completed": requests, "request_rate": "inf", "burstiness": 1.0,
        "max_concurrency": clients, "duration": 10.0, "total_input_tokens": 900 * requests,
        "total_output_tokens": 200 * requests, "mean_ttft_ms": 1.0, "mean_tpot_ms": 1.0,
        "output_throughput": 1.0, "request_throughput": 1.0, "total_token_throughput": 1.0
    });
    let name = format!("{clients}-clients.json");
    let read = |result: &serde_json::Value| read_file(&name, result.to_string().as_bytes());
    let blank = read(&result);
    let blank = blank.parsed.expect("recognised");
    let (conditions, replica) = asked(&blank.points()[0], pool);
    let run = Prediction::of(&conditions, &replica);
    let duration = distort * 200.0 * requests as f64 / run.output_tps;
    let mean = |values: &[f64]| distort * stats::mean(values).expect("it served");
    result["mean_ttft_ms"] = json!(mean(&run.ttft_ms));
    result["mean_tpot_ms"] = json!(mean(&run.tpot_ms));
    result["duration"] = json!(duration);
    result["output_throughput"] = json!(200.0 * requests as f64 / duration);
    result["request_throughput"] = json!(requests as f64 / duration);
    result["total_token_throughput"] = json!(1100.0 * requests as f64 / duration);
    BenchmarkFile { file: read(&result), sha256: format!("{clients:04x}") }
}

fn files(points: &[(u64, f64)]) -> Vec<BenchmarkFile> {
    let hidden = pool(HIDDEN);
    points.iter().map(|(clients, distort)| file(&hidden, *clients, *distort)).collect()
}

fn reported(points: &[(u64, f64)]) -> LawReport {
    law_report(&files(points), &pool([1.0; 5])).unwrap()
}

const SOUND: [(u64, f64); 3] = [(4, 1.0), (16, 1.0), (64, 1.0)];

fn is_measured(report: &LawReport, name: &str) -> bool {
    let found = report.coefficients.iter().find(|coefficient| coefficient.name == name);
    found.expect("a coefficient").measured
}

#[test]
fn outcomes_say_what_the_points_determine_and_which_do_not_belong() {
    // Points, outcome, files left out, in the sentence.
    type Case = (&'static [(u64, f64)], Outcome, &'static [&'static str], &'static str);
    let cases: [Case; 4] = [
        (&SOUND, Outcome::Converged, &[], "measured are"),
        (
            &[(4, 1.0), (16, 4.0), (32, 1.0), (64, 1.0)],
            Outcome::Converged,
            &["16-clients.json"],
            "measured are",
        ),
        (&[(16, 1.0), (16, 6.0)], Outcome::Inconsistent, &[], "no law explains"),
        (&[], Outcome::NotIdentifiable, &[], "no point"),
    ];
    for (points, outcome, left_out, sentence) in cases {
        let report = reported(points);
        assert_eq!(report.outcome, outcome, "{points:?}: {}", report.because);
        assert!(report.because.contains(sentence), "{}", report.because);
        assert_eq!(report.source.is_some(), outcome == Outcome::Converged, "{points:?}");
        let names: Vec<&str> = report.excluded.iter().map(|row| row.file.as_str()).collect();
        assert_eq!(names, left_out, "{points:?}");
        for row in &report.excluded {
            assert!(row.reason.contains("measured"), "{}", row.reason);
        }
    }
    let report = reported(&SOUND);
    assert!(report.residual < report.residual_before, "{report:?}");
    let left_out = report.left_out.expect("several points");
    assert!(left_out.numbers == 9 && left_out.median_error < 0.05, "{left_out:?}");
    assert!(left_out.covered > 0.85, "{left_out:?}");
    for coefficient in &report.coefficients {
        assert!(coefficient.low <= coefficient.value && coefficient.value <= coefficient.high);
    }
}

#[test]
fn one_saturated_row_leaves_c2_and_c3_assumed_and_says_so() {
    let report = reported(&[(96, 1.0)]);
    for name in ["c2_s_per_pair", "c3_s_per_decode_seq"] {
        assert!(!is_measured(&report, name), "{:?}", report.coefficients);
    }
    assert_eq!(report.left_out, None);
    match (report.outcome, &report.source) {
        (Outcome::Converged, Some(StepTimeSourceDoc::Coefficients { fitted, .. })) => {
            let assumed = &fitted.as_ref().expect("a fit").assumed;
            assert!(assumed.iter().any(|name| name == "c2_s_per_pair"), "{assumed:?}");
            assert!(assumed.iter().any(|name| name == "c3_s_per_decode_seq"), "{assumed:?}");
            let (_, assumed) = report.because.split_once("assumed").expect("it says so");
            assert!(assumed.contains("(c2)") && assumed.contains("(c3)"), "{assumed}");
        }
        (Outcome::NotIdentifiable, None) => assert!(report.because.contains("--law")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_next_measurement_narrows_what_it_says_it_would() {
    let before = reported(&[(96, 1.0)]);
    let next = before.measure_next.expect("more can be learnt");
    assert!(next.clients != 96 && !next.narrows.is_empty(), "{next:?}");
    let named = next.narrows[0].term;
    // With prompts of the same length at least, it can be made here.
    let after = reported(&[(96, 1.0), (u64::from(next.clients), 1.0)]);
    let width = |report: &LawReport| {
        report.coefficients.iter().map(|c| math::ln(c.high / c.low)).sum::<f64>()
    };
    assert!(width(&after) < width(&reported(&[(96, 1.0)])), "{named}");
}

#[test]
fn a_fitted_law_is_measured_in_the_scenario_and_survives_a_link() {
    let report = reported(&SOUND);
    let mut doc: ScenarioDoc = presets::presets()[0].doc.clone();
    doc.fleet.pools[0] = PoolDoc::new(GpuRef::id("H100-SXM"), ModelRef::id("Llama-3.1-8B"), 1);
    doc.fleet.pools[0].step_time.source = report.source.clone().expect("a law");
    let scenario = check(&doc).unwrap().scenario;
    let step_time = scenario.pool.step_time().expect("a law");
    let resolved = &step_time.resolved;
    assert_eq!(resolved.provenance.origin, Origin::Measured);
    assert!(resolved.provenance.source.contains("3 points of 4-clients.json"));
    assert!(resolved.provenance.band.is_some_and(|band| band.typical < 0.05));
    let load = |decode_seqs| Load { decode_seqs, kv_per_seq: 1000, ..Load::default() };
    assert!(resolved.extrapolations(&load(60)).is_empty(), "{:?}", resolved.hull);
    assert!(!resolved.extrapolations(&load(200)).is_empty());
    let fragment = link::encode(&doc).unwrap().fragment;
    assert_eq!(link::decode(&fragment).unwrap().doc, doc);
    // What the scenario predicts is what the hidden law does, not the catalogue's.
    let truth = pool(HIDDEN).step_time().expect("a law").resolved.law.clone();
    let shape = crate::step_time::BatchShape {
        decode_seqs: 32,
        kv_tokens: 32 * 1000,
        ..Default::default()
    };
    let ratio = resolved.law.seconds(&shape) / truth.seconds(&shape);
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
}
