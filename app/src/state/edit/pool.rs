//! Changes of the pool other than of one number.

use goodput_engine::fleet::{KvPrecision, WeightPrecision};
use goodput_engine::scenario::doc::{CurrencyPriceDoc, FittedScaleDoc, PoolDoc, StepTimeSourceDoc};
use goodput_engine::scenario::{GpuRef, ModelRef};

/// Changes of the pool other than of one number.
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
        }
    }

    pub(super) fn label(&self) -> &'static str {
        match self {
            Self::Gpu(_) | Self::GpuName(_) => "GPU",
            Self::Model(..) | Self::ModelName(_) => "model",
            Self::Weights(_) => "weight precision",
            Self::Kv(_) => "KV precision",
            Self::Switch(switch, _) => switch.label(),
            Self::StepTime(_) => "source of step time",
            Self::Fitted(Some(_)) => "calibration",
            Self::Fitted(None) => "removing the calibration",
            Self::Price(..) => "price",
            Self::Currency(_) => "currency",
            Self::RateDate(_) => "date of the rate",
        }
    }
}
