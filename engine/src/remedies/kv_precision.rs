//! An 8-bit KV cache: twice the tokens in the same memory, and half the bytes read.

use super::{Proposal, Remedy, Situation};
use crate::fleet::KvPrecision;

pub(super) const REMEDY: Remedy = Remedy { id: "kv_precision", propose };

fn propose(situation: &Situation<'_>) -> Result<Vec<Proposal>, String> {
    let pool = situation.only_pool()?;
    if pool.kv_precision != KvPrecision::default() {
        return Err("the KV cache is not in 16 bits as it is".to_owned());
    }
    let mut proposal =
        situation.with("KV cache in fp8", |doc| doc.fleet.pools[0].kv_precision = KvPrecision::Fp8);
    if let Some(blocks) = pool.num_gpu_blocks {
        proposal.doc.fleet.pools[0].num_gpu_blocks = blocks.checked_mul(2);
        proposal = proposal.but("num_gpu_blocks, which was typed, is doubled with it");
    }
    Ok(vec![proposal.but("what it does to answers is not modelled")])
}
