//! 8-bit weights: less to read in every step, and room for more KV.

use super::{Proposal, Remedy, Situation};
use crate::fleet::WeightPrecision;

pub(super) const REMEDY: Remedy = Remedy { id: "weight_precision", propose };

fn propose(situation: &Situation<'_>) -> Result<Vec<Proposal>, String> {
    let pool = situation.only_pool()?;
    if pool.weight_precision != WeightPrecision::default() {
        return Err("the weights are not in 16 bits as they are".to_owned());
    }
    let mut proposal = situation
        .with("weights in fp8", |doc| doc.fleet.pools[0].weight_precision = WeightPrecision::Fp8);
    if pool.num_gpu_blocks.is_some() {
        proposal.doc.fleet.pools[0].num_gpu_blocks = None;
        proposal = proposal.but("num_gpu_blocks, which was typed, is worked out anew");
    }
    Ok(vec![proposal.but("what it does to answers is not modelled")])
}
