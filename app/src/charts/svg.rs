//! Charts as SVG text: for downloads, and for tests without a browser.

use std::io;

use plotters_backend::text_anchor::Pos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontFamily, FontStyle, FontTransform,
};
use plotters_svg::SVGBackend;

use super::surface::SUB_WHOLE;

/// plotters-svg divides font sizes by this; other backends do not.
const FONT_SHRINK: f64 = 1.24;

/// An SVG backend that takes font sizes as the canvas does and estimates the width of text.
pub struct SvgSurface<'a> {
    inner: SVGBackend<'a>,
}

impl<'a> SvgSurface<'a> {
    /// Writes into `text`; the size is in CSS pixels.
    pub fn new(text: &'a mut String, (width, height): (u32, u32)) -> Self {
        Self { inner: SVGBackend::with_string(text, (width * SUB_WHOLE, height * SUB_WHOLE)) }
    }
}

/// Gives a finished SVG its size in CSS pixels, a name for screen readers, and round joins.
pub fn finish(text: &str, (width, height): (u32, u32), title: &str) -> String {
    let body = text.split_once('>').map_or(text, |(_, body)| body);
    let view = (width * SUB_WHOLE, height * SUB_WHOLE);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {} {}\" stroke-linejoin=\"round\" role=\"img\">\n<title>{}</title>{body}",
        view.0,
        view.1,
        escape(title),
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

type Done = Result<(), DrawingErrorKind<io::Error>>;

impl DrawingBackend for SvgSurface<'_> {
    type ErrorType = io::Error;

    fn get_size(&self) -> (u32, u32) {
        self.inner.get_size()
    }

    fn ensure_prepared(&mut self) -> Done {
        self.inner.ensure_prepared()
    }

    fn present(&mut self) -> Done {
        self.inner.present()
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Done {
        self.inner.draw_pixel(point, color)
    }

    fn draw_line<S: BackendStyle>(&mut self, a: BackendCoord, b: BackendCoord, style: &S) -> Done {
        self.inner.draw_line(a, b, style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        a: BackendCoord,
        b: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Done {
        self.inner.draw_rect(a, b, style, fill)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        self.inner.draw_path(path, style)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        centre: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Done {
        self.inner.draw_circle(centre, radius, style, fill)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Done {
        self.inner.fill_polygon(path, style)
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Done {
        self.inner.draw_text(text, &Enlarged(style), at)
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<io::Error>> {
        let strong = matches!(style.style(), FontStyle::Bold);
        Ok(estimate(text, style.size(), strong))
    }
}

/// About the width of text in a usual sans-serif: digits and letters are a little over half as
/// wide as high.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "widths of labels are small and positive"
)]
fn estimate(text: &str, size: f64, strong: bool) -> (u32, u32) {
    let ems: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'l' | 'j' | 't' | 'f' | '.' | ',' | ' ' | '\u{202f}' => 0.32,
            'm' | 'w' | 'M' | 'W' | '%' => 0.9,
            c if c.is_uppercase() => 0.68,
            _ => 0.58,
        })
        .sum();
    let width = ems * size * if strong { 1.08 } else { 1.0 };
    (width.ceil() as u32, size.ceil() as u32)
}

/// A text style at the size that plotters-svg shrinks back.
struct Enlarged<'s, S>(&'s S);

impl<S: BackendTextStyle> BackendTextStyle for Enlarged<'_, S> {
    type FontError = S::FontError;

    fn color(&self) -> BackendColor {
        self.0.color()
    }

    fn size(&self) -> f64 {
        self.0.size() * FONT_SHRINK
    }

    fn transform(&self) -> FontTransform {
        self.0.transform()
    }

    fn style(&self) -> FontStyle {
        self.0.style()
    }

    fn anchor(&self) -> Pos {
        self.0.anchor()
    }

    fn family(&self) -> FontFamily<'_> {
        self.0.family()
    }

    fn layout_box(&self, text: &str) -> Result<((i32, i32), (i32, i32)), Self::FontError> {
        self.0.layout_box(text)
    }

    fn draw<E, D: FnMut(i32, i32, BackendColor) -> Result<(), E>>(
        &self,
        text: &str,
        at: BackendCoord,
        draw: D,
    ) -> Result<Result<(), E>, Self::FontError> {
        self.0.draw(text, at, draw)
    }
}
