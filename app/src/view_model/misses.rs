//! What stands beside the waterfall: what made requests late or slow, and who missed which limit.
//!
//! A waterfall counts each request once. A limit's own count (marginal) has everybody who missed it,
//! so those who missed several are in several; the two are never multiplied.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use goodput_engine::accounts::accounting::{Cause, Causes, Marginals};
use goodput_engine::accounts::report::SimReport;
use goodput_engine::slo::Limit;

use crate::charts::Look;
use crate::format;

/// Requests of one kind of lateness by what took most of their time.
#[derive(Debug, Clone, PartialEq)]
pub struct CauseGroup {
    /// Name for tests.
    pub id: &'static str,
    /// Whom it counts.
    pub title: &'static str,
    /// The finding.
    pub caption: String,
    /// How its bars look.
    pub look: Look,
    /// Causes, the largest first.
    pub rows: Vec<CauseRow>,
}

/// One cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CauseRow {
    /// What took most of the time, in words.
    pub cause: &'static str,
    /// Requests.
    pub requests: u64,
    /// Tenths of a per cent of the group, which sum to 1,000.
    pub tenths: u64,
}

/// The causes of every kind of lateness that occurs.
pub fn causes(causes: &Causes) -> Vec<CauseGroup> {
    let tables = [
        ("late", "First tokens that came late", Look::Late, &causes.late_first_token),
        ("slow", "Streams whose tokens came slowly", Look::Slow, &causes.slow_tokens),
        ("stalled", "Streams that paused too long", Look::Stalled, &causes.stall),
    ];
    tables.into_iter().filter_map(group).collect()
}

type CauseTable<'a> = (&'static str, &'static str, Look, &'a BTreeMap<Cause, u64>);

fn group((id, title, look, counts): CauseTable) -> Option<CauseGroup> {
    let mut counts: Vec<(Cause, u64)> = counts.iter().map(|(c, n)| (*c, *n)).collect();
    counts.retain(|(_, requests)| *requests > 0);
    counts.sort_by_key(|(cause, requests)| (Reverse(*requests), *cause));
    let weights: Vec<u64> = counts.iter().map(|(_, requests)| *requests).collect();
    let all = weights.iter().sum::<u64>();
    let (worst, most) = *counts.first()?;
    let rows = counts.iter().zip(format::apportion(&weights, 1_000));
    let rows = rows.map(|((cause, requests), tenths)| CauseRow {
        cause: plain(*cause),
        requests: *requests,
        tenths,
    });
    let caption = format!(
        "{}; in {} of them most of the time went to {}",
        format::plural(all, "request", "requests"),
        format::percent(most as f64 / all as f64),
        plain(worst),
    );
    Some(CauseGroup { id, title, caption, look, rows: rows.collect() })
}

/// A cause as a manager says it.
fn plain(cause: Cause) -> &'static str {
    match cause {
        Cause::Server => "the server, before any queue",
        Cause::Retry => "earlier attempts and the wait between them",
        Cause::StartUp => "waiting for a replica to start",
        Cause::NoReplica => "waiting where no replica took requests",
        Cause::Queue => "waiting in the queue",
        Cause::Prefill => "computing the prompt (prefill)",
        Cause::Hidden => "reasoning that is not shown",
        Cause::Alone => "its own decoding, this slow even alone",
        Cause::Batch => "others decoding in the same batch",
        Cause::PrefillInterference => "others' prompts computed in the same steps",
        Cause::Preemption => "losing its KV memory to others (preemption)",
        Cause::LongStep => "one long step",
        Cause::NotInFile => "something that the file does not say",
    }
}

/// Who missed which limit, alone or with others.
#[derive(Debug, Clone, PartialEq)]
pub struct Misses {
    /// What a marginal count is and is not, with the numbers.
    pub caption: String,
    /// A row for each limit that somebody missed, in the order of the waterfall.
    pub rows: Vec<MissRow>,
    /// Sets of two or more limits that were missed together, the largest first.
    pub together: Vec<String>,
}

/// Those who missed one limit.
#[derive(Debug, Clone, PartialEq)]
pub struct MissRow {
    /// The limit.
    pub limit: &'static str,
    /// Everybody who missed it.
    pub missed: u64,
    /// Of all offered.
    pub share: f64,
    /// Those who missed nothing else.
    pub alone: u64,
    /// Those who missed another limit as well.
    pub with_others: u64,
}

/// The misses of a run; nothing where nobody missed a limit.
pub fn misses(report: &SimReport) -> Option<Misses> {
    of_marginals(&report.accounting.marginals, report.offered, report.goodput.good)
}

fn of_marginals(marginals: &Marginals, offered: u64, good: u64) -> Option<Misses> {
    let rows: Vec<MissRow> = marginals
        .limits
        .iter()
        .filter(|of| of.missed > 0)
        .map(|of| MissRow {
            limit: of.limit.name(),
            missed: of.missed,
            share: of.missed as f64 / offered.max(1) as f64,
            alone: of.alone,
            with_others: of.missed - of.alone,
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let size = |keep: fn(usize) -> bool| -> u64 {
        let sets = marginals.sets.iter().filter(|set| keep(set.limits.len()));
        sets.map(|set| set.requests).sum()
    };
    let (within_all, in_several) = (size(|limits| limits == 0), size(|limits| limits > 1));
    let share = |n: u64| format::percent(n as f64 / offered.max(1) as f64);
    let counted = match in_several {
        0 => "nobody missed two, so here they add up".to_owned(),
        n => format!("{} missed several and are in several rows", format::count(n)),
    };
    let otherwise = match within_all.saturating_sub(good) {
        0 => String::new(),
        n => format!(", {} of whom are lost otherwise", format::count(n)),
    };
    let caption = format!(
        "Each limit by itself (marginal): {counted}. Together (joint), which is what counts: {} are \
         within every limit{otherwise}",
        share(within_all),
    );
    let mut sets: Vec<_> = marginals.sets.iter().filter(|set| set.limits.len() > 1).collect();
    sets.sort_by_key(|set| Reverse(set.requests));
    let names =
        |limits: &[Limit]| limits.iter().map(|limit| limit.name()).collect::<Vec<_>>().join(" + ");
    let together = sets
        .iter()
        .map(|set| format!("{}: {}", names(&set.limits), format::count(set.requests)))
        .collect();
    Some(Misses { caption, rows, together })
}

#[cfg(test)]
mod tests {
    use goodput_engine::slo::Outcome;

    use super::*;
    use crate::state::edit::tests::{report_of, small_doc};

    fn late_and_slow() -> SimReport {
        let mut doc = small_doc();
        doc.workload.horizon_s = 120.0;
        doc.workload.classes[0].slo.ttft_ms = Some(25.0);
        doc.workload.classes[0].slo.tpot_ms = Some(6.5);
        report_of(&doc)
    }

    /// Every late request is under one cause, and the shares sum to all.
    #[test]
    fn causes_sum_to_the_outcomes_that_they_explain() {
        let report = late_and_slow();
        let groups = causes(&report.accounting.causes);
        let sum = |id| {
            let group = groups.iter().find(|group| group.id == id);
            group.map_or(0, |group| group.rows.iter().map(|row| row.requests).sum::<u64>())
        };
        let outcome = |o| report.outcomes.get(&o).copied().unwrap_or(0);
        let late = outcome(Outcome::LateFirstToken) + outcome(Outcome::LateAndSlow);
        assert_eq!(sum("late"), late);
        assert_eq!(sum("slow"), report.missed.tpot);
        assert!(!groups.is_empty());
        for group in &groups {
            assert_eq!(group.rows.iter().map(|row| row.tenths).sum::<u64>(), 1_000, "{}", group.id);
            assert!(group.rows.windows(2).all(|pair| pair[0].requests >= pair[1].requests));
            assert!(group.caption.ends_with(group.rows[0].cause), "{}", group.caption);
        }
    }

    /// The marginal counts are those of the report; alone and with others make all of them.
    #[test]
    fn a_limit_counts_everybody_who_missed_it() {
        let report = late_and_slow();
        let misses = misses(&report).expect("somebody missed a limit");
        let missed =
            |name| misses.rows.iter().find(|row| row.limit == name).map_or(0, |r| r.missed);
        assert_eq!(missed("TTFT"), report.missed.ttft);
        assert_eq!(missed("TPOT"), report.missed.tpot);
        assert!(misses.rows.iter().all(|row| row.alone + row.with_others == row.missed));
    }

    #[test]
    fn marginal_and_joint_are_told_apart_in_words() {
        use goodput_engine::accounts::accounting::{LimitMisses, MissedSet};
        let set = |limits: &[Limit], requests| MissedSet { limits: limits.to_vec(), requests };
        let of = |limit, missed, alone| LimitMisses { limit, missed, alone, not_judged: 0 };
        let both = [Limit::Ttft, Limit::Tpot];
        let marginals = Marginals {
            limits: vec![of(Limit::Ttft, 30, 10), of(Limit::Tpot, 25, 5), of(Limit::E2e, 0, 0)],
            sets: vec![set(&[], 65), set(&both[..1], 10), set(&both, 20), set(&both[1..], 5)],
        };
        let misses = of_marginals(&marginals, 100, 60).expect("misses");
        assert_eq!(misses.rows.len(), 2);
        assert_eq!(misses.together, ["TTFT + TPOT: 20"]);
        for part in
            ["20 missed several", "65\u{202f}% are within every limit", "5 of whom are lost"]
        {
            assert!(misses.caption.contains(part), "{part}: {}", misses.caption);
        }
        assert_eq!(of_marginals(&Marginals::default(), 100, 100), None);
    }
}
