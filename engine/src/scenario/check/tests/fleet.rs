//! Rules of the fleet and of its step time.

use super::*;
use crate::catalog;
use crate::fleet::WeightPrecision;
use crate::scenario::{CatalogRef, Service};
use crate::step_time::{BatchShape, StepCoefficients};
use crate::workload::OfferedRequest;

pub(super) fn step_time(change: impl FnOnce(&mut StepTimeDoc)) -> ScenarioDoc {
    pool(|pool| change(&mut pool.step_time))
}

pub(super) fn coefficients() -> StepCoefficients {
    StepCoefficients {
        c0_s: 0.005,
        cw_s: 0.001,
        cw_experts_s: 0.0,
        expert_share: 0.0,
        c1_s_per_token: 2e-5,
        c2_s_per_pair: 1e-9,
        c3_s_per_decode_seq: 1e-6,
        c4_s_per_kv_token: 1e-8,
        p: 2.0,
    }
}

fn fitted(step_time_scale: f64, points: u32, residual: f64) -> FittedScaleDoc {
    let files = vec!["bench.json".to_owned()];
    FittedScaleDoc { step_time_scale, files, fingerprint: "ab12".to_owned(), points, residual }
}

#[test]
fn fleet_rules() {
    let bad_gpu = pool(|p| {
        let mut spec = catalog::gpus()[0].spec.clone();
        spec.memory_gib = -1.0;
        p.gpu = CatalogRef::Custom(Box::new(spec));
    });
    each_breaks_one_rule(vec![
        (with(|d| d.fleet.pools.clear()), "fleet.pools", "add one pool"),
        (pool(|p| p.gpu = GpuRef::id("H100-SMX")), "fleet.pools[0].gpu", "H100-SXM"),
        (pool(|p| p.model = ModelRef::id("Lama-3.1-8B")), "fleet.pools[0].model", "Llama-3.1-8B"),
        (bad_gpu, "fleet.pools[0].gpu.memory_gib", "-1"),
        (pool(|p| p.replicas = 0), "fleet.pools[0].replicas", "1 to 10,000"),
        (pool(|p| p.replicas = 10_001), "fleet.pools[0].replicas", "1 to 10,000"),
        (pool(|p| p.tensor_parallel = 3), "fleet.pools[0].tensor_parallel", "32 attention heads"),
        (pool(|p| p.max_num_seqs = 0), "fleet.pools[0].max_num_seqs", "seats"),
        (pool(|p| p.block_size = 24), "fleet.pools[0].block_size", "power of two"),
        (pool(|p| p.block_size = 0), "fleet.pools[0].block_size", "power of two"),
        (
            pool(|p| p.gpu_memory_utilization = 1.01),
            "fleet.pools[0].gpu_memory_utilization",
            "up to 1",
        ),
        (pool(|p| p.num_gpu_blocks = Some(1)), "fleet.pools[0].num_gpu_blocks", "2 or more"),
        (
            pool(|p| p.max_num_batched_tokens = 255),
            "fleet.pools[0].max_num_batched_tokens",
            "below max_num_seqs 256",
        ),
        (
            pool(|p| p.enable_chunked_prefill = false),
            "fleet.pools[0].max_num_batched_tokens",
            "below max_model_len 131072",
        ),
        (pool(|p| p.max_model_len = Some(0)), "fleet.pools[0].max_model_len", "1 to 131,072"),
        (pool(|p| p.max_model_len = Some(131_073)), "fleet.pools[0].max_model_len", "1 to 131,072"),
        (
            pool(|p| p.price_per_gpu_hour = Some(-0.5)),
            "fleet.pools[0].price_per_gpu_hour",
            "no price, no cost",
        ),
        (
            pool(|p| p.weight_precision = WeightPrecision::BytesPerParam(0.0)),
            "fleet.pools[0].weight_precision.bytes_per_param",
            "0.05",
        ),
    ]);
    // What vLLM allows is allowed: without chunking, a budget that holds the longest sequence.
    check(&pool(|p| {
        p.enable_chunked_prefill = false;
        p.max_model_len = Some(2_048);
    }))
    .unwrap();
}

#[test]
fn typed_step_time_rules() {
    let declared = |input, output| {
        step_time(|s| {
            s.source = StepTimeSourceDoc::Declared {
                declared_input_tps: input,
                declared_output_tps: output,
            };
        })
    };
    let typed = |change: fn(&mut StepCoefficients), by: &str| {
        let mut coefficients = coefficients();
        change(&mut coefficients);
        let source =
            StepTimeSourceDoc::Coefficients { coefficients, by: by.to_owned(), fitted: None };
        step_time(|s| s.source = source)
    };
    let mut declared_and_fitted = declared(None, Some(100.0));
    declared_and_fitted.fleet.pools[0].step_time.fitted = Some(fitted(1.1, 3, 0.02));
    each_breaks_one_rule(vec![
        (
            declared(None, None),
            "fleet.pools[0].step_time.source.declared_output_tps",
            "no rate is declared",
        ),
        (
            declared(Some(0.0), Some(1.0)),
            "fleet.pools[0].step_time.source.declared_input_tps",
            "above 0",
        ),
        (declared_and_fitted, "fleet.pools[0].step_time.source", "no steps"),
        (
            typed(|c| c.c2_s_per_pair = -1.0, "me"),
            "fleet.pools[0].step_time.source.coefficients.c2_s_per_pair",
            "-1",
        ),
        (typed(|_| (), " "), "fleet.pools[0].step_time.source.by", "who says so"),
    ]);
}

#[test]
fn source_fit_and_overhead_rules() {
    each_breaks_one_rule(vec![
        (
            pool(|p| {
                p.gpu = GpuRef::id("RTX-4090");
                p.max_model_len = Some(8_192);
                p.step_time.source = StepTimeSourceDoc::Physics;
            }),
            "fleet.pools[0].step_time.source",
            "no physics step time of Llama-3.1-8B on RTX-4090",
        ),
        (
            step_time(|s| s.fitted = Some(fitted(0.0, 3, 0.02))),
            "fleet.pools[0].step_time.fitted.step_time_scale",
            "0.01 to 100",
        ),
        (
            step_time(|s| s.fitted = Some(fitted(1.0, 0, 0.02))),
            "fleet.pools[0].step_time.fitted.points",
            "1 to",
        ),
        (
            step_time(|s| s.step_overhead_ms = -1.0),
            "fleet.pools[0].step_time.step_overhead_ms",
            "0 to 10,000",
        ),
        (
            step_time(|s| s.api_overhead_ms = f64::NAN),
            "fleet.pools[0].step_time.api_overhead_ms",
            "NaN",
        ),
    ]);
}

#[test]
fn what_does_not_fit_is_a_state_of_the_pool_and_no_problem() {
    let doc = pool(|p| p.model = ModelRef::id("Llama-3.1-405B"));
    let Checked { scenario, warnings } = check(&doc).unwrap();
    assert_eq!(warnings, []);
    let fit = scenario.pool.memory.does_not_fit.unwrap().smallest_fitting.unwrap();
    assert_eq!((fit.gpus, fit.tensor_parallel, fit.pipeline_parallel), (16, 8, 2));
}

#[test]
fn a_source_is_taken_at_its_word() {
    let source = |source: StepTimeSourceDoc| {
        check(&step_time(|s| s.source = source)).unwrap().scenario.pool.service
    };
    let origin = |service: Service| match service {
        Service::Steps(step_time) => Some(step_time.resolved.provenance.origin),
        Service::Declared(_) => None,
    };
    let typed = StepTimeSourceDoc::Coefficients {
        coefficients: coefficients(),
        by: "me".into(),
        fitted: None,
    };
    let declared = StepTimeSourceDoc::Declared {
        declared_input_tps: None,
        declared_output_tps: Some(10_000.0),
    };
    for (doc, expected) in [
        (StepTimeSourceDoc::Catalog, Some(Origin::Library)),
        (StepTimeSourceDoc::Physics, Some(Origin::Physics)),
        (StepTimeSourceDoc::Datasheet, Some(Origin::Datasheet)),
        (typed, Some(Origin::Declared)),
        (declared, None),
    ] {
        assert_eq!(origin(source(doc.clone())), expected, "{doc:?}");
    }
}

#[test]
fn a_fit_scales_every_step_and_makes_it_measured() {
    let steps = |change: &dyn Fn(&mut StepTimeDoc)| {
        let pool = check(&step_time(|s| change(s))).unwrap().scenario.pool;
        pool.step_time().unwrap().clone()
    };
    let shape = BatchShape { decode_seqs: 64, kv_tokens: 64_000, ..BatchShape::default() };
    let plain = steps(&|_| ());
    let slower = steps(&|s| s.fitted = Some(fitted(1.25, 6, 0.02)));
    let ratio = slower.law.step(shape).0 as f64 / plain.law.step(shape).0 as f64;
    assert!((ratio - 1.25).abs() < 1e-4, "{ratio}");
    assert_eq!(slower.resolved.provenance.origin, Origin::Measured);
    let band = slower.resolved.provenance.band.unwrap();
    assert!((band.high - 1.058).abs() < 1e-3 && (band.typical - 0.02).abs() < 1e-12);
    let one_point = steps(&|s| s.fitted = Some(fitted(1.25, 1, 0.0)));
    assert_eq!(one_point.resolved.provenance.band, None);
    let overhead = steps(&|s| s.step_overhead_ms = 2.0);
    assert_eq!(overhead.law.step(shape) - plain.law.step(shape), Picos::from_millis(2.0));
}

#[test]
fn admission_rules() {
    let admission = |change: fn(&mut AdmissionDoc)| with(|d| change(&mut d.fleet.admission));
    let bucket = |rate_rps, burst| {
        with(|d| d.fleet.admission.token_bucket = Some(TokenBucketDoc { rate_rps, burst }))
    };
    each_breaks_one_rule(vec![
        (admission(|a| a.max_waiting = Some(0)), "fleet.admission.max_waiting", "none is let in"),
        (
            admission(|a| a.max_queue_age_s = Some(-1.0)),
            "fleet.admission.max_queue_age_s",
            "above 0",
        ),
        (
            admission(|a| {
                a.max_waiting = Some(9);
                a.retry_after_s = Some(f64::INFINITY);
            }),
            "fleet.admission.retry_after_s",
            "inf",
        ),
        (bucket(0.0, 5), "fleet.admission.token_bucket.rate_rps", "0.000001 to 1000000"),
        (bucket(5.0, 0), "fleet.admission.token_bucket.burst", "nobody"),
    ]);
}

#[test]
fn admission_that_does_nothing_is_a_warning() {
    let told = with(|d| d.fleet.admission.retry_after_s = Some(1.0));
    assert_eq!(warnings(&told)[0].path, "fleet.admission.retry_after_s");
    let shedding = Some(SheddingDoc { max_waiting: 5, above_priority: 0 });
    let mut shed = with(|d| d.fleet.admission.shedding = shedding);
    assert_eq!(warnings(&shed)[0].path, "fleet.admission.shedding.above_priority");
    shed.workload.classes[0].priority = 1;
    assert_eq!(warnings(&shed), []);
    assert!(check(&shed).unwrap().scenario.admission.is_limited());
}

/// Two pools and a route over both, changed.
fn two_pools(change: impl FnOnce(&mut ScenarioDoc)) -> ScenarioDoc {
    with(|doc| {
        doc.fleet.pools[0].name = "big".to_owned();
        let small = PoolDoc { name: "small".to_owned(), ..doc.fleet.pools[0].clone() };
        doc.fleet.pools.push(small);
        let leg = |pool: &str, share| LegDoc { pool: pool.to_owned(), share, quality: None };
        doc.workload.classes[0].route = vec![leg("small", 0.25), leg("big", 0.75)];
        change(doc);
    })
}

#[test]
fn a_route_leads_to_pools_by_name_with_what_is_known_of_their_answers() {
    let assumed = QualityDoc::Assumed { pass_rate: 0.5, by: "a test".to_owned() };
    let doc = two_pools(|d| d.workload.classes[0].route[0].quality = Some(assumed));
    let scenario = check(&doc).unwrap().scenario;
    let class = &scenario.classes[0];
    let legs: Vec<(u32, f64)> = class.route.legs().iter().map(|l| (l.pool, l.share)).collect();
    assert_eq!(legs, [(1, 0.25), (0, 0.75)]);
    assert_eq!(class.pass_rate(0.0), Some(0.25 * 0.5 + 0.75));
    let parts = scenario.parts();
    let names: Vec<&str> = parts.iter().map(|part| part.pool.name.as_str()).collect();
    assert_eq!(names, ["big", "small"]);
    assert_eq!(parts[1].classes[0].pass_rate(0.0), Some(0.5));
    assert_eq!(parts[0].classes[0].pass_rate(0.0), None);
    let whole = scenario.offered().unwrap();
    for (index, part) in (0..).zip(&parts) {
        let routed = whole.iter().filter(|request| request.pool == index);
        let routed: Vec<_> = routed.map(|r| OfferedRequest { pool: 0, ..*r }).collect();
        assert_eq!(part.offered().unwrap(), routed, "a part is what is routed there");
    }
}

#[test]
fn pool_and_route_rules() {
    type Change = fn(&mut ScenarioDoc);
    let cases: [(Change, &str, &str); 9] = [
        (|d| d.fleet.pools[1].name.clear(), "fleet.pools[1].name", "several"),
        (|d| d.fleet.pools[1].name = "big".into(), "fleet.pools[1].name", "two pools"),
        (|d| d.fleet.pools[0].name = "x".repeat(201), "fleet.pools[0].name", "201"),
        (|d| d.fleet.affinity_most_over_mean = 1.0, "fleet.affinity_most_over_mean", "1.01"),
        (
            |d| d.workload.classes[0].route[0].pool = "tiny".into(),
            "workload.classes[0].route[0].pool",
            "`big`, `small`",
        ),
        (|d| d.workload.classes[0].route[0].share = 0.3, "workload.classes[0].route", "1.05"),
        (
            |d| d.workload.classes[0].route[0].share = 0.0,
            "workload.classes[0].route[0].share",
            "above 0",
        ),
        (
            |d| d.workload.classes[0].route[1].pool = "small".into(),
            "workload.classes[0].route[1].pool",
            "once",
        ),
        (
            |d| {
                d.workload.classes[0].route[1].quality =
                    Some(QualityDoc::Verified { pass_rate: 2.0, source: "a test".into() });
            },
            "workload.classes[0].route[1].quality.pass_rate",
            "pass rate",
        ),
    ];
    for (change, path, says) in cases {
        let problems = check(&two_pools(change)).unwrap_err();
        let found = problems.iter().find(|problem| problem.path == path);
        let found = found.unwrap_or_else(|| panic!("{path}: {problems:?}"));
        assert!(format!("{} {}", found.message, found.hint).contains(says), "{found:?}");
    }
    let twenty_one = two_pools(|d| d.fleet.pools = vec![d.fleet.pools[0].clone(); 21]);
    assert!(check(&twenty_one).unwrap_err().iter().any(|p| p.path == "fleet.pools"));
    let idle = two_pools(|d| d.workload.classes[0].route.clear());
    assert_eq!(warnings(&idle)[0].path, "fleet.pools[1]");
}

#[test]
fn price_rules() {
    each_breaks_one_rule(vec![
        (
            pool(|p| {
                p.price_per_gpu_hour = Some(2.0);
                p.price_in_currency = Some(euros(1.9, 1.1, "2026-10-01"));
            }),
            "fleet.pools[0].price_in_currency",
            "leave one",
        ),
        (
            pool(|p| p.price_in_currency = Some(euros(1.9, 0.0, "2026-10-01"))),
            "fleet.pools[0].price_in_currency.usd_per_unit",
            "none is guessed",
        ),
        (
            pool(|p| p.price_in_currency = Some(euros(1.9, 1.1, "today"))),
            "fleet.pools[0].price_in_currency.rate_as_of",
            "2026-10-01",
        ),
    ]);
}

fn euros(per_gpu_hour: f64, usd_per_unit: f64, rate_as_of: &str) -> CurrencyPriceDoc {
    let currency = "EUR".to_owned();
    CurrencyPriceDoc { currency, per_gpu_hour, usd_per_unit, rate_as_of: rate_as_of.to_owned() }
}

/// Books are in USD, by the rate that was typed, and say so.
#[test]
fn a_price_in_euros_is_converted_by_the_rate_that_was_typed() {
    let doc = pool(|p| {
        p.price_in_currency = Some(euros(2.0, 1.25, "2026-10-01"));
        p.price_source = "our contract".to_owned();
    });
    let price = check(&doc).expect("valid").scenario.pool.price.expect("a price");
    assert!((price.usd_per_gpu_hour - 2.5).abs() < 1e-12);
    assert_eq!(price.source, "our contract; 2 EUR at 1.25 USD per EUR of 2026-10-01");
}
