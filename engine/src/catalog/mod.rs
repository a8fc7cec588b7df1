//! What is known: GPUs, models, prices and step times, each with source, licence and date, and
//! which step time a replica gets.
//!
//! The tables are the files of `calibration-data/`, embedded and parsed once.

mod kv_cache;
mod lookup;
mod prices;
mod resolve;
mod rows;
mod table;

use std::sync::LazyLock;

use crate::problem::Problem;

pub use kv_cache::KvCacheFactors;
pub use prices::{PricePlan, PriceQuote};
pub use resolve::{resolve, resolve_from};
pub use rows::{Calibration, Citation, GpuEfficiencies, GpuEntry, ModelEntry};

/// GPUs, best known first within a vendor's generation.
pub fn gpus() -> &'static [GpuEntry] {
    &CATALOG.gpus
}

/// Models.
pub fn models() -> &'static [ModelEntry] {
    &CATALOG.models
}

/// The whole price sheet.
pub fn all_prices() -> &'static [PriceQuote] {
    &CATALOG.prices
}

/// Price quotes of a GPU; empty when none is known, and then no cost is shown.
pub fn prices(gpu_id: &str) -> Vec<&'static PriceQuote> {
    CATALOG.prices.iter().filter(|quote| quote.gpu == gpu_id).collect()
}

/// Measured step times: one row per GPU, model, tensor parallelism and precision.
pub fn calibrations() -> &'static [Calibration] {
    &CATALOG.calibrations
}

/// Efficiencies of the GPUs that have a physics law.
pub fn efficiencies() -> &'static [GpuEfficiencies] {
    &CATALOG.efficiencies
}

/// What attention costs on a cache in 8 bits, by GPU and width of heads.
pub fn kv_cache_factors() -> &'static [KvCacheFactors] {
    &CATALOG.kv_cache
}

/// The GPU of that id, or an error that suggests what was meant; the path is left empty.
pub fn gpu(id: &str) -> Result<&'static GpuEntry, Problem> {
    gpus().iter().find(|entry| entry.id.eq_ignore_ascii_case(id)).ok_or_else(|| {
        lookup::unknown("GPU", id, gpus().iter().map(|entry| (entry.id, entry.id)), "gpus")
    })
}

/// The model of that id or Hugging Face name, or an error that suggests what was meant; the path
/// is left empty.
pub fn model(id: &str) -> Result<&'static ModelEntry, Problem> {
    let named = |entry: &&ModelEntry| {
        entry.id.eq_ignore_ascii_case(id) || entry.hf_id.eq_ignore_ascii_case(id)
    };
    models().iter().find(named).ok_or_else(|| {
        let names = models().iter().flat_map(|entry| {
            [&entry.id, &entry.hf_id].map(|name| (name.as_str(), entry.id.as_str()))
        });
        lookup::unknown("model", id, names, "models")
    })
}

struct Catalog {
    gpus: Vec<GpuEntry>,
    models: Vec<ModelEntry>,
    prices: Vec<PriceQuote>,
    calibrations: Vec<Calibration>,
    efficiencies: Vec<GpuEfficiencies>,
    typical: GpuEfficiencies,
    kv_cache: Vec<KvCacheFactors>,
}

const SOURCES: &str = include_str!("../../../calibration-data/sources.csv");
const GPUS: &str = include_str!("../../../calibration-data/gpus.csv");
const MODELS: &str = include_str!("../../../calibration-data/models.json");
const PRICES: &str = include_str!("../../../calibration-data/prices.csv");
const LIBRARY: &str = include_str!("../../../calibration-data/step_time_library.csv");
const PHYSICS: &str = include_str!("../../../calibration-data/step_time_physics.csv");
const KV_CACHE: &str = include_str!("../../../calibration-data/kv_cache_fp8.csv");

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    Catalog::parse().unwrap_or_else(|why| unreachable!("the embedded catalogue is sound: {why}"))
});

impl Catalog {
    fn parse() -> Result<Self, String> {
        let sources = rows::sources(SOURCES)?;
        let models = rows::models(MODELS, &sources)?;
        let calibrations = rows::calibrations(LIBRARY, &models, &sources)?;
        let (efficiencies, typical) = rows::efficiencies(PHYSICS, &sources)?;
        Ok(Self {
            gpus: rows::gpus(GPUS, &sources)?,
            prices: prices::prices(PRICES, &sources)?,
            models,
            calibrations,
            efficiencies,
            typical,
            kv_cache: kv_cache::factors(KV_CACHE, &sources)?,
        })
    }
}

#[cfg(test)]
mod tests;
