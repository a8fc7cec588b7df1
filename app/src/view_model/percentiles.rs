//! Percentiles of every latency, limited or not, and percentile targets: over offered requests, of
//! which those that never came rank last, beside over completed ones, which is what tools print.

use goodput_engine::accounts::report::{Percentiles, SimReport};
use goodput_engine::scenario::doc::{PercentileTargetDoc, SloDoc};
use goodput_engine::slo::Limit;

use crate::format;

/// A latency over one population.
#[derive(Debug, Clone, PartialEq)]
pub struct PercentileRow {
    /// Anchor of the latency in the glossary.
    pub term: &'static str,
    /// The latency.
    pub name: &'static str,
    /// Whether the row above is of the same latency.
    pub again: bool,
    /// Of which requests.
    pub over: &'static str,
    /// p50, p90, p95 and p99 in milliseconds; `None` where it is never.
    pub exact: [Option<f64>; 4],
    /// As people read them.
    pub shown: [String; 4],
}

/// The heads of the numbers of a row.
pub const HEADS: [&str; 4] = ["p50", "p90", "p95", "p99"];

/// Every latency over offered requests and, where that is another number, over completed ones.
pub fn rows(report: &SimReport) -> Vec<PercentileRow> {
    let known = report.accounting.percentiles.iter();
    let shown = known.filter(|both| both.of != Limit::Ttfvt || report.ttfvt_ms.is_some());
    let ranked = shown.flat_map(|both| {
        let (term, name) = named(both.of);
        let (offered, completed) = (&both.over_offered, &both.over_completed);
        if offered == completed {
            return vec![row(term, name, "all, completed", offered)];
        }
        let over = |over, percentiles| row(term, name, over, percentiles);
        vec![
            over("offered", offered),
            PercentileRow { again: true, ..over("completed", completed) },
        ]
    });
    let wait = row("queue-wait", "Queue wait", "offered", &report.queue_wait_ms);
    std::iter::once(wait).chain(ranked).collect()
}

fn named(limit: Limit) -> (&'static str, &'static str) {
    match limit {
        Limit::Ttft => ("ttft", "First token (TTFT)"),
        Limit::Ttfvt => ("ttfvt", "First visible token"),
        Limit::Tpot => ("tpot", "Per output token (TPOT)"),
        Limit::Stall | Limit::Itl => ("stall", "Longest stall"),
        Limit::E2e => ("e2e", "Whole answer (E2E)"),
    }
}

fn row(
    term: &'static str,
    name: &'static str,
    over: &'static str,
    of: &Percentiles,
) -> PercentileRow {
    let exact = [of.p50, of.p90, of.p95, of.p99];
    let text =
        |ms| if of.population == 0 { format::NONE.into() } else { format::millis_or_never(ms) };
    PercentileRow { term, name, again: false, over, exact, shown: exact.map(text) }
}

/// A percentile target and how it came out.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetRow {
    /// What is wanted: "chat: TTFT p95 ≤ 500 ms".
    pub target: String,
    /// Over offered requests, which decides.
    pub offered: String,
    /// Over completed ones.
    pub completed: String,
    /// Whether it is met.
    pub met: bool,
    /// The result in words.
    pub verdict: &'static str,
}

/// The percentile targets that a class asks for.
pub fn asked(slo: &SloDoc) -> String {
    let target =
        |target: &PercentileTargetDoc| text_of(target.of, target.percentile, target.limit_ms);
    match slo.percentile_targets.as_slice() {
        [] => "none".to_owned(),
        targets => targets.iter().map(target).collect::<Vec<_>>().join(", "),
    }
}

/// A target to begin with: the 95th percentile of what the class limits already, at that limit.
pub fn first_target(slo: &SloDoc) -> PercentileTargetDoc {
    let limited = [
        (Limit::Ttft, slo.ttft_ms),
        (Limit::Ttfvt, slo.ttfvt_ms),
        (Limit::Tpot, slo.tpot_ms),
        (Limit::Stall, slo.longest_stall_ms),
        (Limit::E2e, slo.e2e_ms),
    ];
    let first = limited.into_iter().find_map(|(of, ms)| ms.map(|ms| (of, ms)));
    let (of, limit_ms) = first.unwrap_or((Limit::Ttft, 1_000.0));
    PercentileTargetDoc { of, percentile: 95.0, limit_ms }
}

fn text_of(of: Limit, percentile: f64, limit_ms: f64) -> String {
    format!("{} p{} ≤ {}", of.name(), format::significant(percentile), format::millis(limit_ms))
}

/// The percentile targets of all classes.
pub fn targets(report: &SimReport) -> Vec<TargetRow> {
    let several = report.classes.len() > 1;
    let row = |target: &goodput_engine::accounts::accounting::TargetResult| {
        let class = report.classes.get(target.class as usize).filter(|_| several);
        let of = class.map_or_else(String::new, |class| format!("{}: ", class.name));
        TargetRow {
            target: format!("{of}{}", text_of(target.of, target.percentile, target.limit_ms)),
            offered: format::millis_or_never(target.over_offered_ms),
            completed: format::millis_or_never(target.over_completed_ms),
            met: target.met,
            verdict: match (target.met, target.met_over_completed) {
                (true, _) => "met",
                (false, true) => "missed, though over completed it looks met",
                (false, false) => "missed",
            },
        }
    };
    report.accounting.percentile_targets.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use goodput_engine::accounts::accounting::TargetResult;

    use super::*;
    use crate::state::edit::tests::small_report;

    #[test]
    fn stall_whole_answer_and_queue_wait_are_there_without_limits_on_them() {
        let report = small_report();
        let rows = rows(&report);
        let p95 = |name| rows.iter().find(|row| row.name == name).and_then(|row| row.exact[2]);
        assert_eq!(p95("Longest stall"), report.longest_stall_ms.p95);
        assert_eq!(p95("Whole answer (E2E)"), report.e2e_ms.p95);
        assert_eq!(p95("Queue wait"), report.queue_wait_ms.p95);
        assert!(rows.iter().all(|row| row.exact[0].is_some()));
    }

    /// Rejecting the slow part flatters what tools print.
    #[test]
    fn what_never_came_ranks_last_over_offered_only() {
        let mut report = small_report();
        let of_ttft = report.accounting.percentiles.iter_mut().find(|both| both.of == Limit::Ttft);
        of_ttft.expect("of TTFT").over_offered.p95 = None;
        let rows = rows(&report);
        let ttft: Vec<_> = rows.iter().filter(|row| row.term == "ttft").collect();
        assert_eq!((ttft[0].over, ttft[0].shown[2].as_str()), ("offered", "never"));
        assert_eq!(ttft[1].over, "completed");
        assert_ne!(ttft[1].shown[2], "never");
        report.accounting.percentile_targets = vec![TargetResult {
            class: 0,
            of: Limit::Ttft,
            percentile: 95.0,
            limit_ms: 500.0,
            met: false,
            over_offered_ms: None,
            over_completed_ms: Some(420.0),
            met_over_completed: true,
        }];
        let target = &targets(&report)[0];
        assert_eq!(target.target, "TTFT p95 ≤ 500\u{202f}ms");
        assert_eq!(
            (target.offered.as_str(), target.completed.as_str()),
            ("never", "420\u{202f}ms")
        );
        assert!(!target.met && target.verdict.contains("though"), "{}", target.verdict);
    }
}
