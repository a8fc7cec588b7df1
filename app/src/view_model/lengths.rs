//! Words and small pictures of length distributions.

use std::fmt::Write;

use goodput_engine::accounts::report::LengthSummary;
use goodput_engine::scenario::doc::{LengthsDoc, ScenarioDoc};
use goodput_engine::scenario::lengths_of;
use goodput_engine::workload::{Lengths, Shape, shape};

use super::handles::{Frame, Span};
use crate::format;

/// Where a report has the `index`-th class of its document: it lists the enabled ones alone.
pub fn place_in_report(doc: &ScenarioDoc, index: usize) -> Option<usize> {
    let (before, from) = doc.workload.classes.split_at_checked(index)?;
    let there = from.first()?.enabled;
    there.then(|| before.iter().filter(|class| class.enabled).count())
}

/// The engine's distribution, if the document's numbers make one.
fn engine_lengths(doc: &LengthsDoc) -> Option<Lengths> {
    lengths_of(doc).ok()
}

/// A histogram of 268 × 56 on a log axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// x, y, width, height of each bar.
    pub bars: Vec<(f64, f64, f64, f64)>,
    /// Outline of the baseline's shape; may be empty.
    pub ghost: String,
    /// Decades and their names.
    pub ticks: Vec<(f64, String)>,
    /// In words.
    pub label: String,
    /// Its axes.
    pub frame: Frame,
}

const WIDTH: f64 = 268.0;
const HEIGHT: f64 = 50.0;
const BASE: f64 = 56.0;
const BINS: usize = 32;

/// The picture of a distribution, and of the baseline's as an outline, wide enough for its handles
/// or as wide as `held`, in words of their `unit`; `None` for lengths that are all alike or no distribution.
pub fn picture(
    now: &LengthsDoc,
    before: Option<&LengthsDoc>,
    handles: &[f64],
    (held, unit): (Option<Frame>, &str),
) -> Option<Picture> {
    let now = shape(&engine_lengths(now)?, BINS);
    let before = before.and_then(engine_lengths).map(|lengths| shape(&lengths, BINS));
    if now.edges.len() < 3 {
        return None;
    }
    let (low, high) = match held {
        Some([across, _]) => (across.low, across.high),
        None => range(&now, before.as_ref(), handles)?,
    };
    let across = Span { low, high, log: true };
    let place = |tokens: f64| (across.share(tokens) * WIDTH).clamp(0.0, WIDTH);
    let tallest = now.shares.iter().copied().fold(0.0, f64::max);
    let bars = now.shares.iter().zip(now.edges.windows(2)).map(|(share, edges)| {
        let (x, height) = (place(edges[0]), share / tallest * HEIGHT);
        (x, BASE - height, (place(edges[1]) - x - 1.0).max(0.5), height)
    });
    // What is dragged out of the picture is not piled up at its edge.
    let bars = bars.filter(|(x, _, width, _)| x + width <= WIDTH && (*x > 0.0 || *width > 0.5));
    Some(Picture {
        bars: bars.collect(),
        ghost: before.as_ref().map_or_else(String::new, |shape| outline(shape, place)),
        ticks: decades(low, high).map(|at| (place(at), format::short(at))).collect(),
        label: format!(
            "Histogram on a log axis: mean {}, p50 {}, p99 {} {unit}",
            format::significant(now.mean),
            format::significant(now.p50),
            format::significant(now.p99)
        ),
        frame: [across, Span { low: 0.0, high: 1.0, log: false }],
    })
}

fn range(now: &Shape, before: Option<&Shape>, handles: &[f64]) -> Option<(f64, f64)> {
    let edges = |shape: &Shape| Some((*shape.edges.first()?, *shape.edges.last()?));
    let (mut low, mut high) = edges(now)?;
    if let Some((other_low, other_high)) = before.and_then(edges) {
        (low, high) = (low.min(other_low), high.max(other_high));
    }
    for tokens in handles.iter().filter(|tokens| tokens.is_finite() && **tokens >= 1.0) {
        (low, high) = (low.min(*tokens), high.max(*tokens));
    }
    (low > 0.0 && high > low).then_some((low, high))
}

fn outline(shape: &Shape, place: impl Fn(f64) -> f64) -> String {
    let tallest = shape.shares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let mut path = String::new();
    for (share, edges) in shape.shares.iter().zip(shape.edges.windows(2)) {
        let y = BASE - share / tallest * HEIGHT;
        let command = if path.is_empty() { 'M' } else { 'L' };
        let (a, b) = (place(edges[0]), place(edges[1]));
        let _never = write!(path, "{command}{a:.1} {y:.1}L{b:.1} {y:.1}");
    }
    path
}

fn decades(low: f64, high: f64) -> impl Iterator<Item = f64> {
    [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6].into_iter().filter(move |at| (low..=high).contains(at))
}

/// Mean, p50, p90, p99 and the share over the limit.
pub fn realised(summary: &LengthSummary) -> [String; 5] {
    let tokens = |x: f64| format::fixed(x, 0);
    [
        tokens(summary.mean),
        tokens(summary.p50),
        tokens(summary.p90),
        tokens(summary.p99),
        format::percent(summary.share_over_max_model_len),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_that_is_switched_off_has_no_place_in_a_report() {
        let preset = goodput_engine::scenario::presets::preset("multi-tenant");
        let mut doc = preset.expect("a preset of three classes").doc.clone();
        doc.workload.classes[1].enabled = false;
        let places = [0, 1, 2, 3].map(|index| place_in_report(&doc, index));
        assert_eq!(places, [Some(0), None, Some(1), None]);
    }

    #[test]
    fn a_shape_has_bars_an_outline_and_decades() {
        let now = LengthsDoc::lognormal(2_000.0, 7_977.0);
        let before = LengthsDoc::lognormal(1_000.0, 3_988.0);
        let picture = picture(&now, Some(&before), &[7_977.0], (None, "tokens")).expect("a shape");
        assert!(picture.bars.len() == BINS && picture.ghost.starts_with('M'));
        assert!(
            picture.bars.iter().all(|b| b.0 >= 0.0 && b.0 + b.2 <= WIDTH + 0.5 && b.3 <= HEIGHT)
        );
        assert!(picture.ticks.iter().any(|(_, text)| text == "1k"), "{:?}", picture.ticks);
        assert_eq!(
            super::picture(&LengthsDoc::Fixed { tokens: 5 }, None, &[], (None, "tokens")),
            None
        );
    }
}
