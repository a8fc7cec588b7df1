//! Faster starts, and replicas that are warm when the load comes.

use super::{Proposal, Remedy, Situation};
use crate::accounts::words::span_ms;

pub(super) const REMEDY: Remedy = Remedy { id: "start_up", propose };

fn propose(situation: &Situation<'_>) -> Result<Vec<Proposal>, String> {
    let pools = &situation.doc.fleet.pools;
    if pools.iter().all(|pool| pool.start_up_s <= 0.0) {
        return Err("no start-up time is stated: replicas start at once".to_owned());
    }
    let starts = |pool: &crate::scenario::Pool| !pool.life.is_constant();
    if !situation.scenario.pools().any(starts) {
        return Err("no replica starts while the scenario runs".to_owned());
    }
    let longest = pools.iter().map(|pool| pool.start_up_s).fold(0.0, f64::max);
    let mut proposals = Vec::new();
    let title = format!("starts in half the time, {} at most", span_ms(1e3 * longest / 2.0));
    let faster = situation.with(title, |doc| {
        for pool in &mut doc.fleet.pools {
            pool.start_up_s /= 2.0;
        }
    });
    proposals.push(faster.but("cached images and weights, or snapshots, have to bring that about"));
    if pools.iter().any(|pool| pool.cold_start) {
        let title = "warm replicas: ready when the scenario begins";
        let warm = situation.with(title, |doc| {
            for pool in &mut doc.fleet.pools {
                pool.cold_start = false;
            }
        });
        proposals.push(warm.but("they are paid for before, which no cost here shows"));
    }
    Ok(proposals)
}
