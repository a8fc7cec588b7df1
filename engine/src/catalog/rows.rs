//! The catalogue's rows and how they are read from the embedded tables.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::table::{Row, Table};
use crate::fleet::{GpuSpec, KvFootprint, KvPrecision, ModelShape, WeightPrecision};
use crate::step_time::{Efficiencies, ErrorBand, StepCoefficients};

/// Where numbers come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Citation {
    /// Repository and version, page or table.
    pub source: String,
    /// Licence of the source; facts are not copyrightable.
    pub licence: String,
    /// Month the numbers were quoted or collected, `YYYY-MM`, or the year alone.
    pub as_of: String,
}

/// A GPU of the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GpuEntry {
    /// Id.
    pub id: &'static str,
    /// Vendor.
    pub vendor: &'static str,
    /// Architecture.
    pub architecture: &'static str,
    /// Board or module.
    pub form_factor: &'static str,
    /// The numbers.
    #[serde(flatten)]
    pub spec: GpuSpec,
    /// Power limit, watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tdp_w: Option<f64>,
    /// How sure the figures are: high, medium or recalled.
    pub confidence: &'static str,
    /// Where the figures come from.
    #[serde(flatten)]
    pub citation: Citation,
    /// What to know about them.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'static str,
}

/// A model of the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelEntry {
    /// Id.
    pub id: String,
    /// Name on Hugging Face.
    pub hf_id: String,
    /// Cache bytes of one token at 16 bits, all layers, whole model, windows not yet full.
    pub kv_bytes_per_token: u64,
    /// The numbers.
    #[serde(flatten)]
    pub shape: ModelShape,
    /// Parameters as the publisher states them, 1e9; `shape` holds them counted from the
    /// architecture.
    pub official_params_total_billions: f64,
    /// Precision in which the checkpoint ships.
    pub native_weights: WeightPrecision,
    /// Where the figures come from.
    #[serde(flatten)]
    pub citation: Citation,
    /// What to know about them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A measured step time: the library.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Id of the GPU.
    pub gpu: &'static str,
    /// Id of the model.
    pub model: &'static str,
    /// GPUs that share each layer.
    pub tensor_parallel: u32,
    /// Whether whole experts lie on each GPU.
    pub expert_parallel: bool,
    /// Precision of the weights; the cache is in 16 bits in every row.
    pub weights: WeightPrecision,
    /// The same as the kernel tables spell it.
    pub upstream_precision: &'static str,
    /// Kernels that were timed.
    pub kernels: &'static str,
    /// The fit.
    pub coefficients: StepCoefficients,
    /// Mean and 95th percentile of its absolute relative error.
    pub band: ErrorBand,
    /// Its worst absolute relative error.
    pub worst_error: f64,
    /// Where the kernel timings come from.
    #[serde(flatten)]
    pub citation: Citation,
}

/// Efficiencies of one GPU, fitted over all its measured models at once.
#[derive(Debug, Clone, PartialEq)]
pub struct GpuEfficiencies {
    /// Id of the GPU.
    pub gpu: &'static str,
    /// The efficiencies.
    pub efficiencies: Efficiencies,
    /// Error on a dense model left out of the fit.
    pub unseen_dense: Option<ErrorBand>,
    /// Error on a model with experts left out of the fit.
    pub unseen_moe: Option<ErrorBand>,
    /// Where the kernel timings come from.
    pub citation: Citation,
}

/// Sources by key.
pub(super) type Sources = BTreeMap<&'static str, Citation>;

/// The row of `step_time_physics.csv` that holds the median of all others.
const TYPICAL: &str = "median";

pub(super) fn sources(text: &'static str) -> Result<Sources, String> {
    let table = Table::parse(text)?;
    let mut sources = Sources::new();
    for row in table.rows() {
        let citation = Citation {
            source: filled(row, "citation")?.to_owned(),
            licence: filled(row, "licence")?.to_owned(),
            as_of: filled(row, "as_of")?.to_owned(),
        };
        if sources.insert(filled(row, "id")?, citation).is_some() {
            return Err(format!("source {} twice", row.text("id")?));
        }
    }
    Ok(sources)
}

pub(super) fn filled<'a>(row: Row<'_, 'a>, column: &str) -> Result<&'a str, String> {
    match row.text(column)? {
        "" => Err(format!("an empty {column}")),
        text => Ok(text),
    }
}

/// One citation of keys joined by `+`.
pub(super) fn cite(keys: &str, sources: &Sources) -> Result<Citation, String> {
    let found = keys
        .split('+')
        .map(|key| sources.get(key).ok_or_else(|| format!("no source {key}")))
        .collect::<Result<Vec<_>, _>>()?;
    let join = |part: fn(&Citation) -> &str| {
        let mut parts: Vec<&str> = Vec::new();
        for citation in &found {
            if !parts.contains(&part(citation)) {
                parts.push(part(citation));
            }
        }
        parts.join("; ")
    };
    Ok(Citation {
        source: join(|citation| &citation.source),
        licence: join(|citation| &citation.licence),
        as_of: found.iter().map(|citation| citation.as_of.clone()).max().unwrap_or_default(),
    })
}

pub(super) fn gpus(text: &'static str, sources: &Sources) -> Result<Vec<GpuEntry>, String> {
    let table = Table::parse(text)?;
    let entry = |row: Row<'_, 'static>| {
        let id = filled(row, "id")?;
        Ok(GpuEntry {
            id,
            vendor: filled(row, "vendor")?,
            architecture: filled(row, "architecture")?,
            form_factor: filled(row, "form_factor")?,
            spec: GpuSpec {
                name: id.to_owned(),
                memory_gib: row.number("memory_gib")?,
                memory_usable_gib: row.optional("memory_usable_gib")?,
                memory_bandwidth_tb_s: row.number("memory_bandwidth_tb_s")?,
                bf16_tflops: row.number("bf16_tflops")?,
                fp8_tflops: row.optional("fp8_tflops")?,
                fp4_tflops: row.optional("fp4_tflops")?,
                scale_up_gb_s: row.optional("scale_up_gb_s")?,
                scale_up_gpus: row.count("scale_up_gpus")?.unwrap_or(1),
                pcie_gb_s: row.optional("pcie_gb_s")?,
            },
            tdp_w: row.optional("tdp_w")?,
            confidence: filled(row, "confidence")?,
            citation: cite(filled(row, "source")?, sources)?,
            note: row.text("note")?,
        })
    };
    table.rows().map(entry).collect()
}

/// A model as `models.json` holds it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredModel {
    shape: ModelShape,
    hf_id: String,
    official_params_total_billions: f64,
    #[serde(default)]
    native_weights: WeightPrecision,
    source: String,
    #[serde(default)]
    note: String,
}

pub(super) fn models(text: &str, sources: &Sources) -> Result<Vec<ModelEntry>, String> {
    let stored: Vec<StoredModel> = serde_json::from_str(text).map_err(|why| why.to_string())?;
    let entry = |stored: StoredModel| {
        Ok(ModelEntry {
            id: stored.shape.name.clone(),
            hf_id: stored.hf_id,
            kv_bytes_per_token: KvFootprint::whole_model(&stored.shape, KvPrecision::Bf16)
                .bytes_per_token(),
            shape: stored.shape,
            official_params_total_billions: stored.official_params_total_billions,
            native_weights: stored.native_weights,
            citation: cite(&stored.source, sources)?,
            note: stored.note,
        })
    };
    stored.into_iter().map(entry).collect()
}

/// The weights that a precision of the kernel tables means, and whether experts lie whole on
/// each GPU.
fn upstream_precision(text: &str) -> Result<(WeightPrecision, bool), String> {
    Ok(match text {
        "bfloat16" => (WeightPrecision::Bf16, false),
        "fp8" | "fp8_block" | "fp8+moe:fp8_block" => (WeightPrecision::Fp8, false),
        "fp8_block+ep8" => (WeightPrecision::Fp8, true),
        "nvfp4" => (WeightPrecision::Nvfp4, false),
        "bfloat16+moe:w4a16_mxfp4" => (WeightPrecision::Mxfp4Experts, false),
        other => return Err(format!("no precision {other}")),
    })
}

pub(super) fn calibrations(
    text: &'static str,
    models: &[ModelEntry],
    sources: &Sources,
) -> Result<Vec<Calibration>, String> {
    let table = Table::parse(text)?;
    let entry = |row: Row<'_, 'static>| {
        let id = filled(row, "model")?;
        let model = models.iter().find(|entry| entry.id == id);
        let model = model.ok_or_else(|| format!("no model {id}"))?;
        let upstream = filled(row, "precision")?;
        let (weights, expert_parallel) = upstream_precision(upstream)?;
        let ms = |column: &str| row.number(column).map(|ms| ms * 1e-3);
        let pct = |column: &str| row.number(column).map(|pct| pct / 100.0);
        Ok(Calibration {
            gpu: filled(row, "gpu")?,
            model: id,
            tensor_parallel: row.count("tensor_parallel")?.ok_or("no tensor_parallel")?,
            expert_parallel,
            weights,
            upstream_precision: upstream,
            kernels: filled(row, "kernels")?,
            coefficients: StepCoefficients {
                c0_s: ms("c0_ms")?,
                cw_s: ms("cw_ms")?,
                cw_experts_s: ms("cw_experts_ms")?,
                expert_share: model.shape.expert_share(),
                c1_s_per_token: ms("c1_ms_per_token")?,
                c2_s_per_pair: ms("c2_ms_per_pair")?,
                c3_s_per_decode_seq: ms("c3_ms_per_decode_seq")?,
                c4_s_per_kv_token: ms("c4_ms_per_kv_token")?,
                p: 1.0 + row.number("p_minus_1")?,
            },
            band: ErrorBand::symmetric(pct("mape_pct")?, pct("p95_pct")?),
            worst_error: pct("worst_pct")?,
            citation: cite(filled(row, "source")?, sources)?,
        })
    };
    table.rows().map(entry).collect()
}

pub(super) fn efficiencies(
    text: &'static str,
    sources: &Sources,
) -> Result<(Vec<GpuEfficiencies>, GpuEfficiencies), String> {
    let table = Table::parse(text)?;
    let mut all = table
        .rows()
        .map(|row| gpu_efficiencies(row, sources))
        .collect::<Result<Vec<_>, String>>()?;
    let typical = all.iter().position(|row| row.gpu == TYPICAL).ok_or("no row of medians")?;
    let typical = all.remove(typical);
    Ok((all, typical))
}

fn gpu_efficiencies(row: Row<'_, 'static>, sources: &Sources) -> Result<GpuEfficiencies, String> {
    let band = |kind: &str| -> Result<Option<ErrorBand>, String> {
        let mape = row.optional(&format!("{kind}_unseen_model_mape_pct"))?;
        let p95 = row.optional(&format!("{kind}_unseen_model_p95_pct"))?;
        Ok(mape.zip(p95).map(|(mape, p95)| ErrorBand::symmetric(mape / 100.0, p95 / 100.0)))
    };
    Ok(GpuEfficiencies {
        gpu: filled(row, "gpu")?,
        efficiencies: Efficiencies {
            weight_read_inv_eff: row.number("weight_read_inv_eff")?,
            bf16_compute_inv_eff: row.optional("bf16_compute_inv_eff")?,
            fp8_compute_inv_eff: row.optional("fp8_compute_inv_eff")?,
            fp4_compute_inv_eff: row.optional("fp4_compute_inv_eff")?,
            attn_prefill_inv_eff: row.number("attn_prefill_inv_eff")?,
            kv_read_inv_eff: row.number("kv_read_inv_eff")?,
            layer_overhead_s: row.number("layer_overhead_s")?,
            lowprec_layer_overhead_s: row.optional("lowprec_layer_overhead_s")?,
            moe_layer_overhead_s: row.optional("moe_layer_overhead_s")?,
            elementwise_s_per_token_layer: row.number("elementwise_s_per_token_layer")?,
            allreduce_alpha_s: row.number("allreduce_alpha_s")?,
            allreduce_inv_eff: row.number("allreduce_inv_eff")?,
            moe_compute_inv_eff: row.optional("moe_compute_inv_eff")?,
            moe_weight_inv_eff: row.optional("moe_weight_inv_eff")?,
            p: 1.0 + row.number("p_minus_1")?,
        },
        unseen_dense: band("dense")?,
        unseen_moe: band("moe")?,
        citation: cite(filled(row, "source")?, sources)?,
    })
}
