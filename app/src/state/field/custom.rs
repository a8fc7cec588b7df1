//! Numbers of a GPU and of a model that are not in the catalogue.

use goodput_engine::fleet::{GpuSpec, LayerGroup, ModelShape};
use goodput_engine::scenario::CatalogRef;
use goodput_engine::scenario::doc::PoolDoc;

use super::{FieldKind, Slot};
use crate::parse::Quantity;

/// Numbers of a GPU, from its datasheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GpuField {
    Memory,
    Bandwidth,
    Bf16,
    Fp8,
    ScaleUp,
    ScaleUpGpus,
}

impl GpuField {
    /// All of them, in the order of the form.
    pub const ALL: [Self; 6] =
        [Self::Memory, Self::Bandwidth, Self::Bf16, Self::Fp8, Self::ScaleUp, Self::ScaleUpGpus];

    pub(super) fn kind(self) -> FieldKind {
        let plain = |label, unit| FieldKind::real(label, unit, Quantity::Plain);
        match self {
            Self::Memory => plain("Memory", "GiB"),
            Self::Bandwidth => plain("Memory bandwidth", "TB/s"),
            Self::Bf16 => plain("BF16, dense", "TFLOPS"),
            Self::Fp8 => plain("FP8, dense", "TFLOPS").or_empty("no FP8 units"),
            Self::ScaleUp => plain("GPU link, each way", "GB/s").or_empty("no fast link"),
            Self::ScaleUpGpus => FieldKind::whole("GPUs on the link", "", Quantity::Count),
        }
    }

    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Memory => "memory_gib",
            Self::Bandwidth => "memory_bandwidth_tb_s",
            Self::Bf16 => "bf16_tflops",
            Self::Fp8 => "fp8_tflops",
            Self::ScaleUp => "scale_up_gb_s",
            Self::ScaleUpGpus => "scale_up_gpus",
        }
    }

    pub(super) fn get(self, pool: &PoolDoc) -> Option<f64> {
        let CatalogRef::Custom(spec) = &pool.gpu else { return None };
        let mut copy = (**spec).clone();
        self.slot(&mut copy).get()
    }

    pub(super) fn set(self, pool: &mut PoolDoc, value: Option<f64>) {
        if let CatalogRef::Custom(spec) = &mut pool.gpu {
            self.slot(spec).set(value);
        }
    }

    fn slot(self, spec: &mut GpuSpec) -> Slot<'_> {
        match self {
            Self::Memory => Slot::Real(&mut spec.memory_gib),
            Self::Bandwidth => Slot::Real(&mut spec.memory_bandwidth_tb_s),
            Self::Bf16 => Slot::Real(&mut spec.bf16_tflops),
            Self::Fp8 => Slot::MaybeReal(&mut spec.fp8_tflops),
            Self::ScaleUp => Slot::MaybeReal(&mut spec.scale_up_gb_s),
            Self::ScaleUpGpus => Slot::Whole(&mut spec.scale_up_gpus),
        }
    }
}

/// Numbers of a model; those of its layers are of the first group of layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelField {
    Params,
    ActiveParams,
    HiddenSize,
    Heads,
    Vocab,
    Context,
    Layers,
    KvHeads,
    HeadDim,
}

impl ModelField {
    /// All of them, in the order of the form.
    pub const ALL: [Self; 9] = [
        Self::Params,
        Self::ActiveParams,
        Self::Layers,
        Self::HiddenSize,
        Self::Heads,
        Self::KvHeads,
        Self::HeadDim,
        Self::Vocab,
        Self::Context,
    ];

    pub(super) fn kind(self) -> FieldKind {
        match self {
            Self::Params => FieldKind::real("Parameters", "billion", Quantity::Plain),
            Self::ActiveParams => FieldKind::real("Active per token", "billion", Quantity::Plain)
                .or_empty("all of them"),
            Self::HiddenSize => FieldKind::whole("hidden_size", "", Quantity::Count),
            Self::Heads => FieldKind::whole("num_attention_heads", "", Quantity::Count),
            Self::Vocab => FieldKind::whole("vocab_size", "", Quantity::Count),
            Self::Context => FieldKind::whole("Context", "tokens", Quantity::Tokens),
            Self::Layers => FieldKind::whole("Layers", "", Quantity::Count),
            Self::KvHeads => FieldKind::whole("KV heads", "", Quantity::Count),
            Self::HeadDim => FieldKind::whole("head_dim", "", Quantity::Count),
        }
    }

    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Params => "params_total_billions",
            Self::ActiveParams => "params_active_billions",
            Self::HiddenSize => "hidden_size",
            Self::Heads => "num_attention_heads",
            Self::Vocab => "vocab_size",
            Self::Context => "max_context_tokens",
            Self::Layers => "layer_groups[0].layers",
            Self::KvHeads => "layer_groups[0].kv_heads",
            Self::HeadDim => "layer_groups[0].head_dim",
        }
    }

    pub(super) fn get(self, pool: &PoolDoc) -> Option<f64> {
        let CatalogRef::Custom(shape) = &pool.model else { return None };
        let mut copy = (**shape).clone();
        self.slot(&mut copy).and_then(|slot| slot.get())
    }

    pub(super) fn set(self, pool: &mut PoolDoc, value: Option<f64>) {
        if let CatalogRef::Custom(shape) = &mut pool.model
            && let Some(slot) = self.slot(shape)
        {
            slot.set(value);
        }
    }

    /// The place of this number; `None` where the layers have no such number.
    pub fn slot(self, shape: &mut ModelShape) -> Option<Slot<'_>> {
        Some(match self {
            Self::Params => Slot::Real(&mut shape.params_total_billions),
            Self::ActiveParams => Slot::MaybeReal(&mut shape.params_active_billions),
            Self::HiddenSize => Slot::Whole(&mut shape.hidden_size),
            Self::Heads => Slot::Whole(&mut shape.num_attention_heads),
            Self::Vocab => Slot::Whole(&mut shape.vocab_size),
            Self::Context => Slot::Whole(&mut shape.max_context_tokens),
            Self::Layers | Self::KvHeads | Self::HeadDim => {
                return self.layer_slot(shape.layer_groups.first_mut()?);
            }
        })
    }

    fn layer_slot(self, group: &mut LayerGroup) -> Option<Slot<'_>> {
        Some(Slot::Whole(match (self, group) {
            (
                Self::Layers,
                LayerGroup::Full { layers, .. }
                | LayerGroup::SlidingWindow { layers, .. }
                | LayerGroup::Mla { layers, .. }
                | LayerGroup::Linear { layers, .. },
            ) => layers,
            (
                Self::KvHeads,
                LayerGroup::Full { kv_heads, .. } | LayerGroup::SlidingWindow { kv_heads, .. },
            ) => kv_heads,
            (
                Self::HeadDim,
                LayerGroup::Full { head_dim, .. } | LayerGroup::SlidingWindow { head_dim, .. },
            ) => head_dim,
            _ => return None,
        }))
    }
}
