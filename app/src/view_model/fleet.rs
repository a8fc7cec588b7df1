//! Words of the fleet editor.

use goodput_engine::catalog::{self, PriceQuote};
use goodput_engine::estimate::report::EstimateReport;
use goodput_engine::fleet::{
    GpuSpec, KvPrecision, LayerGroup, ModelShape, WeightPrecision, parse_hf_config,
};
use goodput_engine::scenario::doc::{PoolDoc, ScenarioDoc};
use goodput_engine::scenario::{CatalogRef, GpuRef, ModelRef};

use crate::controls::Choice;
use crate::format;

/// KV precisions, in the order of the form.
pub const KV: [KvPrecision; 4] =
    [KvPrecision::Bf16, KvPrecision::Fp8, KvPrecision::Q8_0, KvPrecision::Q4_0];

const WEIGHTS: [(WeightPrecision, &str); 6] = [
    (WeightPrecision::Bf16, "bf16"),
    (WeightPrecision::Fp8, "fp8"),
    (WeightPrecision::Nvfp4, "nvfp4"),
    (WeightPrecision::Mxfp4Experts, "mxfp4 experts"),
    (WeightPrecision::Int8, "int8"),
    (WeightPrecision::Int4, "int4"),
];

/// The name of a KV precision.
pub fn kv_id(precision: KvPrecision) -> String {
    match precision {
        KvPrecision::Bf16 => "bf16",
        KvPrecision::Fp8 => "fp8",
        KvPrecision::Q8_0 => "q8_0",
        KvPrecision::Q4_0 => "q4_0",
    }
    .to_owned()
}

/// The name of a weight precision.
pub fn weights_id(precision: WeightPrecision) -> String {
    match precision {
        WeightPrecision::BytesPerParam(bytes) => format!("{bytes} bytes per parameter"),
        other => {
            let known = WEIGHTS.iter().find(|(p, _)| *p == other);
            known.map_or_else(String::new, |(_, name)| (*name).to_owned())
        }
    }
}

/// The weight precision of a name.
pub fn weights_of(id: &str) -> Option<WeightPrecision> {
    WEIGHTS.iter().find(|(_, name)| *name == id).map(|(precision, _)| *precision)
}

/// Weight precisions to choose from.
pub fn weight_choices() -> Vec<Choice> {
    WEIGHTS.iter().map(|(_, name)| Choice::new(*name, *name)).collect()
}

/// "15 GPUs = 15 replicas × TP1".
pub fn gpus_line(pool: &PoolDoc) -> String {
    let gpus = u64::from(pool.replicas) * u64::from(pool.tensor_parallel);
    format!(
        "{} = {} × TP{}",
        format::plural(gpus, "GPU", "GPUs"),
        format::plural(u64::from(pool.replicas), "replica", "replicas"),
        pool.tensor_parallel
    )
}

/// The fleet in one line.
pub fn fleet_line(doc: &ScenarioDoc) -> String {
    let pools = doc.fleet.pools.iter().map(|pool| match pool.name.trim() {
        name if name.is_empty() || doc.fleet.pools.len() < 2 => pool_line(pool),
        name => format!("{name}: {}", pool_line(pool)),
    });
    pools.collect::<Vec<_>>().join("; ")
}

fn pool_line(pool: &PoolDoc) -> String {
    format!(
        "{} × {}, {} {}, TP{}",
        pool.replicas,
        gpu_name(pool),
        model_name(pool),
        weights_id(pool.weight_precision),
        pool.tensor_parallel
    )
}

/// A row of the table of pools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolRow {
    /// Its name.
    pub name: String,
    /// Its model and GPU.
    pub what: String,
    /// How many replicas, at first.
    pub replicas: String,
}

/// The rows of the table of pools.
pub fn pool_rows(doc: &ScenarioDoc) -> Vec<PoolRow> {
    let row = |pool: &PoolDoc| PoolRow {
        name: pool.name.trim().to_owned(),
        what: format!("{}, {}", gpu_name(pool), model_name(pool)),
        replicas: format::count(pool.replicas.into()),
    };
    doc.fleet.pools.iter().map(row).collect()
}

fn gpu_name(pool: &PoolDoc) -> String {
    match &pool.gpu {
        CatalogRef::Id(id) => catalog::gpu(id).map_or_else(|_| id.clone(), |g| g.spec.name.clone()),
        CatalogRef::Custom(spec) => spec.name.clone(),
    }
}

fn model_name(pool: &PoolDoc) -> String {
    match &pool.model {
        CatalogRef::Id(id) => {
            catalog::model(id).map_or_else(|_| id.clone(), |m| m.shape.name.clone())
        }
        CatalogRef::Custom(shape) => shape.name.clone(),
    }
}

/// What the memory of a replica of a pool holds.
pub fn memory_line(report: &EstimateReport, pool: usize) -> String {
    let Some(pool) = report.memory.pools.get(pool) else { return String::new() };
    match pool.kv_capacity_tokens {
        Some(tokens) => format!(
            "{} of weights on each GPU; the KV cache of a replica holds {} tokens ({})",
            format::bytes(pool.weights_bytes_per_gpu),
            format::count(tokens),
            pool.source
        ),
        None => format!(
            "{} of weights on each GPU do not fit in {}",
            format::bytes(pool.weights_bytes_per_gpu),
            format::bytes(pool.usable_bytes_per_gpu)
        ),
    }
}

/// The name of no entry: numbers of one's own.
pub const CUSTOM: &str = "custom";

/// The choice that a GPU is. A document may write an id in any case; a list of choices has one.
pub fn gpu_choice(gpu: &GpuRef) -> String {
    match gpu {
        CatalogRef::Id(id) => {
            catalog::gpu(id).ok().map_or_else(|| id.clone(), |entry| entry.id.to_owned())
        }
        CatalogRef::Custom(_) => CUSTOM.to_owned(),
    }
}

/// The choice that a model is, which a document may also name as Hugging Face does.
pub fn model_choice(model: &ModelRef) -> String {
    match model {
        CatalogRef::Id(id) => {
            catalog::model(id).ok().map_or_else(|| id.clone(), |entry| entry.id.clone())
        }
        CatalogRef::Custom(_) => CUSTOM.to_owned(),
    }
}

/// The present GPU as numbers to change.
pub fn custom_gpu(pool: &PoolDoc) -> Option<GpuSpec> {
    match &pool.gpu {
        CatalogRef::Id(id) => {
            let known = catalog::gpu(id).ok().or_else(|| catalog::gpus().first())?;
            let name = format!("{} changed", known.spec.name);
            Some(GpuSpec { name, ..known.spec.clone() })
        }
        CatalogRef::Custom(_) => None,
    }
}

/// The present model as numbers to change.
pub fn custom_model(pool: &PoolDoc) -> Option<ModelShape> {
    match &pool.model {
        CatalogRef::Id(id) => {
            let known = catalog::model(id).ok().or_else(|| catalog::models().first())?;
            let name = format!("{} changed", known.shape.name);
            Some(ModelShape { name, ..known.shape.clone() })
        }
        CatalogRef::Custom(_) => None,
    }
}

/// A model from a pasted config, the precision of its weights, and what was assumed; or what is
/// wrong with it.
pub fn model_of_config(
    text: &str,
) -> Result<(ModelShape, Option<WeightPrecision>, String), String> {
    match parse_hf_config(text) {
        Ok(config) => {
            let read = format!(
                "Read: {} layers, {} billion parameters",
                config.shape.layers(),
                format::significant(config.shape.params_total_billions)
            );
            let said = std::iter::once(read).chain(config.notes).collect::<Vec<_>>().join(". ");
            Ok((config.shape, config.native_weights, said))
        }
        Err(problems) => {
            let said = problems.iter().map(|p| match p.path.as_str() {
                "" => format!("{}: {}", p.message, p.hint),
                path => format!("{path}: {}, {}", p.message, p.hint),
            });
            Err(said.collect::<Vec<_>>().join("; "))
        }
    }
}

/// The layers of a model in words.
pub fn layers_line(shape: &ModelShape) -> String {
    let groups = shape.layer_groups.iter().map(|group| match group {
        LayerGroup::Full { layers, .. } => format!("{layers} with full attention"),
        LayerGroup::SlidingWindow { layers, window_tokens, .. } => {
            format!("{layers} with a window of {} tokens", format::count(u64::from(*window_tokens)))
        }
        LayerGroup::Mla { layers, .. } => format!("{layers} with latent attention (MLA)"),
        LayerGroup::Linear { layers, .. } => format!("{layers} with linear attention"),
    });
    let layers = format!("Layers: {}", groups.collect::<Vec<_>>().join(", "));
    match &shape.moe {
        Some(moe) => {
            let (chosen, all) = (moe.experts_per_token, moe.num_experts);
            format!("{layers}; {chosen} of {all} experts per token")
        }
        None => layers,
    }
}

/// What a GPU-hour costs, in one line.
pub fn prices_line(doc: &ScenarioDoc) -> String {
    let price = |pool: &PoolDoc| match (pool.price_per_gpu_hour, &pool.price_in_currency) {
        (Some(usd), _) => format!("{} per GPU-hour", format::usd(usd)),
        (None, None) => "No price: no cost shown".to_owned(),
        (None, Some(foreign)) => format!("in {}", foreign.currency),
    };
    let mut prices: Vec<String> = doc.fleet.pools.iter().map(price).collect();
    prices.dedup();
    prices.join("; ")
}

/// A row of the price sheet as a choice.
#[derive(Debug, Clone, PartialEq)]
pub struct SheetRow {
    /// What is read: plan, offer, region, range and date.
    pub label: String,
    /// The middle of its range, USD per GPU-hour.
    pub usd: f64,
    /// What then stands as the source.
    pub source: String,
}

/// The price sheet of the present GPU, by plan.
pub fn price_sheet(pool: &PoolDoc) -> Vec<SheetRow> {
    let CatalogRef::Id(id) = &pool.gpu else { return Vec::new() };
    let mut quotes = catalog::prices(id);
    quotes.retain(|quote| quote.currency == "USD");
    quotes.sort_by_key(|quote| (quote.plan, std::cmp::Reverse(&quote.citation.as_of)));
    let row = |quote: &&PriceQuote| {
        let (low, high) = (quote.low_per_gpu_hour, quote.high_per_gpu_hour);
        let range = if low < high {
            format!("{} to {}", format::usd_cents(low), format::usd_cents(high))
        } else {
            format::usd_cents(low)
        };
        let place = if quote.region.is_empty() { "" } else { ", " };
        let offer = format!("{}{place}{}", quote.offer, quote.region);
        let (plan, date) = (quote.plan.words(), &quote.citation.as_of);
        SheetRow {
            label: format!("{plan}: {range}, {offer}, {date}"),
            // To the cent, as prices are quoted.
            usd: (50.0 * (low + high)).round() / 100.0,
            source: format!("{plan}, {offer}: {range}, {date}"),
        }
    };
    quotes.iter().map(row).collect()
}

/// What the present GPU is offered for, as the catalogue knows.
pub fn price_range(pool: &PoolDoc) -> String {
    let CatalogRef::Id(id) = &pool.gpu else { return String::new() };
    let quotes = catalog::prices(id);
    let quotes: Vec<_> = quotes.into_iter().filter(|quote| quote.currency == "USD").collect();
    let low = quotes.iter().map(|q| q.low_per_gpu_hour).fold(f64::MAX, f64::min);
    let high = quotes.iter().map(|q| q.high_per_gpu_hour).fold(0.0, f64::max);
    let newest = quotes.iter().map(|q| q.citation.as_of.as_str()).max();
    newest.map_or_else(
        || "The catalogue knows no price of this GPU".into(),
        |date| {
            format!("Catalogue, {date}: {} to {}", format::usd_cents(low), format::usd_cents(high))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_chosen_however_a_document_writes_its_id() {
        for gpu in catalog::gpus() {
            assert_eq!(gpu_choice(&GpuRef::id(&gpu.id.to_lowercase())), gpu.id);
        }
        for model in catalog::models() {
            for name in [model.id.to_lowercase(), model.hf_id.clone(), model.hf_id.to_uppercase()] {
                assert_eq!(model_choice(&ModelRef::id(&name)), model.id);
            }
        }
        assert_eq!(model_choice(&ModelRef::id("of-nobody")), "of-nobody");
    }
}
