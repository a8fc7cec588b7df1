//! `goodput estimate`.

use goodput_engine::estimate::estimate;
use goodput_engine::scenario::Scenario;

use super::args::ScenarioArg;
use super::output::{Answer, Failure};
use super::{input, text};

pub fn run(args: &ScenarioArg) -> Result<Answer, Failure> {
    let checked = input::scenario(&args.scenario)?;
    Ok(of(&checked.scenario)?.with_findings(checked.severities()))
}

/// The estimate of a scenario, which is also what verbs that simulate say of a model that does
/// not fit.
pub fn of(scenario: &Scenario) -> Result<Answer, Failure> {
    let report = estimate(scenario);
    Answer::new(&report, text::estimate(&report))
}
