//! Pools and their replicas in rows: only where there are several, or some come and go.

use goodput_engine::accounts::report::{SimReport, VerdictState};
use goodput_engine::accounts::words::{percent, plural, three_digits};
use goodput_engine::estimate::report::PoolEstimate;

use super::{Page, or_dash, usd};

/// Each pool of a simulated fleet, and how its replicas came and went.
pub fn simulated(page: &mut Page, report: &SimReport) {
    if !report.pools.is_empty() {
        page.heading("Pools");
    }
    for pool in &report.pools {
        let state = match pool.state {
            VerdictState::Holds => "holds",
            VerdictState::LateButStable => "late but stable",
            VerdictState::Overloaded => "overloaded",
            VerdictState::DoesNotFit => "does not fit",
            VerdictState::NotMeasuredHere => "not measured",
            VerdictState::Idle => "idle",
        };
        let load = pool.supply.as_ref().map(|s| s.required_peak.rps / s.sustainable_at_peak.rps);
        let text = format!(
            "{state}: {} good of {}, peak demand {} of what it sustains, {} ({})",
            percent(pool.attainment),
            plural(pool.offered, "request", "requests"),
            or_dash(load, percent),
            plural(u64::from(pool.gpus), "GPU", "GPUs"),
            or_dash(pool.cost.as_ref().map(|cost| cost.total), usd)
        );
        page.row(&pool.name, &text);
    }
    if !report.turnover.is_empty() {
        page.heading("Replicas");
    }
    for turnover in &report.turnover {
        let name = if turnover.pool.is_empty() { "all" } else { &turnover.pool };
        let text = format!(
            "{} on average, {} at most; {}, {} failed, {} drained; {} of {} replica-hours starting, \
             and {} lost of {} due meanwhile",
            three_digits(turnover.mean),
            turnover.most,
            plural(turnover.ordered, "start", "starts"),
            turnover.crashed,
            turnover.drained,
            three_digits(turnover.start_up_hours),
            three_digits(turnover.replica_hours),
            turnover.lost_while_starting,
            plural(turnover.due_while_starting, "request", "requests")
        );
        page.row(name, &text);
    }
}

/// Each pool of an estimate.
pub fn estimated(page: &mut Page, pools: &[PoolEstimate]) {
    if !pools.is_empty() {
        page.heading("Pools");
    }
    for pool in pools {
        let supply = &pool.supply;
        let text = format!(
            "{} req/s asked, {} sustained ({} at the peak), {}",
            three_digits(supply.required_rps),
            three_digits(supply.sustainable_rps),
            percent(supply.utilization_peak),
            supply.binding_constraint
        );
        page.row(&pool.name, &text);
    }
}
