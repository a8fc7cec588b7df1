//! A picture of the rate that arrivals expect, and what they come to.

use std::fmt::Write;

use goodput_engine::scenario::arrivals_of;
use goodput_engine::scenario::doc::{ArrivalsDoc, ScenarioDoc};
use goodput_engine::units::Picos;
use goodput_engine::workload::Arrivals;

use super::arrivals::{mean_rps, mean_think_s};
use super::handles::{Frame, Span};
use crate::format;

const WIDTH: f64 = 268.0;
/// Where the axis is, and how high above it the highest rate.
const BASE: f64 = 56.0;
const HEIGHT: f64 = 40.0;
/// The whole of it, with the words below the axis.
const TALL: f64 = 74.0;
const BINS: u32 = 134;

/// The expected rate over the horizon, 268 × 74, and what it is in words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Preview {
    /// The line.
    pub line: String,
    /// The area below it: the requests.
    pub area: String,
    /// Heights of rates that take turns at random.
    pub levels: Vec<f64>,
    /// What the highest is.
    pub top: String,
    /// What the right end is.
    pub end: String,
    /// In words.
    pub label: String,
    /// Its axes; `None` of nothing.
    pub frame: Option<Frame>,
}

/// The preview of a class; `None` where its arrivals or the horizon are not valid, or the rate is an
/// outcome. Its axes are those of `held` while a handle is.
pub fn preview(doc: &ScenarioDoc, index: usize, held: Option<Frame>) -> Option<Preview> {
    let horizon_s = doc.workload.horizon_s;
    let described = &doc.workload.classes.get(index)?.arrivals;
    if !(horizon_s.is_finite() && horizon_s > 0.0) {
        return None;
    }
    let arrivals = arrivals_of(described).ok()?;
    let rates = rates(&arrivals, horizon_s);
    let levels: Vec<f64> = match described {
        ArrivalsDoc::Bursts { quiet_rps, burst_rps, .. } => vec![*quiet_rps, *burst_rps],
        _ => Vec::new(),
    };
    let highest = rates.iter().chain(&levels).copied().fold(0.0, f64::max);
    let lowest = rates.iter().copied().fold(f64::MAX, f64::min);
    let top = if highest > 0.0 { highest } else { 1.0 };
    let [across, up] = held.unwrap_or([
        Span { low: 0.0, high: horizon_s, log: false },
        Span { low: (BASE - TALL) / HEIGHT * top, high: BASE / HEIGHT * top, log: false },
    ]);
    let y = |rate: f64| (TALL * (1.0 - up.share(rate))).max(0.0);
    let mut line = String::new();
    for (bin, rate) in rates.iter().enumerate() {
        // From edge to edge, through the middle of every bin.
        let x = (bin as f64 + 0.5) / f64::from(BINS) * WIDTH;
        let command = if bin == 0 { format!("M0 {:.1}L", y(*rate)) } else { "L".to_owned() };
        let _never = write!(line, "{command}{x:.1} {:.1}", y(*rate));
    }
    let _never = write!(line, "H{WIDTH}");
    let (mean, end) = (mean_rps(described, horizon_s)?, format::seconds(horizon_s));
    Some(Preview {
        area: format!("{line}V{BASE}H0Z"),
        line,
        levels: levels.into_iter().map(y).collect(),
        top: format::rps(up.high * HEIGHT / BASE),
        label: format!(
            "Expected rate over {end}: {} to {}, mean {}",
            format::significant(lowest),
            format::rps(highest.max(lowest)),
            format::rps(mean),
        ),
        end,
        frame: Some([across, up]),
    })
}

/// The mean rate in each of the bins of the horizon, requests per second.
pub(super) fn rates(arrivals: &Arrivals, horizon_s: f64) -> Vec<f64> {
    let edge = |bin: u32| Picos::from_secs(horizon_s * f64::from(bin) / f64::from(BINS));
    let span_s = horizon_s / f64::from(BINS);
    (0..BINS).map(|bin| arrivals.expected(edge(bin), edge(bin + 1)) / span_s).collect()
}

/// What arrivals come to: "69,315 requests expected in 36 min, mean 32.1 req/s".
pub fn sum(doc: &ScenarioDoc, index: usize) -> Option<String> {
    let horizon_s = doc.workload.horizon_s;
    let class = doc.workload.classes.get(index)?;
    let described = &class.arrivals;
    let what = if class.session.is_some() { "session" } else { "request" };
    if let ArrivalsDoc::ClosedLoop { users, think_time } = described {
        return Some(format!(
            "{}, {} of thinking between two requests: how often they ask depends on how soon they \
             are served",
            format::plural(u64::from(*users), "user", "users"),
            format::seconds(mean_think_s(*think_time)),
        ));
    }
    let mean = mean_rps(described, horizon_s)?;
    let requests = mean * horizon_s;
    let as_recorded = matches!(
        described,
        ArrivalsDoc::Trace { rate_factor, .. } if rate_factor.total_cmp(&1.0).is_eq()
    );
    Some(format!(
        "{} {what}{}{} in {}, mean {}{}",
        format::fixed(requests, 0),
        if (0.5..1.5).contains(&requests) { "" } else { "s" },
        if as_recorded { "" } else { " expected" },
        format::seconds(horizon_s),
        if class.session.is_some() {
            format::with_unit(&format::significant(mean), "sessions/s")
        } else {
            format::rps(mean)
        },
        covered(described, horizon_s).unwrap_or_default(),
    ))
}

/// Why the mean of a run is not the mean that was typed: the run covers a part of the day or the week
/// that the typed one is of.
fn covered(arrivals: &ArrivalsDoc, horizon_s: f64) -> Option<String> {
    const DAY_S: f64 = 86_400.0;
    let (span_s, whole, begins) = match arrivals {
        ArrivalsDoc::Day { .. } => (DAY_S, "day", "midnight"),
        ArrivalsDoc::Week { .. } => (7.0 * DAY_S, "week", "midnight before Monday"),
        _ => return None,
    };
    (horizon_s < span_s).then(|| {
        format!(
            ": the typed mean is of a whole {whole}, and this run covers only the {} from {begins}. \
             Set the horizon to {} for all of it",
            format::seconds(horizon_s),
            format::with_unit(&format::significant(span_s / 3_600.0), "h"),
        )
    })
}

#[cfg(test)]
mod tests {
    use goodput_engine::scenario::doc::ThinkTimeDoc;

    use super::super::arrivals::kind_of;
    use super::super::arrivals::tests::{HORIZON_S, all};
    use super::*;

    #[test]
    fn the_area_of_the_picture_is_the_requests() {
        let trace = ArrivalsDoc::trace(vec![0.0, 1.0, 7.5, 599.0, 700.0]);
        for doc in all().into_iter().chain([trace]).filter(|doc| kind_of(doc) != "closed_loop") {
            let arrivals = arrivals_of(&doc).expect("valid");
            let area: f64 = rates(&arrivals, HORIZON_S).iter().sum::<f64>() * HORIZON_S;
            let due = mean_rps(&doc, HORIZON_S).expect("valid") * HORIZON_S;
            assert!((area / f64::from(BINS) - due).abs() < 1e-6 * due, "{doc:?}");
        }
    }

    #[test]
    fn arrivals_that_are_not_valid_have_no_picture() {
        let preset = goodput_engine::scenario::presets::preset("chat-peak");
        let mut doc = preset.expect("a preset").doc.clone();
        let picture = preview(&doc, 0, None).expect("a picture");
        assert!(picture.line.starts_with("M0 "));
        assert!(sum(&doc, 0).expect("a sum").contains("expected"));
        doc.workload.classes[0].arrivals = ArrivalsDoc::Poisson { rate_rps: -1.0 };
        assert_eq!((preview(&doc, 0, None), sum(&doc, 0)), (None, None));
        doc.workload.classes[0].arrivals = ArrivalsDoc::Poisson { rate_rps: 1.0 };
        doc.workload.horizon_s = f64::NAN;
        assert_eq!(preview(&doc, 0, None), None);
    }

    /// A day's mean over five minutes after midnight is another, and the page says why.
    #[test]
    fn a_part_of_a_day_says_that_it_is_one() {
        let preset = goodput_engine::scenario::presets::preset("chat-peak");
        let mut doc = preset.expect("a preset").doc.clone();
        let shapes = all().into_iter().filter(|doc| matches!(kind_of(doc), "day" | "week"));
        for (arrivals, horizon_s) in shapes.zip([86_400.0, 604_800.0]) {
            doc.workload.classes[0].arrivals = arrivals;
            doc.workload.horizon_s = 300.0;
            let part = sum(&doc, 0).expect("a sum");
            assert!(part.contains("typed mean") && part.contains("only the 300"), "{part}");
            doc.workload.horizon_s = horizon_s;
            let whole = sum(&doc, 0).expect("a sum");
            assert!(!whole.contains("typed mean"), "{whole}");
        }
    }

    #[test]
    fn users_who_think_are_described_without_a_rate() {
        let preset = goodput_engine::scenario::presets::preset("chat-peak");
        let mut doc = preset.expect("a preset").doc.clone();
        let think_time = ThinkTimeDoc::Exponential { mean_s: 10.0 };
        doc.workload.classes[0].arrivals = ArrivalsDoc::ClosedLoop { users: 200, think_time };
        assert_eq!(preview(&doc, 0, None), None, "its rate is an outcome");
        let sum = sum(&doc, 0).expect("a sum");
        assert!(sum.starts_with("200 users, 10") && sum.contains("thinking"), "{sum}");
    }
}
