//! `goodput review`.

use std::path::PathBuf;

use goodput_engine::problem::Severity;
use goodput_engine::review::{ReviewReport, report};

use super::output::{Answer, Failure};
use super::text::Page;
use super::{input, text};

pub fn run(files: &[PathBuf]) -> Result<Answer, Failure> {
    let parsed = files.iter().map(|path| input::benchmark_file(path).map(|file| file.file));
    let report = report(&parsed.collect::<Result<Vec<_>, _>>()?);
    // A file that nobody could read is as grave as one that contradicts itself.
    let refused = report.files.iter().filter(|file| file.refused.is_some());
    let severities: Vec<Severity> = report
        .findings
        .iter()
        .map(|finding| finding.severity)
        .chain(refused.map(|_| Severity::Error))
        .collect();
    Ok(Answer::new(&report, in_words(&report))?.with_findings(severities))
}

fn in_words(report: &ReviewReport) -> String {
    let mut page = Page::default();
    for file in &report.files {
        page.line(&file.file);
        if let Some(refused) = &file.refused {
            page.row("not read", &format!("{} ({})", refused.message, refused.hint));
            for looked_for in &refused.looked_for {
                page.row("looked for", looked_for);
            }
            continue;
        }
        let version = file.tool_version.as_deref().unwrap_or("version not in file");
        let format = file.format.as_deref().unwrap_or("–");
        page.row("format", &format!("{format}, {version}"));
        page.row("benchmark points", &file.points.len().to_string());
        page.row("requests one by one", &file.requests.to_string());
        if let Some(trace) = &file.trace {
            text::trace(&mut page, trace);
        }
        for exclusion in file.notes.iter().flat_map(|notes| &notes.excluded) {
            page.row("left out", &format!("{} rows: {}", exclusion.rows, exclusion.reason));
        }
    }
    for finding in &report.findings {
        let row = finding.row.map_or(String::new(), |row| format!(":{row}"));
        let severity = text::severity(finding.severity);
        page.line(&format!("{severity}: {}{row}: {}", finding.file, finding.message));
        if !finding.advice.is_empty() {
            page.line(&format!("  {}", finding.advice));
        }
    }
    page.into_text()
}
