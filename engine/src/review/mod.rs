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
mod signed;
mod subject;
mod words;

use crate::ingest::ParsedFile;

pub use finding::{Figure, Finding};
pub use measured::MeasuredGoodput;
pub use report::{FileReport, ReviewReport, report, report_under};
pub use signed::{Decision, LeftOut, SignOff, SignedReview};
use subject::Subject;

/// Every finding of every file that was read: by file in the order given, and within a file the
/// gravest first, then by row. Points of several files that may stand on one curve are a sweep, and
/// are reviewed as one.
pub fn review(files: &[ParsedFile]) -> Vec<Finding> {
    let all: Vec<Subject> = files.iter().flat_map(Subject::all).collect();
    let sweep: Vec<Finding> = checks::OF_A_SWEEP.iter().flat_map(|check| check(&all)).collect();
    let mut findings = Vec::new();
    for (place, file) in files.iter().enumerate() {
        let mut of_file = review_file(file);
        // Two files of one name are one for this: the first has the findings of both.
        if !files[..place].iter().any(|earlier| earlier.file == file.file) {
            of_file.extend(sweep.iter().filter(|finding| finding.file == file.file).cloned());
        }
        of_file.sort_by(|a, b| b.severity.cmp(&a.severity).then(a.row.cmp(&b.row)));
        findings.append(&mut of_file);
    }
    findings
}

fn review_file(file: &ParsedFile) -> Vec<Finding> {
    let subjects = Subject::all(file);
    let mut findings = Vec::new();
    for subject in &subjects {
        for check in checks::OF_A_POINT {
            findings.extend(check(subject).map(|finding| finding.at(subject)));
        }
    }
    for check in checks::OF_A_FILE {
        findings.extend(check(&subjects));
    }
    for finding in &mut findings {
        finding.file.clone_from(&file.file);
    }
    findings
}
