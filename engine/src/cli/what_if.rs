//! `goodput what-if`.

use goodput_engine::accounts::words::{percent, three_digits};
use goodput_engine::what_if::{WhatIfReport, WhatIfRow, what_if};

use super::args::ScenarioArg;
use super::input;
use super::output::{Answer, Failure, warn};
use super::text::Page;

/// Numbers that stand below every question.
const SHOWN: [&str; 5] =
    ["required_peak.rps", "sustainable.rps", "ttft_ms.p95", "tpot_ms.p95", "debt.peak_work_s"];

pub fn run(args: &ScenarioArg) -> Result<Answer, Failure> {
    let (doc, warnings) = input::scenario_doc(&args.scenario)?;
    warn(&warnings);
    let checked = input::checked(&doc)?;
    let report = what_if(&doc, &checked.scenario).map_err(|why| why.problem())?;
    let severities = warnings.iter().map(|warning| warning.severity).chain(checked.severities());
    Ok(Answer::new(&report, in_words(&report))?.with_findings(severities.collect::<Vec<_>>()))
}

fn in_words(report: &WhatIfReport) -> String {
    let mut page = Page::default();
    page.line("What if, each simulated on the same random numbers:");
    for row in &report.what_if {
        question(&mut page, row);
    }
    if !report.not_applicable.is_empty() {
        page.heading("Not asked");
    }
    for absent in &report.not_applicable {
        page.row(absent.id, &absent.why);
    }
    page.into_text()
}

fn question(page: &mut Page, row: &WhatIfRow) {
    let holds =
        if row.contract_holds { "the contract holds" } else { "the contract does not hold" };
    page.heading(&format!("{}: {holds}, {} good", row.title, percent(row.attainment)));
    page.line(&format!("  {}", row.sentence));
    for name in SHOWN {
        let change = row.results.iter().find(|change| change.name == name);
        if let Some((Some(before), Some(after))) = change.map(|change| (change.a, change.b)) {
            page.row(name, &format!("{} → {}", three_digits(before), three_digits(after)));
        }
    }
    for note in &row.notes {
        page.row("note", note);
    }
}
