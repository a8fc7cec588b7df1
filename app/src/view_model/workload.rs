//! Words and small pictures of the workload editor.

use std::fmt::Write;

use goodput_engine::scenario::doc::{ArrivalsDoc, ClassDoc, RatePointDoc, ScenarioDoc};

use crate::format;

/// Kinds of arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrivalsKind {
    Poisson,
    Constant,
    Profile,
    Trace,
}

impl ArrivalsKind {
    /// The kind of a document's arrivals.
    pub fn of(doc: &ArrivalsDoc) -> Self {
        match doc {
            ArrivalsDoc::Poisson { .. } => Self::Poisson,
            ArrivalsDoc::Constant { .. } => Self::Constant,
            ArrivalsDoc::Profile { .. } => Self::Profile,
            ArrivalsDoc::Trace { .. } => Self::Trace,
        }
    }

    /// Its name in the document.
    pub fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Constant => "constant",
            Self::Profile => "profile",
            Self::Trace => "trace",
        }
    }
}

/// Requests that a profile asks for up to the horizon: the area under its line.
fn profile_requests(points: &[RatePointDoc], horizon_s: f64) -> f64 {
    let rate_at = |t: f64| rate_at(points, t);
    let inside = points.iter().map(|p| p.t_s).filter(|t| *t > 0.0 && *t < horizon_s);
    let moments: Vec<f64> = std::iter::once(0.0).chain(inside).chain([horizon_s]).collect();
    moments
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) * f64::midpoint(rate_at(pair[0]), rate_at(pair[1])))
        .sum()
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

/// Mean rate over the horizon, requests per second.
pub fn mean_rate(arrivals: &ArrivalsDoc, horizon_s: f64) -> f64 {
    let rate = match arrivals {
        ArrivalsDoc::Poisson { rate_rps } | ArrivalsDoc::Constant { rate_rps } => *rate_rps,
        ArrivalsDoc::Profile { points, .. } => profile_requests(points, horizon_s) / horizon_s,
        ArrivalsDoc::Trace { due_s } => due_s.len() as f64 / horizon_s,
    };
    let tidy = (rate * 1e3).round() / 1e3;
    if tidy.is_finite() && tidy > 0.0 { tidy } else { 1.0 }
}

/// "69,315 requests expected in 36 min, mean 32.1 req/s".
pub fn expected_requests(doc: &ScenarioDoc, index: usize) -> String {
    let horizon_s = doc.workload.horizon_s;
    let Some(class) = doc.workload.classes.get(index) else { return String::new() };
    if !(horizon_s.is_finite() && horizon_s > 0.0) {
        return String::new();
    }
    let (requests, word) = match &class.arrivals {
        ArrivalsDoc::Trace { due_s } => {
            (due_s.iter().filter(|t| **t < horizon_s).count() as f64, "")
        }
        other => (mean_rate(other, horizon_s) * horizon_s, " expected"),
    };
    format!(
        "{} requests{word} in {}, mean {}",
        format::fixed(requests, 0),
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
    use super::*;

    fn point(t_s: f64, rate_rps: f64) -> RatePointDoc {
        RatePointDoc { t_s, rate_rps }
    }

    #[test]
    fn the_area_under_a_profile_is_its_requests() {
        let points = [point(0.0, 2.0), point(10.0, 4.0)];
        assert!((profile_requests(&points, 10.0) - 30.0).abs() < 1e-9);
        assert!((profile_requests(&points, 20.0) - 70.0).abs() < 1e-9);
        assert!((profile_requests(&points, 5.0) - 12.5).abs() < 1e-9);
        assert!(profile_requests(&[], 5.0).abs() < 1e-9);
    }
}
