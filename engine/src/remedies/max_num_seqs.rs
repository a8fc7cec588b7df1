//! Larger and smaller batches: more tokens a second, or each sooner.

use super::{Proposal, Remedy, Situation};
use crate::accounts::words::thousands;

pub(super) const REMEDY: Remedy = Remedy { id: "max_num_seqs", propose };

fn propose(situation: &Situation<'_>) -> Result<Vec<Proposal>, String> {
    let present = situation.only_pool()?.max_num_seqs;
    let proposal = |seqs: u32| {
        let title = format!("max_num_seqs {}", thousands(f64::from(seqs)));
        situation.with(title, |doc| doc.fleet.pools[0].max_num_seqs = seqs)
    };
    let sizes = [present.checked_mul(2), Some(present / 2)];
    Ok(sizes.into_iter().flatten().filter(|seqs| *seqs > 0).map(proposal).collect())
}
