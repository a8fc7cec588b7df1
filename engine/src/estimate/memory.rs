//! Memory of a replica as the estimate reports it.

use super::report::{MemoryReport, PoolMemory, SmallestFitting};
use crate::fleet::{self, MemoryBasis};
use crate::scenario::Pool;

/// The memory of each pool.
pub fn report<'p>(pools: impl Iterator<Item = &'p Pool>) -> MemoryReport {
    MemoryReport { pools: pools.map(of_pool).collect() }
}

fn of_pool(pool: &Pool) -> PoolMemory {
    let memory = &pool.memory;
    let fits = memory.does_not_fit.is_none();
    PoolMemory {
        name: pool.name.clone(),
        kv_bytes_per_token: memory.kv_bytes_per_token as f64,
        kv_bytes_per_token_per_gpu: memory.kv_bytes_per_token_per_gpu as f64,
        weights_bytes_per_gpu: memory.weights_bytes_per_gpu,
        usable_bytes_per_gpu: memory.usable_bytes_per_gpu,
        overhead_bytes_per_gpu: memory.activation_bytes_per_gpu + memory.runtime_bytes_per_gpu,
        num_gpu_blocks: fits.then_some(memory.kv_capacity_blocks),
        kv_capacity_tokens: fits.then_some(memory.kv_capacity_tokens),
        max_concurrent_full_length: fits.then_some(memory.max_concurrent_full_length),
        source: match memory.basis {
            MemoryBasis::EngineReported => "the engine's own block count",
            MemoryBasis::ReportedMemory => "estimated from the memory the driver reports",
            MemoryBasis::NominalMemory => "estimated from the memory the vendor prints",
        }
        .to_owned(),
    }
}

impl From<fleet::SmallestFitting> for SmallestFitting {
    fn from(layout: fleet::SmallestFitting) -> Self {
        Self {
            gpus: layout.gpus,
            tensor_parallel: layout.tensor_parallel,
            pipeline_parallel: layout.pipeline_parallel,
        }
    }
}
