//! One scalar from benchmark points: truths that the simulator made must come back.

mod common;

use common::scenario;
use goodput_engine::accounts::replica_spec;
use goodput_engine::calibration::{
    BenchmarkFile, BenchmarkedPool, CalibrationReport, Conditions, Prediction, calibrate_pool,
    calibrate_pool_with_curves,
};
use goodput_engine::ingest::{BenchmarkPoint, Contents, ParsedFile, read_file};
use goodput_engine::scenario::{Scenario, Service};
use goodput_engine::sim::ReplicaSpec;
use serde_json::{Value, json};

/// One replica of `scenario` whose steps take `scale` times as long.
fn replica(scenario: &Scenario, scale: f64) -> ReplicaSpec {
    let mut changed = scenario.clone();
    let budget = u64::from(changed.pool.scheduler.max_num_batched_tokens);
    if let Service::Steps(step_time) = &mut changed.pool.service {
        step_time.law = step_time.resolved.compile(budget, scale, step_time.step_overhead_s);
    }
    replica_spec(&changed.pool).expect("it has a step law")
}

fn identity() -> BenchmarkedPool {
    BenchmarkedPool {
        model: "llama-3.1-8b".to_owned(),
        gpu: "h100-sxm".to_owned(),
        tensor_parallel: 1,
    }
}

/// A result of `vllm bench serve` with the aggregates that a run of `load` gives at `scale`.
fn vllm_result(scenario: &Scenario, load: &Value, scale: f64, distort: f64) -> Vec<BenchmarkPoint> {
    let mut result = template();
    for (key, value) in load.as_object().expect("an object") {
        result[key] = value.clone();
    }
    let spec = replica(scenario, scale);
    let conditions = Conditions::of(&points(&result)[0], &identity(), &spec).expect("usable");
    let truth = Prediction::of(&conditions, &spec);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    result["mean_ttft_ms"] = json!(mean(&truth.ttft_ms) * distort);
    result["mean_tpot_ms"] = json!(mean(&truth.tpot_ms) * distort);
    result["output_throughput"] = json!(truth.output_tps / distort);
    points(&result)
}

fn template() -> Value {
    json!({
        "date": "20260101-120000", "endpoint_type": "vllm", "label": null,
        "model_id": "meta-llama/Llama-3.1-8B", "num_prompts": 400, "completed": 400,
        "request_rate": "inf", "burstiness": 1.0, "max_concurrency": null,
        "duration": 60.0, "total_input_tokens": 400 * 512, "total_output_tokens": 400 * 128,
        "request_throughput": 1.0, "output_throughput": 1.0, "total_token_throughput": 1.0,
        "mean_ttft_ms": 1.0, "median_ttft_ms": 1.0, "std_ttft_ms": 0.0, "p99_ttft_ms": 1.0,
        "mean_tpot_ms": 1.0, "median_tpot_ms": 1.0, "std_tpot_ms": 0.0, "p99_tpot_ms": 1.0,
        "mean_itl_ms": 1.0, "median_itl_ms": 1.0, "std_itl_ms": 0.0, "p99_itl_ms": 1.0
    })
}

fn file_of(result: &Value) -> ParsedFile {
    read_file("bench.json", result.to_string().as_bytes())
}

fn points(result: &Value) -> Vec<BenchmarkPoint> {
    file_of(result).parsed.expect("it is recognised").points().to_vec()
}

/// Every point in a file of its own: what the review says of one is not said of the others.
fn fit(scenario: &Scenario, points: &[BenchmarkPoint]) -> CalibrationReport {
    let file = |(index, point): (usize, &BenchmarkPoint)| {
        let mut file = file_of(&template());
        file.file = format!("bench-{index}.json");
        let parsed = file.parsed.as_mut().expect("it is recognised");
        parsed.contents = Contents::Benchmark { points: vec![point.clone()], records: Vec::new() };
        BenchmarkFile { file, sha256: format!("ab{index}") }
    };
    let files: Vec<BenchmarkFile> = points.iter().enumerate().map(file).collect();
    calibrate_pool(&files, &scenario.pool).expect("it has a step law")
}

#[test]
fn a_known_factor_comes_back_from_every_kind_of_load() {
    let scenario = scenario(|_| {});
    for load in [
        json!({ "request_rate": 8.0 }),
        json!({ "request_rate": 25.0, "burstiness": 0.5 }),
        json!({ "max_concurrency": 32 }),
        json!({ "request_rate": 30.0, "max_concurrency": 64 }),
        json!({}),
    ] {
        for truth in [0.8, 1.3] {
            let points = vllm_result(&scenario, &load, truth, 1.0);
            let report = fit(&scenario, &points);
            let scale = report.step_time_scale.expect("a factor");
            assert!((scale / truth - 1.0).abs() < 0.02, "{load} {truth}: {scale}");
            assert!(report.residual.expect("errors") < 0.02);
            assert!(report.residual_before.expect("errors") > 0.05, "{:#?}", report.points);
        }
    }
}

#[test]
fn one_broken_point_among_several_does_not_decide() {
    let scenario = scenario(|_| {});
    let mut points = Vec::new();
    for rate in [4.0, 8.0, 12.0, 16.0] {
        points.extend(vllm_result(&scenario, &json!({ "request_rate": rate }), 1.3, 1.0));
    }
    points.extend(vllm_result(&scenario, &json!({ "max_concurrency": 16 }), 1.3, 4.0));
    let report = fit(&scenario, &points);
    let scale = report.step_time_scale.expect("a factor");
    assert!((scale / 1.3 - 1.0).abs() < 0.05, "{scale}");
    assert_eq!(report.points.len(), 5, "it is shown all the same");
}

#[test]
fn an_output_rate_below_saturation_determines_nothing() {
    let scenario = scenario(|_| {});
    let mut points = vllm_result(&scenario, &json!({ "request_rate": 4.0 }), 1.3, 1.0);
    (points[0].ttft, points[0].tpot, points[0].itl) = (None, None, None);
    let report = fit(&scenario, &points);
    assert_eq!((report.step_time_scale, report.fitted), (None, None));
    assert!(report.undetermined.expect("a reason").contains("below saturation"));
    let weight = report.points[0].statistics[0].weight;
    assert!(weight < 0.1, "{weight}");
    // The same rate from clients that wait for each other tells all of it.
    let mut points = vllm_result(&scenario, &json!({ "max_concurrency": 16 }), 1.3, 1.0);
    (points[0].ttft, points[0].tpot, points[0].itl) = (None, None, None);
    let report = fit(&scenario, &points);
    assert!((report.step_time_scale.expect("a factor") / 1.3 - 1.0).abs() < 0.02);
    assert!(report.points[0].statistics[0].weight > 0.9, "inversely proportional");
}

#[test]
fn another_machine_is_not_a_factor() {
    let scenario = scenario(|_| {});
    let points = vllm_result(&scenario, &json!({ "max_concurrency": 16 }), 9.0, 1.0);
    let report = fit(&scenario, &points);
    assert_eq!(report.step_time_scale, None);
    assert!(report.undetermined.expect("a reason").contains("same GPU"));
}

#[test]
fn what_cannot_be_compared_is_left_out_and_said() {
    let scenario = scenario(|_| {});
    let good = vllm_result(&scenario, &json!({ "request_rate": 8.0 }), 1.0, 1.0).remove(0);
    let with = |edit: &dyn Fn(&mut BenchmarkPoint)| {
        let mut point = good.clone();
        edit(&mut point);
        point
    };
    let bad = [
        (with(&|p| p.load = goodput_engine::ingest::Load::Unstated), "load"),
        (with(&|p| p.context.tensor_parallel = Some(4)), "TP4"),
        (with(&|p| p.context.gpu = Some("NVIDIA A100-SXM4-80GB".into())), "A100"),
        (with(&|p| p.context.model = Some("Qwen/Qwen2.5-7B".into())), "Qwen"),
        (with(&|p| p.output = None), "output length"),
        (with(&|p| p.completed = Some(0)), "completed"),
        (with(&|p| p.failed = Some(200)), "failed"),
        (
            with(&|p| (p.ttft, p.tpot, p.itl, p.token_rates) = (None, None, None, vec![])),
            "states no",
        ),
    ];
    let points: Vec<BenchmarkPoint> = bad.iter().map(|(point, _)| point.clone()).collect();
    let report = fit(&scenario, &points);
    assert_eq!((report.step_time_scale, report.points.len()), (None, 0));
    for (excluded, (_, word)) in report.excluded.iter().zip(&bad) {
        assert!(excluded.reason.contains(word), "{word}: {}", excluded.reason);
    }
    let all = fit(&scenario, &[points, vec![good]].concat());
    assert_eq!((all.points.len(), all.excluded.len()), (1, 8));
    assert!(all.assumptions.iter().any(|text| text.contains("GPU of the benchmark")));
}

#[test]
fn the_fit_is_ready_for_a_document() {
    let scenario = scenario(|_| {});
    let points = vllm_result(&scenario, &json!({ "max_concurrency": 8 }), 1.2, 1.0);
    let report = fit(&scenario, &points);
    let fitted = report.fitted.expect("a fit");
    assert_eq!((fitted.points, fitted.fingerprint.as_str()), (1, "sha256:ab0"));
    assert_eq!(Some(fitted.step_time_scale), report.step_time_scale);
    let range = report.range_of_trust.expect("a range");
    assert!(range.decode_seqs.0 > 6.0 && range.decode_seqs.1 <= 8.0);
}

#[test]
fn the_same_gpu_is_recognised_in_other_spellings() {
    let scenario = scenario(|_| {});
    let good = vllm_result(&scenario, &json!({ "request_rate": 8.0 }), 1.0, 1.0).remove(0);
    let spec = replica(&scenario, 1.0);
    for (gpu, same) in [
        ("H100", true),
        ("NVIDIA H100 80GB HBM3", true),
        ("h100-sxm", true),
        ("A100 80GB", false),
        ("NVIDIA L40S", false),
    ] {
        let mut point = good.clone();
        point.context.gpu = Some(gpu.to_owned());
        assert_eq!(Conditions::of(&point, &identity(), &spec).is_ok(), same, "{gpu}");
    }
}

#[test]
fn curves_pass_through_the_predictions_of_the_points_and_rise_with_the_load() {
    let scenario = scenario(|_| {});
    let mut all = Vec::new();
    for concurrency in [8, 32, 96] {
        let load = json!({"max_concurrency": concurrency});
        all.extend(vllm_result(&scenario, &load, 1.3, 1.0));
    }
    for rate in [2.0, 6.0] {
        all.extend(vllm_result(&scenario, &json!({"request_rate": rate}), 1.3, 1.0));
    }
    let mut file = file_of(&template());
    let parsed = file.parsed.as_mut().expect("it is recognised");
    parsed.contents = Contents::Benchmark { points: all, records: Vec::new() };
    let files = [BenchmarkFile { file, sha256: "ab12".to_owned() }];
    let (report, curves) = calibrate_pool_with_curves(&files, &scenario.pool).expect("steps");
    assert_eq!(report, calibrate_pool(&files, &scenario.pool).expect("steps"));
    let kinds: Vec<bool> = curves.iter().map(|curve| curve.closed_loop).collect();
    assert_eq!(kinds, [true, false], "one of the closed loops, one of the rates");
    for point in &report.points {
        let load = point.rate_rps.or(point.concurrency.map(|n| n as f64)).expect("a load");
        let curve = curves.iter().find(|c| c.closed_loop == point.rate_rps.is_none());
        let at = curve.and_then(|c| c.points.iter().find(|p| (p.load - load).abs() < 1e-9));
        for fitted in &point.statistics {
            let on_curve = at.and_then(|at| at.statistics.iter().find(|s| s.name == fitted.name));
            let on_curve = on_curve.expect("the same statistic");
            assert_eq!(on_curve.predicted.to_bits(), fitted.predicted.to_bits());
            assert_eq!(on_curve.predicted_before.to_bits(), fitted.predicted_before.to_bits());
        }
    }
    for curve in &curves {
        let tpot = |at: usize| {
            let found = curve.points[at].statistics.iter().find(|s| s.name == "tpot_mean_ms");
            found.expect("it was reported").predicted
        };
        let last = curve.points.len() - 1;
        assert!(curve.points[0].load < curve.points[last].load);
        assert!(tpot(0) < tpot(last), "{} {}", tpot(0), tpot(last));
    }
}
