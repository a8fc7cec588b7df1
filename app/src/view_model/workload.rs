//! Words and small pictures of the workload editor.

use std::fmt::Write;

use goodput_engine::scenario::arrivals_of;
use goodput_engine::scenario::doc::{
    ArrivalsDoc, Burstiness, ClassDoc, RatePointDoc, ScenarioDoc, ThinkTimeDoc,
};
use goodput_engine::units::Picos;

use crate::controls::Choice;
use crate::format;

/// Kinds of arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrivalsKind {
    Poisson,
    Constant,
    Gamma,
    Bursts,
    Profile,
    Sinusoid,
    Spike,
    Ramp,
    Day,
    Week,
    Trace,
    ClosedLoop,
}

impl ArrivalsKind {
    /// The kind of a document's arrivals.
    pub fn of(doc: &ArrivalsDoc) -> Self {
        match doc {
            ArrivalsDoc::Poisson { .. } => Self::Poisson,
            ArrivalsDoc::Constant { .. } => Self::Constant,
            ArrivalsDoc::Gamma { .. } => Self::Gamma,
            ArrivalsDoc::Bursts { .. } => Self::Bursts,
            ArrivalsDoc::Profile { .. } => Self::Profile,
            ArrivalsDoc::Sinusoid { .. } => Self::Sinusoid,
            ArrivalsDoc::Spike { .. } => Self::Spike,
            ArrivalsDoc::Ramp { .. } => Self::Ramp,
            ArrivalsDoc::Day { .. } => Self::Day,
            ArrivalsDoc::Week { .. } => Self::Week,
            ArrivalsDoc::Trace { .. } => Self::Trace,
            ArrivalsDoc::ClosedLoop { .. } => Self::ClosedLoop,
        }
    }

    /// Its name in the document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Constant => "constant",
            Self::Gamma => "gamma",
            Self::Bursts => "bursts",
            Self::Profile => "profile",
            Self::Sinusoid => "sinusoid",
            Self::Spike => "spike",
            Self::Ramp => "ramp",
            Self::Day => "day",
            Self::Week => "week",
            Self::Trace => "trace",
            Self::ClosedLoop => "closed_loop",
        }
    }

    /// What can be chosen, and what the document has though it cannot be made here.
    pub fn choices(self) -> Vec<Choice> {
        let mut choices = vec![
            Choice::new("poisson", "Poisson"),
            Choice::new("constant", "evenly spaced"),
            Choice::new("profile", "profile over time"),
            Choice::new("trace", "replayed trace"),
            Choice::new("closed_loop", "users who think"),
        ];
        if !choices.iter().any(|choice| choice.value == self.name()) {
            choices.push(Choice::new(self.name(), self.name()));
        }
        choices
    }
}

/// Arrivals that the page shows and does not edit, in words.
pub fn summary(arrivals: &ArrivalsDoc) -> String {
    let rps = format::rps;
    let seconds = format::seconds;
    match arrivals {
        ArrivalsDoc::Gamma { cv: Some(cv), .. } => {
            format!("gamma gaps, coefficient of variation {}", format::significant(*cv))
        }
        ArrivalsDoc::Gamma { burstiness: Some(Burstiness(k)), .. } => {
            format!("gamma gaps, burstiness {}", format::significant(*k))
        }
        ArrivalsDoc::Bursts { quiet_rps, burst_rps, mean_quiet_s, mean_burst_s } => format!(
            "{} for {} in the mean, then bursts of {} for {}",
            rps(*quiet_rps),
            seconds(*mean_quiet_s),
            rps(*burst_rps),
            seconds(*mean_burst_s)
        ),
        ArrivalsDoc::Sinusoid { min_rps, max_rps, period_s, .. } => {
            format!("{} to {} every {}", rps(*min_rps), rps(*max_rps), seconds(*period_s))
        }
        ArrivalsDoc::Spike { base_rps, peak_rps, start_s, duration_s, .. } => format!(
            "{}, {} for {} from {}",
            rps(*base_rps),
            rps(*peak_rps),
            seconds(*duration_s),
            seconds(*start_s)
        ),
        ArrivalsDoc::Ramp { from_rps, to_rps, duration_s, .. } => {
            format!("{} to {} within {}", rps(*from_rps), rps(*to_rps), seconds(*duration_s))
        }
        ArrivalsDoc::Day { mean_rps, peak_over_mean, peak_hour, .. }
        | ArrivalsDoc::Week { mean_rps, peak_over_mean, peak_hour, .. } => format!(
            "{} in the mean, {} times that at hour {} of the day",
            rps(*mean_rps),
            format::significant(*peak_over_mean),
            format::significant(*peak_hour)
        ),
        _ => String::new(),
    }
}

/// Linear between points, constant before the first and after the last.
fn rate_at(points: &[RatePointDoc], t_s: f64) -> f64 {
    let after = points.partition_point(|p| p.t_s <= t_s);
    match (after.checked_sub(1).and_then(|i| points.get(i)), points.get(after)) {
        (Some(a), Some(b)) => {
            a.rate_rps + (b.rate_rps - a.rate_rps) * (t_s - a.t_s) / (b.t_s - a.t_s)
        }
        (Some(only), None) | (None, Some(only)) => only.rate_rps,
        (None, None) => 0.0,
    }
}

/// Requests that the arrivals ask for up to the horizon; `None` where they are not valid.
fn requests(arrivals: &ArrivalsDoc, horizon_s: f64) -> Option<f64> {
    if !(horizon_s.is_finite() && horizon_s > 0.0) {
        return None;
    }
    let arrivals = arrivals_of(arrivals).ok()?;
    Some(arrivals.expected(Picos::ZERO, Picos::from_secs(horizon_s)))
}

/// Mean rate over the horizon, requests per second; of a closed loop, whose rate is an outcome, the
/// most its users could ask if they were served in a second.
pub fn mean_rate(arrivals: &ArrivalsDoc, horizon_s: f64) -> f64 {
    let rate = match arrivals {
        ArrivalsDoc::ClosedLoop { users, think_time } => {
            f64::from(*users) / (mean_think_s(*think_time) + 1.0)
        }
        _ => requests(arrivals, horizon_s).map_or(1.0, |requests| requests / horizon_s),
    };
    let tidy = (rate * 1e3).round() / 1e3;
    if tidy.is_finite() && tidy > 0.0 { tidy } else { 1.0 }
}

fn mean_think_s(think_time: ThinkTimeDoc) -> f64 {
    match think_time {
        ThinkTimeDoc::Fixed { s } => s,
        ThinkTimeDoc::Uniform { min_s, max_s } => f64::midpoint(min_s, max_s),
        ThinkTimeDoc::Exponential { mean_s } => mean_s,
    }
}

/// "69,315 requests expected in 36 min, mean 32.1 req/s".
pub fn expected_requests(doc: &ScenarioDoc, index: usize) -> String {
    let horizon_s = doc.workload.horizon_s;
    let Some(class) = doc.workload.classes.get(index) else { return String::new() };
    if let ArrivalsDoc::ClosedLoop { users, think_time } = &class.arrivals {
        return format!(
            "{}, {} of thinking between two requests: how often they ask depends on how soon they \
             are served",
            format::plural(u64::from(*users), "user", "users"),
            format::seconds(mean_think_s(*think_time)),
        );
    }
    let Some(requests) = requests(&class.arrivals, horizon_s) else { return String::new() };
    let recorded = matches!(
        &class.arrivals,
        ArrivalsDoc::Trace { rate_factor, .. } if rate_factor.total_cmp(&1.0).is_eq()
    );
    let word = if recorded { "" } else { " expected" };
    format!(
        "{} {}{word} in {}, mean {}",
        format::fixed(requests, 0),
        if (0.5..1.5).contains(&requests) { "request" } else { "requests" },
        format::seconds(horizon_s),
        format::rps(requests / horizon_s),
    )
}

/// The points of a class's profile.
pub fn profile_points(doc: &ScenarioDoc, index: usize) -> Vec<(f64, f64)> {
    match doc.workload.classes.get(index).map(|class| &class.arrivals) {
        Some(ArrivalsDoc::Profile { points, .. }) => {
            points.iter().map(|p| (p.t_s, p.rate_rps)).collect()
        }
        _ => Vec::new(),
    }
}

/// A profile as a small line, 268 × 34.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spark {
    /// The line.
    pub line: String,
    /// The area below it.
    pub area: String,
    /// In words.
    pub label: String,
}

/// The picture of a class's profile over the horizon.
pub fn profile_path(doc: &ScenarioDoc, index: usize) -> Spark {
    let Some(ArrivalsDoc::Profile { points, .. }) =
        doc.workload.classes.get(index).map(|class| &class.arrivals)
    else {
        return Spark::default();
    };
    let horizon_s = doc.workload.horizon_s;
    let top = points.iter().map(|p| p.rate_rps).fold(0.0, f64::max);
    if !(horizon_s > 0.0 && horizon_s.is_finite() && top > 0.0 && top.is_finite()) {
        return Spark::default();
    }
    let inside = points.iter().map(|p| p.t_s).filter(|t| *t > 0.0 && *t < horizon_s);
    let moments = std::iter::once(0.0).chain(inside).chain([horizon_s]);
    let mut line = String::new();
    for t in moments {
        let (x, y) = (t / horizon_s * 268.0, 34.0 - rate_at(points, t) / top * 30.0);
        let command = if line.is_empty() { 'M' } else { 'L' };
        let _never = write!(line, "{command}{x:.1} {y:.1}");
    }
    let low = points.iter().map(|p| p.rate_rps).fold(f64::MAX, f64::min);
    Spark {
        area: format!("{line}L268 34L0 34Z"),
        line,
        label: format!(
            "Rate profile from {} to {} over {}",
            format::significant(low),
            format::rps(top),
            format::seconds(horizon_s)
        ),
    }
}

/// The contract of a class in one line.
pub fn contract_line(class: &ClassDoc) -> String {
    let slo = &class.slo;
    let limits = [
        ("TTFT", slo.ttft_ms),
        ("TPOT", slo.tpot_ms),
        ("stall", slo.longest_stall_ms),
        ("E2E", slo.e2e_ms),
    ];
    let mut parts: Vec<String> = limits
        .into_iter()
        .filter_map(|(name, ms)| ms.map(|ms| format!("{name} ≤ {}", format::millis(ms))))
        .collect();
    parts.push(format!("{} good", format::percent(slo.attainment_target)));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use goodput_engine::scenario::doc::NoiseDoc;

    use super::*;

    fn point(t_s: f64, rate_rps: f64) -> RatePointDoc {
        RatePointDoc { t_s, rate_rps }
    }

    #[test]
    fn the_area_under_a_profile_is_its_requests() {
        let points = vec![point(0.0, 2.0), point(10.0, 4.0)];
        let profile = ArrivalsDoc::Profile { points, noise: NoiseDoc::Poisson };
        for (horizon_s, due) in [(10.0, 30.0), (20.0, 70.0), (5.0, 12.5)] {
            assert!((requests(&profile, horizon_s).unwrap() - due).abs() < 1e-9);
        }
        let none = ArrivalsDoc::Profile { points: Vec::new(), noise: NoiseDoc::Poisson };
        assert_eq!(requests(&none, 5.0), None);
    }

    #[test]
    fn what_cannot_be_made_here_is_named_and_described() {
        let (quiet_rps, burst_rps, mean_quiet_s, mean_burst_s) = (1.0, 9.0, 60.0, 5.0);
        let bursts = ArrivalsDoc::Bursts { quiet_rps, burst_rps, mean_quiet_s, mean_burst_s };
        let kind = ArrivalsKind::of(&bursts);
        assert!(kind.choices().iter().any(|choice| choice.value == "bursts"));
        assert_eq!(ArrivalsKind::Poisson.choices().len(), 5);
        assert!(summary(&bursts).contains("bursts of 9"), "{}", summary(&bursts));
    }
}
