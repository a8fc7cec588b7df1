//! Larger and smaller steps: prompts sooner, or gaps shorter.

use super::{Proposal, Remedy, Situation};
use crate::accounts::words::thousands;

pub(super) const REMEDY: Remedy = Remedy { id: "max_num_batched_tokens", propose };

fn propose(situation: &Situation<'_>) -> Result<Vec<Proposal>, String> {
    let present = situation.only_pool()?.max_num_batched_tokens;
    let proposal = |tokens: u32| {
        let title = format!("max_num_batched_tokens {}", thousands(f64::from(tokens)));
        situation.with(title, |doc| doc.fleet.pools[0].max_num_batched_tokens = tokens)
    };
    let sizes = [present.checked_mul(2), Some(present / 2)];
    Ok(sizes.into_iter().flatten().filter(|tokens| *tokens > 0).map(proposal).collect())
}
