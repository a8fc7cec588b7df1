//! Which step time a replica gets: the library row of exactly this configuration, else the
//! physics law of its GPU, else its datasheet.

use super::kv_cache::KvCacheFactors;
use super::rows::{Calibration, GpuEfficiencies, GpuEntry};
use super::{CATALOG, calibrations, gpus, models};
use crate::fleet::{KvPrecision, LayerGroup, MathUnit, WeightPrecision};
use crate::problem::Problem;
use crate::step_time::{
    ErrorBand, Hull, Origin, PassedOver, Provenance, ResolvedStepTime, Served, roofline_law,
};

/// Datasheet band of a dense model on an NVIDIA GPU: each of the seven GPUs with kernel tables
/// predicted from the medians of the other six, 90 % of 17,119 batch shapes lie within it.
const DATASHEET_DENSE: ErrorBand = ErrorBand { typical: 0.105, low: 0.75, high: 1.3 };
/// The same with experts, 6,783 batch shapes.
const DATASHEET_MOE: ErrorBand = ErrorBand { typical: 0.205, low: 0.6, high: 1.6 };
/// Latent or linear attention, shared experts, experts on whole GPUs, weight-only kernels: no
/// measured model has them.
const DATASHEET_UNSEEN: ErrorBand = ErrorBand { typical: 0.3, low: 0.5, high: 2.0 };
/// No kernel table exists for the vendor; a GPU entered by numbers may be anything.
const DATASHEET_OTHER_GPU: ErrorBand = ErrorBand { typical: 0.5, low: 0.5, high: 3.0 };

/// The best step time there is for a replica, with the reasons why better ones do not apply.
/// The GPU, the model and the layout must have passed their own checks.
pub fn resolve(served: &Served<'_>) -> Result<ResolvedStepTime, Problem> {
    resolve_from(served, Origin::Library)
}

/// The same, with sources better than `best` passed over because they are not asked for. Whether
/// `best` itself applies is in the origin of the answer.
pub fn resolve_from(served: &Served<'_>, best: Origin) -> Result<ResolvedStepTime, Problem> {
    refuse_unmodelled(served)?;
    let entry = gpus().iter().find(|entry| entry.spec == *served.gpu);
    let mut passed_over = Vec::new();
    let mut pass = |origin: Origin, reason: String| passed_over.push(PassedOver { origin, reason });
    let asked_for = |origin: Origin| {
        let wanted = best <= origin;
        wanted.then_some(()).ok_or_else(|| "not asked for".to_owned())
    };
    let chosen = match asked_for(Origin::Library).and_then(|()| library(served, entry)) {
        Ok(row) => from_library(row, served),
        Err(reason) => {
            pass(Origin::Library, reason);
            match asked_for(Origin::Physics).and_then(|()| physics(served, entry)) {
                Ok(resolved) => resolved,
                Err(reason) => {
                    pass(Origin::Physics, reason);
                    datasheet(served, entry)?
                }
            }
        }
    };
    let mut notes = chosen.notes.clone();
    notes.extend(common_notes(served, entry));
    Ok(ResolvedStepTime { notes, passed_over, ..chosen })
}

/// Layouts that no law describes.
fn refuse_unmodelled(served: &Served<'_>) -> Result<(), Problem> {
    for (path, ways) in [
        ("pipeline_parallel", served.layout.pipeline_parallel),
        ("data_parallel", served.layout.data_parallel),
        ("decode_context_parallel", served.layout.decode_context_parallel),
    ] {
        if ways > 1 {
            return Err(Problem::error(
                path,
                format!("no step law describes {path} {ways}: only its memory is computed"),
                "1, with more replicas or a larger tensor_parallel; or declare the step time",
            ));
        }
    }
    Ok(())
}

fn library(served: &Served<'_>, entry: Option<&GpuEntry>) -> Result<&'static Calibration, String> {
    let gpu = entry.ok_or_else(|| format!("{} is not in the catalogue", served.gpu.name))?;
    let names: Vec<&str> = models()
        .iter()
        .filter(|entry| entry.shape.same_architecture(served.model))
        .map(|entry| entry.id.as_str())
        .collect();
    let rows: Vec<&Calibration> = calibrations()
        .iter()
        .filter(|row| row.gpu == gpu.id && names.contains(&row.model))
        .collect();
    let exact = rows.iter().find(|row| {
        row.tensor_parallel == served.layout.tensor_parallel
            && row.expert_parallel == served.layout.expert_parallel
            && row.weights == served.precision.weights
    });
    exact.copied().ok_or_else(|| {
        let measured: Vec<String> = rows
            .iter()
            .map(|row| format!("TP{} {}", row.tensor_parallel, row.upstream_precision))
            .collect();
        if measured.is_empty() {
            format!("no kernel table of {} on {}", served.model.name, gpu.id)
        } else {
            let measured = measured.join(", ");
            format!("{} on {} is measured only as {measured}", served.model.name, gpu.id)
        }
    })
}

fn from_library(row: &Calibration, served: &Served<'_>) -> ResolvedStepTime {
    let provenance = Provenance {
        origin: Origin::Library,
        source: format!("{} ({}, {})", row.citation.source, row.kernels, row.upstream_precision),
        licence: Some(row.citation.licence.clone()),
        band: Some(row.band),
        band_basis: Some(
            "mean and 95th percentile of the error over 323 batch shapes of this configuration"
                .into(),
        ),
    };
    let kv_cache = KvCacheFactors::of(served, row.gpu);
    let coefficients =
        kv_cache.map_or(row.coefficients.clone(), |factors| factors.applied(&row.coefficients));
    let mut resolved =
        ResolvedStepTime::from_coefficients(coefficients, provenance, Some(Hull::KERNEL_GRID));
    if let Some(factors) = kv_cache {
        resolved.notes.push(factors.note());
    } else if served.precision.kv != KvPrecision::Bf16 {
        resolved.notes.push(
            "Cache reads are charged as measured, in 16 bits: an upper bound for a smaller cache."
                .into(),
        );
    }
    resolved
}

fn physics(served: &Served<'_>, entry: Option<&GpuEntry>) -> Result<ResolvedStepTime, String> {
    let gpu = entry.ok_or_else(|| format!("{} is not in the catalogue", served.gpu.name))?;
    let fitted = CATALOG.efficiencies.iter().find(|row| row.gpu == gpu.id);
    let fitted = fitted.ok_or_else(|| format!("no kernel tables of {}", gpu.id))?;
    if let Some(feature) = unseen_feature(served) {
        return Err(format!("{feature} is in no measured model"));
    }
    let law = roofline_law(served, &fitted.efficiencies)
        .map_err(|why| format!("{why} of {} for this model", gpu.id))?;
    let kv_cache = KvCacheFactors::of(served, gpu.id);
    let law = kv_cache.map_or(law.clone(), |factors| factors.corrected(law));
    let band = match served.model.moe {
        None => fitted.unseen_dense,
        Some(_) => fitted.unseen_moe,
    };
    Ok(ResolvedStepTime {
        law,
        coefficients: None,
        provenance: provenance(Origin::Physics, fitted, band, PHYSICS_BASIS),
        hull: Some(Hull::KERNEL_GRID),
        notes: window_note(served).into_iter().chain(kv_cache.map(KvCacheFactors::note)).collect(),
        passed_over: Vec::new(),
    })
}

const PHYSICS_BASIS: &str = "median error, and worst 95th percentile, over models of this GPU \
                             that were each left out of the fit";

fn datasheet(served: &Served<'_>, entry: Option<&GpuEntry>) -> Result<ResolvedStepTime, Problem> {
    let typical = &CATALOG.typical;
    let law = roofline_law(served, &typical.efficiencies).map_err(|why| {
        Problem::error(
            "gpu",
            format!("no step time: {why}"),
            "complete the GPU's numbers, or declare the step time",
        )
    })?;
    let nvidia = entry.is_some_and(|entry| entry.vendor == "NVIDIA");
    let (band, basis) = if !nvidia {
        (DATASHEET_OTHER_GPU, "no kernel table of any GPU of this make; a judgement")
    } else if let Some(feature) = unseen_feature(served) {
        let basis = format!("{feature} is in no measured model; a judgement");
        return Ok(from_datasheet(law, typical, DATASHEET_UNSEEN, &basis, served));
    } else if served.model.moe.is_some() {
        (DATASHEET_MOE, DATASHEET_BASIS)
    } else {
        (DATASHEET_DENSE, DATASHEET_BASIS)
    };
    Ok(from_datasheet(law, typical, band, basis, served))
}

const DATASHEET_BASIS: &str = "seven GPUs with kernel tables, each predicted from its datasheet \
                               and the median efficiencies of the other six: 5th to 95th \
                               percentile of measured ÷ predicted";

fn from_datasheet(
    law: crate::step_time::StepLaw,
    typical: &GpuEfficiencies,
    band: ErrorBand,
    basis: &str,
    served: &Served<'_>,
) -> ResolvedStepTime {
    ResolvedStepTime {
        law,
        coefficients: None,
        provenance: provenance(Origin::Datasheet, typical, Some(band), basis),
        hull: None,
        notes: window_note(served).into_iter().collect(),
        passed_over: Vec::new(),
    }
}

fn provenance(
    origin: Origin,
    fitted: &GpuEfficiencies,
    band: Option<ErrorBand>,
    basis: &str,
) -> Provenance {
    Provenance {
        origin,
        source: match origin {
            Origin::Datasheet => format!(
                "datasheet rates with the median efficiencies of seven GPUs, fitted to {}",
                fitted.citation.source
            ),
            _ => format!("one law of {} for all models: {}", fitted.gpu, fitted.citation.source),
        },
        licence: Some(fitted.citation.licence.clone()),
        band,
        band_basis: Some(basis.to_owned()),
    }
}

/// What the replica has that no measured model had.
fn unseen_feature(served: &Served<'_>) -> Option<&'static str> {
    let has = |wanted: fn(&LayerGroup) -> bool| served.model.layer_groups.iter().any(wanted);
    let weights = served.precision.weights;
    let weight_only = matches!(
        weights,
        WeightPrecision::Int8 | WeightPrecision::Int4 | WeightPrecision::BytesPerParam(_)
    ) || (weights.math_unit() != MathUnit::Bf16
        && served.math_unit().0 == MathUnit::Bf16);
    if has(|group| matches!(group, LayerGroup::Mla { .. })) {
        Some("latent attention (MLA)")
    } else if has(|group| matches!(group, LayerGroup::Linear { .. })) {
        Some("linear attention")
    } else if served.model.moe.as_ref().is_some_and(|moe| moe.shared_experts > 0) {
        Some("a shared expert")
    } else if served.layout.expert_parallel {
        Some("expert parallelism")
    } else if weight_only {
        Some("arithmetic in 16 bits on smaller weights")
    } else {
        None
    }
}

fn window_note(served: &Served<'_>) -> Option<String> {
    let windows = served.model.layer_groups.iter().filter_map(LayerGroup::window_tokens);
    let longest = windows.max()?;
    Some(format!(
        "Layers with a window are charged one full window per decode ({longest} tokens at most), \
         also while a sequence is shorter, and nothing for the attention of prompts."
    ))
}

fn common_notes(served: &Served<'_>, entry: Option<&GpuEntry>) -> Vec<String> {
    let mut notes = vec![
        "Kernel time only: scheduling and sampling on the CPU come on top (per-step overhead)."
            .to_owned(),
    ];
    if served.layout.tensor_parallel >= 8 {
        notes.push(
            "Engines measured at TP8 were 8 to 15 % slower than the sum of their kernels.".into(),
        );
    }
    let flash_attention_2 = entry.is_some_and(|entry| {
        entry.architecture.starts_with("Ada") || entry.architecture.contains("sm120")
    });
    if flash_attention_2 {
        notes.push(
            "On GPUs with FlashAttention-2 kernels, steps that mix prompts and decodes took 1.4 \
             to 2 times the sum of their attention times."
                .into(),
        );
    }
    if served.model.layer_groups.iter().any(|g| g.kv_heads().is_some_and(|heads| heads > 8)) {
        notes.push("Decode attention with more than 8 key-value heads was not measured.".into());
    }
    notes
}
