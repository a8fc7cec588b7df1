//! One thing a file says wrongly, or does not say.

use serde::{Deserialize, Serialize};

use super::subject::Subject;
use crate::problem::Severity;

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable name of the check, e.g. `empty_successes`.
    pub code: String,
    /// What it does to an answer.
    pub severity: Severity,
    /// File it is about.
    pub file: String,
    /// [`row`](crate::ingest::BenchmarkPoint::row) of the point it is about; `None` when it is
    /// about the whole file.
    pub row: Option<u64>,
    /// What is wrong, in plain words, without a full stop.
    pub message: String,
    /// The numbers that disagree, the stated one first.
    pub numbers: Vec<Figure>,
    /// What to do.
    pub advice: String,
}

/// A number in evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit; empty for a ratio or a count.
    pub unit: String,
}

impl Finding {
    /// Whether it makes the numbers of that point of that file unusable.
    pub fn disproves(&self, file: &str, row: Option<u64>) -> bool {
        self.severity == Severity::Error
            && self.file == file
            && (self.row.is_none() || self.row == row)
    }

    pub(super) fn note(code: &str, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message)
    }

    pub(super) fn warning(code: &str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    pub(super) fn error(code: &str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    pub(super) fn new(severity: Severity, code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            severity,
            file: String::new(),
            row: None,
            message: message.into(),
            numbers: Vec::new(),
            advice: String::new(),
        }
    }

    pub(super) fn figure(mut self, name: &str, value: f64, unit: &str) -> Self {
        self.numbers.push(Figure { name: name.to_owned(), value, unit: unit.to_owned() });
        self
    }

    pub(super) fn advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = advice.into();
        self
    }

    pub(super) fn at_row(mut self, row: Option<u64>) -> Self {
        self.row = row;
        self
    }

    /// Says of which point of which file.
    pub(super) fn at(mut self, subject: &Subject) -> Self {
        subject.file.clone_into(&mut self.file);
        self.row = subject.point.row;
        self
    }
}
