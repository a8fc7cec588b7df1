//! The simulated report in words and rows.

use goodput_engine::accounts::report::{Percentiles, SimReport};
use goodput_engine::accounts::words::{percent, plural, span_ms, thousands, three_digits};

use super::{Page, at_peak, mix, or_dash, pools, usd};

/// The simulated report.
pub fn simulation(report: &SimReport) -> String {
    let mut page = Page::default();
    page.line(&report.verdict.sentence);
    for cause in &report.verdict.causes {
        page.line(&format!("  {cause}"));
    }
    page.heading(&format!("Of {}", plural(report.offered, "offered request", "offered requests")));
    for (outcome, count) in report.outcomes.iter().filter(|(_, count)| **count > 0) {
        let share = *count as f64 / report.offered.max(1) as f64;
        page.row(outcome.name(), &format!("{} ({})", thousands(*count as f64), percent(share)));
    }
    clients(&mut page, report);
    page.heading("Latency over offered requests          p50        p95        p99");
    for (label, percentiles) in [
        ("TTFT", &report.ttft_ms),
        ("TPOT", &report.tpot_ms),
        ("E2E", &report.e2e_ms),
        ("longest stall", &report.longest_stall_ms),
        ("queue wait", &report.queue_wait_ms),
    ] {
        page.row(label, &three_percentiles(percentiles));
    }
    supply(&mut page, report);
    if let Some(cost) = &report.cost {
        page.row("cost per good request", &or_dash(cost.per_good_request, usd));
        page.row("cost per month", &usd(cost.per_month));
    }
    pools::simulated(&mut page, report);
    page.into_text()
}

fn supply(page: &mut Page, report: &SimReport) {
    page.heading("Supply");
    page.row("required", &mix(&report.supply.required));
    page.row("required at the peak", &mix(&report.supply.required_peak));
    let error = or_dash(report.supply.sustainable_relative_error, percent);
    page.row("sustainable", &format!("{} (±{error})", mix(&report.supply.sustainable)));
    at_peak(page, report.supply.is_another_mix_at_peak(), &report.supply.sustainable_at_peak);
    let goodput = &report.goodput;
    page.row(
        "goodput",
        &format!(
            "{} good req/s, {} per GPU-hour, beside {} input and {} output tok/s",
            three_digits(goodput.good_rps),
            three_digits(goodput.good_per_gpu_hour),
            three_digits(goodput.input_tps),
            three_digits(goodput.output_tps)
        ),
    );
    page.row(
        "largest debt",
        &format!(
            "{} s of fleet work, {} waiting, {} past a limit",
            three_digits(report.debt.peak_work_s),
            plural(report.debt.peak_waiting, "request", "requests"),
            thousands(report.debt.peak_past_limit as f64)
        ),
    );
    page.row(
        "KV memory in use",
        &format!(
            "{} mean, {} peak, {}",
            percent(report.kv.mean_share),
            percent(report.kv.peak_share),
            plural(report.kv.preemptions, "preemption", "preemptions")
        ),
    );
}

/// What clients did beside asking once, if anything.
fn clients(page: &mut Page, report: &SimReport) {
    if report.attempts.retried > 0 {
        let sent = three_digits(report.attempts.per_request);
        let deferred = thousands(report.debt.peak_deferred as f64);
        let text = format!("{sent} per request, up to {deferred} waiting to try again");
        page.row("attempts", &text);
    }
    for class in &report.classes {
        let Some(crowd) = &class.closed_loop else { continue };
        let text = format!(
            "{} ask {} req/s, {} in flight on average",
            thousands(f64::from(crowd.users)),
            three_digits(crowd.rate_rps),
            three_digits(crowd.mean_in_flight)
        );
        page.row(&format!("users of {}", class.name), &text);
    }
}

fn three_percentiles(percentiles: &Percentiles) -> String {
    // Of nobody, nothing is late.
    let none = if percentiles.population == 0 { "–" } else { "never" };
    let text = |value: Option<f64>| value.map_or_else(|| none.to_owned(), span_ms);
    format!(
        "{:>16} {:>10} {:>10}",
        text(percentiles.p50),
        text(percentiles.p95),
        text(percentiles.p99)
    )
}
