//! `goodput plan`.

use goodput_engine::planner::{Progress, plan};

use super::args::ScenarioArg;
use super::output::{self, Answer, Failure};
use super::{estimate, input, text};

pub fn run(args: &ScenarioArg) -> Result<Answer, Failure> {
    let checked = input::scenario(&args.scenario)?;
    let scenario = &checked.scenario;
    if scenario.pools().any(|pool| pool.memory.does_not_fit.is_some()) {
        return Ok(estimate::of(scenario)?.with_findings(checked.severities()));
    }
    let stopped = || Failure::Usage("the plan was stopped before it had an answer".to_owned());
    let report = plan(scenario, |progress| {
        output::progress(progress);
        true
    });
    output::progress(&Progress::Done);
    let report = report.ok_or_else(stopped)?;
    Ok(Answer::new(&report, text::plan(&report))?.with_findings(checked.severities()))
}
