//! Charts on a canvas: sharp on dense screens, and text measured by the canvas itself.
//!
//! plotters measures text on wasm with a styled element, which the content-security-policy
//! forbids and which forces a layout per label; `measureText` needs neither.

use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use plotters_canvas::CanvasBackend;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::surface::SUB;

/// A canvas backend in parts of a CSS pixel.
pub struct CanvasSurface {
    inner: CanvasBackend,
    context: CanvasRenderingContext2d,
    size: (u32, u32),
}

impl CanvasSurface {
    /// Sizes and clears a canvas of `width` × `height` CSS pixels at `ratio` device pixels each.
    /// `None` where the browser gives no 2D context.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "canvas sizes are small and positive"
    )]
    pub fn new(
        canvas: &HtmlCanvasElement,
        (width, height): (f64, f64),
        ratio: f64,
    ) -> Option<Self> {
        let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        let (backing_width, backing_height) =
            ((width * ratio).round() as u32, (height * ratio).round() as u32);
        if canvas.width() != backing_width || canvas.height() != backing_height {
            canvas.set_width(backing_width);
            canvas.set_height(backing_height);
        }
        context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0).ok()?;
        context.clear_rect(0.0, 0.0, f64::from(backing_width), f64::from(backing_height));
        context.scale(ratio / SUB, ratio / SUB).ok()?;
        context.set_line_join("round");
        Some(Self {
            inner: CanvasBackend::with_canvas_object(canvas.clone())?,
            context,
            size: ((width * SUB).round() as u32, (height * SUB).round() as u32),
        })
    }
}

type CanvasError = <CanvasBackend as DrawingBackend>::ErrorType;
type Done = Result<(), DrawingErrorKind<CanvasError>>;

impl DrawingBackend for CanvasSurface {
    type ErrorType = CanvasError;

    fn get_size(&self) -> (u32, u32) {
        self.size
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
        self.inner.draw_text(text, style, at)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "widths of labels are small and positive"
    )]
    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<CanvasError>> {
        let (kind, family) = (style.style(), style.family());
        self.context.set_font(&format!("{} {}px {}", kind.as_str(), style.size(), family.as_str()));
        let width = self.context.measure_text(text).map_or(0.0, |metrics| metrics.width());
        Ok((width.ceil() as u32, style.size().ceil() as u32))
    }
}
