//! Queue debt over time: work accepted and unfinished, in seconds of fleet work.

use plotters_backend::DrawingBackend;

use super::axis::{LinearAxis, TimeAxis};
use super::frame::{EndLabel, TimeFrame};
use super::surface::{Drawn, Label, Px, Stroke, Surface};
use super::table::{Cell, Column, Table};
use crate::format;

/// Debt at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DebtPoint {
    /// Moment, seconds.
    pub t_s: f64,
    /// All work accepted and unfinished, seconds of fleet work.
    pub total_s: f64,
    /// The part that waits in queues.
    pub waiting_s: f64,
    /// Requests waiting.
    pub waiting: u64,
    /// Age of the oldest of them, seconds.
    pub oldest_s: f64,
}

/// Debt over time, its peak and its end.
#[derive(Debug, Clone, PartialEq)]
pub struct DebtChart {
    /// End of the time axis, seconds.
    pub end_s: f64,
    /// Debt over time.
    pub points: Vec<DebtPoint>,
    /// Debt of the pinned baseline, seconds of fleet work.
    pub before: Vec<(f64, f64)>,
    /// Moment and height of the peak, where there is one worth naming.
    pub peak: Option<(f64, f64)>,
    /// Oldest age of a waiting request over the run, seconds.
    pub oldest_s: f64,
    /// When the queue was empty again after the peak.
    pub empty_at_s: Option<f64>,
}

impl DebtChart {
    /// Draws it; `cursor_s` is the moment read out below.
    pub fn draw<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        cursor_s: Option<f64>,
    ) -> Drawn<DB> {
        let before = self.before.iter().map(|p| p.1).chain(self.peak.map(|p| p.1));
        let highest = self.points.iter().map(|p| p.total_s).chain(before).fold(0.0, f64::max);
        let axis = LinearAxis::holding(highest * 1.05, format::short);
        let frame =
            TimeFrame::draw(surface, "seconds of fleet work", TimeAxis::to(self.end_s), axis)?;
        let palette = surface.palette;
        let total: Vec<(f64, f64)> = self.points.iter().map(|p| (p.t_s, p.total_s)).collect();
        let flight: Vec<(f64, f64)> =
            self.points.iter().map(|p| (p.t_s, (p.total_s - p.waiting_s).max(0.0))).collect();
        let place = |p: &(f64, f64)| frame.plane.place(*p);
        let waiting: Vec<Px> =
            total.iter().map(place).chain(flight.iter().rev().map(place)).collect();
        surface.polygon(&waiting, palette.excess, 0.14)?;
        frame.plane.area(&flight, palette.before, 0.22)?;
        frame.plane.line(&self.before, Stroke::dashed(palette.before, 1.5, 1.5, 3.0))?;
        frame.plane.line(&total, Stroke::solid(palette.excess, 2.0))?;
        frame.cursor(cursor_s)?;
        self.draw_area_names(surface, &frame)?;
        self.draw_marks(surface, &frame)?;
        frame.end_labels(&self.end_labels(surface))
    }

    /// Names of the two areas, each where it is thickest, dropped where it is thin.
    fn draw_area_names<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        frame: &TimeFrame<DB>,
    ) -> Drawn<DB> {
        let palette = surface.palette;
        let thickest =
            |of: fn(&DebtPoint) -> f64| self.points.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
        if let Some(p) = thickest(|p| p.waiting_s) {
            let (x, top) = frame.plane.place((p.t_s, p.total_s));
            let (_, bottom) = frame.plane.place((p.t_s, p.total_s - p.waiting_s));
            if bottom - top > 34.0 {
                frame.note("waiting", (x, f64::midpoint(top, bottom)), palette.bad)?;
            }
        }
        if let Some(p) = thickest(|p| p.total_s - p.waiting_s) {
            let (x, top) = frame.plane.place((p.t_s, p.total_s - p.waiting_s));
            let (_, zero) = frame.plane.place((p.t_s, 0.0));
            let half = surface.text_width("in flight", false) / 2.0;
            if zero - top > 20.0 && x - half > frame.rect.left && x + half < frame.rect.right {
                let at = (x, (zero - 9.0).max(top + 10.0));
                surface.label(&Label::new("in flight", at, palette.ink_2).centred().halo())?;
            }
        }
        Ok(())
    }

    fn draw_marks<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        frame: &TimeFrame<DB>,
    ) -> Drawn<DB> {
        let palette = surface.palette;
        if let Some(peak) = self.peak {
            let (x, y) = frame.plane.place(peak);
            // Between two points of the line a burst may have come and gone.
            let nearest = |p: &&DebtPoint| (p.t_s - peak.0).abs();
            let line = self.points.iter().min_by(|a, b| nearest(a).total_cmp(&nearest(b)));
            if let Some(line) = line.filter(|line| line.total_s < peak.1) {
                let foot = (peak.0, line.total_s);
                frame.plane.line(&[foot, peak], Stroke::solid(palette.excess, 1.0))?;
            }
            surface.dot((x, y), 3.5, palette.excess, 1.0)?;
            let oldest = format::seconds(self.oldest_s);
            let text = format!("peak {}, oldest {oldest}", format::seconds(peak.1));
            frame.note(&text, (x, y - 12.0), palette.bad)?;
        }
        if let Some(empty) = self.empty_at_s {
            let debt = self.points.iter().find(|p| p.t_s >= empty).map_or(0.0, |p| p.total_s);
            let (x, y) = frame.plane.place((empty, debt));
            surface.ring((x, y), 3.5, Stroke::solid(palette.excess, 1.5))?;
            let text = format!("queue empty {}", format::clock(empty));
            // The gutter is free but for the label at the end of the line.
            let end = self.points.last().map_or(y, |p| frame.plane.place((0.0, p.total_s)).1);
            let limit = if (end - y).abs() > 30.0 { surface.width } else { frame.rect.right };
            let room = limit - x > surface.text_width(&text, false) + 12.0;
            let label = Label::new(&text, (x + 8.0, y - 8.0), palette.ink_2).halo();
            let label = if room {
                label
            } else {
                Label::new(&text, (x - 8.0, y - 10.0), palette.ink_2).ending().halo()
            };
            surface.label(&label)?;
        }
        Ok(())
    }

    fn end_labels<DB: DrawingBackend>(&self, surface: &Surface<DB>) -> Vec<EndLabel> {
        let mut labels = Vec::new();
        if let Some(last) = self.points.last() {
            let name = if last.waiting == 0 { "in flight" } else { "at the end" };
            labels.push(EndLabel {
                value: last.total_s,
                text: format!("{} {name}", format::seconds(last.total_s)),
                color: surface.palette.ink,
                strong: true,
            });
        }
        if let Some((_, value)) = self.before.last() {
            labels.push(EndLabel {
                value: *value,
                text: format!("{} before", format::seconds(*value)),
                color: surface.palette.ink_3,
                strong: false,
            });
        }
        labels
    }

    /// The numbers behind it.
    pub fn table(&self) -> Table {
        let rows = self.points.iter().map(|p| {
            let [t_s, total_s, waiting_s, oldest_s] =
                [p.t_s, p.total_s, p.waiting_s, p.oldest_s].map(Cell::Number);
            vec![t_s, total_s, waiting_s, Cell::Count(p.waiting), oldest_s]
        });
        Table {
            columns: vec![
                Column::new("time", "s"),
                Column::new("debt", "s of fleet work"),
                Column::new("of which waiting", "s of fleet work"),
                Column::new("waiting", "requests"),
                Column::new("oldest waits", "s"),
            ],
            rows: rows.collect(),
        }
    }
}
