//! Charts and their captions from a report: what is drawn, and the finding in one sentence.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use goodput_engine::accounts::report::{
    MixRate, Percentiles, SeriesPoint, SimReport, Supply, TokenKind,
};
use goodput_engine::estimate::report::SupplyEstimate;
use goodput_engine::planner::report::PlanReport;
use goodput_engine::slo::Outcome;

use super::{policies, words};
use crate::charts::{DebtChart, DebtPoint, Look, OutcomeRow, OutcomesChart, SupplyChart};
use crate::format;

/// What figures are made from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Its simulation.
    pub report: &'a SimReport,
    /// The estimate of the same scenario.
    pub estimate: Option<&'a SupplyEstimate>,
    /// Its plan.
    pub plan: Option<&'a PlanReport>,
    /// Simulation of the pinned baseline.
    pub before: Option<&'a SimReport>,
}

/// Demand against supply, in tokens of the kind that binds.
pub fn supply(source: &Source) -> (SupplyChart, String) {
    let report = source.report;
    let supply = &report.supply;
    let kind = supply.binds;
    let windows = |r: &SimReport| demand_line(&r.supply.demand, r.supply.peak_window_s, kind);
    let required = windows(report);
    let chart = SupplyChart {
        kind,
        end_s: report.horizon_s,
        sustainable: sustainable_line(supply, &required),
        required,
        before: source.before.map_or_else(Vec::new, windows),
        band: source.estimate.and_then(|e| e.step_time_band),
        deliverable: deliverable(source.plan, supply).map(|mix| mix.tps(kind)),
        peak: Some(peak(supply)),
    };
    let caption = supply_caption(&chart, supply.is_another_mix_at_peak());
    (chart, caption)
}

/// What a plan says can be delivered in time; it is of a fleet of a fixed size, and so of no fleet whose
/// replicas come and go.
pub fn deliverable(plan: Option<&PlanReport>, supply: &Supply) -> Option<MixRate> {
    plan.filter(|_| supply.over_time.is_none())?.deliverable
}

/// What the replicas that took requests sustain, at the times of a demand.
fn sustainable_line(supply: &Supply, required: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let all = supply.sustainable_at_peak.tps(supply.binds);
    match &supply.over_time {
        None => required.iter().map(|&(t, _)| (t, all)).collect(),
        Some(over_time) => {
            let one = all / f64::from(over_time.most_replicas);
            let levels: Vec<f64> = over_time.replicas.iter().map(|there| there * one).collect();
            line(&levels, supply.peak_window_s)
        }
    }
}

/// The middle of the window in which most is asked, and how much; where replicas come and go, of each
/// that took requests.
fn peak(supply: &Supply) -> (f64, f64) {
    let (from_s, rate) = match &supply.over_time {
        None => (supply.peak_from_s, &supply.required_peak),
        Some(over_time) => (over_time.tightest_from_s, &over_time.tightest_required),
    };
    (from_s + supply.peak_window_s / 2.0, rate.tps(supply.binds))
}

/// What the prefix cache takes off the prompts and preemptions put on; nothing where no prompts share
/// anything.
pub fn prefix_readings(report: &SimReport) -> Vec<Reading> {
    let Some(cache) = &report.prefix_cache else { return Vec::new() };
    let rate = |name, tps: f64| Reading { name, shown: format::tps(tps), exact: Some(tps) };
    let found = match (cache.enabled, cache.counts.hit_rate) {
        (false, _) => "no cache".to_owned(),
        (true, None) => format::NONE.to_owned(),
        (true, Some(rate)) => format::percent(rate),
    };
    let mut readings = vec![
        Reading { name: "prompt found cached", shown: found, exact: cache.counts.hit_rate },
        rate("prefill asked for", cache.required_prefill_tps),
        rate("left after hits", cache.required_prefill_tps - cache.hits_tps),
    ];
    if cache.recomputed_tps > 0.0 {
        readings.push(rate("computed again", cache.recomputed_tps));
    }
    readings
}

/// Demand in windows of `window_s`: a point in the middle of each, level to both ends.
pub fn demand_line(windows: &[MixRate], window_s: f64, kind: TokenKind) -> Vec<(f64, f64)> {
    let levels: Vec<f64> = windows.iter().map(|window| window.tps(kind)).collect();
    line(&levels, window_s)
}

/// Levels in windows of `window_s`, in their middles and at both ends.
fn line(levels: &[f64], window_s: f64) -> Vec<(f64, f64)> {
    let middle = |i: usize| (i as f64 + 0.5) * window_s;
    let start = levels.first().map(|first| (0.0, *first));
    let end = levels.last().map(|last| (levels.len() as f64 * window_s, *last));
    let middles = levels.iter().enumerate().map(|(i, level)| (middle(i), *level));
    start.into_iter().chain(middles).chain(end).collect()
}

/// The finding of a supply chart; where the mix at the peak is another, whose supply is drawn.
pub fn supply_caption(chart: &SupplyChart, another_mix: bool) -> String {
    let finding = supply_finding(chart);
    if another_mix {
        format!("{finding}. Supply is that of the mix at the peak, which is not the mean mix")
    } else {
        finding
    }
}

fn supply_finding(chart: &SupplyChart) -> String {
    let above = |p: &(f64, f64, f64)| p.1 > p.2;
    let (Some(first), Some(last), true) =
        (chart.pairs().find(above), chart.pairs().rfind(above), chart.short_by() > 0.0)
    else {
        let (at, peak) = chart.peak.unwrap_or_default();
        return format!(
            "Demand stays about or below the sustainable supply: {} at the peak, of {}",
            format::significant(peak),
            format::tps(chart.sustainable_at(at))
        );
    };
    let short = format::tps(chart.short_by());
    if first.0 <= chart.end_s * 0.02 && last.0 >= chart.end_s * 0.98 {
        return format!("Demand is above the sustainable supply throughout; short by {short}");
    }
    format!(
        "Demand passes the sustainable supply from {} to {}; short by {short} at the peak",
        format::clock(first.0),
        format::clock(last.0)
    )
}

/// Queue debt.
pub fn debt(source: &Source) -> (DebtChart, String) {
    let report = source.report;
    let in_horizon = |p: &&SeriesPoint| p.t_s <= report.horizon_s;
    let peak = &report.debt;
    let chart = DebtChart {
        end_s: report.horizon_s,
        points: report.series.iter().filter(in_horizon).map(debt_point).collect(),
        before: source.before.map_or_else(Vec::new, |r| {
            r.series
                .iter()
                .map(|p| (p.t_s, p.backlog_work_s))
                .filter(|p| p.0 <= r.horizon_s)
                .collect()
        }),
        peak: (peak.peak_waiting > 0).then_some((peak.peak_at_s, peak.peak_work_s)),
        oldest_s: peak.oldest_age_s,
        empty_at_s: empty_again(report),
    };
    (chart, debt_caption(report))
}

fn debt_point(p: &SeriesPoint) -> DebtPoint {
    DebtPoint {
        t_s: p.t_s,
        total_s: p.backlog_work_s,
        waiting_s: p.waiting_work_s,
        waiting: p.waiting,
        oldest_s: p.oldest_age_s,
    }
}

/// The first sampled moment after the peak at which nobody waits; not worth a mark where hardly
/// anybody ever did.
fn empty_again(report: &SimReport) -> Option<f64> {
    if report.debt.peak_waiting < 20 {
        return None;
    }
    let after = report.series.iter().filter(|p| p.t_s > report.debt.peak_at_s);
    after.filter(|p| p.t_s <= report.horizon_s).find(|p| p.waiting == 0).map(|p| p.t_s)
}

fn debt_caption(report: &SimReport) -> String {
    let count = |outcome| report.outcomes.get(&outcome).copied().unwrap_or(0);
    let (gave_up, rejected) = (count(Outcome::CancelledBeforeFirst), count(Outcome::Rejected));
    let mut clauses =
        vec![format!("Debt reaches {} of fleet work", format::seconds(report.debt.peak_work_s))];
    let mut lost = Vec::new();
    if gave_up > 0 {
        lost.push(format!("{} give up", format::count(gave_up)));
    }
    if rejected > 0 {
        lost.push(format!("{} are rejected", format::count(rejected)));
    }
    if !lost.is_empty() {
        clauses.push(lost.join(" and "));
    }
    if report.debt.waiting_at_end > 0 {
        let waiting = format::count(report.debt.waiting_at_end);
        clauses.push(match report.debt.drain_s {
            Some(s) => format!("{waiting} waiting at the end, {} to drain", format::seconds(s)),
            None => format!("{waiting} waiting at the end, never served"),
        });
    } else if report.debt.peak_waiting == 0 {
        clauses.push("nobody ever waits".to_owned());
    }
    if report.debt.peak_deferred > 0 {
        let deferred = format::count(report.debt.peak_deferred);
        clauses.push(format!("up to {deferred} at once deferred to clients who will try again"));
    }
    clauses.join("; ")
}

/// A number said in words below a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What it is.
    pub name: &'static str,
    /// As people read it.
    pub shown: String,
    /// In full; `None` where it never comes.
    pub exact: Option<f64>,
}

/// Percentiles of a latency in milliseconds, over offered requests.
pub fn readings(percentiles: &Percentiles) -> Vec<Reading> {
    let named = [
        ("p50", percentiles.p50),
        ("p90", percentiles.p90),
        ("p95", percentiles.p95),
        ("p99", percentiles.p99),
    ];
    // Of nobody, nothing is late.
    let text = |exact| match percentiles.population {
        0 => format::NONE.to_owned(),
        _ => format::millis_or_never(exact),
    };
    let reading = |(name, exact)| Reading { name, shown: text(exact), exact };
    named.map(reading).to_vec()
}

/// The outcome waterfall of a run.
pub fn outcomes(report: &SimReport) -> (OutcomesChart, String) {
    let target = report.attainment_target;
    let (chart, caption) = waterfall(report.offered, &report.outcomes, target);
    let came_of = policies::came_of(report).map_or_else(String::new, |said| format!("; {said}"));
    (chart, format!("{caption}{came_of}"))
}

/// The outcome waterfall, of requests that were simulated or measured.
pub fn waterfall(
    offered: u64,
    outcomes: &BTreeMap<Outcome, u64>,
    target: f64,
) -> (OutcomesChart, String) {
    let mut counts: Vec<(Outcome, u64)> = outcomes.iter().map(|(o, n)| (*o, *n)).collect();
    counts.sort_by_key(|(o, n)| (Reverse(*n), *o));
    let weights: Vec<u64> = counts.iter().map(|(_, n)| *n).collect();
    let tenths = format::apportion(&weights, 1_000);
    let rows = counts.iter().zip(tenths).map(|((outcome, count), tenths)| {
        let name = words::outcome(*outcome).to_owned();
        (*outcome, OutcomeRow { name, look: Look::of(*outcome), count: *count, tenths })
    });
    let (good, losses): (Vec<_>, Vec<_>) = rows.partition(|(o, _)| *o == Outcome::Good);
    let losses: Vec<OutcomeRow> =
        losses.into_iter().map(|(_, row)| row).filter(|row| row.count > 0).collect();
    let caption = match losses.first() {
        None => format!("All {} offered are good", format::count(offered)),
        Some(worst) => {
            format!("Of {} offered, {} lose the most", format::count(offered), losers(&worst.name))
        }
    };
    let nobody = OutcomeRow { name: "Good".into(), look: Look::Good, count: 0, tenths: 0 };
    let good = good.into_iter().next().map_or(nobody, |(_, row)| row);
    (OutcomesChart { offered, losses, good, target }, caption)
}

/// The worst loss as a plural subject.
fn losers(name: &str) -> String {
    match name {
        "Late first token" => "late first tokens".into(),
        "Gave up waiting" => "callers who gave up waiting".into(),
        "Error" => "errors".into(),
        "Low quality" => "bad answers".into(),
        "Late and slow" => "late and slow answers".into(),
        "Rejected" => "rejections".into(),
        "Stalled" => "stalled streams".into(),
        other => other.to_lowercase(),
    }
}

/// The values of the time charts at one moment, in words.
pub fn readout(source: &Source, t_s: f64) -> Option<(String, String)> {
    let nearest = source
        .report
        .series
        .iter()
        .min_by(|a, b| (a.t_s - t_s).abs().total_cmp(&(b.t_s - t_s).abs()))?;
    let supply = &source.report.supply;
    let of_window = |(i, _): &(usize, &MixRate)| t_s < (*i as f64 + 1.0) * supply.peak_window_s;
    let window = supply.demand.iter().enumerate().find(of_window).map(|(_, window)| window);
    let required = window.or(supply.demand.last()).map_or(0.0, |w| w.tps(supply.binds));
    let mut parts = vec![
        format!("required {}", format::tps(required)),
        format!("debt {}", format::seconds(nearest.backlog_work_s)),
        format!("{} waiting", format::count(nearest.waiting)),
        format!("{} running", format::count(nearest.running)),
    ];
    if nearest.waiting > 0 {
        parts.push(format!("oldest {}", format::seconds(nearest.oldest_age_s)));
    }
    Some((format::clock(nearest.t_s), parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line, the peak that is named on it and the caption are of one source.
    #[test]
    fn the_peak_is_a_point_of_the_line() {
        let window = |decode_tps| MixRate { rps: 1.0, prefill_tps: 10.0, decode_tps };
        let windows = [48e3, 1e5, 48e3].map(window);
        let required = demand_line(&windows, 600.0, TokenKind::Decode);
        assert_eq!(required.first(), Some(&(0.0, 48e3)));
        assert_eq!(required.last(), Some(&(1_800.0, 48e3)));
        let peak = (900.0, windows[1].tps(TokenKind::Decode));
        assert!(required.contains(&peak));
        let chart = SupplyChart {
            kind: TokenKind::Decode,
            end_s: 1_800.0,
            before: Vec::new(),
            sustainable: required.iter().map(|&(t, _)| (t, 57_300.0)).collect(),
            required,
            band: None,
            deliverable: None,
            peak: Some(peak),
        };
        let caption = supply_caption(&chart, true);
        assert!(caption.contains("short by 42,700"), "{caption}");
        assert!(caption.contains("mix at the peak"), "{caption}");
        assert!(!supply_caption(&chart, false).contains("mix"), "one mix needs no name");
        let room = SupplyChart {
            sustainable: chart.required.iter().map(|&(t, _)| (t, 2e5)).collect(),
            ..chart
        };
        assert!(supply_caption(&room, false).contains("100,000 at the peak"));
        assert!(demand_line(&[], 600.0, TokenKind::Prefill).is_empty());
    }
}
