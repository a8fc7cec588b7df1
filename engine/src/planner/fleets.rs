//! The card of a plan: the answer, one fewer, one more, and the present fleet, each with how often
//! it holds and what it does.

use super::odds::Standing;
use super::report::{FleetRow, Judged};
use super::runs::{Needed, RunSummary};
use super::search::{Block, Search};
use super::variant::Variant;
use crate::stats;

/// Windows from which a row's share is read, where computing allows.
const SHOWN_WINDOWS: u32 = 40;

/// The row of a fleet of so many replicas by the windows of a block, all that settle it where it is
/// the answer or `bounds` it; `None` where no run of it went to its end within the budget.
pub fn row(
    search: &Search<'_>,
    (replicas, bounds): (u32, bool),
    block: Block,
) -> Result<Option<FleetRow>, Needed> {
    let most = if bounds { search.most_windows(block) } else { SHOWN_WINDOWS };
    let runs = search.runs;
    let measured = search.measured(block).map(|seed| runs.summary(Variant::size(replicas, seed)));
    let all = measured.collect::<Result<Vec<Option<&RunSummary>>, Needed>>()?;
    let known: Vec<&RunSummary> = all.iter().flatten().copied().collect();
    let standing = super::one_pool::decided(search.odds(
        Variant::size(replicas, 0),
        block,
        (SHOWN_WINDOWS, most),
    ))?;
    let Some(standing) = standing.filter(|_| !known.is_empty()) else { return Ok(None) };
    let mean = |value: fn(&RunSummary) -> Option<f64>| {
        stats::mean(&known.iter().filter_map(|run| value(run)).collect::<Vec<_>>())
    };
    let (low, high) = standing.odds.interval();
    Ok(Some(FleetRow {
        replicas,
        is_present: false,
        is_answer: false,
        probability: standing.odds.share(),
        probability_low: if search.is_drawn { low } else { standing.odds.share() },
        probability_high: if search.is_drawn { high } else { standing.odds.share() },
        holds_in: standing.odds.holds,
        runs: standing.odds.runs,
        is_settled: standing.is_settled,
        attainment: mean(|run| Some(run.attainment)).unwrap_or(0.0),
        good_rps: mean(|run| Some(run.good_rps)).unwrap_or(0.0),
        measured_runs: count(known.len()),
        undecided: count(all.len() - known.len()),
        ttft_p95_ms: mean(|run| run.ttft_p95_ms),
        peak_debt_s: mean(|run| Some(run.peak_debt_s)).unwrap_or(0.0),
        cost_per_good_request: mean(|run| run.cost_per_good_request),
        cost_per_month: mean(|run| run.cost_per_month),
        judged: None,
        alpha: None,
        alpha_is_least: false,
    }))
}

/// All windows that judged one fewer than the answer, where the last of them, those of its row, do not
/// say why it is not the answer: it was refused in an earlier round.
pub fn judged(search: &Search<'_>, row: &FleetRow, block: Block) -> Result<Option<Judged>, Needed> {
    let Block::Confirming(rounds) = block else { return Ok(None) };
    if rounds == 0 || row.probability < search.confidence {
        return Ok(None);
    }
    let mut judged = Judged { holds_in: row.holds_in, runs: row.runs };
    for round in 0..rounds {
        let block = Block::Confirming(round);
        let fleet = Variant::size(row.replicas, 0);
        let standing = search.standing(fleet, block, search.most_windows(block));
        if let Some(Standing { odds, .. }) = super::one_pool::decided(standing)? {
            judged.holds_in += odds.holds;
            judged.runs += odds.runs;
        }
    }
    Ok(Some(judged))
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
