//! Changes of a pool other than of one number.

use goodput_engine::fleet::{KvPrecision, WeightPrecision};
use goodput_engine::scenario::doc::{
    AutoscalerDoc, CrashDoc, CurrencyPriceDoc, FittedScaleDoc, PoolDoc, ScheduledReplicasDoc,
    SchedulingPolicyDoc, StepTimeSourceDoc,
};
use goodput_engine::scenario::{GpuRef, ModelRef};

use super::class::remove_row;

/// Changes of a pool other than of one number.
#[derive(Debug, Clone, PartialEq)]
pub enum PoolEdit {
    /// The GPU.
    Gpu(GpuRef),
    /// Name of a GPU by numbers.
    GpuName(String),
    /// The model, and the precision in which its weights come.
    Model(ModelRef, Option<WeightPrecision>),
    /// Name of a model by numbers.
    ModelName(String),
    /// Number format of the weights.
    Weights(WeightPrecision),
    /// Number format of the KV cache.
    Kv(KvPrecision),
    /// An engine option.
    Switch(Switch, bool),
    /// Whose turn it is.
    SchedulingPolicy(SchedulingPolicyDoc),
    /// Where the step time comes from.
    StepTime(StepTimeSourceDoc),
    /// What benchmark points say about it.
    Fitted(Option<FittedScaleDoc>),
    /// A price and whose it is.
    Price(Option<f64>, String),
    /// Its currency; `None` is USD.
    Currency(Option<String>),
    /// When the exchange rate was read.
    RateDate(String),
    /// Who decides how many replicas there are: an autoscaler, a timetable, or with neither nobody.
    Scaling(Option<AutoscalerDoc>, Vec<ScheduledReplicasDoc>),
    /// Whether the first replicas start when the run begins.
    ColdStart(bool),
    /// Adds an entry to the timetable after an index.
    AddScheduled(usize),
    /// Removes an entry of the timetable.
    RemoveScheduled(usize),
    /// Failures at given moments.
    Crashes(Vec<CrashDoc>),
    /// Adds a failure after an index.
    AddCrash(usize),
    /// Removes a failure.
    RemoveCrash(usize),
}

/// Engine options that are on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Switch {
    ChunkedPrefill,
    PrefixCaching,
    AsyncScheduling,
    ReserveFullIsl,
}

impl Switch {
    /// All of them, in the order of the form.
    pub const ALL: [Self; 4] =
        [Self::ChunkedPrefill, Self::PrefixCaching, Self::AsyncScheduling, Self::ReserveFullIsl];

    /// Its name in vLLM.
    pub fn label(self) -> &'static str {
        match self {
            Self::ChunkedPrefill => "enable_chunked_prefill",
            Self::PrefixCaching => "enable_prefix_caching",
            Self::AsyncScheduling => "async_scheduling",
            Self::ReserveFullIsl => "scheduler_reserve_full_isl",
        }
    }

    /// Whether it is on.
    pub fn get(self, pool: &PoolDoc) -> bool {
        match self {
            Self::ChunkedPrefill => pool.enable_chunked_prefill,
            Self::PrefixCaching => pool.enable_prefix_caching,
            Self::AsyncScheduling => pool.async_scheduling,
            Self::ReserveFullIsl => pool.scheduler_reserve_full_isl,
        }
    }

    fn set(self, pool: &mut PoolDoc, on: bool) {
        match self {
            Self::ChunkedPrefill => pool.enable_chunked_prefill = on,
            Self::PrefixCaching => pool.enable_prefix_caching = on,
            Self::AsyncScheduling => pool.async_scheduling = on,
            Self::ReserveFullIsl => pool.scheduler_reserve_full_isl = on,
        }
    }
}

impl PoolEdit {
    pub(super) fn apply(&self, pool: &mut PoolDoc) {
        match self {
            Self::Gpu(gpu) => pool.gpu = gpu.clone(),
            Self::GpuName(name) => {
                if let GpuRef::Custom(spec) = &mut pool.gpu {
                    spec.name.clone_from(name);
                }
            }
            Self::Model(model, weights) => {
                pool.model = model.clone();
                pool.weight_precision = weights.unwrap_or(pool.weight_precision);
            }
            Self::ModelName(name) => {
                if let ModelRef::Custom(shape) = &mut pool.model {
                    shape.name.clone_from(name);
                }
            }
            Self::Weights(precision) => pool.weight_precision = *precision,
            Self::Kv(precision) => pool.kv_precision = *precision,
            Self::Switch(switch, on) => switch.set(pool, *on),
            Self::SchedulingPolicy(policy) => pool.scheduling_policy = *policy,
            Self::StepTime(source) => {
                pool.step_time.source = source.clone();
                // Bare rates have no steps that a fit or an overhead could apply to.
                if matches!(source, StepTimeSourceDoc::Declared { .. }) {
                    pool.step_time.fitted = None;
                    pool.step_time.step_overhead_ms = 0.0;
                }
            }
            Self::Fitted(fitted) => pool.step_time.fitted.clone_from(fitted),
            Self::Price(price, source) => {
                pool.price_per_gpu_hour = *price;
                pool.price_source.clone_from(source);
                if price.is_some() {
                    pool.price_in_currency = None;
                }
            }
            Self::Currency(None) => {
                // The same price in USD, where a rate was typed.
                let foreign = pool.price_in_currency.take();
                let usd = foreign.map(|price| price.per_gpu_hour * price.usd_per_unit);
                pool.price_per_gpu_hour = pool.price_per_gpu_hour.or(usd.filter(|usd| *usd > 0.0));
            }
            Self::Currency(Some(currency)) => {
                // What was typed is now a price in that currency; its rate nobody knows.
                let typed = pool.price_per_gpu_hour.take();
                let before = pool.price_in_currency.take();
                let per_gpu_hour = before.map(|price| price.per_gpu_hour).or(typed).unwrap_or(0.0);
                pool.price_in_currency = Some(CurrencyPriceDoc {
                    currency: currency.clone(),
                    per_gpu_hour,
                    usd_per_unit: 0.0,
                    rate_as_of: String::new(),
                });
            }
            Self::RateDate(date) => {
                if let Some(price) = &mut pool.price_in_currency {
                    price.rate_as_of.clone_from(date);
                }
            }
            _ => self.change_life(pool),
        }
    }

    fn change_life(&self, pool: &mut PoolDoc) {
        match self {
            Self::Scaling(autoscaler, scheduled) => {
                let fixed = pool.autoscaler.is_none() && pool.scheduled_replicas.is_empty();
                pool.autoscaler = *autoscaler;
                pool.scheduled_replicas.clone_from(scheduled);
                take_time_to_start(pool, fixed);
            }
            Self::ColdStart(on) => {
                pool.cold_start = *on;
                take_time_to_start(pool, *on);
            }
            Self::AddScheduled(after) => {
                let copy = |at_s, entry| ScheduledReplicasDoc { at_s, ..entry };
                add_after(&mut pool.scheduled_replicas, *after, |entry| entry.at_s, copy);
            }
            Self::RemoveScheduled(i) => remove_row(&mut pool.scheduled_replicas, *i),
            Self::Crashes(crashes) => {
                let none = pool.failures.crashes.is_empty();
                pool.failures.crashes.clone_from(crashes);
                take_time_to_start(pool, none);
            }
            Self::AddCrash(after) => {
                let copy = |at_s, crash| CrashDoc { at_s, ..crash };
                add_after(&mut pool.failures.crashes, *after, |crash| crash.at_s, copy);
            }
            Self::RemoveCrash(i) => remove_row(&mut pool.failures.crashes, *i),
            _ => {}
        }
    }

    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::Gpu(_) | Self::GpuName(_) => "GPU",
            Self::Model(..) | Self::ModelName(_) => "model",
            Self::Weights(_) => "weight precision",
            Self::Kv(_) => "KV precision",
            Self::Switch(switch, _) => switch.label(),
            Self::SchedulingPolicy(_) => "scheduling_policy",
            Self::StepTime(_) => "source of step time",
            Self::Fitted(Some(_)) => "calibration",
            Self::Fitted(None) => "removing the calibration",
            Self::Price(..) => "price",
            Self::Currency(_) => "currency",
            Self::RateDate(_) => "date of the rate",
            Self::Scaling(..) => "scaling",
            Self::ColdStart(_) => "cold start",
            Self::AddScheduled(_) => "adding an entry of the timetable",
            Self::RemoveScheduled(_) => "removing an entry of the timetable",
            Self::Crashes(_) | Self::AddCrash(_) | Self::RemoveCrash(_) => "failures",
        }
    }
}

/// Time that a replica takes to start where nobody said, seconds: a server that is there reads an 8 B
/// model from its disk and warms up in less, one that has to be found first takes longer.
pub const START_UP_S: f64 = 120.0;

/// Where replicas begin to come and go and nobody said how long a start takes, it is a guess that can
/// be seen, and not no time at all.
fn take_time_to_start(pool: &mut PoolDoc, begins: bool) {
    if begins && pool.start_up_s <= 0.0 {
        pool.start_up_s = START_UP_S;
    }
}

/// A row like the one at an index, halfway to the next moment or a minute after the last.
fn add_after<T: Copy>(
    rows: &mut Vec<T>,
    after: usize,
    moment: impl Fn(&T) -> f64,
    at: impl Fn(f64, T) -> T,
) {
    let Some(here) = rows.get(after).copied() else { return };
    let next = rows.get(after + 1).map(&moment);
    let here_s = moment(&here);
    let at_s = next.map_or(here_s + 60.0, |next_s| f64::midpoint(here_s, next_s));
    rows.insert(after + 1, at(at_s, here));
}
