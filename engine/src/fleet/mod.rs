//! What serves: GPUs, model architectures, how a model is laid out over GPUs, and the memory
//! that leaves for the key-value cache; whom the fleet lets in, how a request
//! finds its replica, and how replicas come and go.

mod admission;
mod gpu;
mod hf_config;
mod kv;
mod layout;
mod life;
mod memory;
mod model;
mod model_check;
mod precision;
mod routing;

pub use admission::{Admission, BucketLevel, Shedding, TokenBucket};
pub use gpu::GpuSpec;
pub use hf_config::{HfConfig, parse_hf_config};
pub use kv::{KvFootprint, KvGroup};
pub use layout::Layout;
pub use life::{Autoscaler, Crash, Failures, Life, Scaling, Signal};
pub use memory::{
    DoesNotFit, GIB, MemoryBasis, MemoryQuestion, MemoryReport, RUNTIME_OVERHEAD_GIB,
    RUNTIME_OVERHEAD_HIGH_GIB, RUNTIME_OVERHEAD_LOW_GIB, SmallestFitting, memory,
};
pub use model::{LayerGroup, ModelShape, MoeShape};
pub use precision::{KvPrecision, MathUnit, Precision, WeightPrecision};
pub use routing::Routing;

#[cfg(test)]
pub(crate) use model::tests::dense as dense_model;
