//! Laws that the test knows come back from what they would have made a benchmark report, with honest
//! intervals; what a benchmark does not determine stays assumed.

mod report;

use super::*;
use crate::calibration::BenchmarkedPool;
use crate::ingest::{BenchmarkPoint, read_file};
use crate::scenario::doc::{PoolDoc, StepTimeSourceDoc};
use crate::scenario::{GpuRef, ModelRef, check, presets};
use crate::stats;
use serde_json::json;

/// Half of the reads of a decode, twice the fixed time: a law that lies off the known one.
const HIDDEN: [f64; 5] = [1.6, 0.8, 1.3, 1.5, 0.6];

fn pool(factors: [f64; 5]) -> Pool {
    let mut pool = PoolDoc::new(GpuRef::id("H100-SXM"), ModelRef::id("Llama-3.1-8B"), 1);
    pool.step_time.source = StepTimeSourceDoc::Coefficients {
        coefficients: StepCoefficients {
            c0_s: 1.5e-3 * factors[0],
            cw_s: 6e-3 * factors[0],
            cw_experts_s: 0.0,
            expert_share: 0.0,
            c1_s_per_token: 3e-5 * factors[1],
            c2_s_per_pair: 1e-9 * factors[2],
            c3_s_per_decode_seq: 5e-6 * factors[3],
            c4_s_per_kv_token: 5e-8 * factors[4],
            p: 2.0,
        },
        by: "this test".to_owned(),
        fitted: None,
    };
    let mut doc = presets::presets()[0].doc.clone();
    doc.fleet.pools = vec![pool];
    check(&doc).unwrap().scenario.pool
}

/// What `clients` would have measured of a pool, as the point of a file.
fn point(pool: &Pool, clients: u64) -> BenchmarkPoint {
    let mut result = json!({
        "date": "20260101-120000", "endpoint_type": "vllm", "label": null, "model_id": "Llama-3.1-8B",
        "num_prompts": 6 * clients.max(8), "completed": 6 * clients.max(8), "request_rate": "inf",
        "burstiness": 1.0, "max_concurrency": clients, "duration": 10.0,
        "total_input_tokens": 900 * 6 * clients.max(8),
        "total_output_tokens": 200 * 6 * clients.max(8), "mean_ttft_ms": 1.0, "mean_tpot_ms": 1.0,
        "output_throughput": 1.0, "request_throughput": 1.0, "total_token_throughput": 1.0
    });
    let read = |result: &serde_json::Value| {
        let file = read_file("bench.json", result.to_string().as_bytes());
        file.parsed.expect("recognised").points()[0].clone()
    };
    let (conditions, replica) = asked(&read(&result), pool);
    let run = Prediction::of(&conditions, &replica);
    result["mean_ttft_ms"] = json!(stats::mean(&run.ttft_ms));
    result["mean_tpot_ms"] = json!(stats::mean(&run.tpot_ms));
    result["output_throughput"] = json!(run.output_tps);
    read(&result)
}

fn asked(point: &BenchmarkPoint, pool: &Pool) -> (Conditions, ReplicaSpec) {
    let replica = replica_spec(pool).unwrap();
    (Conditions::of(point, &BenchmarkedPool::of(pool), &replica).unwrap(), replica)
}

fn run(point: &BenchmarkPoint, pool: &Pool) -> (Conditions, Vec<Observation>) {
    (asked(point, pool).0, Observation::all(point))
}

fn fitted(points: &[BenchmarkPoint]) -> PointLaw {
    let known = pool([1.0; 5]);
    let of: Vec<_> = points.iter().map(|point| run(point, &known)).collect();
    fit_law(&of, &known).unwrap().expect("points")
}

fn predicted(law: &PointLaw, point: &BenchmarkPoint) -> Vec<Banded> {
    let known = pool([1.0; 5]);
    let (conditions, observations) = run(point, &known);
    law.predict((&conditions, &observations), &known).unwrap()
}

#[test]
fn two_loads_tell_what_a_third_reports() {
    let hidden = pool(HIDDEN);
    let law = fitted(&[point(&hidden, 4), point(&hidden, 64)]);
    assert!(law.residual < 0.02, "{}", law.residual);
    let read = point(&hidden, 24);
    for banded in predicted(&law, &read) {
        let error = banded.predicted / banded.measured - 1.0;
        assert!(error.abs() < 0.03, "{banded:?}");
        assert!(banded.low < banded.measured && banded.measured < banded.high, "{banded:?}");
    }
    let fixed = &law.terms[0];
    assert!(fixed.measured && fixed.low < HIDDEN[0] && HIDDEN[0] < fixed.high, "{fixed:?}");
    assert!(law.outside_ms.abs() < law.outside_ms_half_width + 2.0, "{law:?}");
}

#[test]
fn one_saturated_load_leaves_pairs_and_sequences_assumed() {
    let hidden = pool(HIDDEN);
    let law = fitted(&[point(&hidden, 96)]);
    let of = |name: &str| law.terms.iter().find(|term| term.term.contains(name)).expect("a term");
    for name in ["(c2)", "(c3)"] {
        let term = of(name);
        assert!(!term.measured, "{term:?}");
        assert!(term.high / term.low > 2.0, "{term:?}");
    }
    // More loads never make anything less certain.
    let more = fitted(&[point(&hidden, 96), point(&hidden, 4)]);
    for (one, two) in law.terms.iter().zip(&more.terms) {
        assert!(two.high / two.low <= 1.02 * one.high / one.low, "{one:?} {two:?}");
    }
}

#[test]
fn a_law_that_is_known_already_is_left_as_it_is() {
    let known = pool([1.0; 5]);
    let law = fitted(&[point(&known, 8), point(&known, 48)]);
    for term in &law.terms {
        assert!((term.factor - 1.0).abs() < 0.02, "{term:?}");
    }
    assert!(fit_law(&[], &known).unwrap().is_none());
}

#[test]
fn a_number_that_no_law_explains_does_not_decide() {
    let hidden = pool(HIDDEN);
    let mut broken = point(&hidden, 16);
    for stats in [&mut broken.tpot, &mut broken.ttft] {
        let stats = stats.as_mut().expect("reported");
        stats.mean_ms = stats.mean_ms.map(|ms| 4.0 * ms);
    }
    let sound = [4, 32, 64].map(|clients| point(&hidden, clients));
    let law = fitted(&[&sound[..], &[broken]].concat());
    for banded in predicted(&law, &point(&hidden, 24)) {
        assert!((banded.predicted / banded.measured - 1.0).abs() < 0.1, "{banded:?}");
    }
}
