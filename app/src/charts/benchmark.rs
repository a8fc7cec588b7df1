//! Benchmark points over the curve simulated under their own conditions.

use plotters_backend::DrawingBackend;

use super::axis::LinearAxis;
use super::frame::crisp;
use super::surface::{Drawn, Label, Px, Rect, Stroke, Surface};
use super::table::{Cell, Column, Table};
use crate::format;

/// One point: measured, and simulated before and after the fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BenchmarkPointPair {
    /// Requests per second, or requests in flight.
    pub load: f64,
    /// As reported.
    pub measured: f64,
    /// Simulated with the fitted factor.
    pub predicted: f64,
    /// Simulated with the factor before.
    pub predicted_before: f64,
}

/// Latency over load.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkChart {
    /// What the y axis measures.
    pub unit: &'static str,
    /// What the x axis measures.
    pub load: &'static str,
    /// In ascending order of load.
    pub pairs: Vec<BenchmarkPointPair>,
}

impl BenchmarkChart {
    /// Draws it.
    pub fn draw<DB: DrawingBackend>(&self, surface: &Surface<DB>) -> Drawn<DB> {
        let palette = surface.palette;
        let highest =
            self.pairs.iter().map(|p| p.measured.max(p.predicted).max(p.predicted_before));
        let y = LinearAxis::holding(highest.fold(0.0, f64::max) * 1.05, format::short);
        let x = LinearAxis::holding(
            self.pairs.iter().map(|p| p.load).fold(0.0, f64::max),
            format::short,
        );
        let rect = Rect {
            left: 40.0,
            top: 26.0,
            right: surface.width - 84.0,
            bottom: surface.height - 36.0,
        };
        let plane = surface.plane(0.0..x.top, 0.0..y.top, &rect);
        surface.label(&Label::new(self.unit, (0.0, 7.0), palette.ink_2))?;
        for tick in &y.ticks {
            let at = crisp(plane.place((0.0, tick.at)).1);
            let color = if tick.at == 0.0 { palette.axis } else { palette.grid };
            surface.path(&[(rect.left, at), (rect.right, at)], Stroke::solid(color, 1.0))?;
            surface
                .label(&Label::new(&tick.label, (rect.left - 6.0, at), palette.ink_3).ending())?;
        }
        for tick in &x.ticks {
            let at = crisp(plane.place((tick.at, 0.0)).0);
            let mark = [(at, rect.bottom), (at, rect.bottom + 3.0)];
            surface.path(&mark, Stroke::solid(palette.axis, 1.0))?;
            let label = Label::new(&tick.label, (at, rect.bottom + 13.0), palette.ink_3);
            surface.label(&label.centred())?;
        }
        let name = Label::new(self.load, (rect.right, rect.bottom + 28.0), palette.ink_3).ending();
        surface.label(&name)?;
        let line = |value: fn(&BenchmarkPointPair) -> f64| {
            self.pairs.iter().map(|p| (p.load, value(p))).collect::<Vec<_>>()
        };
        let before = line(|p| p.predicted_before);
        plane.line(&before, Stroke::dashed(palette.before, 1.5, 1.5, 3.0))?;
        plane.line(&line(|p| p.predicted), Stroke::solid(palette.sustainable, 2.0))?;
        for pair in &self.pairs {
            let at: Px = plane.place((pair.load, pair.measured));
            surface.ring(at, 3.5, Stroke::solid(palette.ink, 1.75))?;
        }
        self.draw_names(surface, &plane, &rect)
    }

    fn draw_names<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        plane: &super::surface::Plane<DB>,
        rect: &Rect,
    ) -> Drawn<DB> {
        let Some(last) = self.pairs.last() else { return Ok(()) };
        let palette = surface.palette;
        let names = [
            (last.measured, "measured", palette.ink, true),
            (last.predicted, "simulated", palette.sustainable, true),
            (last.predicted_before, "before the fit", palette.ink_3, false),
        ];
        let ends: Vec<f64> = names.iter().map(|n| plane.place((0.0, n.0)).1).collect();
        let places = super::frame::spread(&ends, 14.0, rect.top, rect.bottom);
        for ((_, text, color, strong), y) in names.into_iter().zip(places) {
            let label = Label::new(text, (rect.right + 8.0, y), color);
            surface.label(&if strong { label.strong() } else { label })?;
        }
        Ok(())
    }

    /// The numbers behind it.
    pub fn table(&self) -> Table {
        let rows = self.pairs.iter().map(|p| {
            [p.load, p.measured, p.predicted, p.predicted_before].map(Cell::Number).to_vec()
        });
        Table {
            columns: vec![
                Column::new("load", self.load),
                Column::new("measured", "ms"),
                Column::new("simulated", "ms"),
                Column::new("before the fit", "ms"),
            ],
            rows: rows.collect(),
        }
    }
}
