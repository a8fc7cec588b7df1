//! What a fleet sustains and delivers as answers or prompts grow, or as batches fill: capacity is
//! not a constant.

use goodput_engine::estimate::CapacityPoint;
use plotters_backend::DrawingBackend;

use super::axis::{LinearAxis, LogAxis};
use super::frame::{crisp, is_narrow, spread};
use super::surface::{Drawn, Label, Px, Rect, Stroke, Surface};
use super::table::{Cell, Column, Table};
use crate::format;

/// In what capacity is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapacityUnit {
    /// Output tokens per second.
    Decode,
    /// Input tokens per second.
    Prefill,
    /// Requests per second.
    Requests,
}

impl CapacityUnit {
    /// Above the axis.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Decode => "output tokens per second",
            Self::Prefill => "input tokens per second",
            Self::Requests => "requests per second",
        }
    }

    /// Sustained at a point, and delivered within the limits.
    pub fn of(self, point: &CapacityPoint) -> (f64, Option<f64>) {
        match self {
            Self::Decode => (point.sustainable_decode_tps, point.deliverable_decode_tps),
            Self::Prefill => (point.sustainable_prefill_tps, point.deliverable_prefill_tps),
            Self::Requests => (point.sustainable_rps, point.deliverable_rps),
        }
    }
}

/// Capacity over one thing that is varied.
#[derive(Debug, Clone, PartialEq)]
pub struct CapacityChart {
    /// What is varied, as below the axis.
    pub over: &'static str,
    /// Drawn in this.
    pub unit: CapacityUnit,
    /// Ascending.
    pub points: Vec<CapacityPoint>,
}

impl CapacityChart {
    /// Draws it.
    pub fn draw<DB: DrawingBackend>(&self, surface: &Surface<DB>) -> Drawn<DB> {
        let palette = surface.palette;
        let sustained: Vec<(f64, f64)> =
            self.points.iter().map(|p| (p.value, self.unit.of(p).0)).collect();
        let delivered: Vec<(f64, f64)> =
            self.points.iter().filter_map(|p| Some((p.value, self.unit.of(p).1?))).collect();
        let most = sustained.iter().chain(&delivered).map(|p| p.1).fold(0.0, f64::max);
        let values = LinearAxis::holding(most, format::short);
        let ends = sustained.first().zip(sustained.last());
        let (low, high) = ends.map_or((1.0, 10.0), |(first, last)| (first.0, last.0));
        let axis = LogAxis::between(low, high, format::short);
        let widest = values.ticks.iter().map(|t| surface.text_width(&t.label, false));
        let left = widest.fold(16.0, f64::max) + 8.0;
        let gutter = if is_narrow(surface) { 112.0 } else { 136.0 };
        let right = (surface.width - gutter).max(left + 20.0);
        let rect = Rect { left, top: 26.0, right, bottom: surface.height - 36.0 };
        surface.label(&Label::new(self.unit.phrase(), (0.0, 7.0), palette.ink_2))?;
        let y = |value: f64| rect.bottom - (rect.bottom - rect.top) * value / values.top;
        for tick in &values.ticks {
            let at = crisp(y(tick.at));
            let color = if tick.at == 0.0 { palette.axis } else { palette.grid };
            surface.path(&[(rect.left, at), (rect.right, at)], Stroke::solid(color, 1.0))?;
            let label = Label::new(&tick.label, (rect.left - 6.0, at), palette.ink_3);
            surface.label(&label.ending())?;
        }
        let place = |p: &(f64, f64)| (rect.left + axis.place(p.0) * rect.width(), y(p.1));
        let sustained: Vec<Px> = sustained.iter().map(place).collect();
        let delivered: Vec<Px> = delivered.iter().map(place).collect();
        self.draw_values(surface, &rect, &sustained)?;
        surface.path(&sustained, Stroke::solid(palette.sustainable, 2.0))?;
        surface.path(&delivered, Stroke::dashed(palette.deliverable, 2.0, 6.0, 3.0))?;
        let name = Label::new(self.over, (rect.left, surface.height - 8.0), palette.ink_2);
        surface.label(&name)?;
        self.draw_present(surface, &rect, &sustained)?;
        self.draw_ends(surface, &rect, (&sustained, &delivered))
    }

    /// The values that were tried, below the axis; those that would touch are left out.
    fn draw_values<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        rect: &Rect,
        at: &[Px],
    ) -> Drawn<DB> {
        let palette = surface.palette;
        let mut free_from = f64::MIN;
        for (point, (x, _)) in self.points.iter().zip(at) {
            let x = crisp(*x);
            let tick = [(x, rect.bottom), (x, rect.bottom + 3.0)];
            surface.path(&tick, Stroke::solid(palette.axis, 1.0))?;
            let text = format::short(point.value);
            let half = surface.text_width(&text, false) / 2.0;
            if x - half < free_from {
                continue;
            }
            free_from = x + half + 4.0;
            surface.label(&Label::new(&text, (x, rect.bottom + 13.0), palette.ink_3).centred())?;
        }
        Ok(())
    }

    /// The scenario's own mix.
    fn draw_present<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        rect: &Rect,
        at: &[Px],
    ) -> Drawn<DB> {
        let palette = surface.palette;
        let present = self.points.iter().position(|point| point.is_present);
        let Some((x, y)) = present.and_then(|i| at.get(i)).copied() else { return Ok(()) };
        let line = [(x, rect.top - 4.0), (x, rect.bottom)];
        surface.path(&line, Stroke::dashed(palette.axis, 1.0, 2.0, 3.0))?;
        surface.ring((x, y), 4.0, Stroke::solid(palette.sustainable, 2.0))?;
        let text = "this scenario";
        let half = surface.text_width(text, true) / 2.0;
        let high = (surface.width - half - 2.0).max(half);
        let label = Label::new(text, (x.clamp(half, high), rect.top - 10.0), palette.ink);
        surface.label(&label.centred().strong().halo())
    }

    fn draw_ends<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        rect: &Rect,
        (sustained, delivered): (&[Px], &[Px]),
    ) -> Drawn<DB> {
        let palette = surface.palette;
        let Some((last, first)) = self.points.last().zip(sustained.last()) else { return Ok(()) };
        let (sustainable, deliverable) = self.unit.of(last);
        let mut labels = vec![(
            first.1,
            format!("{} sustained", format::short(sustainable)),
            palette.sustainable,
        )];
        if let Some((value, end)) = deliverable.zip(delivered.last()) {
            labels.push((end.1, format!("{} in time", format::short(value)), palette.deliverable));
        }
        let ends: Vec<f64> = labels.iter().map(|(y, ..)| *y).collect();
        let places = spread(&ends, 14.0, rect.top - 4.0, rect.bottom - 2.0);
        for ((end, text, color), place) in labels.iter().zip(places) {
            let leader = [(rect.right + 1.0, *end), (rect.right + 9.0, place)];
            surface.path(&leader, Stroke::solid(palette.axis, 1.0))?;
            surface.label(&Label::new(text, (rect.right + 12.0, place), *color).strong())?;
        }
        Ok(())
    }

    /// The numbers behind it, in every unit.
    pub fn table(&self) -> Table {
        let maybe = |value: Option<f64>| value.map_or(Cell::Nothing, Cell::Number);
        let row = |p: &CapacityPoint| {
            vec![
                Cell::Number(p.value),
                Cell::Text(if p.is_present { "this scenario" } else { "" }.to_owned()),
                Cell::Number(p.sustainable_rps),
                Cell::Number(p.sustainable_prefill_tps),
                Cell::Number(p.sustainable_decode_tps),
                maybe(p.deliverable_rps),
                maybe(p.deliverable_prefill_tps),
                maybe(p.deliverable_decode_tps),
                maybe(p.tpot_ms),
                maybe(p.live_sequences),
                Cell::Number(p.kv_token_steps_per_request),
            ]
        };
        Table {
            columns: [
                (self.over, ""),
                ("present", ""),
                ("sustained", "req/s"),
                ("sustained", "input tok/s"),
                ("sustained", "output tok/s"),
                ("in time", "req/s"),
                ("in time", "input tok/s"),
                ("in time", "output tok/s"),
                ("TPOT", "ms"),
                ("live sequences", ""),
                ("KV token-steps per request", ""),
            ]
            .map(|(name, unit)| Column::new(name, unit))
            .into(),
            rows: self.points.iter().map(row).collect(),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use goodput_engine::accounts::report::SaturatedBy;

    pub fn sample() -> CapacityChart {
        let point = |value: f64, decode: f64, deliverable: Option<f64>| CapacityPoint {
            value,
            is_present: (value - 256.0).abs() < 0.5,
            sustainable_rps: decode / value,
            sustainable_prefill_tps: 512.0 * decode / value,
            sustainable_decode_tps: decode,
            deliverable_rps: deliverable.map(|tps| tps / value),
            deliverable_prefill_tps: deliverable.map(|tps| 512.0 * tps / value),
            deliverable_decode_tps: deliverable,
            tpot_ms: Some(12.0),
            live_sequences: Some(256.0),
            kv_token_steps_per_request: value * (512.0 + value / 2.0),
            saturated_by: SaturatedBy::Seats,
        };
        CapacityChart {
            over: "mean output tokens",
            unit: CapacityUnit::Decode,
            points: vec![
                point(32.0, 4_000.0, Some(3_900.0)),
                point(256.0, 19_200.0, Some(19_000.0)),
                point(2_048.0, 12_000.0, Some(0.0)),
            ],
        }
    }

    #[test]
    fn every_unit_has_its_own_line_and_the_table_has_all() {
        let chart = sample();
        let (at, unit) = (&chart.points[1], |unit: CapacityUnit| unit.of(&chart.points[1]));
        assert_eq!(unit(CapacityUnit::Decode), (19_200.0, Some(19_000.0)));
        assert_eq!(unit(CapacityUnit::Requests), (75.0, at.deliverable_rps));
        assert_eq!(unit(CapacityUnit::Prefill), (38_400.0, at.deliverable_prefill_tps));
        let table = chart.table();
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
        assert!(table.csv().contains("\r\n256,this scenario,75,38400,19200,"));
    }
}
