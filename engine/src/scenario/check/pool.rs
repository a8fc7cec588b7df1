//! Checks of what serves: references, layout, scheduler settings, memory and price.

use super::findings::Findings;
use super::{scheduler, step_time};
use crate::catalog;
use crate::counted::{thousands, typed};
use crate::fleet::{
    Admission, GpuSpec, Layout, MemoryQuestion, MemoryReport, ModelShape, Precision, Routing,
    WeightPrecision, memory,
};
use crate::problem::Problem;
use crate::scenario::doc::{CurrencyPriceDoc, FleetDoc, PoolDoc, RoutingDoc};
use crate::scenario::{GpuRef, ModelRef, Pool, Price, Scheduler};
use crate::step_time::Served;
use crate::units::Picos;

/// The most replicas of one pool.
pub const MAX_REPLICAS: u32 = 10_000;

/// The longest overhead per step or request, milliseconds.
const MAX_OVERHEAD_MS: f64 = 10_000.0;

/// The most pools of one fleet.
pub const MAX_POOLS: usize = 20;

/// The bounds of affinity that mean anything.
const MOST_OVER_MEAN: std::ops::RangeInclusive<f64> = 1.01..=1_000.0;

/// What serves, checked.
pub(super) struct Fleet {
    pub pool: Pool,
    pub beside: Vec<Pool>,
    pub routing: Routing,
    pub admission: Admission,
}

pub(super) fn check(doc: &FleetDoc, findings: &mut Findings) -> Option<Fleet> {
    let admission = super::admission::check(&doc.admission, findings);
    let routing = check_routing(doc, findings);
    if doc.pools.is_empty() {
        findings.error("fleet.pools", "there is no pool, so nothing serves", "add one pool");
    } else if doc.pools.len() > MAX_POOLS {
        findings.error(
            "fleet.pools",
            format!("there are {} pools", doc.pools.len()),
            format!("give 1 to {MAX_POOLS}"),
        );
        return None;
    }
    super::route::check_pool_names(&doc.pools, findings);
    let pools = doc.pools.iter().enumerate();
    let mut pools: Vec<Option<Pool>> = pools
        .map(|(i, pool)| {
            let mut own = Findings::default();
            let checked = check_pool(pool, &format!("fleet.pools[{i}]"), &mut own);
            findings.extend(own);
            checked
        })
        .collect();
    let mut pools = pools.drain(..);
    let (first, beside) = (pools.next()?, pools.collect::<Option<Vec<Pool>>>());
    Some(Fleet { pool: first?, beside: beside?, routing: routing?, admission: admission? })
}

fn check_routing(doc: &FleetDoc, findings: &mut Findings) -> Option<Routing> {
    let most_over_mean = doc.affinity_most_over_mean;
    let path = "fleet.affinity_most_over_mean";
    let bound = findings.number(path, "the bound of affinity", most_over_mean, &MOST_OVER_MEAN);
    Some(match doc.routing {
        RoutingDoc::LeastOutstanding => Routing::LeastOutstanding,
        RoutingDoc::RoundRobin => Routing::RoundRobin,
        RoutingDoc::Random => Routing::Random,
        RoutingDoc::PowerOfTwo => Routing::PowerOfTwo,
        RoutingDoc::LeastKv => Routing::LeastKv,
        RoutingDoc::Affinity => Routing::Affinity { most_over_mean },
    })
    .filter(|_| bound)
}

fn check_pool(doc: &PoolDoc, path: &str, findings: &mut Findings) -> Option<Pool> {
    let replicas = u64::from(doc.replicas);
    let range = 1..=u64::from(MAX_REPLICAS);
    findings.count(format!("{path}.replicas"), "the number of replicas", replicas, &range);
    let overhead = 0.0..=MAX_OVERHEAD_MS;
    let (api_path, api_ms) =
        (format!("{path}.step_time.api_overhead_ms"), doc.step_time.api_overhead_ms);
    findings.number(api_path, "the time before a request is queued", api_ms, &overhead);
    let price = check_price(doc, path, findings);
    let life = super::life::check(doc, path, findings);
    let gpu = findings.take(&format!("{path}.gpu"), gpu_of(&doc.gpu));
    let model = findings.take(&format!("{path}.model"), model_of(&doc.model));
    let precision = check_precision(doc, path, findings);
    let scheduler = scheduler::check(doc, model.as_ref(), path, findings);
    // Checked here too when the GPU or the model is not known, so that all is said at once.
    step_time::check_numbers(&doc.step_time, &format!("{path}.step_time"), findings);
    let (gpu, model, precision, scheduler) = (gpu?, model?, precision?, scheduler?);
    let layout = Layout::tensor_parallel(doc.tensor_parallel);
    let layout_problems = layout.check(&model);
    if !layout_problems.is_empty() {
        findings.all(path, layout_problems);
        return None;
    }
    if findings.any_error() {
        return None;
    }
    let memory = memory_of(doc, &gpu, &model, layout, precision, &scheduler);
    warn_about_memory(&memory, &scheduler, path, findings);
    let served = Served { gpu: &gpu, model: &model, layout, precision };
    let service = step_time::service(&doc.step_time, &served, &scheduler, path, findings)?;
    Some(Pool {
        layout,
        precision,
        replicas: doc.replicas,
        life: life?,
        gpus_per_replica: layout.gpus(),
        scheduler,
        api_overhead: Picos::from_millis(api_ms),
        memory,
        service,
        price,
        name: doc.name.trim().to_owned(),
        gpu,
        model,
    })
}

fn gpu_of(reference: &GpuRef) -> Result<GpuSpec, Vec<Problem>> {
    match reference {
        GpuRef::Id(id) => {
            catalog::gpu(id).map(|entry| entry.spec.clone()).map_err(|problem| vec![problem])
        }
        GpuRef::Custom(spec) => {
            let problems = spec.check();
            if problems.is_empty() { Ok((**spec).clone()) } else { Err(problems) }
        }
    }
}

fn model_of(reference: &ModelRef) -> Result<ModelShape, Vec<Problem>> {
    match reference {
        ModelRef::Id(id) => {
            catalog::model(id).map(|entry| entry.shape.clone()).map_err(|problem| vec![problem])
        }
        ModelRef::Custom(shape) => {
            let problems = shape.check();
            if problems.is_empty() { Ok((**shape).clone()) } else { Err(problems) }
        }
    }
}

fn check_precision(doc: &PoolDoc, path: &str, findings: &mut Findings) -> Option<Precision> {
    if let WeightPrecision::BytesPerParam(bytes) = doc.weight_precision {
        let path = format!("{path}.weight_precision.bytes_per_param");
        if !findings.number(path, "the size of a weight in bytes", bytes, &(0.05..=16.0)) {
            return None;
        }
    }
    Some(Precision { weights: doc.weight_precision, kv: doc.kv_precision })
}

fn check_price(doc: &PoolDoc, path: &str, findings: &mut Findings) -> Option<Price> {
    let source = doc.price_source.trim();
    if let Some(foreign) = &doc.price_in_currency {
        let path = format!("{path}.price_in_currency");
        if doc.price_per_gpu_hour.is_some() {
            findings.error(
                path,
                "the price stands there twice, in USD and in another currency",
                "leave one of `price_per_gpu_hour` and `price_in_currency` out",
            );
            return None;
        }
        return check_foreign_price(foreign, source, &path, findings);
    }
    let usd = doc.price_per_gpu_hour?;
    if !(usd > 0.0 && usd <= 10_000.0) {
        findings.error(
            format!("{path}.price_per_gpu_hour"),
            format!("the price is {usd} USD per GPU-hour", usd = typed(usd)),
            "give a price above 0 and up to 10,000, or leave it out: no price, no cost",
        );
        return None;
    }
    Some(Price { usd_per_gpu_hour: usd, source: source.to_owned() })
}

fn check_foreign_price(
    doc: &CurrencyPriceDoc,
    source: &str,
    path: &str,
    findings: &mut Findings,
) -> Option<Price> {
    let CurrencyPriceDoc { currency, per_gpu_hour, usd_per_unit, rate_as_of } = doc;
    let letters = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase());
    if !letters {
        findings.error(
            format!("{path}.currency"),
            format!("the currency is {currency:?}"),
            "give its three capital letters, e.g. EUR",
        );
    }
    let dated = rate_as_of.bytes().any(|byte| byte.is_ascii_digit());
    if !dated {
        findings.error(
            format!("{path}.rate_as_of"),
            "the exchange rate has no date",
            "say when it was read, e.g. 2026-10-01",
        );
    }
    let price = (1e-9..=1e9).contains(per_gpu_hour);
    if !price {
        let what = "give a price above 0 and up to a billion";
        let said = format!(
            "the price is {per_gpu_hour} {currency} per GPU-hour",
            per_gpu_hour = typed(*per_gpu_hour)
        );
        findings.error(format!("{path}.per_gpu_hour"), said, what);
    }
    let rate = (1e-9..=1e9).contains(usd_per_unit);
    if !rate {
        findings.error(
            format!("{path}.usd_per_unit"),
            format!(
                "the rate is {usd_per_unit} USD per {currency}",
                usd_per_unit = typed(*usd_per_unit)
            ),
            "give USD for one unit, above 0: none is known here, and none is guessed",
        );
    }
    let usd = per_gpu_hour * usd_per_unit;
    if letters && dated && price && rate && usd > 10_000.0 {
        findings.error(path, format!("the price is {usd} USD per GPU-hour"), "at most 10,000");
        return None;
    }
    let said = format!(
        "{per_gpu_hour} {currency} at {usd_per_unit} USD per {currency} of {}",
        rate_as_of.trim()
    );
    let source = if source.is_empty() { said } else { format!("{source}; {said}") };
    (letters && dated && price && rate).then_some(Price { usd_per_gpu_hour: usd, source })
}

fn memory_of(
    doc: &PoolDoc,
    gpu: &GpuSpec,
    model: &ModelShape,
    layout: Layout,
    precision: Precision,
    scheduler: &Scheduler,
) -> MemoryReport {
    memory(&MemoryQuestion {
        gpu,
        model,
        layout,
        precision,
        gpu_memory_utilization: doc.gpu_memory_utilization,
        max_num_batched_tokens: scheduler.max_num_batched_tokens,
        max_num_seqs: scheduler.max_num_seqs,
        max_model_len: scheduler.max_model_len,
        block_size: scheduler.block_size,
        num_gpu_blocks: doc.num_gpu_blocks,
        runtime_overhead_gib: None,
    })
}

fn warn_about_memory(
    memory: &MemoryReport,
    scheduler: &Scheduler,
    path: &str,
    findings: &mut Findings,
) {
    let longest = memory.longest_sequence_tokens;
    if memory.does_not_fit.is_none() && longest < u64::from(scheduler.max_model_len) {
        findings.warning(
            format!("{path}.max_model_len"),
            format!(
                "the KV cache holds {} tokens in whole blocks, less than one sequence of {}: the \
                 engine itself refuses to start so",
                thousands(memory.kv_capacity_tokens as f64),
                thousands(f64::from(scheduler.max_model_len))
            ),
            format!("set max_model_len to {} or less", thousands(longest as f64)),
        );
    }
}
