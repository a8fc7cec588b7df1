//! The outcome waterfall: from all offered requests, loss by loss, to the good ones.

use plotters_backend::DrawingBackend;

use super::frame::{crisp, is_narrow};
use super::palette::Look;
use super::pattern;
use super::surface::{Drawn, Label, Rect, Stroke, Surface};
use super::table::{Cell, Column, Table};
use crate::format;

/// Height of a row, CSS pixels.
pub const ROW: f64 = 22.0;
const BAR: f64 = 16.0;

/// One outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeRow {
    /// Its name in words.
    pub name: String,
    /// How it looks.
    pub look: Look,
    /// Requests.
    pub count: u64,
    /// Tenths of a per cent; all rows sum to exactly 1,000.
    pub tenths: u64,
}

/// Offered requests, losses by size, and what is left.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomesChart {
    /// All requests.
    pub offered: u64,
    /// Losses, largest first.
    pub losses: Vec<OutcomeRow>,
    /// What is left.
    pub good: OutcomeRow,
    /// Share that must be good.
    pub target: f64,
}

impl OutcomesChart {
    /// Height that shows every row, CSS pixels.
    pub fn height(&self) -> f64 {
        (self.losses.len() + 2) as f64 * ROW + 20.0
    }

    /// Draws it.
    pub fn draw<DB: DrawingBackend>(&self, surface: &Surface<DB>) -> Drawn<DB> {
        let left = if is_narrow(surface) { 104.0 } else { 112.0 };
        let right = surface.width - 108.0;
        let x = |count: u64| left + (right - left) * count as f64 / self.offered.max(1) as f64;
        let mut remaining = self.offered;
        let bar = |row: usize, from: f64, to: f64| Rect {
            left: from.min(to - 1.5).max(left),
            top: row as f64 * ROW + 3.0,
            right: to.max(left + 1.5),
            bottom: row as f64 * ROW + 3.0 + BAR,
        };
        let full = bar(0, left, right);
        surface.fill(&full, surface.palette.sunken)?;
        surface.outline(&full, Stroke::solid(surface.palette.outline, 1.0))?;
        draw_texts(surface, 0, "Offered", self.offered, 1_000, true)?;
        for (i, loss) in self.losses.iter().enumerate() {
            let rect = bar(i + 1, x(remaining.saturating_sub(loss.count)), x(remaining));
            draw_link(surface, x(remaining), i)?;
            pattern::bar(surface, &rect, loss.look)?;
            draw_texts(surface, i + 1, &loss.name, loss.count, loss.tenths, false)?;
            remaining = remaining.saturating_sub(loss.count);
        }
        let last = self.losses.len() + 1;
        draw_link(surface, x(remaining), last - 1)?;
        if self.good.count > 0 {
            pattern::bar(surface, &bar(last, left, x(self.good.count)), Look::Good)?;
        }
        draw_texts(surface, last, "Good", self.good.count, self.good.tenths, true)?;
        self.draw_target(surface, left, right)
    }

    fn draw_target<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        left: f64,
        right: f64,
    ) -> Drawn<DB> {
        let palette = surface.palette;
        let x = left + (right - left) * self.target.clamp(0.0, 1.0);
        let bottom = (self.losses.len() + 2) as f64 * ROW + 2.0;
        surface.path(&[(x, 0.0), (x, bottom)], Stroke::solid(palette.limit, 1.5))?;
        let text = format!("target {}", format::percent(self.target));
        let label = Label::new(&text, (x, bottom + 9.0), palette.ink_2);
        surface.label(&label.centred())
    }

    /// The numbers behind it.
    pub fn table(&self) -> Table {
        let row = |name: &str, count: u64, tenths: u64| {
            let share = Cell::Number(tenths as f64 / 10.0);
            vec![Cell::Text(name.to_owned()), Cell::Count(count), share]
        };
        let losses = self.losses.iter().map(|l| row(&l.name, l.count, l.tenths));
        let good = row("Good", self.good.count, self.good.tenths);
        Table {
            columns: vec![
                Column::new("outcome", ""),
                Column::new("requests", ""),
                Column::new("share", "%"),
            ],
            rows: std::iter::once(row("Offered", self.offered, 1_000))
                .chain(losses)
                .chain([good])
                .collect(),
        }
    }
}

/// The thin line from the end of one bar to the next.
fn draw_link<DB: DrawingBackend>(surface: &Surface<DB>, x: f64, row: usize) -> Drawn<DB> {
    let top = row as f64 * ROW + 3.0 + BAR;
    let x = crisp(x - 0.5);
    surface.path(&[(x, top), (x, top + ROW - BAR)], Stroke::solid(surface.palette.axis, 1.0))
}

fn draw_texts<DB: DrawingBackend>(
    surface: &Surface<DB>,
    row: usize,
    name: &str,
    count: u64,
    tenths: u64,
    strong: bool,
) -> Drawn<DB> {
    let palette = surface.palette;
    let y = row as f64 * ROW + 3.0 + BAR / 2.0;
    let weigh = |label| if strong { Label::strong(label) } else { label };
    surface.label(&weigh(Label::new(name, (0.0, y), palette.ink)))?;
    let counted = format::count(count);
    surface.label(&Label::new(&counted, (surface.width - 52.0, y), palette.ink_3).ending())?;
    let share = format::with_unit(&format::aligned(tenths as f64 / 10.0, 1), "%");
    surface.label(&weigh(Label::new(&share, (surface.width, y), palette.ink)).ending())
}
