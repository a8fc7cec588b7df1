//! The words of the status line.

use goodput_engine::accounts::report::SimReport;

use crate::format;

/// While a simulation runs; `offered` of the last one gives an idea of the size.
pub fn simulating(share: Option<f64>, offered: Option<u64>) -> String {
    let of = offered.map_or_else(String::new, |n| {
        format!(" of about {}", format::plural(n, "request", "requests"))
    });
    match share {
        Some(share) => {
            format!("Simulating, {}{of}", format::with_unit(&format::fixed(share * 100.0, 0), "%"))
        }
        None => format!("Simulating{of}"),
    }
}

/// After it: what was simulated, and what the plan is doing or has done.
pub fn simulated(
    report: &SimReport,
    seeds: Option<usize>,
    planning: Option<Option<f64>>,
) -> String {
    let mut text = format!(
        "Simulated {}, seed {}, horizon {}, warm-up {}",
        format::plural(report.offered, "request", "requests"),
        report.seed,
        format::seconds(report.horizon_s),
        format::seconds(report.warmup_s),
    );
    if !report.complete {
        text += "; cut off at a limit of the simulator, so this is a partial result";
    }
    match (planning, seeds) {
        (Some(Some(share)), _) => {
            let share = format::with_unit(&format::fixed(share * 100.0, 0), "%");
            text += &format!("; looking for the fleet that holds, {share}");
        }
        (Some(None), _) => text += "; looking for the fleet that holds",
        (None, Some(seeds)) => text += &format!("; fleet sizes over {seeds} seeds"),
        (None, None) => {}
    }
    text
}
