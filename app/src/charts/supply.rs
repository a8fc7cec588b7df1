//! Demand against supply over time.

use plotters_backend::DrawingBackend;

use super::axis::{LinearAxis, TimeAxis};
use super::frame::{EndLabel, TimeFrame, is_narrow};
use super::pattern;
use super::surface::{Drawn, Stroke, Surface};
use super::table::{Cell, Column, Table};
use crate::format;

/// Decode tokens per second that are asked for and that can be had.
#[derive(Debug, Clone, PartialEq)]
pub struct SupplyChart {
    /// End of the time axis, seconds.
    pub end_s: f64,
    /// Demand over time.
    pub required: Vec<(f64, f64)>,
    /// Demand of the pinned baseline.
    pub before: Vec<(f64, f64)>,
    /// Stability limit for this mix.
    pub sustainable: f64,
    /// Relative error of the step time.
    pub band: Option<f64>,
    /// Supply at which the contract holds.
    pub deliverable: Option<f64>,
    /// Demand in its busiest window, where that is known better than by the line.
    pub peak: Option<f64>,
}

impl SupplyChart {
    /// Draws it; `cursor_s` is the moment read out below.
    pub fn draw<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        cursor_s: Option<f64>,
    ) -> Drawn<DB> {
        let axis = LinearAxis::holding(self.highest() * 1.02, format::short);
        let unit = "decode tokens per second";
        let frame = TimeFrame::draw(surface, unit, TimeAxis::to(self.end_s), axis)?;
        let palette = surface.palette;
        self.draw_band(surface, &frame)?;
        for shape in self.excess() {
            let polygon: Vec<_> = shape.iter().map(|p| frame.plane.place(*p)).collect();
            pattern::excess(surface, &polygon)?;
        }
        frame.plane.line(&self.before, Stroke::dashed(palette.before, 1.5, 1.5, 3.0))?;
        frame.level(self.sustainable, Stroke::solid(palette.sustainable, 2.0))?;
        if let Some(deliverable) = self.deliverable {
            frame.level(deliverable, Stroke::dashed(palette.deliverable, 2.0, 6.0, 3.0))?;
        }
        frame.plane.line(&self.required, Stroke::solid(palette.required, 2.25))?;
        frame.cursor(cursor_s)?;
        self.draw_notes(surface, &frame)?;
        frame.end_labels(&self.end_labels(surface))
    }

    fn draw_band<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        frame: &TimeFrame<DB>,
    ) -> Drawn<DB> {
        let Some(band) = self.band.filter(|b| *b > 0.0 && *b < 1.0) else { return Ok(()) };
        let (low, high) = (self.sustainable * (1.0 - band), self.sustainable * (1.0 + band));
        let corners = [(0.0, high), (self.end_s, high), (self.end_s, low), (0.0, low)]
            .map(|p| frame.plane.place(p));
        surface.polygon(&corners, surface.palette.sustainable, 0.16)
    }

    fn draw_notes<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        frame: &TimeFrame<DB>,
    ) -> Drawn<DB> {
        let Some((from, to, top)) = self.plateau() else { return Ok(()) };
        let short_by = self.short_by();
        let middle = f64::midpoint(from, to);
        let (x, y) = frame.plane.place((middle, top));
        let peak = self.peak.unwrap_or(top);
        let text = format!("required {} at peak", format::significant(peak));
        frame.note(&text, (x, y - 10.0), surface.palette.required)?;
        let (_, supply_y) = frame.plane.place((middle, self.sustainable));
        if short_by > 0.0 && supply_y - y > 40.0 {
            let at = f64::midpoint(y, supply_y);
            let color = surface.palette.bad;
            frame.note("short by", (x, at - 6.0), color)?;
            frame.note(&format::significant(short_by), (x, at + 7.0), color)?;
        }
        Ok(())
    }

    fn end_labels<DB: DrawingBackend>(&self, surface: &Surface<DB>) -> Vec<EndLabel> {
        let palette = surface.palette;
        // The gutter holds six digits and the longest word.
        let short = is_narrow(surface) || self.highest() >= 1e6;
        let number = if short { format::short } else { format::significant };
        let label = |value: f64, name: &str, color, strong| EndLabel {
            value,
            text: format!("{} {name}", number(value)),
            color,
            strong,
        };
        let mut labels = vec![label(self.sustainable, "sustainable", palette.sustainable, true)];
        if let Some(deliverable) = self.deliverable {
            labels.push(label(deliverable, "deliverable", palette.ok, true));
        }
        if let Some((_, value)) = self.required.last() {
            labels.push(label(*value, "required", palette.required, true));
        }
        if let Some((_, value)) = self.before.last() {
            labels.push(label(*value, "before", palette.ink_3, false));
        }
        labels
    }

    /// Demand beyond the sustainable supply at the peak; negative where there is room.
    pub fn short_by(&self) -> f64 {
        let top = self.required.iter().map(|p| p.1).fold(0.0, f64::max);
        self.peak.unwrap_or(top) - self.sustainable
    }

    /// Start, end and height of the highest demand.
    fn plateau(&self) -> Option<(f64, f64, f64)> {
        let peak = self.required.iter().map(|p| p.1).fold(f64::MIN, f64::max);
        let at_peak = |p: &&(f64, f64)| p.1 >= peak * 0.999;
        let first = self.required.iter().find(at_peak)?.0;
        let last = self.required.iter().rfind(at_peak)?.0;
        let everywhere = last - first >= self.end_s * 0.95;
        (!everywhere).then_some((first, last, peak))
    }

    fn highest(&self) -> f64 {
        let demands = self.required.iter().chain(&self.before).map(|p| p.1);
        demands.chain([self.sustainable * (1.0 + self.band.unwrap_or(0.0))]).fold(0.0, f64::max)
    }

    /// Closed shapes between demand and sustainable supply, where demand is higher.
    fn excess(&self) -> Vec<Vec<(f64, f64)>> {
        let level = self.sustainable;
        let mut shapes = Vec::new();
        let mut open: Vec<(f64, f64)> = Vec::new();
        let mut previous: Option<(f64, f64)> = None;
        for &(t, v) in &self.required {
            if let Some((t0, v0)) = previous.filter(|p| (p.1 > level) != (v > level)) {
                open.push((t0 + (level - v0) / (v - v0) * (t - t0), level));
            }
            if v > level {
                if open.is_empty() {
                    open.push((t, level));
                }
                open.push((t, v));
            } else if !open.is_empty() {
                shapes.push(std::mem::take(&mut open));
            }
            previous = Some((t, v));
        }
        if let Some(&(t, _)) = open.last() {
            open.push((t, level));
            shapes.push(open);
        }
        shapes
    }

    /// The numbers behind it.
    pub fn table(&self) -> Table {
        let number = |x: Option<f64>| x.map_or(Cell::Nothing, Cell::Number);
        let rows = self.required.iter().enumerate().map(|(i, &(t, v))| {
            vec![
                Cell::Number(t),
                Cell::Number(v),
                Cell::Number(self.sustainable),
                number(self.deliverable),
                number(self.before.get(i).map(|p| p.1)),
            ]
        });
        Table {
            columns: vec![
                Column::new("time", "s"),
                Column::new("required", "tok/s"),
                Column::new("sustainable", "tok/s"),
                Column::new("deliverable", "tok/s"),
                Column::new("required before", "tok/s"),
            ],
            rows: rows.collect(),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A rise from 48,000 to 100,000 and back.
    pub fn sample() -> SupplyChart {
        let required = [(0.0, 48e3), (300.0, 48e3), (600.0, 1e5), (900.0, 1e5), (1_200.0, 48e3)];
        SupplyChart {
            end_s: 2_160.0,
            required: required.into_iter().chain([(2_160.0, 48e3)]).collect(),
            before: vec![(0.0, 24e3), (2_160.0, 24e3)],
            sustainable: 57_300.0,
            band: Some(0.028),
            deliverable: Some(54_100.0),
            peak: None,
        }
    }

    #[test]
    fn excess_is_what_lies_between_demand_and_supply() {
        let shapes = sample().excess();
        assert_eq!(shapes.len(), 1);
        let shape = &shapes[0];
        assert!(shape.iter().all(|p| p.1 >= 57_300.0 - 1e-6));
        assert!((shape[0].0 - 353.65).abs() < 0.1, "{shape:?}");
        let below = SupplyChart { sustainable: 2e5, ..sample() };
        assert!(below.excess().is_empty());
        let always = SupplyChart { sustainable: 1e3, ..sample() };
        assert_eq!(always.excess().len(), 1, "demand above supply throughout is one shape");
    }
}
