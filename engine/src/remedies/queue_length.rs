//! A bounded queue length: no more wait than are served while the first of them is still in time.

use super::{Proposal, Remedy, Situation, queue_age};
use crate::accounts::words::plural;

pub(super) const REMEDY: Remedy = Remedy { id: "max_waiting", propose };

fn propose(situation: &Situation<'_>) -> Result<Vec<Proposal>, String> {
    if situation.doc.fleet.admission.max_waiting.is_some() {
        return Err("the length of the queue is bounded already".to_owned());
    }
    let limit_s = situation.tightest_ttft_s().ok_or("no class has a TTFT limit to bound it by")?;
    let served = (situation.simulated.report.supply.sustainable.rps * limit_s / 2.0).floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
    let waiting = (served as u32).max(1);
    let title = format!(
        "turn arrivals away while {}",
        plural(u64::from(waiting), "request waits", "requests wait")
    );
    let proposal = situation.with(title, |doc| {
        doc.fleet.admission.max_waiting = Some(waiting);
        doc.fleet.admission.retry_after_s.get_or_insert(limit_s);
    });
    Ok(vec![queue_age::retry_load(situation, proposal)])
}
