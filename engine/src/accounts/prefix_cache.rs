//! What the prefix cache saved, and what sessions asked.

use super::report::{ClassSharing, HitCounts, PrefixCache, SessionReport, Supply};
use super::tally::Row;
use crate::scenario::Scenario;
use crate::sim::{SimRun, UnaskedTurns};
use crate::workload::{OfferedRequest, TrafficClass};

/// Of the whole run; `None` where no prompts share anything.
pub fn prefix_cache(
    scenario: &Scenario,
    window: &[Row],
    (requests, run): (&[OfferedRequest], &SimRun),
    supply: &Supply,
) -> Option<PrefixCache> {
    let required_prefill_tps = supply.required.prefill_tps;
    scenario.classes.iter().any(shares).then(|| {
        let per_second = |tokens: f64| tokens / scenario.horizon.as_secs();
        let found = run.stamps.iter().map(|stamps| u64::from(stamps.cached_tokens)).sum::<u64>();
        let again = run.recomputed_tokens.min(prompt_tokens(requests));
        let (hits_tps, recomputed_tps) = (per_second(found as f64), per_second(again as f64));
        PrefixCache {
            enabled: scenario.pools().any(|pool| pool.scheduler.prefix_caching),
            counts: hits(window),
            required_prefill_tps,
            hits_tps,
            recomputed_tps,
            computed_prefill_tps: required_prefill_tps - hits_tps + recomputed_tps,
        }
    })
}

/// Of one class, from its rows in the window; `None` where its prompts share nothing.
pub fn class_sharing(
    class: &TrafficClass,
    window: &[Row],
    unasked: Option<&UnaskedTurns>,
) -> Option<ClassSharing> {
    let prefix = class.shared_prefix.map(|prefix| prefix.tokens());
    shares(class).then(|| ClassSharing {
        counts: hits(window),
        shared_prefix_tokens: prefix,
        share_no_longer_than_prefix: share(window, |row| {
            prefix.is_some_and(|tokens| row.request.input_tokens <= tokens)
        }),
        session: unasked.filter(|_| class.session.is_some()).map(|unasked| {
            let first = |row: &&Row| row.request.lineage.history_tokens == 0;
            SessionReport {
                sessions: window.iter().filter(first).count() as u64,
                turns: window.len() as u64,
                unasked: *unasked,
            }
        }),
    })
}

fn shares(class: &TrafficClass) -> bool {
    class.shared_prefix.is_some() || class.session.is_some()
}

fn prompt_tokens(requests: &[OfferedRequest]) -> u64 {
    requests.iter().map(|request| u64::from(request.input_tokens)).sum()
}

fn share(rows: &[Row], is: impl Fn(&Row) -> bool) -> f64 {
    rows.iter().filter(|row| is(row)).count() as f64 / rows.len().max(1) as f64
}

/// Of the prompts that a replica began with.
fn hits(rows: &[Row]) -> HitCounts {
    let begun = || rows.iter().filter(|row| row.stamps.scheduled.is_some());
    let prompt_tokens: u64 = begun().map(|row| u64::from(row.request.input_tokens)).sum();
    let cached_tokens: u64 = begun().map(|row| u64::from(row.stamps.cached_tokens)).sum();
    let hit_rate = (prompt_tokens > 0).then(|| cached_tokens as f64 / prompt_tokens as f64);
    HitCounts { prompt_tokens, cached_tokens, hit_rate }
}
