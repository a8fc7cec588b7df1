//! A fit in words, rows and a picture: the factor, the points over the curve, what was left over.

use goodput_engine::calibration::CalibrationReport;
use goodput_engine::calibration::report::{ExcludedPoint, PointFit, StatisticFit, TrustRange};

use crate::charts::{BenchmarkChart, MeasuredPoint, PredictedCurve};
use crate::format;
use crate::state::uploads::{Fitted, NotReady};
use crate::view_model::uploads::{question, sentence};

/// What has to be told before a fit: "results.json: GPU, Model".
pub fn still_to_tell(open: &[NotReady]) -> Vec<String> {
    let names = |file: &NotReady| {
        file.facts.iter().map(|fact| question(*fact)).collect::<Vec<_>>().join(", ")
    };
    open.iter().map(|file| format!("{}: {}", file.file, names(file))).collect()
}

/// The factor and how well it agrees, in one sentence.
pub fn fit_sentence(report: &CalibrationReport) -> String {
    let Some(scale) = report.step_time_scale else {
        let why = report.undetermined.as_deref().unwrap_or("no point can be used");
        return format!("No factor follows from these points: {why}");
    };
    let points = format::plural(report.points.len() as u64, "point", "points");
    let compared = if (report.scale_before - 1.0).abs() < 1e-12 {
        String::new()
    } else {
        format!(" (until now {})", format::rounded(report.scale_before, 3))
    };
    let error = |error: Option<f64>| error.map_or_else(|| format::NONE.to_owned(), format::percent);
    format!(
        "Steps take {} × what the source says{compared}: over {points}, half of the statistics are \
         within {} after the fit, within {} before",
        format::rounded(scale, 3),
        error(report.residual),
        error(report.residual_before),
    )
}

/// What the points cover; outside of it the factor is an extrapolation.
pub fn trust(range: &TrustRange) -> String {
    let span = |(low, high): (f64, f64)| {
        let [low, high] = [low, high].map(format::significant);
        if low == high { low } else { format!("{low} to {high}") }
    };
    format!(
        "Range of trust: prompts of {} and outputs of {} tokens, {} sequences at once, {} output \
         tok/s of one replica; beyond it the factor is an extrapolation",
        span(range.input_tokens),
        span(range.output_tokens),
        span(range.decode_seqs),
        span(range.output_tps),
    )
}

/// A picture that can be chosen: one statistic over one kind of load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Whether the load is requests in flight.
    pub closed_loop: bool,
    /// Name of the statistic, e.g. `tpot_mean_ms`.
    pub statistic: String,
}

impl View {
    /// What it is known by in a form.
    pub fn key(&self) -> String {
        format!("{} {}", if self.closed_loop { "flight" } else { "rate" }, self.statistic)
    }

    /// What it is called.
    pub fn label(&self) -> String {
        format!("{} over {}", statistic_name(&self.statistic), load_name(self.closed_loop))
    }
}

fn load_name(closed_loop: bool) -> &'static str {
    if closed_loop { "requests in flight" } else { "requests per second" }
}

/// All pictures, those of time per token first.
pub fn views(report: &CalibrationReport) -> Vec<View> {
    let mut views: Vec<View> = Vec::new();
    for point in &report.points {
        let Some(closed_loop) = closed_loop(point) else { continue };
        for statistic in &point.statistics {
            let view = View { closed_loop, statistic: statistic.name.clone() };
            if !views.contains(&view) {
                views.push(view);
            }
        }
    }
    let rank = |view: &View| {
        ["tpot", "ttft", "e2e"].iter().position(|name| view.statistic.starts_with(name))
    };
    views.sort_by_key(|view| (rank(view).unwrap_or(usize::MAX), view.closed_loop));
    views
}

/// `None` for a burst, which has no load.
fn closed_loop(point: &PointFit) -> Option<bool> {
    match (point.rate_rps, point.concurrency) {
        (Some(_), _) => Some(false),
        (None, Some(_)) => Some(true),
        (None, None) => None,
    }
}

fn load_of(point: &PointFit) -> Option<f64> {
    point.rate_rps.or_else(|| point.concurrency.map(|requests| requests as f64))
}

/// The measured points of a view over the curves, and the finding in one sentence.
pub fn picture(fitted: &Fitted, view: &View) -> (BenchmarkChart, String) {
    let of_view = |point: &&PointFit| closed_loop(point) == Some(view.closed_loop);
    let measured = |point: &PointFit| {
        let fit = point.statistics.iter().find(|fit| fit.name == view.statistic)?;
        Some(MeasuredPoint {
            place: place(&point.file, point.row),
            load: load_of(point)?,
            measured: fit.measured,
            predicted: fit.predicted,
            predicted_before: fit.predicted_before,
        })
    };
    let mut points: Vec<MeasuredPoint> =
        fitted.report.points.iter().filter(of_view).filter_map(measured).collect();
    points.sort_by(|a, b| a.load.total_cmp(&b.load));
    let curves = fitted.curves.iter().filter(|curve| curve.closed_loop == view.closed_loop);
    let curves = curves.map(|curve| {
        let values = curve.points.iter().filter_map(|point| {
            let found = point.statistics.iter().find(|s| s.name == view.statistic)?;
            Some((point.load, found.predicted, found.predicted_before))
        });
        let (after, before) =
            values.map(|(load, after, before)| ((load, after), (load, before))).unzip();
        PredictedCurve { after, before }
    });
    let caption = caption(&points);
    let chart = BenchmarkChart {
        unit: unit_phrase(&view.statistic),
        load: load_name(view.closed_loop),
        points,
        curves: curves.collect(),
    };
    (chart, caption)
}

fn caption(points: &[MeasuredPoint]) -> String {
    let farthest = |predicted: fn(&MeasuredPoint) -> f64| {
        let errors = points.iter().map(|point| (predicted(point) / point.measured - 1.0).abs());
        format::percent(errors.fold(0.0, f64::max))
    };
    format!(
        "Measured points over what is simulated under their own conditions: the farthest is {} \
         off after the fit, {} before",
        farthest(|point| point.predicted),
        farthest(|point| point.predicted_before),
    )
}

fn unit_phrase(statistic: &str) -> String {
    let name = statistic_name(statistic);
    if statistic.ends_with("_ms") { format!("{name}, ms") } else { name }
}

/// `tpot_mean_ms` → "TPOT, mean".
fn statistic_name(statistic: &str) -> String {
    if statistic == "output_tps" {
        return "Output tok/s".to_owned();
    }
    let name = statistic.strip_suffix("_ms").unwrap_or(statistic);
    match name.split_once('_') {
        Some((quantity, word)) => format!("{}, {word}", quantity.to_uppercase()),
        None => name.to_uppercase(),
    }
}

/// Heads of the table of residuals.
pub const RESIDUAL_HEADS: [&str; 7] =
    ["Point", "Load", "Statistic", "Measured", "Before", "After the fit", "Left over"];

/// What is left over of every statistic of every point.
pub fn residual_rows(report: &CalibrationReport) -> Vec<[String; 7]> {
    let row = |point: &PointFit, fit: &StatisticFit| {
        let value = |value: f64| value_of(&fit.name, value);
        [
            place(&point.file, point.row),
            point.load.clone(),
            statistic_name(&fit.name),
            value(fit.measured),
            value(fit.predicted_before),
            value(fit.predicted),
            signed_percent(fit.error),
        ]
    };
    let points = report.points.iter();
    points.flat_map(|point| point.statistics.iter().map(move |fit| row(point, fit))).collect()
}

fn value_of(statistic: &str, value: f64) -> String {
    if statistic.ends_with("_ms") { format::millis(value) } else { format::significant(value) }
}

fn signed_percent(error: f64) -> String {
    let sign = if error > 0.0 { "+" } else { "" };
    format!("{sign}{}", format::percent(error))
}

/// The points that are not in a fit, and why.
pub fn excluded_rows(fitted: &Fitted) -> Vec<(String, String)> {
    let all = fitted.request.left_out.iter().chain(&fitted.report.excluded);
    all.map(|point: &ExcludedPoint| (place(&point.file, point.row), sentence(&point.reason)))
        .collect()
}

fn place(file: &str, row: Option<u64>) -> String {
    row.map_or_else(|| file.to_owned(), |row| format!("{file}, line {row}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use goodput_engine::calibration::{CurvePoint, CurveStatistic, LoadCurve};

    use super::*;
    use crate::state::uploads::{Fact, FitRequest};

    fn statistic(name: &str, measured: f64, before: f64, after: f64) -> StatisticFit {
        StatisticFit {
            name: name.to_owned(),
            measured,
            predicted: after,
            predicted_before: before,
            error: after / measured - 1.0,
            alone: None,
            weight: 1.0,
        }
    }

    fn point(row: u64, rate_rps: Option<f64>, concurrency: Option<u64>) -> PointFit {
        PointFit {
            file: "sweep.csv".into(),
            row: Some(row),
            label: None,
            load: "as stated".into(),
            rate_rps,
            concurrency,
            input_tokens: 512.0,
            output_tokens: 128.0,
            statistics: vec![
                statistic("ttft_p50_ms", 100.0, 80.0, 96.0),
                statistic("tpot_mean_ms", 10.0, 8.0, 10.4),
            ],
        }
    }

    fn fitted() -> Fitted {
        let excluded = ExcludedPoint {
            file: "sweep.csv".into(),
            row: Some(9),
            label: None,
            reason: "its GPU is A100".into(),
        };
        let at = |load: f64| CurvePoint {
            load,
            statistics: vec![CurveStatistic {
                name: "tpot_mean_ms".into(),
                predicted: load,
                predicted_before: load / 2.0,
            }],
        };
        Fitted {
            request: Arc::new(FitRequest {
                pool: 0,
                files: vec![],
                left_out: vec![excluded.clone()],
            }),
            report: CalibrationReport {
                step_time_scale: Some(1.18),
                undetermined: None,
                fitted: None,
                residual: Some(0.04),
                residual_before: Some(0.2),
                scale_before: 1.0,
                points: vec![
                    point(3, Some(4.0), None),
                    point(2, Some(2.0), None),
                    point(4, None, Some(32)),
                    point(5, None, None),
                ],
                excluded: vec![excluded],
                range_of_trust: None,
                assumptions: vec![],
                method: String::new(),
            },
            curves: vec![LoadCurve {
                closed_loop: false,
                input_tokens: 512.0,
                output_tokens: 128.0,
                points: vec![at(1.0), at(2.0), at(4.0)],
            }],
        }
    }

    #[test]
    fn a_picture_shows_one_statistic_over_one_kind_of_load() {
        let fitted = fitted();
        let views = views(&fitted.report);
        let labels: Vec<String> = views.iter().map(View::label).collect();
        let expected = [
            "TPOT, mean over requests per second",
            "TPOT, mean over requests in flight",
            "TTFT, p50 over requests per second",
            "TTFT, p50 over requests in flight",
        ];
        assert_eq!(labels, expected);
        let (chart, caption) = picture(&fitted, &views[0]);
        let loads: Vec<f64> = chart.points.iter().map(|point| point.load).collect();
        assert_eq!(loads, [2.0, 4.0], "by rising load, without bursts and closed loops");
        assert_eq!(chart.curves[0].after, [(1.0, 1.0), (2.0, 2.0), (4.0, 4.0)]);
        assert_eq!(chart.curves[0].before[1], (2.0, 1.0));
        assert!(caption.contains("4\u{202f}% off after") && caption.contains("20\u{202f}% before"));
        let (chart, _) = picture(&fitted, &views[1]);
        assert_eq!((chart.points.len(), chart.curves.len()), (1, 0));
    }

    #[test]
    fn a_fit_says_its_factor_or_that_there_is_none() {
        let mut report = fitted().report;
        let text = fit_sentence(&report);
        assert!(text.contains("1.18 ×") && text.contains("4 points"), "{text}");
        assert!(!text.contains("until now"), "{text}");
        report.scale_before = 0.9;
        assert!(fit_sentence(&report).contains("until now 0.9"));
        report.step_time_scale = None;
        report.undetermined = Some("nothing depends on it".into());
        let text = fit_sentence(&report);
        assert!(text.starts_with("No factor") && text.ends_with("nothing depends on it"), "{text}");
    }

    #[test]
    fn everything_left_over_and_left_out_is_listed() {
        let fitted = fitted();
        let rows = residual_rows(&fitted.report);
        assert_eq!(rows.len(), 8);
        assert_eq!(
            rows[1][2..],
            ["TPOT, mean", "10\u{202f}ms", "8\u{202f}ms", "10.4\u{202f}ms", "+4\u{202f}%"]
        );
        assert_eq!(rows[0][6], "−4\u{202f}%");
        let excluded = excluded_rows(&fitted);
        assert_eq!(excluded.len(), 2);
        assert_eq!(excluded[0], ("sweep.csv, line 9".into(), "Its GPU is A100".into()));
    }

    #[test]
    fn what_is_to_be_told_names_file_and_facts() {
        let open = [NotReady { file: "a.json".into(), facts: vec![Fact::Gpu, Fact::GpuCount] }];
        assert_eq!(still_to_tell(&open), ["a.json: GPU, GPUs in use"]);
    }
}
