//! What a chart draws on: any plotters backend, addressed in CSS pixels.
//!
//! Backends take whole numbers for coordinates, stroke widths and radii. A surface therefore tells
//! plotters that a pixel has [`SUB`] parts each way: lines stay smooth, strokes can be 1.5 wide,
//! and each backend scales back (canvas by its transform, SVG by its view box).

use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::series::{AreaSeries, DashedLineSeries, LineSeries};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle};
use plotters_backend::DrawingBackend;

use super::palette::{Palette, font_family};

/// Parts of a CSS pixel that a backend counts.
pub const SUB_WHOLE: u32 = 4;
/// The same for arithmetic.
pub const SUB: f64 = SUB_WHOLE as f64;

/// What drawing on a backend may fail with.
pub type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// A point in CSS pixels from the upper left corner.
pub type Px = (f64, f64);

/// A rectangle in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Lower edge.
    pub bottom: f64,
}

impl Rect {
    /// Its corners, clockwise from the upper left.
    pub fn corners(&self) -> [Px; 4] {
        [
            (self.left, self.top),
            (self.right, self.top),
            (self.right, self.bottom),
            (self.left, self.bottom),
        ]
    }

    /// Right less left.
    pub fn width(&self) -> f64 {
        self.right - self.left
    }
}

/// A line's look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stroke {
    /// Colour.
    pub color: RGBColor,
    /// Width, CSS pixels.
    pub width: f64,
    /// Opacity.
    pub alpha: f64,
    /// Lengths of dash and gap, CSS pixels.
    pub dash: Option<(f64, f64)>,
}

impl Stroke {
    /// A solid, opaque line.
    pub fn solid(color: RGBColor, width: f64) -> Self {
        Self { color, width, alpha: 1.0, dash: None }
    }

    /// A dashed line.
    pub fn dashed(color: RGBColor, width: f64, dash: f64, gap: f64) -> Self {
        Self { dash: Some((dash, gap)), ..Self::solid(color, width) }
    }

    /// The same, fainter.
    pub fn faint(self, alpha: f64) -> Self {
        Self { alpha, ..self }
    }

    fn style(&self) -> ShapeStyle {
        ShapeStyle {
            color: self.color.mix(self.alpha),
            filled: false,
            stroke_width: sub(self.width.max(0.25)).unsigned_abs(),
        }
    }
}

/// A piece of text: where, how, and which end stands there.
#[derive(Clone)]
pub struct Label<'t> {
    text: &'t str,
    at: Px,
    color: RGBColor,
    size: f64,
    strong: bool,
    anchor: HPos,
    halo: bool,
}

impl<'t> Label<'t> {
    /// Text of 11 px that starts at `at`, vertically centred on it.
    pub fn new(text: &'t str, at: Px, color: RGBColor) -> Self {
        Self { text, at, color, size: 11.0, strong: false, anchor: HPos::Left, halo: false }
    }

    /// Ends at its point.
    pub fn ending(mut self) -> Self {
        self.anchor = HPos::Right;
        self
    }

    /// Is centred on its point.
    pub fn centred(mut self) -> Self {
        self.anchor = HPos::Center;
        self
    }

    /// Bold.
    pub fn strong(mut self) -> Self {
        self.strong = true;
        self
    }

    /// Outlined in the colour of the panel, for text on fills.
    pub fn halo(mut self) -> Self {
        self.halo = true;
        self
    }
}

/// A drawing area in CSS pixels with the colours of the page.
pub struct Surface<'p, DB: DrawingBackend> {
    area: DrawingArea<DB, Shift>,
    /// Colours.
    pub palette: &'p Palette,
    /// Width, CSS pixels.
    pub width: f64,
    /// Height, CSS pixels.
    pub height: f64,
}

impl<'p, DB: DrawingBackend> Surface<'p, DB> {
    /// Takes a backend whose size is in parts of a pixel.
    pub fn new(backend: DB, palette: &'p Palette) -> Self {
        let (width, height) = backend.get_size();
        Self {
            area: backend.into_drawing_area(),
            palette,
            width: f64::from(width) / SUB,
            height: f64::from(height) / SUB,
        }
    }

    /// Fills everything with the colour of the panel.
    pub fn backdrop(&self) -> Drawn<DB> {
        self.area.fill(&self.palette.panel)
    }

    /// A line through points, straight between them.
    pub fn path(&self, points: &[Px], stroke: Stroke) -> Drawn<DB> {
        let points: Vec<(i32, i32)> = points.iter().map(at).collect();
        match stroke.dash {
            None => self.area.draw(&PathElement::new(points, stroke.style())),
            Some((dash, gap)) => {
                let series = DashedLineSeries::new(points, sub(dash), sub(gap), stroke.style());
                series.into_iter().try_for_each(|element| self.area.draw(&element))
            }
        }
    }

    /// A filled polygon.
    pub fn polygon(&self, points: &[Px], color: RGBColor, alpha: f64) -> Drawn<DB> {
        let points: Vec<(i32, i32)> = points.iter().map(at).collect();
        self.area.draw(&Polygon::new(points, color.mix(alpha).filled()))
    }

    /// A filled rectangle.
    pub fn fill(&self, rect: &Rect, color: RGBColor) -> Drawn<DB> {
        let corners = [at(&(rect.left, rect.top)), at(&(rect.right, rect.bottom))];
        self.area.draw(&Rectangle::new(corners, color.filled()))
    }

    /// The border of a rectangle, inside it.
    pub fn outline(&self, rect: &Rect, stroke: Stroke) -> Drawn<DB> {
        let inset = stroke.width / 2.0;
        let inner = Rect {
            left: rect.left + inset,
            top: rect.top + inset,
            right: rect.right - inset,
            bottom: rect.bottom - inset,
        };
        let [a, b, c, d] = inner.corners();
        self.path(&[a, b, c, d, a, b], stroke)
    }

    /// A filled dot.
    pub fn dot(&self, centre: Px, radius: f64, color: RGBColor, alpha: f64) -> Drawn<DB> {
        self.area.draw(&Circle::new(at(&centre), sub(radius), color.mix(alpha).filled()))
    }

    /// A ring around an empty middle.
    pub fn ring(&self, centre: Px, radius: f64, stroke: Stroke) -> Drawn<DB> {
        self.dot(centre, radius, self.palette.panel, 1.0)?;
        self.area.draw(&Circle::new(at(&centre), sub(radius), stroke.style()))
    }

    /// Text.
    pub fn label(&self, label: &Label) -> Drawn<DB> {
        if label.halo {
            let around = [(-2, 0), (2, 0), (0, -2), (0, 2), (-1, -1), (1, 1), (-1, 1), (1, -1)];
            let style = text_style(label, self.palette.panel);
            for (dx, dy) in around {
                let point = (label.at.0 + f64::from(dx), label.at.1 + f64::from(dy));
                self.area.draw(&Text::new(label.text, at(&point), style.clone()))?;
            }
        }
        self.area.draw(&Text::new(label.text, at(&label.at), text_style(label, label.color)))
    }

    /// Width of a text of 11 px, CSS pixels, as the backend measures it.
    pub fn text_width(&self, text: &str, strong: bool) -> f64 {
        let label = Label { strong, ..Label::new(text, (0.0, 0.0), self.palette.ink) };
        let size = self.area.estimate_text_size(text, &text_style(&label, label.color));
        size.map_or(0.0, |(width, _)| f64::from(width) / SUB)
    }

    /// A coordinate system over `rect`, y upwards.
    pub fn plane(&self, x: Range<f64>, y: Range<f64>, rect: &Rect) -> Plane<DB> {
        let ((left, top), (right, bottom)) =
            (at(&(rect.left, rect.top)), at(&(rect.right, rect.bottom)));
        let spec = Cartesian2d::new(x, y, (left..right, bottom..top));
        Plane { area: self.area.apply_coord_spec(spec) }
    }

    /// Ends the drawing.
    pub fn finish(&self) -> Drawn<DB> {
        self.area.present()
    }
}

/// Data coordinates.
pub struct Plane<DB: DrawingBackend> {
    area: DrawingArea<DB, Cartesian2d<RangedCoordf64, RangedCoordf64>>,
}

impl<DB: DrawingBackend> Plane<DB> {
    /// A line through data points; what is not finite is left out.
    pub fn line(&self, points: &[(f64, f64)], stroke: Stroke) -> Drawn<DB> {
        let points = points.iter().copied().filter(is_finite);
        match stroke.dash {
            None => LineSeries::new(points, stroke.style()).try_for_each(|e| self.area.draw(&e)),
            Some((dash, gap)) => {
                let points: Vec<_> = points.collect();
                let series = DashedLineSeries::new(points, sub(dash), sub(gap), stroke.style());
                series.into_iter().try_for_each(|e| self.area.draw(&e))
            }
        }
    }

    /// The area between data points and zero.
    pub fn area(&self, points: &[(f64, f64)], color: RGBColor, alpha: f64) -> Drawn<DB> {
        let points = points.iter().copied().filter(is_finite);
        AreaSeries::new(points, 0.0, color.mix(alpha).filled())
            .try_for_each(|element| self.area.draw(&element))
    }

    /// Where a data point stands, CSS pixels.
    pub fn place(&self, point: (f64, f64)) -> Px {
        let (x, y) = self.area.map_coordinate(&point);
        (f64::from(x) / SUB, f64::from(y) / SUB)
    }
}

fn is_finite(point: &(f64, f64)) -> bool {
    point.0.is_finite() && point.1.is_finite()
}

/// A point in parts of a pixel.
fn at(point: &Px) -> (i32, i32) {
    (sub(point.0), sub(point.1))
}

/// A length in parts of a pixel.
#[expect(clippy::cast_possible_truncation, reason = "float to int casts saturate")]
fn sub(px: f64) -> i32 {
    (px * SUB).round() as i32
}

fn text_style(label: &Label, color: RGBColor) -> TextStyle<'static> {
    let style = if label.strong { FontStyle::Bold } else { FontStyle::Normal };
    let font = FontDesc::new(FontFamily::Name(font_family()), label.size * SUB, style);
    let pos = Pos::new(label.anchor, VPos::Center);
    TextStyle { font, color: color.to_backend_color(), pos }
}
