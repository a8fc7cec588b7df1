//! More replicas: one more, and as many as supply alone asks for.

use super::{Proposal, Remedy, Situation};
use crate::accounts::words::plural;

pub(super) const REMEDY: Remedy = Remedy { id: "replicas", propose };

fn propose(situation: &Situation<'_>) -> Result<Vec<Proposal>, String> {
    let present = situation.pool_of_constant_size()?.replicas;
    let supply = &situation.simulated.report.supply;
    let per_replica = supply.sustainable_at_peak.rps / f64::from(present);
    let floor = (supply.required_peak.rps / per_replica.max(f64::MIN_POSITIVE)).ceil();
    let mut counts = vec![present.saturating_add(1)];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
    let floor = floor as u32;
    if floor > present.saturating_add(1) {
        counts.push(floor);
    }
    let proposal = |count: u32| {
        let more = plural(u64::from(count - present), "more replica", "more replicas");
        situation.with(more, |doc| doc.fleet.pools[0].replicas = count)
    };
    Ok(counts.into_iter().map(proposal).collect())
}
