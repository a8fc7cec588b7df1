//! `goodput rerun`.

use goodput_engine::rerun::{Rerun, rerun};

use super::args::ScenarioArg;
use super::input;
use super::output::{Answer, Failure};
use super::text::Page;

pub fn run(args: &ScenarioArg) -> Result<Answer, Failure> {
    let checked = input::scenario(&args.scenario)?;
    let report = rerun(&checked.scenario)?;
    Ok(Answer::new(&report, in_words(&report))?.with_findings(checked.severities()))
}

fn in_words(report: &Rerun) -> String {
    let mut page = Page::default();
    page.line("Against one replica of the scenario, each of these, with the tool you have:");
    for tool in &report.tools {
        page.heading(&format!("{} ({})", tool.name, tool.documented));
        for command in &tool.commands {
            page.line(command).line("");
        }
        if !tool.cannot.is_empty() {
            page.line("It cannot ask for");
        }
        for cannot in &tool.cannot {
            page.line(&format!("  {cannot}"));
        }
    }
    page.into_text()
}
