//! What time charts share: the plot rectangle, gridlines, ticks, direct labels and the cursor.

use plotters::style::RGBColor;
use plotters_backend::DrawingBackend;

use super::axis::{LinearAxis, TimeAxis};
use super::surface::{Drawn, Label, Plane, Px, Rect, Stroke, Surface};

/// Least distance between direct labels, CSS pixels.
const LABEL_GAP: f64 = 14.0;
/// Below this width a chart is drawn for a phone.
const NARROW: f64 = 440.0;

/// A chart over time: axes, plot rectangle and data coordinates.
pub struct TimeFrame<'s, 'p, DB: DrawingBackend> {
    surface: &'s Surface<'p, DB>,
    /// Data coordinates: seconds and the unit of the y axis.
    pub plane: Plane<DB>,
    /// The plot without labels.
    pub rect: Rect,
    time: TimeAxis,
    values: LinearAxis,
}

/// A direct label in the gutter on the right.
pub struct EndLabel {
    /// Value at the right end of its line.
    pub value: f64,
    /// Text.
    pub text: String,
    /// Colour of its line.
    pub color: RGBColor,
    /// Bold; the baseline is not.
    pub strong: bool,
}

/// Room for direct labels on the right of a chart of a width, CSS pixels.
pub fn gutter(width: f64) -> f64 {
    if width < NARROW { 114.0 } else { 138.0 }
}

/// Whether a surface is as narrow as a phone: numbers get short.
pub fn is_narrow<DB: DrawingBackend>(surface: &Surface<DB>) -> bool {
    surface.width < NARROW
}

impl<'s, 'p, DB: DrawingBackend> TimeFrame<'s, 'p, DB> {
    /// Lays out and draws axes; `unit` stands once above the value axis.
    pub fn draw(
        surface: &'s Surface<'p, DB>,
        unit: &str,
        time: TimeAxis,
        values: LinearAxis,
    ) -> Result<Self, plotters::drawing::DrawingAreaErrorKind<DB::ErrorType>> {
        let widest = values.ticks.iter().map(|t| surface.text_width(&t.label, false));
        let left = widest.fold(16.0, f64::max) + 8.0;
        let frame = Self::lane(surface, unit, time, values, (left, 0.0, surface.height - 22.0))?;
        frame.draw_time()?;
        Ok(frame)
    }

    /// As [`Self::draw`], in a lane of a chart that begins at `left` and `top` and has its base line
    /// at `bottom`; moments are written by [`Self::draw_time`], where it is the last.
    pub fn lane(
        surface: &'s Surface<'p, DB>,
        unit: &str,
        time: TimeAxis,
        values: LinearAxis,
        (left, top, bottom): (f64, f64, f64),
    ) -> Result<Self, plotters::drawing::DrawingAreaErrorKind<DB::ErrorType>> {
        let right = (surface.width - gutter(surface.width)).max(left + 20.0);
        let rect = Rect { left, top: top + 26.0, right, bottom };
        let plane = surface.plane(0.0..time.end_s, 0.0..values.top, &rect);
        surface.label(&Label::new(unit, (0.0, top + 7.0), surface.palette.ink_2))?;
        let frame = Self { surface, plane, rect, time, values };
        frame.draw_values()?;
        Ok(frame)
    }

    fn draw_values(&self) -> Drawn<DB> {
        let palette = self.surface.palette;
        for tick in &self.values.ticks {
            let y = crisp(self.plane.place((0.0, tick.at)).1);
            let color = if tick.at == 0.0 { palette.axis } else { palette.grid };
            let line = [(self.rect.left, y), (self.rect.right, y)];
            self.surface.path(&line, Stroke::solid(color, 1.0))?;
            let at = (self.rect.left - 6.0, y);
            self.surface.label(&Label::new(&tick.label, at, palette.ink_3).ending())?;
        }
        Ok(())
    }

    /// Moments below the base line.
    pub fn draw_time(&self) -> Drawn<DB> {
        let palette = self.surface.palette;
        let bottom = self.rect.bottom;
        // Labels that would touch are left out, from the left, so that the unit stays.
        let mut free_until = f64::MAX;
        for tick in self.time.ticks.iter().rev() {
            let x = crisp(self.plane.place((tick.at, 0.0)).0);
            let mark = [(x, bottom), (x, bottom + 3.0)];
            self.surface.path(&mark, Stroke::solid(palette.axis, 1.0))?;
            let half = self.surface.text_width(&tick.label, false) / 2.0;
            if x + half + 4.0 > free_until {
                continue;
            }
            free_until = x - half;
            let label = Label::new(&tick.label, (x, bottom + 13.0), palette.ink_3).centred();
            self.surface.label(&label)?;
        }
        Ok(())
    }

    /// A level line across the plot.
    pub fn level(&self, value: f64, stroke: Stroke) -> Drawn<DB> {
        self.plane.line(&[(0.0, value), (self.time.end_s, value)], stroke)
    }

    /// The dotted vertical that all time charts share.
    pub fn cursor(&self, t_s: Option<f64>) -> Drawn<DB> {
        let Some(t_s) = t_s.filter(|t| (0.0..=self.time.end_s).contains(t)) else { return Ok(()) };
        let x = crisp(self.plane.place((t_s, 0.0)).0);
        let line = [(x, self.rect.top - 4.0), (x, self.rect.bottom)];
        self.surface.path(&line, Stroke::dashed(self.surface.palette.axis, 1.0, 2.0, 3.0))
    }

    /// Direct labels at the right ends of lines, pushed apart, each with a leader.
    pub fn end_labels(&self, labels: &[EndLabel]) -> Drawn<DB> {
        let ends: Vec<f64> = labels.iter().map(|l| self.plane.place((0.0, l.value)).1).collect();
        let places = spread(&ends, LABEL_GAP, self.rect.top - 4.0, self.rect.bottom - 2.0);
        for ((label, end), place) in labels.iter().zip(&ends).zip(&places) {
            let x = self.rect.right;
            let leader = [(x + 1.0, *end), (x + 9.0, *place)];
            self.surface.path(&leader, Stroke::solid(self.surface.palette.axis, 1.0))?;
            let text = Label::new(&label.text, (x + 12.0, *place), label.color);
            self.surface.label(&if label.strong { text.strong() } else { text })?;
        }
        Ok(())
    }

    /// Bold text in the plot, centred on `at` where it fits and shifted where it would leave the
    /// surface.
    pub fn note(&self, text: &str, at: Px, color: RGBColor) -> Drawn<DB> {
        let half = self.surface.text_width(text, true) / 2.0;
        let low = self.rect.left + half + 2.0;
        let high = (self.surface.width - half - 2.0).max(low);
        let at = (at.0.clamp(low, high), at.1.max(20.0));
        self.surface.label(&Label::new(text, at, color).centred().strong().halo())
    }
}

/// The middle of a device pixel at any whole pixel ratio.
pub fn crisp(px: f64) -> f64 {
    px.floor() + 0.5
}

/// Moves values apart to at least `gap`, keeping their order and staying between `low` and `high`
/// while there is room.
pub fn spread(values: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut placed = vec![0.0; values.len()];
    let mut floor = low;
    for &i in &order {
        placed[i] = values[i].max(floor);
        floor = placed[i] + gap;
    }
    let mut ceiling = high;
    for &i in order.iter().rev() {
        placed[i] = placed[i].min(ceiling);
        ceiling = placed[i] - gap;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_distance_and_their_order() {
        let placed = spread(&[100.0, 101.0, 40.0, 99.0], 14.0, 0.0, 110.0);
        let mut sorted = placed.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|w| w[1] - w[0] >= 14.0 - 1e-9), "{placed:?}");
        assert!(placed[3] < placed[0] && placed[0] < placed[1] && placed[2] < placed[3]);
        assert!(sorted[3] <= 110.0 && (placed[2] - 40.0).abs() < 1e-9);
    }
}
