//! Charts: drawn by plotters through code that is generic over the drawing backend, so that the
//! canvas of the page, the SVG of a download and the text of a test are one picture.
//!
//! A chart is plain data; `view_model` makes it from a report. One file per chart: to add one,
//! write its file and name it in [`Chart`].

mod axis;
mod benchmark;
mod canvas;
mod capacity;
mod debt;
mod frame;
mod heat_map;
mod latency;
mod outcomes;
mod palette;
mod pattern;
mod supply;
mod surface;
mod svg;
mod table;
mod timeline;

pub use benchmark::{BenchmarkChart, MeasuredPoint, PredictedCurve};
pub use canvas::CanvasSurface;
pub use capacity::{CapacityChart, CapacityUnit};
pub use debt::{DebtChart, DebtPoint};
pub use heat_map::{HeatCell, HeatMapChart};
pub use latency::LatencyChart;
pub use outcomes::{OutcomeRow, OutcomesChart};
pub use palette::{Look, Palette, Scheme};
use plotters_backend::DrawingBackend;
pub use supply::SupplyChart;
use surface::Drawn;
pub use surface::Surface;
pub use table::{Cell, Column, Table};
pub use timeline::{Lane, Line, TimelineChart};

/// Any chart of the page.
#[derive(Debug, Clone, PartialEq)]
pub enum Chart {
    /// Demand against supply over time.
    Supply(SupplyChart),
    /// Queue debt over time.
    Debt(DebtChart),
    /// A latency distribution.
    Latency(LatencyChart),
    /// The outcome waterfall.
    Outcomes(OutcomesChart),
    /// Benchmark points over their simulation.
    Benchmark(BenchmarkChart),
    /// Outcomes by two things crossed.
    HeatMap(HeatMapChart),
    /// Capacity over lengths or batches.
    Capacity(CapacityChart),
    /// The fleet over time, one lane for each thing.
    Timeline(TimelineChart),
}

impl Chart {
    /// Draws it on any backend; `cursor_s` is the moment read out, for charts over time.
    pub fn draw<DB: DrawingBackend>(
        &self,
        surface: &Surface<DB>,
        cursor_s: Option<f64>,
    ) -> Drawn<DB> {
        match self {
            Self::Supply(chart) => chart.draw(surface, cursor_s)?,
            Self::Debt(chart) => chart.draw(surface, cursor_s)?,
            Self::Latency(chart) => chart.draw(surface)?,
            Self::Outcomes(chart) => chart.draw(surface)?,
            Self::Benchmark(chart) => chart.draw(surface)?,
            Self::HeatMap(chart) => chart.draw(surface)?,
            Self::Capacity(chart) => chart.draw(surface)?,
            Self::Timeline(chart) => chart.draw(surface, cursor_s)?,
        }
        surface.finish()
    }

    /// Height at a width, CSS pixels.
    pub fn height(&self, width: f64) -> f64 {
        match self {
            Self::Supply(_) if width < 440.0 => 240.0,
            Self::Supply(_) => 284.0,
            Self::Debt(_) if width < 440.0 => 220.0,
            Self::Debt(_) => 236.0,
            Self::Latency(_) => 258.0,
            Self::Outcomes(chart) => chart.height(),
            Self::Benchmark(_) | Self::Capacity(_) => 240.0,
            Self::HeatMap(chart) => chart.height(),
            Self::Timeline(chart) => chart.height(),
        }
    }

    /// The moment under an offset from the left at a width, CSS pixels; for charts over time.
    pub fn moment_at(&self, x: f64, width: f64) -> Option<f64> {
        // As wide as the frame makes the plot, but for the width of the tick labels.
        let (end_s, left) = match self {
            Self::Supply(chart) => (chart.end_s, 34.0),
            Self::Debt(chart) => (chart.end_s, 34.0),
            Self::Timeline(chart) => (chart.end_s, timeline::LEFT),
            _ => return None,
        };
        let right = width - frame::gutter(width);
        Some(((x - left) / (right - left)).clamp(0.0, 1.0) * end_s)
    }

    /// The numbers behind it.
    pub fn table(&self) -> Table {
        match self {
            Self::Supply(chart) => chart.table(),
            Self::Debt(chart) => chart.table(),
            Self::Latency(chart) => chart.table(),
            Self::Outcomes(chart) => chart.table(),
            Self::Benchmark(chart) => chart.table(),
            Self::HeatMap(chart) => chart.table(),
            Self::Capacity(chart) => chart.table(),
            Self::Timeline(chart) => chart.table(),
        }
    }

    /// A self-contained SVG file of a width in CSS pixels, in light colours on white, titled by
    /// its finding; `None` if drawing fails.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "chart sizes are small and positive"
    )]
    pub fn svg(&self, width: f64, title: &str) -> Option<String> {
        let palette = Palette::of(Scheme::default());
        let size = (width as u32, self.height(width) as u32);
        let mut text = String::new();
        {
            let surface = Surface::new(svg::SvgSurface::new(&mut text, size), &palette);
            surface.backdrop().ok()?;
            self.draw(&surface, None).ok()?;
        }
        Some(svg::finish(&text, size, title))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn debt() -> Chart {
        let points = (0..=36).map(|i| {
            let t = f64::from(i);
            let waiting_s = (60.0 - (t - 14.0).abs() * 6.0).max(0.0);
            DebtPoint {
                t_s: t * 60.0,
                total_s: waiting_s + 40.0,
                waiting_s,
                waiting: u64::from(waiting_s > 0.0) * 900,
                oldest_s: waiting_s / 2.0,
            }
        });
        Chart::Debt(DebtChart {
            end_s: 2_160.0,
            points: points.collect(),
            before: vec![(0.0, 6.0), (2_160.0, 6.0)],
            peak: Some((840.0, 100.0)),
            oldest_s: 60.0,
            empty_at_s: Some(1_440.0),
        })
    }

    fn latency() -> Chart {
        let edge = |i: &f64| Some(i * 1.28);
        let edges_ms: Vec<f64> = std::iter::successors(Some(10.0), edge).take(41).collect();
        let counts: Vec<u64> =
            (0..40_u64).map(|i| 1_000_u64.saturating_sub((i * 97) % 1_300)).collect();
        Chart::Latency(LatencyChart {
            edges_ms,
            population: counts.iter().sum::<u64>() + 1_500,
            in_time: Some(counts.iter().sum::<u64>() / 2),
            counts,
            never: 1_500,
            limit_ms: Some(2_000.0),
            class_limits: Vec::new(),
            shown_ms: vec![2_000.0],
            p50_ms: Some(10_400.0),
            beyond: Look::Late,
            before: Vec::new(),
        })
    }

    fn outcomes() -> Chart {
        let names = [
            ("Late first token", Look::Late, 13_585, 196),
            ("Late and slow", Look::LateSlow, 11_490, 166),
            ("Gave up waiting", Look::Cancelled, 8_153, 117),
            ("Rejected", Look::Rejected, 3_118, 45),
            ("Low quality", Look::LowQuality, 1_024, 15),
            ("Error", Look::Error, 564, 8),
            ("Stalled", Look::Stalled, 212, 3),
            ("Slow tokens", Look::Slow, 49, 1),
        ];
        let row = |(name, look, count, tenths): (&str, Look, u64, u64)| OutcomeRow {
            name: name.to_owned(),
            look,
            count,
            tenths,
        };
        Chart::Outcomes(OutcomesChart {
            offered: 69_315,
            losses: names.map(row).to_vec(),
            good: row(("Good", Look::Good, 31_120, 449)),
            target: 0.95,
        })
    }

    fn all() -> [Chart; 7] {
        let benchmark = Chart::Benchmark(benchmark::tests::sample());
        let heat_map = Chart::HeatMap(heat_map::tests::sample());
        let capacity = Chart::Capacity(capacity::tests::sample());
        let supply = Chart::Supply(supply::tests::sample());
        [supply, debt(), latency(), outcomes(), benchmark, heat_map, capacity]
    }

    #[test]
    fn charts_say_in_words_what_they_show() {
        let expected: [&[&str]; 7] = [
            &["57,300 sustainable", "54,100 deliverable", "required 100,000 at peak", "short by"],
            &["oldest 60", "queue empty 24:00", "in flight", "6\u{202f}s before", "36 min"],
            &["limit 2", "in time", "too late", "never", "p50 10.4"],
            &["Offered", "13,585", "19.6\u{202f}%", "44.9\u{202f}%", "target 95"],
            &["measured", "simulated", "before the fit", "requests in flight", "\n100\n"],
            &["good, %: prompt down, output across", "129–256", "65–128", "\n96\n", "\n20\n"],
            &["12k sustained", "0 in time", "this scenario", "mean output tokens", "\n256\n"],
        ];
        for (chart, words) in all().iter().zip(expected) {
            let svg = chart.svg(600.0, "Title & <finding>").expect("drawn");
            for word in words {
                assert!(svg.contains(word), "“{word}” in {svg}");
            }
            assert!(svg.contains("<title>Title &amp; &lt;finding&gt;</title>"));
        }
    }

    #[test]
    fn charts_stay_on_their_surface_at_phone_and_desktop_width() {
        for width in [338.0, 600.0] {
            for chart in all() {
                let svg = chart.svg(width, "").expect("drawn");
                assert!(!svg.contains("NaN") && !svg.contains("2147483647"), "{svg}");
                let far = width * surface::SUB;
                for part in svg.split(['"', ' ', ',']).filter_map(|p| p.parse::<f64>().ok()) {
                    assert!((-40.0..=far + 4.0).contains(&part), "{part} at {width}: {svg}");
                }
            }
        }
    }

    fn timeline() -> Chart {
        let line =
            Line { name: "waiting", label: "waiting", unit: "", values: vec![], whole: true };
        let lanes = vec![Lane { unit: "requests", lines: vec![line] }];
        Chart::Timeline(TimelineChart { end_s: 60.0, t_s: vec![], lanes })
    }

    #[test]
    fn empty_charts_are_drawn_without_failing() {
        let empty = [
            Chart::Benchmark(BenchmarkChart {
                unit: String::new(),
                load: "",
                points: vec![],
                curves: vec![],
            }),
            Chart::Supply(SupplyChart {
                kind: goodput_engine::accounts::report::TokenKind::Prefill,
                end_s: 0.0,
                required: vec![],
                before: vec![],
                sustainable: vec![],
                band: None,
                deliverable: None,
                peak: None,
            }),
            Chart::Debt(DebtChart {
                end_s: 0.0,
                points: vec![],
                before: vec![],
                peak: None,
                oldest_s: 0.0,
                empty_at_s: None,
            }),
            Chart::Latency(LatencyChart {
                edges_ms: vec![],
                counts: vec![],
                never: 0,
                population: 0,
                limit_ms: None,
                class_limits: vec![("chat".into(), 0.0)],
                shown_ms: vec![],
                in_time: None,
                p50_ms: None,
                beyond: Look::Late,
                before: vec![],
            }),
            Chart::HeatMap(HeatMapChart {
                names: ["prompt", "output"],
                rows: vec![],
                columns: vec![],
                cells: vec![],
                target: 0.95,
                counts: true,
                at: Some(2),
            }),
            Chart::Capacity(CapacityChart {
                over: "",
                unit: CapacityUnit::Requests,
                points: vec![],
            }),
            timeline(),
        ];
        for chart in empty {
            let svg = chart.svg(338.0, "").expect("drawn");
            assert!(!svg.contains("NaN"), "{svg}");
        }
    }
}
