//! `goodput plan`.

use goodput_engine::planner::report::PlanReport;
use goodput_engine::planner::{Progress, plan};
use goodput_engine::remedies::{RemedyReport, remedies};
use serde::Serialize;

use super::args::ScenarioArg;
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
}

pub fn run(args: &ScenarioArg) -> Result<Answer, Failure> {
    let (doc, warnings) = input::scenario_doc(&args.scenario)?;
    output::warn(&warnings);
    let checked = input::checked(&doc)?;
    let severities = warnings.iter().map(|warning| warning.severity).chain(checked.severities());
    let severities: Vec<_> = severities.collect();
    let scenario = &checked.scenario;
    if scenario.pools().any(|pool| pool.memory.does_not_fit.is_some()) {
        return Ok(estimate::of(scenario)?.with_findings(severities));
    }
    let stopped = || Failure::Usage("the plan was stopped before it had an answer".to_owned());
    let report = plan(scenario, |progress| {
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
    let output = Output { plan: &report, remedies: remedies.as_ref() };
    Ok(Answer::new(&output, words)?.with_findings(severities))
}
