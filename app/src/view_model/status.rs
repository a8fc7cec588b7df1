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
    /// Done, by so many windows of the answer.
    Done(u32),
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
        Planning::Done(windows) => {
            let windows = format::plural(u64::from(windows), "window", "windows");
            Some(format!("fleet sizes over {windows}"))
        }
        Planning::Not => None,
    };
    std::iter::once(what).chain(cut).chain(plan).collect::<Vec<_>>().join("; ")
}

fn whole_percent(share: f64) -> String {
    format::with_unit(&format::fixed(share * 100.0, 0), "%")
}

/// How things stand, for the mark before the status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The answer on screen is the one that is wanted.
    Done,
    /// It is on its way.
    Running,
    /// It is not, and something has to be mended.
    Wrong,
    /// It is not, and somebody has to decide.
    Asked,
}

impl Standing {
    /// From the phase of the work, whether an input does not read, and whether the document asks
    /// for more than is simulated unasked.
    pub fn of(phase: &str, is_unread: bool, is_too_much: bool) -> Self {
        match phase {
            "error" => Self::Wrong,
            _ if is_unread => Self::Wrong,
            _ if is_too_much => Self::Asked,
            "done" => Self::Done,
            _ => Self::Running,
        }
    }

    /// The mark.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Done => "✓",
            Self::Running => "…",
            Self::Wrong => "✕",
            Self::Asked => "!",
        }
    }

    /// The class of its colour.
    pub fn class(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Running => "running",
            Self::Wrong => "wrong",
            Self::Asked => "asked",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_answered_is_ticked() {
        assert_eq!(Standing::of("done", false, false), Standing::Done);
        assert_eq!(Standing::of("running", false, false), Standing::Running);
        for phase in ["done", "running", "error"] {
            assert_eq!(Standing::of(phase, true, false), Standing::Wrong, "{phase}, unread");
            assert_eq!(Standing::of(phase, true, true), Standing::Wrong, "{phase}, unread");
            assert_ne!(Standing::of(phase, false, true), Standing::Done, "{phase}, too much");
        }
        assert_eq!(Standing::of("done", false, true).mark(), "!");
        assert_eq!(Standing::of("error", false, false).mark(), "✕");
    }
}
