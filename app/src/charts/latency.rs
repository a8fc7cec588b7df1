//! A latency distribution on a log axis with its limit, and what never came.

use goodput_engine::math;
use plotters_backend::DrawingBackend;

use super::axis::LogAxis;
use super::frame::crisp;
use super::palette::Look;
use super::pattern;
use super::surface::{Drawn, Label, Rect, Stroke, Surface};
use super::table::{Cell, Column, Table};
use crate::format;

/// Room for the detached bar of what never came, CSS pixels.
const NEVER_WIDTH: f64 = 52.0;

/// The least width of a bar, CSS pixels.
const BAR_WIDTH: f64 = 5.0;

/// Requests in a span of latency.
struct Bin {
    from: f64,
    to: f64,
    count: u64,
}

/// Requests by latency.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyChart {
    /// Bin edges, milliseconds, one more than counts.
    pub edges_ms: Vec<f64>,
    /// Requests in each bin.
    pub counts: Vec<u64>,
    /// Requests without a value, and the word for them.
    pub never: u64,
    /// All requests: the denominator of every share.
    pub population: u64,
    /// The limit of all classes, milliseconds.
    pub limit_ms: Option<f64>,
    /// The limits of classes where they differ, with their names.
    pub class_limits: Vec<(String, f64)>,
    /// Limits that the axis has to hold. One that is being dragged is not among them: the axis
    /// would run away from under the pointer.
    pub shown_ms: Vec<f64>,
    /// Requests within their limit; none where some class has no such limit.
    pub in_time: Option<u64>,
    /// Median, milliseconds; none where it is never.
    pub p50_ms: Option<f64>,
    /// How bars beyond the limit look: late first tokens or slow ones.
    pub beyond: Look,
    /// The same distribution of the pinned baseline: share of its requests per bin.
    pub before: Vec<(f64, f64)>,
}

impl LatencyChart {
    /// Draws it.
    pub fn draw<DB: DrawingBackend>(&self, surface: &Surface<DB>) -> Drawn<DB> {
        let (low, high) = self.range();
        let axis = LogAxis::between(low, high, format::millis);
        let never = self.never_width();
        let bins = self.bins_of(&axis, surface.width - never - 8.0);
        let rect = Rect {
            left: 4.0,
            top: 58.0,
            right: surface.width - never - 4.0,
            bottom: surface.height - 22.0,
        };
        draw_axis(surface, &axis, &rect)?;
        let tallest = bins.iter().map(|bin| bin.count).max().unwrap_or(0).max(self.never).max(1);
        let height = |count: u64| (rect.bottom - rect.top) * count as f64 / tallest as f64;
        self.draw_bars(surface, &axis, &rect, &bins, &height)?;
        self.draw_limit(surface, &axis, &rect)?;
        self.draw_class_limits(surface, &axis, &rect)?;
        self.draw_median(surface, &axis, &rect, &bins, &height)?;
        self.draw_never(surface, &rect, height(self.never))
    }

    /// The range of bins that hold something, widened to show the limits.
    pub fn range(&self) -> (f64, f64) {
        let filled = |i: &usize| self.counts[*i] > 0;
        let first = (0..self.counts.len()).find(filled).unwrap_or(0);
        let last = (0..self.counts.len()).rfind(filled).unwrap_or(0);
        let low = self.edges_ms.get(first).copied().unwrap_or(1.0);
        let high = self.edges_ms.get(last + 1).copied().unwrap_or(low * 10.0);
        let limits = self.shown_ms.iter().filter(|limit| **limit > 0.0);
        limits.fold((low, high), |(low, high), limit| (low.min(limit / 1.6), high.max(limit * 1.6)))
    }

    /// One of the limits as they are drawn.
    pub fn limit_at(&self, index: usize) -> Option<f64> {
        self.limit_ms.or_else(|| self.class_limits.get(index).map(|(_, ms)| *ms))
    }

    fn never_width(&self) -> f64 {
        if self.never > 0 { NEVER_WIDTH } else { 0.0 }
    }

    /// Width of the axis in a chart of a width, CSS pixels.
    pub fn axis_width(&self, width: f64) -> f64 {
        width - self.never_width() - 8.0
    }

    /// The place of a latency as CSS writes it: its distance from the left edge at any width.
    pub fn css_place(&self, ms: f64) -> String {
        let (low, high) = self.range();
        let share = LogAxis::between(low, high, |_| String::new()).place(ms);
        let taken = self.never_width() + 8.0;
        format!("calc(4px + {share} * (100% - {taken}px))")
    }

    /// A latency moved by a share of the axis, within its ends.
    pub fn moved(&self, ms: f64, by: f64) -> f64 {
        let (low, high) = self.range();
        (ms * math::pow(high / low, by)).clamp(low, high.max(low))
    }

    /// Neighbouring bins together, so that each bar has some width.
    fn bins_of(&self, axis: &LogAxis, width: f64) -> Vec<Bin> {
        let span = |edges: &[f64]| (axis.place(edges[1]) - axis.place(edges[0])) * width;
        let one = self.edges_ms.windows(2).map(span).fold(0.0, f64::max).max(0.01);
        let together = (1..=64_u8).find(|n| one * f64::from(*n) >= BAR_WIDTH).unwrap_or(64);
        let pairs: Vec<_> = self.counts.iter().zip(self.edges_ms.windows(2)).collect();
        let bins = pairs.chunks(together.into()).filter_map(|chunk| {
            let ((_, first), (_, last)) = (chunk.first()?, chunk.last()?);
            let count = chunk.iter().map(|(count, _)| **count).sum();
            Some(Bin { from: first[0], to: last[1], count })
        });
        bins.filter(|bin| bin.count > 0).collect()
    }

    fn draw_bars<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        axis: &LogAxis,
        rect: &Rect,
        bins: &[Bin],
        height: &impl Fn(u64) -> f64,
    ) -> Drawn<DB> {
        let x = |ms: f64| rect.left + axis.place(ms) * rect.width();
        for bin in bins {
            let top = rect.bottom - height(bin.count).max(1.0);
            let piece = |from: f64, to: f64, look: Look| {
                let right = (x(to) - 1.0).max(x(from) + 1.0);
                let bar = Rect { left: x(from), top, right, bottom: rect.bottom };
                pattern::bar(surface, &bar, look)
            };
            // A bin across a limit is cut there: its height is the whole bin's on both sides.
            for (from, to, look) in self.zones() {
                if bin.to > from && bin.from < to {
                    piece(bin.from.max(from), bin.to.min(to), look)?;
                }
            }
        }
        self.draw_before(surface, &x, rect, bins, height)
    }

    /// From where to where bars look how: good up to the first limit, late beyond the last, and an
    /// outline between, where that depends on the class.
    fn zones(&self) -> Vec<(f64, f64, Look)> {
        let limits = || self.class_limits.iter().map(|(_, ms)| *ms).chain(self.limit_ms);
        let (first, last) = (limits().fold(f64::INFINITY, f64::min), limits().fold(0.0, f64::max));
        if first.is_infinite() {
            return vec![(0.0, f64::INFINITY, Look::Good)];
        }
        // Where a class has no limit, nothing is late for it.
        let all_have_one = self.limit_ms.is_some() || self.in_time.is_some();
        let beyond = if all_have_one { self.beyond } else { Look::Hollow };
        let zones =
            [(0.0, first, Look::Good), (first, last, Look::Hollow), (last, f64::INFINITY, beyond)];
        zones.into_iter().filter(|(from, to, _)| from < to).collect()
    }

    /// The baseline's shares as an outline, scaled to the width of the bars.
    fn draw_before<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        x: &impl Fn(f64) -> f64,
        rect: &Rect,
        bins: &[Bin],
        height: &impl Fn(u64) -> f64,
    ) -> Drawn<DB> {
        let (Some(bar), Some(bin)) = (bins.first(), self.before.get(..2)) else { return Ok(()) };
        // Bars may hold several bins of the histogram.
        let together = math::ln(bar.to / bar.from) / math::ln(bin[1].0 / bin[0].0);
        let per_share = height(1) * self.population as f64 * together.max(1.0);
        let tallest = rect.bottom - rect.top;
        let outline: Vec<_> = self
            .before
            .iter()
            .map(|(ms, share)| (x(*ms), rect.bottom - (per_share * share).min(tallest)))
            .collect();
        surface.path(&outline, Stroke::dashed(surface.palette.before, 1.0, 2.0, 2.0))
    }

    fn draw_limit<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        axis: &LogAxis,
        rect: &Rect,
    ) -> Drawn<DB> {
        let Some(limit) = self.limit_ms else { return Ok(()) };
        let palette = surface.palette;
        let x = rect.left + axis.place(limit) * rect.width();
        let line = [(x, 22.0), (x, rect.bottom)];
        surface.path(&line, Stroke::solid(palette.limit, 1.5))?;
        surface.polygon(&[(x - 5.0, 15.0), (x + 5.0, 15.0), (x, 23.0)], palette.limit, 1.0)?;
        let text = format!("limit {}", format::millis(limit));
        let half = surface.text_width(&text, true) / 2.0;
        let centre = x.clamp(half, (surface.width - half).max(half));
        surface.label(&Label::new(&text, (centre, 6.0), palette.bad).centred().strong())?;
        let Some(in_time) = self.in_time.filter(|_| self.population > 0) else { return Ok(()) };
        let share = |n: u64| format::percent(n as f64 / self.population as f64);
        let late = self.population.saturating_sub(in_time).saturating_sub(self.never);
        let left = format!("{} in time", share(in_time));
        let right = format!("{} too late", share(late));
        if x > surface.text_width(&left, true) + 8.0 {
            surface.label(&Label::new(&left, (x - 8.0, 31.0), palette.ok).ending().strong())?;
        }
        if surface.width - x > surface.text_width(&right, true) + 8.0 {
            surface.label(&Label::new(&right, (x + 8.0, 31.0), palette.warn).strong())?;
        }
        Ok(())
    }

    /// A line for each class whose limit is its own; labels over all lines, each in the first of three
    /// rows where it meets no other.
    fn draw_class_limits<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        axis: &LogAxis,
        rect: &Rect,
    ) -> Drawn<DB> {
        const ROWS: [f64; 3] = [6.0, 22.0, 38.0];
        let palette = surface.palette;
        let mut labels: Vec<(String, f64, f64, usize)> = Vec::new();
        for (name, limit) in &self.class_limits {
            let x = rect.left + axis.place(*limit) * rect.width();
            let text = format!("{name} {}", format::millis(*limit));
            let half = surface.text_width(&text, true) / 2.0;
            let centre = x.clamp(half, (surface.width - half).max(half));
            let is_free = |row: &usize| {
                let mut in_row = labels.iter().filter(|(.., taken)| taken == row);
                in_row.all(|(_, at, width, _)| (at - centre).abs() > width + half + 6.0)
            };
            let row = (0..ROWS.len()).find(is_free).unwrap_or(ROWS.len() - 1);
            // From below the label: no line runs through its own.
            let line = [(x, ROWS[row] + 10.0), (x, rect.bottom)];
            surface.path(&line, Stroke::dashed(palette.limit, 1.5, 6.0, 2.0))?;
            labels.push((text, centre, half, row));
        }
        for (text, centre, _, row) in &labels {
            let label = Label::new(text, (*centre, ROWS[*row]), palette.bad);
            surface.label(&label.centred().strong().halo())?;
        }
        Ok(())
    }

    fn draw_median<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        axis: &LogAxis,
        rect: &Rect,
        bins: &[Bin],
        height: &impl Fn(u64) -> f64,
    ) -> Drawn<DB> {
        let Some(p50) = self.p50_ms else { return Ok(()) };
        let palette = surface.palette;
        let place = |ms: f64| rect.left + axis.place(ms) * rect.width();
        let x = place(p50);
        let text = format!("p50 {}", format::millis(p50));
        let half = surface.text_width(&text, true) / 2.0;
        let centre = x.clamp(half, (surface.width - half).max(half));
        // Above every bar that the text would cross.
        let near = |bin: &&Bin| place(bin.to) > centre - half && place(bin.from) < centre + half;
        let tallest = bins.iter().filter(near).map(|bin| height(bin.count)).fold(0.0, f64::max);
        let top = rect.bottom - tallest - 6.0;
        surface.path(&[(x, top), (x, rect.bottom)], Stroke::solid(palette.ink, 1.25))?;
        let label = Label::new(&text, (centre, top - 8.0), palette.ink);
        surface.label(&label.centred().strong().halo())
    }

    fn draw_never<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        rect: &Rect,
        height: f64,
    ) -> Drawn<DB> {
        if self.never == 0 {
            return Ok(());
        }
        let palette = surface.palette;
        let left = rect.right + 12.0;
        let top = rect.bottom - height.max(1.5);
        let bar = Rect { left, top, right: left + 28.0, bottom: rect.bottom };
        pattern::bar(surface, &bar, Look::Cancelled)?;
        let base = crisp(rect.bottom);
        let line = [(left - 4.0, base), (left + 32.0, base)];
        surface.path(&line, Stroke::solid(palette.axis, 1.0))?;
        let middle = left + 14.0;
        let text = format::percent(self.never as f64 / self.population.max(1) as f64);
        let half = surface.text_width(&text, true) / 2.0;
        let centre = middle.min(surface.width - half);
        let label = Label::new(&text, (centre, top - 8.0), palette.ink);
        surface.label(&label.centred().strong().halo())?;
        let label = Label::new("never", (middle, rect.bottom + 13.0), palette.ink_3);
        surface.label(&label.centred())
    }

    /// The numbers behind it.
    pub fn table(&self) -> Table {
        let bins = self.counts.iter().zip(self.edges_ms.windows(2)).filter(|(c, _)| **c > 0);
        let rows = bins.map(|(count, edges)| {
            vec![Cell::Number(edges[0]), Cell::Number(edges[1]), Cell::Count(*count)]
        });
        let never = vec![Cell::Text("never".into()), Cell::Nothing, Cell::Count(self.never)];
        Table {
            columns: vec![
                Column::new("from", "ms"),
                Column::new("to", "ms"),
                Column::new("requests", ""),
            ],
            rows: rows.chain([never]).collect(),
        }
    }
}

/// The base line with its decades.
fn draw_axis<DB: DrawingBackend>(surface: &Surface<DB>, axis: &LogAxis, rect: &Rect) -> Drawn<DB> {
    let palette = surface.palette;
    let base = crisp(rect.bottom);
    let line = [(rect.left, base), (rect.right, base)];
    surface.path(&line, Stroke::solid(palette.axis, 1.0))?;
    for tick in &axis.ticks {
        let x = crisp(rect.left + axis.place(tick.at) * rect.width());
        surface.path(&[(x, base), (x, base + 3.0)], Stroke::solid(palette.axis, 1.0))?;
        let half = surface.text_width(&tick.label, false) / 2.0;
        let x = x.clamp(half, (surface.width - half).max(half));
        let label = Label::new(&tick.label, (x, rect.bottom + 13.0), palette.ink_3);
        surface.label(&label.centred())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(limit_ms: Option<f64>, class_limits: &[f64], in_time: Option<u64>) -> LatencyChart {
        LatencyChart {
            edges_ms: vec![10.0, 100.0, 1_000.0],
            counts: vec![3, 4],
            never: 0,
            population: 7,
            limit_ms,
            class_limits: class_limits.iter().map(|ms| ("a class".to_owned(), *ms)).collect(),
            shown_ms: Vec::new(),
            in_time,
            p50_ms: None,
            beyond: Look::Late,
            before: Vec::new(),
        }
    }

    /// Good and late look different whether classes share a limit or not; what depends on the class
    /// is neither.
    #[test]
    fn bars_are_late_beyond_the_last_limit_of_all() {
        let end = f64::INFINITY;
        let (good, open, late) = (Look::Good, Look::Hollow, Look::Late);
        for (of, zones) in [
            (chart(Some(50.0), &[], Some(3)), vec![(0.0, 50.0, good), (50.0, end, late)]),
            (
                chart(None, &[50.0, 500.0], Some(3)),
                vec![(0.0, 50.0, good), (50.0, 500.0, open), (500.0, end, late)],
            ),
            (chart(None, &[50.0], None), vec![(0.0, 50.0, good), (50.0, end, open)]),
            (chart(None, &[], None), vec![(0.0, end, good)]),
        ] {
            assert_eq!(of.zones(), zones);
        }
    }
}
