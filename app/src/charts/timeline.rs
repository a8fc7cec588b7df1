//! The fleet over time: a lane for each thing, one below the other on one time axis.

use plotters_backend::DrawingBackend;

use super::axis::{LinearAxis, TimeAxis};
use super::frame::{EndLabel, TimeFrame};
use super::surface::{Drawn, Stroke, Surface};
use super::table::{Cell, Column, Table};
use crate::format;

/// Where every lane begins, CSS pixels: as wide as its widest number gets.
pub const LEFT: f64 = 44.0;

/// Height of a lane with its head, CSS pixels.
const TALL: f64 = 92.0;

/// Room below its base line, CSS pixels.
const FOOT: f64 = 9.0;

/// One line over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it is.
    pub name: &'static str,
    /// The same beside its end, where the lane says the rest.
    pub label: &'static str,
    /// In which unit, for the table; empty of things that are counted.
    pub unit: &'static str,
    /// Its values, one for each moment.
    pub values: Vec<f64>,
    /// Whether things are counted.
    pub whole: bool,
}

/// What shares an axis of values.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    /// The unit, as a phrase above it.
    pub unit: &'static str,
    /// Its lines, the most important first.
    pub lines: Vec<Line>,
}

/// All lanes.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineChart {
    /// End of the time axis, seconds.
    pub end_s: f64,
    /// The moments, seconds.
    pub t_s: Vec<f64>,
    /// The lanes, from above.
    pub lanes: Vec<Lane>,
}

impl TimelineChart {
    /// As high as its lanes are together, CSS pixels.
    pub fn height(&self) -> f64 {
        self.lanes.len() as f64 * TALL + 22.0
    }

    /// Draws it; `cursor_s` is the moment read out below.
    pub fn draw<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        cursor_s: Option<f64>,
    ) -> Drawn<DB> {
        for (i, lane) in self.lanes.iter().enumerate() {
            let bottom = (i + 1) as f64 * TALL - FOOT;
            let highest = lane.lines.iter().flat_map(|line| &line.values);
            let highest = highest.copied().fold(0.0, f64::max);
            let mut axis = LinearAxis::holding(highest, format::short);
            // A lane has room for its ends alone.
            let last = axis.ticks.len().saturating_sub(1);
            axis.ticks.drain(1..last.max(1));
            let place = (LEFT, bottom + FOOT - TALL, bottom);
            let frame = TimeFrame::lane(surface, lane.unit, TimeAxis::to(self.end_s), axis, place)?;
            self.draw_lines(surface, &frame, lane)?;
            frame.cursor(cursor_s)?;
            if i + 1 == self.lanes.len() {
                frame.draw_time()?;
            }
        }
        Ok(())
    }

    /// The first line over its area, the others in dashes of their own; each named at its end.
    fn draw_lines<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        frame: &TimeFrame<DB>,
        lane: &Lane,
    ) -> Drawn<DB> {
        let palette = surface.palette;
        let looks = [
            (Stroke::solid(palette.ink, 1.5), palette.ink),
            (Stroke::dashed(palette.ink_3, 1.5, 4.0, 2.0), palette.ink_2),
            (Stroke::dashed(palette.ink_3, 1.5, 1.5, 1.5), palette.ink_2),
            (Stroke::dashed(palette.ink_3, 1.5, 8.0, 3.0), palette.ink_2),
        ];
        let mut labels = Vec::new();
        for (i, line) in lane.lines.iter().enumerate() {
            let (stroke, color) = looks[i.min(looks.len() - 1)];
            let points: Vec<(f64, f64)> =
                self.t_s.iter().copied().zip(line.values.iter().copied()).collect();
            if i == 0 {
                frame.plane.area(&points, palette.before, 0.16)?;
            }
            frame.plane.line(&points, stroke)?;
            if let Some((_, value)) = points.last() {
                let value_text = match line.unit {
                    "s" => format::seconds(*value),
                    "%" => format::with_unit(&format::short(*value), "%"),
                    // Said above the lane.
                    _ => format::short(*value),
                };
                let text = format!("{value_text} {}", line.label);
                labels.push(EndLabel { value: *value, text, color, strong: i == 0 });
            }
        }
        frame.end_labels(&labels)
    }

    /// The numbers behind it.
    pub fn table(&self) -> Table {
        let lines = || self.lanes.iter().flat_map(|lane| &lane.lines);
        let cell = |line: &Line, row: usize| match line.values.get(row) {
            Some(value) if line.whole => Cell::Count(whole(*value)),
            Some(value) => Cell::Number(*value),
            None => Cell::Nothing,
        };
        let row = |(row, t_s): (usize, &f64)| {
            [Cell::Number(*t_s)].into_iter().chain(lines().map(|line| cell(line, row))).collect()
        };
        let column = |line: &Line| Column::new(line.name, line.unit);
        Table {
            columns: [Column::new("time", "s")].into_iter().chain(lines().map(column)).collect(),
            rows: self.t_s.iter().enumerate().map(row).collect(),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "float to int casts saturate, and it was a count"
)]
fn whole(count: f64) -> u64 {
    count as u64
}
