//! Demand against supply over time.

use goodput_engine::accounts::report::TokenKind;
use plotters_backend::DrawingBackend;

use super::axis::{LinearAxis, TimeAxis};
use super::frame::{EndLabel, TimeFrame, is_narrow};
use super::pattern;
use super::surface::{Drawn, Stroke, Surface};
use super::table::{Cell, Column, Table};
use crate::format;

/// Tokens per second of the kind that binds: what is asked for and what can be had.
#[derive(Debug, Clone, PartialEq)]
pub struct SupplyChart {
    /// Prompt or output tokens.
    pub kind: TokenKind,
    /// End of the time axis, seconds.
    pub end_s: f64,
    /// Demand over time, a point in the middle of each window.
    pub required: Vec<(f64, f64)>,
    /// Demand of the pinned baseline.
    pub before: Vec<(f64, f64)>,
    /// Stability limit for the mix at the peak: at the times of `required`, of the replicas that took
    /// requests then.
    pub sustainable: Vec<(f64, f64)>,
    /// Relative error of the step time.
    pub band: Option<f64>,
    /// Supply at which the contract holds.
    pub deliverable: Option<f64>,
    /// The point of `required` in the busiest window.
    pub peak: Option<(f64, f64)>,
}

impl SupplyChart {
    /// Draws it; `cursor_s` is the moment read out below.
    pub fn draw<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        cursor_s: Option<f64>,
    ) -> Drawn<DB> {
        let axis = LinearAxis::holding(self.highest() * 1.02, format::short);
        let unit = match self.kind {
            TokenKind::Prefill => "prefill tokens per second",
            TokenKind::Decode => "decode tokens per second",
        };
        let frame = TimeFrame::draw(surface, unit, TimeAxis::to(self.end_s), axis)?;
        let palette = surface.palette;
        self.draw_band(surface, &frame)?;
        for shape in self.excess() {
            let polygon: Vec<_> = shape.iter().map(|p| frame.plane.place(*p)).collect();
            pattern::excess(surface, &polygon)?;
        }
        frame.plane.line(&self.before, Stroke::dashed(palette.before, 1.5, 1.5, 3.0))?;
        frame.plane.line(&self.sustainable, Stroke::solid(palette.sustainable, 2.0))?;
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
        let edge = |by: f64| self.sustainable.iter().map(move |&(t, v)| (t, v * by));
        let around = edge(1.0 + band).chain(edge(1.0 - band).rev());
        let corners: Vec<_> = around.map(|p| frame.plane.place(p)).collect();
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
        let text = format!("required {} at peak", format::significant(top));
        frame.note(&text, (x, y - 10.0), surface.palette.required)?;
        let (_, supply_y) = frame.plane.place((middle, top - short_by));
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
        let mut labels = Vec::new();
        if let Some((_, value)) = self.sustainable.last() {
            labels.push(label(*value, "sustainable", palette.sustainable, true));
        }
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

    /// The sustainable supply at a time of `required`; 0 where there is none.
    pub fn sustainable_at(&self, t_s: f64) -> f64 {
        let at = self.sustainable.iter().find(|p| p.0 >= t_s).or(self.sustainable.last());
        at.map_or(0.0, |p| p.1)
    }

    /// Demand and the sustainable supply for it, over time.
    pub fn pairs(&self) -> impl DoubleEndedIterator<Item = (f64, f64, f64)> + Clone {
        let supply = self.sustainable.iter().map(|p| p.1);
        self.required.iter().zip(supply).map(|(&(t, required), supply)| (t, required, supply))
    }

    /// Demand beyond the sustainable supply at the peak; negative where there is room.
    pub fn short_by(&self) -> f64 {
        self.peak.map_or(0.0, |(t, peak)| peak - self.sustainable_at(t))
    }

    /// Start, end and height of the demand at the peak and as high around it.
    fn plateau(&self) -> Option<(f64, f64, f64)> {
        let (at, peak) = self.peak?;
        let as_high = |p: &&(f64, f64)| (p.1 / peak - 1.0).abs() <= 0.001;
        let until = self.required.iter().filter(|p| p.0 >= at).take_while(as_high);
        let since = self.required.iter().rev().filter(|p| p.0 <= at).take_while(as_high);
        let (first, last) = (since.last()?.0, until.last()?.0);
        let everywhere = last - first >= self.end_s * 0.95;
        (!everywhere).then_some((first, last, peak))
    }

    fn highest(&self) -> f64 {
        let demands = self.required.iter().chain(&self.before).map(|p| p.1);
        let above = 1.0 + self.band.unwrap_or(0.0);
        demands.chain(self.sustainable.iter().map(|p| p.1 * above)).fold(0.0, f64::max)
    }

    /// Closed shapes between demand and sustainable supply, where demand is higher.
    fn excess(&self) -> Vec<Vec<(f64, f64)>> {
        let mut shapes = Vec::new();
        let mut open = Excess::default();
        let mut previous: Option<(f64, f64, f64)> = None;
        for (t, required, supply) in self.pairs() {
            let over = required - supply;
            if let Some((t0, _, before)) = previous.filter(|p| (p.2 > 0.0) != (over > 0.0)) {
                let share = before / (before - over);
                let (_, from, _) = previous.unwrap_or_default();
                let at = (t0 + share * (t - t0), from + share * (required - from));
                open.push(at, at.1);
            }
            if over > 0.0 {
                open.push((t, required), supply);
            } else {
                shapes.extend(open.close());
            }
            previous = Some((t, required, over));
        }
        shapes.extend(open.close());
        shapes
    }

    /// The numbers behind it.
    pub fn table(&self) -> Table {
        let number = |x: Option<f64>| x.map_or(Cell::Nothing, Cell::Number);
        let rows = self.pairs().enumerate().map(|(i, (t, required, sustainable))| {
            vec![
                Cell::Number(t),
                Cell::Number(required),
                Cell::Number(sustainable),
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

/// Demand above supply, being followed from left to right.
#[derive(Default)]
struct Excess {
    demand: Vec<(f64, f64)>,
    supply: Vec<(f64, f64)>,
}

impl Excess {
    fn push(&mut self, demand: (f64, f64), supply: f64) {
        self.demand.push(demand);
        self.supply.push((demand.0, supply));
    }

    /// The shape so far: along demand, and back along supply.
    fn close(&mut self) -> Option<Vec<(f64, f64)>> {
        let (mut shape, back) =
            (std::mem::take(&mut self.demand), std::mem::take(&mut self.supply));
        shape.extend(back.into_iter().rev());
        (!shape.is_empty()).then_some(shape)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The same supply at every time of a demand.
    pub fn level(required: &[(f64, f64)], supply: f64) -> Vec<(f64, f64)> {
        required.iter().map(|&(t, _)| (t, supply)).collect()
    }

    /// A rise from 48,000 to 100,000 and back.
    pub fn sample() -> SupplyChart {
        let steps = [(0.0, 48e3), (300.0, 48e3), (600.0, 1e5), (900.0, 1e5), (1_200.0, 48e3)];
        let required: Vec<_> = steps.into_iter().chain([(2_160.0, 48e3)]).collect();
        SupplyChart {
            kind: TokenKind::Decode,
            end_s: 2_160.0,
            sustainable: level(&required, 57_300.0),
            required,
            before: vec![(0.0, 24e3), (2_160.0, 24e3)],
            band: Some(0.028),
            deliverable: Some(54_100.0),
            peak: Some((600.0, 1e5)),
        }
    }

    #[test]
    fn the_peak_is_as_long_as_demand_stays_as_high() {
        assert_eq!(sample().plateau(), Some((600.0, 900.0, 1e5)));
        let steady = vec![(0.0, 1e5), (2_160.0, 1e5)];
        let sustainable = level(&steady, 57_300.0);
        let peak = Some((0.0, 1e5));
        let always = SupplyChart { required: steady, sustainable, peak, ..sample() };
        assert_eq!(always.plateau(), None, "a steady flow has no peak to name");
        assert!((sample().short_by() - 42_700.0).abs() < 1e-6);
    }

    #[test]
    fn excess_is_what_lies_between_demand_and_supply() {
        let shapes = sample().excess();
        assert_eq!(shapes.len(), 1);
        let shape = &shapes[0];
        assert!(shape.iter().all(|p| p.1 >= 57_300.0 - 1e-6));
        assert!((shape[0].0 - 353.65).abs() < 0.1, "{shape:?}");
        let with = |supply: f64| {
            let chart = sample();
            SupplyChart { sustainable: level(&chart.required, supply), ..chart }
        };
        assert!(with(2e5).excess().is_empty());
        assert_eq!(with(1e3).excess().len(), 1, "demand above supply throughout is one shape");
    }

    /// Replicas that go away: demand that has not changed passes a supply that has.
    #[test]
    fn supply_that_falls_below_demand_leaves_an_excess() {
        let times = [0.0, 100.0, 200.0, 300.0];
        let line = |values: [f64; 4]| times.into_iter().zip(values).collect::<Vec<_>>();
        let chart = SupplyChart {
            required: line([10.0; 4]),
            sustainable: line([20.0, 20.0, 0.0, 20.0]),
            peak: Some((200.0, 10.0)),
            ..sample()
        };
        assert_eq!(chart.short_by().to_bits(), 10f64.to_bits());
        let shapes = chart.excess();
        assert_eq!(
            shapes,
            [vec![
                (150.0, 10.0),
                (200.0, 10.0),
                (250.0, 10.0),
                (250.0, 10.0),
                (200.0, 0.0),
                (150.0, 10.0),
            ]]
        );
    }
}
