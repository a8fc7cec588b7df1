//! The plan over time, in rows.

use goodput_engine::accounts::words::{percent, span_ms, thousands, three_digits};
use goodput_engine::planner::over_time::{OverTime, WindowSize};

use super::{Page, or_dash, usd};

/// Spans of equal size, then the fleets.
pub fn over_time(report: &OverTime) -> String {
    let mut page = Page::default();
    page.heading("Over time");
    page.row("replicas at the peak", &report.peak_replicas.to_string());
    page.row("replicas in the mean", &three_digits(report.mean_replicas));
    let mut rest: &[WindowSize] = &report.windows;
    while let Some(first) = rest.first() {
        let alike = rest.iter().take_while(|window| window.replicas == first.replicas).count();
        let until = first.from_s + alike as f64 * report.window_s;
        let span = format!("{} to {}", span_ms(1e3 * first.from_s), span_ms(1e3 * until));
        page.row(&span, &first.replicas.to_string());
        rest = &rest[alike..];
    }
    page.heading(
        "Fleet                        replicas   good     held in   debt      good/s     per good",
    );
    for fleet in &report.fleets {
        page.row(
            &fleet.kind,
            &format!(
                "{:>8}  {:>7}  {:>8}  {:>8}  {:>8}   {}",
                three_digits(fleet.mean_replicas),
                percent(fleet.attainment),
                format!("{} of {}", fleet.holds_in, fleet.runs),
                span_ms(1e3 * fleet.peak_debt_s),
                three_digits(fleet.good_rps),
                or_dash(fleet.cost_per_good_request, usd)
            ),
        );
        page.line(&format!("    {}; at most {} wait", fleet.how, thousands(fleet.peak_waiting)));
    }
    page.row(
        "forecast horizon",
        &format!("{}: {}", span_ms(1e3 * report.forecast_horizon_s), report.lag),
    );
    page.into_text()
}
