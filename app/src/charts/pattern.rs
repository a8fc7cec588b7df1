//! Outcome patterns: the second channel beside colour. Lines and dots on one grid over the whole
//! chart, clipped to each bar, so that canvas and SVG agree.

use plotters_backend::DrawingBackend;

use super::palette::Look;
use super::surface::{Drawn, Px, Rect, Stroke, Surface};

/// Opacity of pattern lines and of pattern dots.
const LINE_ALPHA: f64 = 0.55;
const DOT_ALPHA: f64 = 0.6;

/// Directions of hatch lines, as unit vectors (x, y), y downwards.
const RISING: Px = (std::f64::consts::FRAC_1_SQRT_2, -std::f64::consts::FRAC_1_SQRT_2);
const FALLING: Px = (std::f64::consts::FRAC_1_SQRT_2, std::f64::consts::FRAC_1_SQRT_2);
const LEVEL: Px = (1.0, 0.0);
const UPRIGHT: Px = (0.0, 1.0);

/// A bar in an outcome's colour and pattern; undecided ones are an outline.
pub fn bar<DB: DrawingBackend>(surface: &Surface<DB>, rect: &Rect, look: Look) -> Drawn<DB> {
    let Some(fill) = look.fill(surface.palette) else {
        return surface.outline(rect, Stroke::solid(surface.palette.outline, 1.0));
    };
    surface.fill(rect, fill)?;
    let lines = |direction, every: f64, width: f64| {
        let stroke = Stroke::solid(surface.palette.pattern, width).faint(LINE_ALPHA);
        hatch(&rect.corners(), direction, every)
            .iter()
            .try_for_each(|segment| surface.path(segment, stroke))
    };
    match look {
        Look::Good | Look::Hollow => Ok(()),
        Look::Late => lines(RISING, 6.0, 1.5),
        Look::LateSlow => {
            lines(RISING, 6.0, 1.5)?;
            lines(FALLING, 6.0, 1.5)
        }
        Look::Slow => lines(LEVEL, 5.0, 1.5),
        Look::Stalled => lines(UPRIGHT, 5.0, 1.5),
        Look::Cancelled => lines(FALLING, 6.0, 2.5),
        Look::Error => crosses(surface, rect),
        Look::Rejected => chequer(surface, rect),
        Look::LowQuality => dots(surface, rect),
    }
}

/// Hatch lines over an area of demand that nothing serves.
pub fn excess<DB: DrawingBackend>(surface: &Surface<DB>, polygon: &[Px]) -> Drawn<DB> {
    surface.polygon(polygon, surface.palette.excess, 0.08)?;
    let stroke = Stroke::solid(surface.palette.excess, 1.0).faint(LINE_ALPHA);
    hatch(polygon, RISING, 6.0).iter().try_for_each(|segment| surface.path(segment, stroke))
}

/// The parts inside `polygon` of parallel lines in `direction`, `every` pixels apart, on a grid
/// through the origin.
pub fn hatch(polygon: &[Px], direction: Px, every: f64) -> Vec<[Px; 2]> {
    let (dx, dy) = direction;
    // Along the lines and across them.
    let turned: Vec<Px> =
        polygon.iter().map(|(x, y)| (x * dx + y * dy, -x * dy + y * dx)).collect();
    let across = turned.iter().map(|p| p.1).filter(|v| v.is_finite());
    let (low, high) = across.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
    let mut segments = Vec::new();
    // Half a step off the grid, so that a line never runs along a whole-pixel edge.
    let mut level = ((low / every).floor() + 0.5) * every;
    while level < high {
        let mut crossings = crossings(&turned, level);
        crossings.sort_by(f64::total_cmp);
        for pair in crossings.chunks_exact(2) {
            segments.push([pair[0], pair[1]].map(|u| (u * dx - level * dy, u * dy + level * dx)));
        }
        level += every;
    }
    segments
}

/// Where a level line crosses the edges of a closed polygon.
fn crossings(polygon: &[Px], level: f64) -> Vec<f64> {
    (0..polygon.len())
        .filter_map(|i| {
            let (a, b) = (polygon[i], polygon[(i + 1) % polygon.len()]);
            let crosses = (a.1 < level) != (b.1 < level);
            crosses.then(|| a.0 + (level - a.1) / (b.1 - a.1) * (b.0 - a.0))
        })
        .collect()
}

/// Grid points whose mark of `margin` half its size stays inside the rectangle.
fn grid(rect: &Rect, every: f64, margin: f64) -> Vec<Px> {
    let steps = |low: f64, high: f64| {
        let first = ((low + margin) / every).ceil() * every;
        std::iter::successors(Some(first), move |v| Some(v + every))
            .take_while(move |v| *v <= high - margin)
    };
    steps(rect.left, rect.right)
        .flat_map(|x| steps(rect.top, rect.bottom).map(move |y| (x, y)))
        .collect()
}

fn crosses<DB: DrawingBackend>(surface: &Surface<DB>, rect: &Rect) -> Drawn<DB> {
    let stroke = Stroke::solid(surface.palette.pattern, 1.0).faint(LINE_ALPHA + 0.2);
    grid(rect, 6.0, 1.8).into_iter().try_for_each(|(x, y)| {
        surface.path(&[(x - 1.8, y - 1.8), (x + 1.8, y + 1.8)], stroke)?;
        surface.path(&[(x - 1.8, y + 1.8), (x + 1.8, y - 1.8)], stroke)
    })
}

fn chequer<DB: DrawingBackend>(surface: &Surface<DB>, rect: &Rect) -> Drawn<DB> {
    for (x, y) in grid(rect, 4.0, 1.0) {
        // Every second square, like the white ones of a board.
        if (((x + y) / 4.0).round() / 2.0).fract() == 0.0 {
            let square = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
            let square = square.map(|(dx, dy)| (x + dx, y + dy));
            surface.polygon(&square, surface.palette.pattern, DOT_ALPHA)?;
        }
    }
    Ok(())
}

fn dots<DB: DrawingBackend>(surface: &Surface<DB>, rect: &Rect) -> Drawn<DB> {
    grid(rect, 5.0, 1.0)
        .into_iter()
        .try_for_each(|centre| surface.dot(centre, 1.1, surface.palette.pattern, DOT_ALPHA))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hatching_stays_inside_and_covers_the_area() {
        let square = [(10.0, 10.0), (40.0, 10.0), (40.0, 40.0), (10.0, 40.0)];
        for direction in [RISING, FALLING, LEVEL, UPRIGHT] {
            let segments = hatch(&square, direction, 6.0);
            let length: f64 = segments
                .iter()
                .map(|[a, b]| ((a.0 - b.0) * (a.0 - b.0) + (a.1 - b.1) * (a.1 - b.1)).sqrt())
                .sum();
            // Lines of a hatch cover their spacing: length × spacing is the area.
            assert!((length * 6.0 - 900.0).abs() < 60.0, "{direction:?}: {}", length * 6.0);
            for (x, y) in segments.into_iter().flatten() {
                let inside = |v: f64| (10.0 - 1e-9..=40.0 + 1e-9).contains(&v);
                assert!(inside(x) && inside(y), "{direction:?}: {x} {y}");
            }
        }
    }

    #[test]
    fn hatching_nothing_gives_nothing() {
        assert!(hatch(&[], RISING, 6.0).is_empty());
        assert!(hatch(&[(1.0, 1.0)], RISING, 6.0).is_empty());
        assert!(hatch(&[(f64::NAN, 1.0), (2.0, f64::NAN)], RISING, 6.0).is_empty());
    }
}
