//! Review: what benchmark files do and do not say, as findings in words with the numbers that
//! disagree.
//!
//! A finding is one file under `checks` and one line in its list. Severity says what it does to an
//! answer: a note leaves it standing, a warning may mislead, an error means the stated numbers
//! cannot be used as they are. Files without trouble give nothing above a note.

mod checks;
mod finding;
mod measured;
mod report;
mod subject;
mod words;

use crate::ingest::ParsedFile;

pub use finding::{Figure, Finding};
pub use measured::MeasuredGoodput;
pub use report::{FileReport, ReviewReport, report, report_under};
use subject::Subject;

/// Every finding of every file that was read: by file in the order given, and within a file the
/// gravest first, then by row.
pub fn review(files: &[ParsedFile]) -> Vec<Finding> {
    files.iter().flat_map(review_file).collect()
}

fn review_file(file: &ParsedFile) -> Vec<Finding> {
    let Some(parsed) = &file.parsed else { return Vec::new() };
    let subjects = Subject::all(parsed.points(), parsed.records());
    let mut findings = Vec::new();
    for subject in &subjects {
        for check in checks::OF_A_POINT {
            findings.extend(check(subject).map(|finding| finding.at_row(subject.point.row)));
        }
    }
    for check in checks::OF_A_FILE {
        findings.extend(check(&subjects));
    }
    for finding in &mut findings {
        finding.file.clone_from(&file.file);
    }
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then(a.row.cmp(&b.row)));
    findings
}
