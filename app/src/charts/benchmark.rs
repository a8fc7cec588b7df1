//! Benchmark points over the curve simulated under their own conditions, before and after a fit.

use plotters_backend::DrawingBackend;

use super::axis::{LinearAxis, LogAxis, Tick};
use super::frame::{crisp, is_narrow, spread};
use super::surface::{Drawn, Label, Plane, Px, Rect, Stroke, Surface};
use super::table::{Cell, Column, Table};
use crate::format;

/// Loads further apart than this are drawn on a log axis.
const WIDE: f64 = 12.0;

/// A benchmark point: measured, and simulated before and after the fit.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredPoint {
    /// Name of its file and its row.
    pub place: String,
    /// Requests per second, or requests in flight.
    pub load: f64,
    /// As reported.
    pub measured: f64,
    /// Simulated with the fitted factor.
    pub predicted: f64,
    /// Simulated with the factor before.
    pub predicted_before: f64,
}

/// Predictions over load for like points.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PredictedCurve {
    /// Load and value with the fitted factor, by rising load.
    pub after: Vec<(f64, f64)>,
    /// The same with the factor before.
    pub before: Vec<(f64, f64)>,
}

/// A statistic over load.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkChart {
    /// What the y axis measures.
    pub unit: String,
    /// What the x axis measures.
    pub load: &'static str,
    /// In ascending order of load.
    pub points: Vec<MeasuredPoint>,
    /// What they are drawn over.
    pub curves: Vec<PredictedCurve>,
}

/// A load axis, linear from zero or logarithmic.
enum LoadAxis {
    Linear(LinearAxis),
    Log(LogAxis),
}

impl LoadAxis {
    fn holding(low: f64, high: f64) -> Self {
        if low > 0.0 && high / low > WIDE {
            // A curve's ends are the axis' ends; the outermost marks keep off the border.
            Self::Log(LogAxis::between(low / 1.1, high * 1.1, format::short))
        } else {
            Self::Linear(LinearAxis::holding(high, format::short))
        }
    }

    /// 0 at the left and 1 at the right end.
    fn place(&self, load: f64) -> f64 {
        match self {
            Self::Linear(axis) => load / axis.top,
            Self::Log(axis) => axis.place(load),
        }
    }

    fn ticks(&self) -> &[Tick] {
        match self {
            Self::Linear(axis) => &axis.ticks,
            Self::Log(axis) => &axis.ticks,
        }
    }
}

impl BenchmarkChart {
    /// Draws it.
    pub fn draw<DB: DrawingBackend>(&self, surface: &Surface<DB>) -> Drawn<DB> {
        let tops = self.points.iter().map(|p| p.measured.max(p.predicted).max(p.predicted_before));
        let values = LinearAxis::holding(tops.fold(0.0, f64::max) * 1.05, format::short);
        let (low, high) = self.loads();
        let loads = LoadAxis::holding(low, high);
        let gutter = if is_narrow(surface) { 78.0 } else { 96.0 };
        let widest = values.ticks.iter().map(|t| surface.text_width(&t.label, false));
        let rect = Rect {
            left: widest.fold(16.0, f64::max) + 8.0,
            top: 26.0,
            right: surface.width - gutter,
            bottom: surface.height - 36.0,
        };
        let plane = surface.plane(0.0..1.0, 0.0..values.top, &rect);
        self.draw_axes(surface, &plane, &rect, &values, &loads)?;
        let place = |line: &[(f64, f64)]| -> Vec<(f64, f64)> {
            let placed = line.iter().map(|(load, value)| (loads.place(*load), *value));
            cut_at(&placed.collect::<Vec<_>>(), values.top)
        };
        let palette = surface.palette;
        for curve in &self.curves {
            plane.line(&place(&curve.before), Stroke::dashed(palette.before, 1.5, 1.5, 3.0))?;
            plane.line(&place(&curve.after), Stroke::solid(palette.sustainable, 2.0))?;
        }
        for point in &self.points {
            let at: Px = plane.place((loads.place(point.load), point.measured));
            surface.ring(at, 3.5, Stroke::solid(palette.ink, 1.75))?;
        }
        self.draw_names(surface, &plane, &rect, values.top)
    }

    fn loads(&self) -> (f64, f64) {
        let curves = self.curves.iter().flat_map(|curve| curve.after.iter().map(|point| point.0));
        let all = || self.points.iter().map(|point| point.load).chain(curves.clone());
        (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max))
    }

    fn draw_axes<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        plane: &Plane<DB>,
        rect: &Rect,
        values: &LinearAxis,
        loads: &LoadAxis,
    ) -> Drawn<DB> {
        let palette = surface.palette;
        surface.label(&Label::new(&self.unit, (0.0, 7.0), palette.ink_2))?;
        for tick in &values.ticks {
            let y = crisp(plane.place((0.0, tick.at)).1);
            let color = if tick.at == 0.0 { palette.axis } else { palette.grid };
            surface.path(&[(rect.left, y), (rect.right, y)], Stroke::solid(color, 1.0))?;
            let at = (rect.left - 6.0, y);
            surface.label(&Label::new(&tick.label, at, palette.ink_3).ending())?;
        }
        for tick in loads.ticks() {
            let x = crisp(plane.place((loads.place(tick.at), 0.0)).0);
            let mark = [(x, rect.bottom), (x, rect.bottom + 3.0)];
            surface.path(&mark, Stroke::solid(palette.axis, 1.0))?;
            let label = Label::new(&tick.label, (x, rect.bottom + 13.0), palette.ink_3);
            surface.label(&label.centred())?;
        }
        let at = (rect.right, rect.bottom + 28.0);
        surface.label(&Label::new(self.load, at, palette.ink_3).ending())
    }

    /// Direct labels at the right end of the longest curve and its points.
    fn draw_names<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        plane: &Plane<DB>,
        rect: &Rect,
        top: f64,
    ) -> Drawn<DB> {
        let Some(point) = self.points.last() else { return Ok(()) };
        let end = |line: &[(f64, f64)], or: f64| line.last().map_or(or, |point| point.1).min(top);
        let longest = self.curves.iter().max_by(|a, b| {
            let reach = |curve: &PredictedCurve| curve.after.last().map_or(0.0, |point| point.0);
            reach(a).total_cmp(&reach(b))
        });
        let empty = PredictedCurve::default();
        let curve = longest.unwrap_or(&empty);
        let palette = surface.palette;
        let names = [
            (point.measured, "measured", palette.ink, true),
            (end(&curve.after, point.predicted), "simulated", palette.sustainable, true),
            (end(&curve.before, point.predicted_before), "before the fit", palette.ink_3, false),
        ];
        let ends: Vec<f64> = names.iter().map(|n| plane.place((0.0, n.0)).1).collect();
        let places = spread(&ends, 14.0, rect.top, rect.bottom);
        for ((_, text, color, strong), y) in names.into_iter().zip(places) {
            let label = Label::new(text, (rect.right + 8.0, y), color);
            surface.label(&if strong { label.strong() } else { label })?;
        }
        Ok(())
    }

    /// The numbers behind it: the points, then the curves.
    pub fn table(&self) -> Table {
        let number = |value: f64| Cell::Number(value);
        let points = self.points.iter().map(|p| {
            let place = Cell::Text(p.place.clone());
            vec![
                place,
                number(p.load),
                number(p.measured),
                number(p.predicted),
                number(p.predicted_before),
            ]
        });
        let curves = self.curves.iter().flat_map(|curve| {
            curve.after.iter().zip(&curve.before).map(move |(after, before)| {
                let place = Cell::Text("curve".to_owned());
                vec![place, number(after.0), Cell::Nothing, number(after.1), number(before.1)]
            })
        });
        Table {
            columns: vec![
                Column::new("point", ""),
                Column::new("load", self.load),
                Column::new("measured", ""),
                Column::new("simulated", ""),
                Column::new("before the fit", ""),
            ],
            rows: points.chain(curves).collect(),
        }
    }
}

/// A line up to where it first leaves the plot at the top.
fn cut_at(line: &[(f64, f64)], top: f64) -> Vec<(f64, f64)> {
    let Some(out) = line.iter().position(|point| point.1 > top) else { return line.to_vec() };
    let mut kept = line[..out].to_vec();
    if let (Some(last), Some(next)) = (kept.last().copied(), line.get(out)) {
        let share = (top - last.1) / (next.1 - last.1);
        kept.push((last.0 + (next.0 - last.0) * share, top));
    }
    kept
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A sweep over requests in flight.
    pub fn sample() -> BenchmarkChart {
        let value = |load: f64, scale: f64| scale * (8.0 + 0.11 * load);
        let loads = [1.0, 4.0, 16.0, 64.0, 256.0];
        BenchmarkChart {
            unit: "mean time per output token, ms".into(),
            load: "requests in flight",
            points: loads
                .map(|load| MeasuredPoint {
                    place: "sweep.csv, row 2".into(),
                    load,
                    measured: value(load, 1.25) + 0.3,
                    predicted: value(load, 1.25),
                    predicted_before: value(load, 1.0),
                })
                .to_vec(),
            curves: vec![PredictedCurve {
                after: loads.map(|load| (load, value(load, 1.25))).to_vec(),
                before: loads.map(|load| (load, value(load, 1.0))).to_vec(),
            }],
        }
    }

    #[test]
    fn a_line_ends_where_it_leaves_the_plot() {
        let line = [(0.0, 1.0), (1.0, 2.0), (2.0, 6.0), (3.0, 2.0)];
        assert_eq!(cut_at(&line, 4.0), [(0.0, 1.0), (1.0, 2.0), (1.5, 4.0)]);
        assert_eq!(cut_at(&line, 9.0), line);
        assert_eq!(cut_at(&line, 0.5), []);
    }

    #[test]
    fn the_table_holds_points_and_curves() {
        let table = sample().table();
        assert_eq!(table.rows.len(), 10);
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
    }
}
