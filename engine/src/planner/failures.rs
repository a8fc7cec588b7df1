//! How many spare replicas failures ask for: fleets of N + k of which some fail at the worst moment.

use super::report::FailureRow;
use super::runs::Needed;
use super::search::{Block, Search};
use super::variant::{Variant, worst_moment};
use crate::scenario::Scenario;

/// Spare replicas, and replicas that fail.
const SPARES: [(u32, u32); 3] = [(0, 1), (1, 1), (2, 2)];
/// Windows of each, at most.
const WINDOWS: u32 = 20;

/// The answer with none, one and two spare replicas while one or two fail.
pub fn rows(
    search: &Search<'_>,
    scenario: &Scenario,
    answer: u32,
    block: Block,
) -> Result<Vec<FailureRow>, Needed> {
    let at_s = worst_moment(scenario).as_secs();
    let start_up_s = scenario.pool.life.start_up.as_secs();
    let mut rows = Vec::new();
    for (spare, failing) in SPARES {
        let replicas = answer.saturating_add(spare);
        let fleet = Variant { failing, ..Variant::size(replicas, 0) };
        let Some(standing) = super::one_pool::decided(search.standing(fleet, block, WINDOWS))?
        else {
            continue;
        };
        let (low, high) = standing.odds.interval();
        let share = standing.odds.share();
        rows.push(FailureRow {
            replicas,
            spare,
            failing,
            at_s,
            start_up_s,
            probability: share,
            probability_low: if search.is_drawn { low } else { share },
            probability_high: if search.is_drawn { high } else { share },
            holds_in: standing.odds.holds,
            runs: standing.odds.runs,
            holds: standing.holds,
        });
    }
    Ok(rows)
}
