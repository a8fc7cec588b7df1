//! The same GPUs in half as many replicas, each over twice as many.

use super::{Proposal, Remedy, Situation};

pub(super) const REMEDY: Remedy = Remedy { id: "tensor_parallel", propose };

fn propose(situation: &Situation<'_>) -> Result<Vec<Proposal>, String> {
    let pool = situation.pool_of_constant_size()?;
    let (replicas, size) = (pool.replicas, pool.tensor_parallel);
    if pool.num_gpu_blocks.is_some() {
        return Err("num_gpu_blocks was typed for this layout".to_owned());
    }
    let layout = |replicas: u32, size: u32| {
        let title = format!("{replicas} × TP{size} on the same GPUs");
        situation.with(title, |doc| {
            doc.fleet.pools[0].replicas = replicas;
            doc.fleet.pools[0].tensor_parallel = size;
        })
    };
    let mut proposals = Vec::new();
    if replicas % 2 == 0 {
        proposals.push(layout(replicas / 2, size.saturating_mul(2)));
    }
    if size % 2 == 0 {
        proposals.push(layout(replicas.saturating_mul(2), size / 2));
    }
    if proposals.is_empty() {
        return Err("one replica of one GPU has no other layout on the same GPUs".to_owned());
    }
    Ok(proposals)
}
