//! The catalogue as shipped: complete, cited, unambiguous, and with the numbers it should have.

use std::collections::BTreeSet;

use super::*;
use crate::fleet::{KvPrecision, Layout, Precision, WeightPrecision};
use crate::step_time::{Origin, Served};

#[test]
fn the_embedded_catalogue_parses() {
    let catalog = Catalog::parse().expect("parses");
    assert_eq!(catalog.gpus.len(), 25);
    assert_eq!(catalog.models.len(), 32);
    assert_eq!(catalog.prices.len(), 54);
    assert_eq!(catalog.calibrations.len(), 76);
    assert_eq!(catalog.efficiencies.len(), 7);
    assert_eq!(catalog.kv_cache.len(), 12);
}

#[test]
fn ids_are_unique_and_every_row_is_cited() {
    fn unique<T: Ord>(keys: impl Iterator<Item = T>) -> bool {
        let mut seen = BTreeSet::new();
        keys.into_iter().all(|key| seen.insert(key))
    }
    assert!(unique(gpus().iter().map(|entry| entry.id)));
    assert!(unique(models().iter().map(|entry| &entry.id)));
    assert!(unique(models().iter().map(|entry| &entry.hf_id)));
    assert!(unique(calibrations().iter().map(|row| (
        row.gpu,
        row.model,
        row.tensor_parallel,
        row.upstream_precision
    ))));
    let citations = gpus()
        .iter()
        .map(|entry| &entry.citation)
        .chain(models().iter().map(|entry| &entry.citation))
        .chain(CATALOG.prices.iter().map(|entry| &entry.citation))
        .chain(calibrations().iter().map(|entry| &entry.citation))
        .chain(efficiencies().iter().map(|entry| &entry.citation))
        .chain(kv_cache_factors().iter().map(|entry| &entry.citation));
    for citation in citations {
        assert!(!citation.source.is_empty() && !citation.licence.is_empty(), "{citation:?}");
        let (year, month) = citation.as_of.split_once('-').unwrap_or((&citation.as_of, "1"));
        assert!((2023..2100).contains(&year.parse::<u32>().expect("a year")), "{citation:?}");
        assert!((1..=12).contains(&month.parse::<u32>().expect("a month")), "{citation:?}");
    }
}

#[test]
fn every_source_is_used() {
    let used = [GPUS, MODELS, PRICES, LIBRARY, PHYSICS].concat();
    for line in SOURCES.lines().skip(1) {
        let key = line.split(',').next().expect("a key");
        assert!(used.contains(key), "{key}");
    }
}

#[test]
fn every_gpu_and_model_passes_its_own_check() {
    for entry in gpus() {
        assert_eq!(entry.spec.check(), vec![], "{}", entry.id);
    }
    for entry in models() {
        assert_eq!(entry.shape.check(), vec![], "{}", entry.id);
        assert_eq!(entry.shape.name, entry.id);
    }
    for row in calibrations() {
        assert_eq!(row.coefficients.check(), vec![], "{} {}", row.gpu, row.model);
        assert!(gpu(row.gpu).is_ok());
    }
    for quote in &CATALOG.prices {
        assert!(gpu(quote.gpu).is_ok(), "{}", quote.gpu);
        assert!(0.0 < quote.low_per_gpu_hour);
        assert!(quote.low_per_gpu_hour <= quote.high_per_gpu_hour);
        assert!(!quote.citation.as_of.is_empty(), "{} {} is not dated", quote.gpu, quote.offer);
    }
}

#[test]
fn parameters_counted_from_the_architecture_meet_the_published_ones() {
    for entry in models() {
        let ratio = entry.shape.params_total_billions / entry.official_params_total_billions;
        // Llama-4 Scout's published 109 B includes its vision tower.
        assert!((ratio - 1.0).abs() < 0.012, "{}: {ratio}", entry.id);
    }
}

#[test]
fn cache_sizes_are_the_known_ones() {
    for (id, bytes) in [
        ("Qwen2.5-7B", 57_344),
        ("Llama-3.1-8B", 131_072),
        ("Llama-3.1-70B", 327_680),
        ("Llama-3.1-405B", 516_096),
        ("DeepSeek-V3", 70_272),
        ("Kimi-K2", 70_272),
        ("Qwen3-235B-A22B", 192_512),
        ("gpt-oss-120b", 73_728),
    ] {
        assert_eq!(model(id).expect("known").kv_bytes_per_token, bytes, "{id}");
    }
}

#[test]
fn ids_and_hugging_face_names_are_found_in_any_case() {
    assert_eq!(gpu("h100-sxm").expect("known").id, "H100-SXM");
    assert_eq!(model("Qwen/Qwen2.5-7B-Instruct").expect("known").id, "Qwen2.5-7B");
}

#[test]
fn a_wrong_id_is_met_with_what_was_meant() {
    let hint = |problem: Problem| problem.hint;
    assert!(hint(gpu("H100").unwrap_err()).contains("did you mean H100"));
    assert!(hint(gpu("rtx4090").unwrap_err()).contains("RTX-4090"));
    assert!(hint(model("llama3.1 8b").unwrap_err()).contains("Llama-3.1-8B"));
    assert!(hint(model("qwen2.5-7b-instruct").unwrap_err()).contains("Qwen2.5-7B"));
    let nonsense = model("xylophone orchestra").unwrap_err();
    assert!(!nonsense.hint.contains("did you mean"), "{nonsense}");
    assert!(gpu(&"x".repeat(100_000)).unwrap_err().message.len() < 200);
}

#[test]
fn the_row_of_medians_is_the_median_of_the_others() {
    type Figure = fn(&crate::step_time::Efficiencies) -> Option<f64>;
    let figures: [Figure; 15] = [
        |e| Some(e.weight_read_inv_eff),
        |e| e.bf16_compute_inv_eff,
        |e| e.fp8_compute_inv_eff,
        |e| e.fp4_compute_inv_eff,
        |e| Some(e.attn_prefill_inv_eff),
        |e| Some(e.kv_read_inv_eff),
        |e| Some(e.layer_overhead_s),
        |e| e.lowprec_layer_overhead_s,
        |e| e.moe_layer_overhead_s,
        |e| Some(e.elementwise_s_per_token_layer),
        |e| Some(e.allreduce_alpha_s),
        |e| Some(e.allreduce_inv_eff),
        |e| e.moe_compute_inv_eff,
        |e| e.moe_weight_inv_eff,
        |e| Some(e.p),
    ];
    for (index, figure) in figures.iter().enumerate() {
        let mut known: Vec<f64> =
            efficiencies().iter().filter_map(|row| figure(&row.efficiencies)).collect();
        known.sort_by(f64::total_cmp);
        let middle = f64::midpoint(known[(known.len() - 1) / 2], known[known.len() / 2]);
        let typical = figure(&CATALOG.typical.efficiencies).expect("complete");
        assert!((typical / middle - 1.0).abs() < 1e-4, "figure {index}: {typical} {middle}");
    }
}

#[test]
fn rows_serialise_with_an_id_and_the_cache_size() {
    let row = serde_json::to_value(model("gpt-oss-120b").expect("known")).expect("serialises");
    assert_eq!(row["id"], "gpt-oss-120b");
    assert_eq!(row["kv_bytes_per_token"], 73_728);
    assert_eq!(row["native_weights"], "mxfp4_experts");
    let row = serde_json::to_value(gpu("RTX-4090").expect("known")).expect("serialises");
    assert_eq!((&row["id"], &row["memory_gib"]), (&"RTX-4090".into(), &24.0.into()));
    let row = serde_json::to_value(&calibrations()[0]).expect("serialises");
    assert!(row["coefficients"]["c1_s_per_token"].as_f64().is_some_and(|c1| c1 > 0.0));
}

#[test]
fn no_price_is_known_where_none_was_quoted() {
    assert!(prices("RTX-4090").is_empty());
    assert!(prices("H100-SXM").len() > 5);
    let plans = [
        PricePlan::OnDemand,
        PricePlan::Reserved,
        PricePlan::Reserved1Year,
        PricePlan::Reserved3Years,
        PricePlan::Ownership,
    ];
    for plan in plans {
        assert!(prices("H100-SXM").iter().any(|quote| quote.plan == plan), "{plan:?}");
    }
}

#[test]
fn upstream_precisions_are_read_as_the_weights_they_mean() {
    let rows = |weights: WeightPrecision| {
        calibrations().iter().filter(|row| row.weights == weights).count()
    };
    assert_eq!(rows(WeightPrecision::Mxfp4Experts), 12);
    assert_eq!(calibrations().iter().filter(|row| row.expert_parallel).count(), 1);
    let known = [
        WeightPrecision::Bf16,
        WeightPrecision::Fp8,
        WeightPrecision::Nvfp4,
        WeightPrecision::Mxfp4Experts,
    ];
    assert_eq!(known.map(rows).iter().sum::<usize>(), 76);
}

#[test]
fn a_cache_in_8_bits_is_read_as_fast_as_kernels_read_it() {
    let with = |id: &str, tensor_parallel, kv| {
        let served = Served {
            gpu: &gpu(id).expect("known").spec,
            model: &model("Llama-3.1-8B").expect("known").shape,
            layout: Layout::tensor_parallel(tensor_parallel),
            precision: Precision { weights: WeightPrecision::Bf16, kv },
        };
        resolve(&served).expect("a step time")
    };
    // A library row, and the physics law, which knows bytes but not what widening them costs.
    for (tensor_parallel, origin) in [(1, Origin::Library), (4, Origin::Physics)] {
        let wide = with("H100-SXM", tensor_parallel, KvPrecision::Bf16);
        let narrow = with("H100-SXM", tensor_parallel, KvPrecision::Fp8);
        assert_eq!((wide.provenance.origin, narrow.provenance.origin), (origin, origin));
        let ratio = narrow.law.s_per_kv_token / wide.law.s_per_kv_token;
        assert!((ratio - 0.597).abs() < 1e-9, "{ratio}");
        assert!((narrow.law.s_per_pair / wide.law.s_per_pair - 1.088).abs() < 1e-9);
        assert!(narrow.notes.iter().any(|note| note.contains("60 %")), "{:?}", narrow.notes);
        assert_eq!(narrow.law.token_terms, wide.law.token_terms);
    }
    // No kernels of such a cache on an A100.
    let (wide, narrow) =
        (with("A100-80G-SXM", 1, KvPrecision::Bf16), with("A100-80G-SXM", 1, KvPrecision::Fp8));
    assert_eq!(wide.law, narrow.law);
    assert!(narrow.notes.iter().any(|note| note.contains("upper bound")));
}
