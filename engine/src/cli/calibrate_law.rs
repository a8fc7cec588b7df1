//! `goodput calibrate --law`.

use std::io::Write;
use std::path::Path;

use goodput_engine::accounts::words::{percent, plural, thousands, three_digits};
use goodput_engine::calibration::BenchmarkFile;
use goodput_engine::calibration::law::{
    LawReport, NextMeasurement, Outcome, PointResiduals, law_report,
};
use goodput_engine::problem::{Problem, Severity};
use goodput_engine::scenario::Pool;
use goodput_engine::scenario::doc::{self, ScenarioDoc};

use super::csv::write_file;
use super::output::{Answer, Failure};
use super::text::Page;

/// Fits a law to `files`; `into` is a document that gets it, and where that is written.
pub fn run(
    files: &[BenchmarkFile],
    pool: &Pool,
    into: Option<(ScenarioDoc, &Path)>,
) -> Result<Answer, Failure> {
    let report = law_report(files, pool).map_err(|why| why.problem())?;
    if report.points.is_empty() {
        return Err(super::calibrate::nothing_to_fit(&report.because, &report.excluded).into());
    }
    if let Some((document, path)) = into {
        put(&report, document, path)?;
    }
    let severity = (report.outcome != Outcome::Converged).then_some(Severity::Warning);
    Ok(Answer::new(&report, in_words(&report))?.with_findings(severity))
}

/// Writes `document` with the law in its first pool. A factor that was fitted before is in the law.
fn put(report: &LawReport, mut document: ScenarioDoc, path: &Path) -> Result<(), Failure> {
    let (Some(source), Some(pool)) = (&report.source, document.fleet.pools.first_mut()) else {
        let message = format!("no law goes into {}: {}", path.display(), report.because);
        let hint = "give points of other loads as well, or leave --into out and read why";
        return Err(Problem::error("fleet.pools[0].step_time", message, hint).into());
    };
    pool.step_time.source = source.clone();
    pool.step_time.fitted = None;
    write_file(path, |out| writeln!(out, "{}", doc::to_json(&document)))
}

fn in_words(report: &LawReport) -> String {
    let mut page = Page::default();
    let outcome = match report.outcome {
        Outcome::Converged => "A law is fitted",
        Outcome::NotIdentifiable => "No coefficient is determined",
        Outcome::Inconsistent => "The points contradict each other",
    };
    page.line(&format!("{outcome}: {}", report.because));
    coefficients(&mut page, report);
    errors(&mut page, report);
    for point in &report.points {
        one_point(&mut page, point);
    }
    for excluded in &report.excluded {
        let row = excluded.row.map_or(String::new(), |row| format!(":{row}"));
        page.row("left out", &format!("{}{row}: {}", excluded.file, excluded.reason));
    }
    trust(&mut page, report);
    if let Some(next) = &report.measure_next {
        measure(&mut page, next);
    }
    page.heading("Supposed");
    for assumption in &report.assumptions {
        page.line(&format!("  {assumption}"));
    }
    page.into_text()
}

fn coefficients(page: &mut Page, report: &LawReport) {
    page.heading("Coefficients (90 % interval)");
    for coefficient in &report.coefficients {
        let state = if coefficient.measured { "measured" } else { "assumed" };
        let factor = three_digits(coefficient.value / coefficient.prior);
        page.row(
            coefficient.name,
            &format!(
                "{:.3e} ({:.3e} to {:.3e}), {factor} × the pool's, {state}",
                coefficient.value, coefficient.low, coefficient.high
            ),
        );
    }
    if let (Some(outside), Some(half)) = (report.outside_ms, report.outside_ms_half_width) {
        let (outside, half) = (three_digits(outside), three_digits(half));
        page.row("before a first token", &format!("{outside} ± {half} ms outside the engine"));
    }
}

fn errors(page: &mut Page, report: &LawReport) {
    page.heading("Errors");
    let [after, before] = [report.residual, report.residual_before]
        .map(|error| error.map_or("none".to_owned(), percent));
    page.row("median, all points fitted", &format!("{after}, {before} before"));
    let left_out =
        report.left_out.map_or("one point: nothing is left to predict".to_owned(), |left_out| {
            format!(
                "median {}, worst {}; {} of {} numbers within their 90 % interval",
                percent(left_out.median_error),
                percent(left_out.worst_error),
                percent(left_out.covered),
                thousands(left_out.numbers as f64)
            )
        });
    page.row("points left out of the fit", &left_out);
}

fn one_point(page: &mut Page, point: &PointResiduals) {
    page.heading(&format!("{}: {}", point.file, point.load));
    let number = |value: Option<f64>| value.map_or("none".to_owned(), three_digits);
    for statistic in &point.statistics {
        let error = statistic.error.map_or(String::new(), |e| format!(" ({:+.1} %)", 100.0 * e));
        let left_out = statistic.predicted_left_out.map_or(String::new(), |predicted| {
            format!(", {} by the other points", three_digits(predicted))
        });
        page.row(
            &statistic.name,
            &format!(
                "measured {}, predicted {}{error}{left_out}",
                three_digits(statistic.measured),
                number(statistic.predicted)
            ),
        );
    }
}

fn trust(page: &mut Page, report: &LawReport) {
    let Some(trust) = report.range_of_trust else { return };
    page.heading("Range of trust");
    for (label, (low, high)) in [
        ("prompt tokens", trust.input_tokens),
        ("output tokens", trust.output_tokens),
        ("sequences in a batch", trust.decode_seqs),
        ("output tokens per second", trust.output_tps),
    ] {
        page.row(label, &format!("{} to {}", three_digits(low), three_digits(high)));
    }
}

fn measure(page: &mut Page, next: &NextMeasurement) {
    page.heading("Measure next");
    page.line(&format!(
        "  {} in flight, prompts of {} and outputs of {} tokens, {}:",
        plural(u64::from(next.clients), "request", "requests"),
        thousands(f64::from(next.input_tokens)),
        thousands(f64::from(next.output_tokens)),
        plural(u64::from(next.requests), "request", "requests"),
    ));
    for narrowed in &next.narrows {
        let (before, after) = (narrowed.factor_before, narrowed.factor_after);
        page.row(narrowed.term, &format!("from ×÷ {before:.2} to ×÷ {after:.2}"));
    }
}
