//! Numbers of a pool, under vLLM's names.

use goodput_engine::scenario::doc::{PoolDoc, StepTimeSourceDoc};

use super::numbers::Named;
use super::{FieldKind, Slot, life};
use crate::parse::Quantity;

/// Numbers of a pool, under vLLM's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PoolField {
    /// No number but its name, which takes part in what numbers do when they do not read.
    Name,
    Replicas,
    TensorParallel,
    MaxNumSeqs,
    MaxNumBatchedTokens,
    LongPrefillTokenThreshold,
    StreamInterval,
    MaxModelLen,
    BlockSize,
    GpuMemoryUtilization,
    NumGpuBlocks,
    StepOverhead,
    ApiOverhead,
    DeclaredInput,
    DeclaredOutput,
    Price,
    /// A price in another currency, and the rate that makes USD of it.
    CurrencyPrice,
    CurrencyRate,
    /// Of how its replicas come and go.
    Life(Named),
    /// Of an entry of its timetable.
    ScheduledAt(usize),
    ScheduledReplicas(usize),
    /// Of a failure at a given moment.
    CrashAt(usize),
    CrashReplica(usize),
}

impl PoolField {
    pub(super) fn kind(self) -> FieldKind {
        match self {
            Self::Name => FieldKind::real("Name of the pool", "", Quantity::Plain),
            Self::Life(named) => named.kind,
            Self::ScheduledAt(_) | Self::CrashAt(_) => {
                FieldKind::real("At", "s", Quantity::Seconds)
            }
            Self::CrashReplica(_) => FieldKind::whole("Replica", "from 0", Quantity::Count),
            Self::Replicas | Self::ScheduledReplicas(_) => {
                FieldKind::whole("Replicas", "", Quantity::Count)
            }
            Self::TensorParallel => {
                FieldKind::whole("tensor_parallel", "GPUs each", Quantity::Count)
            }
            Self::MaxNumSeqs => FieldKind::whole("max_num_seqs", "seats", Quantity::Count),
            Self::MaxNumBatchedTokens => {
                FieldKind::whole("max_num_batched_tokens", "tokens", Quantity::Tokens)
            }
            Self::LongPrefillTokenThreshold => {
                FieldKind::whole("long_prefill_token_threshold", "tokens", Quantity::Tokens)
            }
            Self::StreamInterval => FieldKind::whole("stream_interval", "tokens", Quantity::Tokens),
            Self::MaxModelLen => FieldKind::whole("max_model_len", "tokens", Quantity::Tokens)
                .or_empty("the model's own"),
            Self::BlockSize => FieldKind::whole("block_size", "tokens", Quantity::Tokens),
            Self::GpuMemoryUtilization => {
                FieldKind::real("gpu_memory_utilization", "%", Quantity::Share)
            }
            Self::NumGpuBlocks => FieldKind::whole("num_gpu_blocks", "blocks", Quantity::Count)
                .or_empty("from the memory model"),
            Self::StepOverhead => FieldKind::real("Added to each step", "ms", Quantity::Millis),
            Self::ApiOverhead => FieldKind::real("Before the queue", "ms", Quantity::Millis),
            Self::DeclaredInput => {
                FieldKind::real("Input per replica", "tok/s", Quantity::TokenRate)
                    .or_empty("prompts cost nothing")
            }
            Self::DeclaredOutput => {
                FieldKind::real("Output per replica", "tok/s", Quantity::TokenRate)
                    .or_empty("outputs cost nothing")
            }
            Self::CurrencyPrice => FieldKind::real("Per GPU-hour", "", Quantity::Plain),
            Self::CurrencyRate => FieldKind::real("USD for one of it", "$", Quantity::Plain),
            Self::Price => FieldKind::real("Per GPU-hour", "$", Quantity::Usd)
                .or_empty("no price, no cost shown"),
        }
    }

    pub(super) fn path(self) -> String {
        match self {
            Self::Life(named) => named.name,
            Self::ScheduledAt(i) => return format!("scheduled_replicas[{i}].at_s"),
            Self::ScheduledReplicas(i) => return format!("scheduled_replicas[{i}].replicas"),
            Self::CrashAt(i) => return format!("failures.crashes[{i}].at_s"),
            Self::CrashReplica(i) => return format!("failures.crashes[{i}].replica"),
            Self::Name => "name",
            Self::Replicas => "replicas",
            Self::TensorParallel => "tensor_parallel",
            Self::MaxNumSeqs => "max_num_seqs",
            Self::MaxNumBatchedTokens => "max_num_batched_tokens",
            Self::LongPrefillTokenThreshold => "long_prefill_token_threshold",
            Self::StreamInterval => "stream_interval",
            Self::MaxModelLen => "max_model_len",
            Self::BlockSize => "block_size",
            Self::GpuMemoryUtilization => "gpu_memory_utilization",
            Self::NumGpuBlocks => "num_gpu_blocks",
            Self::StepOverhead => "step_time.step_overhead_ms",
            Self::ApiOverhead => "step_time.api_overhead_ms",
            Self::DeclaredInput => "step_time.source.declared_input_tps",
            Self::DeclaredOutput => "step_time.source.declared_output_tps",
            Self::Price => "price_per_gpu_hour",
            Self::CurrencyPrice => "price_in_currency.per_gpu_hour",
            Self::CurrencyRate => "price_in_currency.usd_per_unit",
        }
        .to_owned()
    }

    pub(super) fn get(self, pool: &PoolDoc) -> Option<f64> {
        let mut copy = pool.clone();
        let mut found = None;
        self.place(&mut copy, |slot| found = slot.get());
        found
    }

    pub(super) fn set(self, pool: &mut PoolDoc, value: Option<f64>) {
        self.place(pool, |slot| slot.set(value));
    }

    fn place(self, pool: &mut PoolDoc, visit: impl FnOnce(Slot)) {
        match self {
            Self::Name => {}
            Self::Life(_)
            | Self::ScheduledAt(_)
            | Self::ScheduledReplicas(_)
            | Self::CrashAt(_)
            | Self::CrashReplica(_) => {
                if let Some(slot) = life::place(pool, self) {
                    visit(slot);
                }
            }
            Self::Replicas => visit(Slot::Whole(&mut pool.replicas)),
            Self::TensorParallel => visit(Slot::Whole(&mut pool.tensor_parallel)),
            Self::MaxNumSeqs => visit(Slot::Whole(&mut pool.max_num_seqs)),
            Self::MaxNumBatchedTokens => visit(Slot::Whole(&mut pool.max_num_batched_tokens)),
            Self::LongPrefillTokenThreshold => {
                visit(Slot::Whole(&mut pool.long_prefill_token_threshold));
            }
            Self::StreamInterval => visit(Slot::Whole(&mut pool.stream_interval)),
            Self::MaxModelLen => visit(Slot::MaybeWhole(&mut pool.max_model_len)),
            Self::BlockSize => visit(Slot::Whole(&mut pool.block_size)),
            Self::GpuMemoryUtilization => visit(Slot::Real(&mut pool.gpu_memory_utilization)),
            Self::NumGpuBlocks => visit(Slot::MaybeBig(&mut pool.num_gpu_blocks)),
            Self::StepOverhead => visit(Slot::Real(&mut pool.step_time.step_overhead_ms)),
            Self::ApiOverhead => visit(Slot::Real(&mut pool.step_time.api_overhead_ms)),
            Self::DeclaredInput | Self::DeclaredOutput => {
                let StepTimeSourceDoc::Declared { declared_input_tps, declared_output_tps } =
                    &mut pool.step_time.source
                else {
                    return;
                };
                let input = self == Self::DeclaredInput;
                let slot = if input { declared_input_tps } else { declared_output_tps };
                visit(Slot::MaybeReal(slot));
            }
            Self::CurrencyPrice | Self::CurrencyRate => {
                let Some(price) = &mut pool.price_in_currency else { return };
                let rate = self == Self::CurrencyRate;
                visit(Slot::Real(if rate {
                    &mut price.usd_per_unit
                } else {
                    &mut price.per_gpu_hour
                }));
            }
            Self::Price => visit(Slot::MaybeReal(&mut pool.price_per_gpu_hour)),
        }
    }
}
