//! `goodput plan`.

use std::path::PathBuf;

use goodput_engine::estimate::estimate as estimated;
use goodput_engine::ingest::{BenchmarkPoint, Parsed, TableReading};
use goodput_engine::planner::measured::{MeasuredSize, measured_size};
use goodput_engine::planner::over_time::{OverTime, over_time};
use goodput_engine::planner::report::PlanReport;
use goodput_engine::planner::serve::{ServePlan, serve};
use goodput_engine::planner::{Progress, Scope, plan_with};
use goodput_engine::problem::Problem;
use goodput_engine::remedies::{RemedyReport, remedies};
use goodput_engine::scenario::Scenario;
use serde::Serialize;

use super::args::PlanArgs;
use super::output::{self, Answer, Failure};
use super::{estimate, input, text};

/// The plan and what else would help.
#[derive(Serialize)]
struct Output<'a> {
    #[serde(flatten)]
    plan: &'a PlanReport,
    /// Absent where the scenario cannot be simulated.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    remedies: Option<&'a RemedyReport>,
    /// Absent where nobody asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    over_time: Option<&'a OverTime>,
    /// Why there is no plan over time, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    over_time_why_not: Option<&'a str>,
    /// Absent where nobody asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<&'a MeasuredSize>,
    /// Absent where nobody asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    serve: Option<&'a ServePlan>,
}

pub fn run(args: &PlanArgs) -> Result<Answer, Failure> {
    let (mut doc, warnings) = input::scenario_doc(&args.scenario.scenario)?;
    if let Some(confidence) = args.confidence {
        doc.targets.confidence = confidence;
    }
    output::warn(&warnings);
    let checked = input::checked(&doc)?;
    let severities = warnings.iter().map(|warning| warning.severity).chain(checked.severities());
    let severities: Vec<_> = severities.collect();
    let scenario = &checked.scenario;
    if scenario.pools().any(|pool| pool.memory.does_not_fit.is_some()) {
        return Ok(estimate::of(scenario)?.with_findings(severities));
    }
    let stopped = || Failure::Usage("the plan was stopped before it had an answer".to_owned());
    let scope = Scope {
        inverse: args.inverse,
        growth_per_month: args.growth / 100.0,
        most_windows: args.windows.unwrap_or(u32::MAX),
    };
    let report = plan_with(scenario, scope, |progress| {
        output::progress(progress);
        true
    });
    output::progress(&Progress::Done);
    let report = report.ok_or_else(stopped)?;
    // Of declared rates there is a plan by supply, and nothing to simulate.
    let remedies = remedies(&doc, scenario).ok();
    let mut words = text::plan(&report);
    if let Some(remedies) = &remedies {
        words.push_str(&text::remedies(remedies));
    }
    let measured = measured(&args.measured, scenario)?;
    if let Some(measured) = &measured {
        words.push_str(&text::paragraph(&format!("By measurement alone: {}", measured.sentence)));
    }
    let over_time = args.over_time.then(|| over_time(scenario, &report));
    match &over_time {
        Some(Ok(over_time)) => words.push_str(&text::over_time(over_time)),
        Some(Err(why)) => words.push_str(&text::paragraph(&format!("Over time: {why}"))),
        None => {}
    }
    let serve = args.serve.then(|| serve(&doc, scenario, &report));
    if let Some(serve) = &serve {
        words.push_str(&text::serve(serve));
    }
    let output = Output {
        plan: &report,
        remedies: remedies.as_ref(),
        over_time: over_time.as_ref().and_then(|found| found.as_ref().ok()),
        over_time_why_not: over_time
            .as_ref()
            .and_then(|found| Some(found.as_ref().err()?.as_str())),
        measured: measured.as_ref(),
        serve: serve.as_ref(),
    };
    Ok(Answer::new(&output, words)?.with_findings(severities))
}

/// The size by benchmark results of one replica, where there are any.
fn measured(paths: &[PathBuf], scenario: &Scenario) -> Result<Option<MeasuredSize>, Failure> {
    if paths.is_empty() {
        return Ok(None);
    }
    let files = paths.iter().map(|path| input::benchmark_files(path, &TableReading::default()));
    let files = files.collect::<Result<Vec<_>, _>>()?.concat();
    let points = files.iter().flat_map(|file| file.file.parsed.iter().flat_map(Parsed::points));
    let points: Vec<&BenchmarkPoint> = points.collect();
    let wanted = estimated(scenario).supply.map_or(0.0, |supply| supply.required_peak.rps);
    measured_size(&points, &scenario.contracts[0], wanted).map(Some).map_err(|why| {
        let hint = "`goodput review` says what the files hold";
        Problem::error("--measured", why, hint).into()
    })
}
