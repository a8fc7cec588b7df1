//! `goodput catalog`.

use goodput_engine::catalog;
use goodput_engine::scenario::{link, presets};
use serde::Serialize;
use serde_json::{Value, json};

use super::args::CatalogList;
use super::output::{Answer, Failure};
use super::text::Page;

pub fn run(list: CatalogList) -> Result<Answer, Failure> {
    match list {
        CatalogList::Gpus => rows(catalog::gpus(), |gpu| {
            let memory =
                format!("{} GiB, {} TB/s", gpu.spec.memory_gib, gpu.spec.memory_bandwidth_tb_s);
            (gpu.id.to_owned(), format!("{memory}, {} dense bf16 TFLOPS", gpu.spec.bf16_tflops))
        }),
        CatalogList::Models => rows(catalog::models(), |model| {
            let kv = format!("{} B of KV cache per token", model.kv_bytes_per_token);
            (model.id.clone(), format!("{kv}, {}", model.hf_id))
        }),
        CatalogList::Calibrations => rows(catalog::calibrations(), |row| {
            let layout =
                format!("{} TP{} {}", row.model, row.tensor_parallel, row.upstream_precision);
            (row.gpu.to_owned(), format!("{layout}, error {:.1} %", 100.0 * row.band.typical))
        }),
        CatalogList::Prices => rows(catalog::all_prices(), |quote| {
            let (low, high) = (quote.low_per_gpu_hour, quote.high_per_gpu_hour);
            let place = if quote.region.is_empty() { "" } else { ", " };
            let what = format!("{}, {}{place}{}", quote.plan.words(), quote.offer, quote.region);
            let range = format!("{low} to {high} {} per GPU-hour", quote.currency);
            (quote.gpu.to_owned(), format!("{range}, {}: {what}", quote.citation.as_of))
        }),
        CatalogList::Presets => presets(),
    }
}

fn rows<T: Serialize>(
    entries: &[T],
    words: impl Fn(&T) -> (String, String),
) -> Result<Answer, Failure> {
    let mut page = Page::default();
    for entry in entries {
        let (label, value) = words(entry);
        page.row(&label, &value);
    }
    Answer::new(&entries, page.into_text())
}

/// Presets with their links.
fn presets() -> Result<Answer, Failure> {
    let mut page = Page::default();
    let mut values: Vec<Value> = Vec::new();
    for preset in presets::presets() {
        let link = link::encode(&preset.doc)?.fragment;
        page.line(&preset.name).line(&format!("  {}", preset.summary)).line(&format!("  {link}"));
        values.push(json!({
            "id": preset.id,
            "name": preset.name,
            "link": link,
            "summary": preset.summary,
            "sources": preset.sources,
            "scenario": preset.doc,
        }));
    }
    Answer::new(&values, page.into_text())
}
