//! The words of the status line.

use goodput_engine::accounts::report::SimReport;

use crate::format;

/// While a simulation runs; `offered` of the last one gives an idea of the size.
pub fn simulating(share: Option<f64>, offered: Option<u64>) -> String {
    let about = offered.map(|n| format!("about {}", format::plural(n, "request", "requests")));
    match (share, about) {
        (Some(share), Some(about)) => {
            format!("Simulating, {} of {about}", whole_percent(share))
        }
        (Some(share), None) => format!("Simulating, {}", whole_percent(share)),
        (None, Some(about)) => format!("Simulating {about}"),
        (None, None) => "Simulating".to_owned(),
    }
}

/// How far a plan is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Planning {
    /// None is wanted or there.
    Not,
    /// Under way, and how far.
    Running(Option<f64>),
    /// Done, over so many seeds.
    Done(usize),
}

/// After it: what was simulated, and what the plan is doing or has done.
pub fn simulated(report: &SimReport, planning: Planning) -> String {
    let what = format!(
        "Simulated {}, seed {}, horizon {}, warm-up {}",
        format::plural(report.offered, "request", "requests"),
        report.seed,
        format::seconds(report.horizon_s),
        format::seconds(report.warmup_s),
    );
    let cut = (!report.complete)
        .then(|| "cut off at a limit of the simulator, so this is a partial result".to_owned());
    let plan = match planning {
        Planning::Running(Some(share)) => {
            Some(format!("looking for the fleet that holds, {}", whole_percent(share)))
        }
        Planning::Running(None) => Some("looking for the fleet that holds".to_owned()),
        Planning::Done(seeds) => Some(format!("fleet sizes over {seeds} seeds")),
        Planning::Not => None,
    };
    std::iter::once(what).chain(cut).chain(plan).collect::<Vec<_>>().join("; ")
}

fn whole_percent(share: f64) -> String {
    format::with_unit(&format::fixed(share * 100.0, 0), "%")
}
