//! A latency distribution on a log axis with its limit, and what never came.

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
    /// The limit, milliseconds.
    pub limit_ms: Option<f64>,
    /// Requests within the limit.
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
        let never = if self.never > 0 { NEVER_WIDTH } else { 0.0 };
        let rect = Rect {
            left: 4.0,
            top: 46.0,
            right: surface.width - never - 4.0,
            bottom: surface.height - 22.0,
        };
        self.draw_axis(surface, &axis, &rect)?;
        let tallest = self.counts.iter().copied().max().unwrap_or(0).max(self.never).max(1);
        let height = |count: u64| (rect.bottom - rect.top) * count as f64 / tallest as f64;
        self.draw_bars(surface, &axis, &rect, &height)?;
        self.draw_limit(surface, &axis, &rect)?;
        self.draw_median(surface, &axis, &rect, &height)?;
        self.draw_never(surface, &rect, height(self.never))
    }

    /// The range of bins that hold something, widened to show the limit.
    fn range(&self) -> (f64, f64) {
        let filled = |i: &usize| self.counts[*i] > 0;
        let first = (0..self.counts.len()).find(filled).unwrap_or(0);
        let last = (0..self.counts.len()).rfind(filled).unwrap_or(0);
        let low = self.edges_ms.get(first).copied().unwrap_or(1.0);
        let high = self.edges_ms.get(last + 1).copied().unwrap_or(low * 10.0);
        match self.limit_ms {
            Some(limit) if limit > 0.0 => (low.min(limit / 1.6), high.max(limit * 1.6)),
            _ => (low, high),
        }
    }

    fn draw_axis<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        axis: &LogAxis,
        rect: &Rect,
    ) -> Drawn<DB> {
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

    fn draw_bars<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        axis: &LogAxis,
        rect: &Rect,
        height: &impl Fn(u64) -> f64,
    ) -> Drawn<DB> {
        let x = |ms: f64| rect.left + axis.place(ms) * rect.width();
        for (&count, edges) in self.counts.iter().zip(self.edges_ms.windows(2)) {
            if count == 0 {
                continue;
            }
            let top = rect.bottom - height(count).max(1.0);
            let piece = |from: f64, to: f64, look: Look| {
                let right = (x(to) - 1.0).max(x(from) + 1.0);
                let bar = Rect { left: x(from), top, right, bottom: rect.bottom };
                pattern::bar(surface, &bar, look)
            };
            // A bin across the limit is cut there: its height is the whole bin's on both sides.
            match self.limit_ms {
                Some(limit) if edges[0] >= limit => piece(edges[0], edges[1], self.beyond)?,
                Some(limit) if edges[1] > limit => {
                    piece(edges[0], limit, Look::Good)?;
                    piece(limit, edges[1], self.beyond)?;
                }
                _ => piece(edges[0], edges[1], Look::Good)?,
            }
        }
        let ghost: Vec<_> = self.before.iter().map(|(ms, share)| {
            let count = share * self.population as f64;
            let tallest = rect.bottom - rect.top;
            (x(*ms), rect.bottom - (height(1) * count).min(tallest))
        }).collect();
        surface.path(&ghost, Stroke::dashed(surface.palette.before, 1.0, 2.0, 2.0))
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

    fn draw_median<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        axis: &LogAxis,
        rect: &Rect,
        height: &impl Fn(u64) -> f64,
    ) -> Drawn<DB> {
        let Some(p50) = self.p50_ms else { return Ok(()) };
        let palette = surface.palette;
        let x = rect.left + axis.place(p50) * rect.width();
        let bin = self.edges_ms.windows(2).position(|e| e[0] <= p50 && p50 <= e[1]);
        let bar = bin.and_then(|i| self.counts.get(i)).map_or(0.0, |c| height(*c));
        let top = (rect.bottom - bar - 16.0).max(rect.top + 8.0);
        surface.path(&[(x, top), (x, rect.bottom)], Stroke::solid(palette.ink, 1.25))?;
        let text = format!("p50 {}", format::millis(p50));
        let half = surface.text_width(&text, true) / 2.0;
        let centre = x.clamp(half, (surface.width - half).max(half));
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
            vec![Cell::Number(edges[0]), Cell::Number(edges[1]), Cell::Number(*count as f64)]
        });
        let never =
            vec![Cell::Text("never".into()), Cell::Nothing, Cell::Number(self.never as f64)];
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
