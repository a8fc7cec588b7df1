//! What a check has found so far.

use std::ops::RangeInclusive;

use crate::counted::{thousands, typed};
use crate::problem::{Problem, Severity};
use crate::units::{MAX_HORIZON_S, PICOS_PER_S, Picos};

/// Problems in the order they were met.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Problem>);

impl Findings {
    pub fn error(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.0.push(Problem::error(path, message, hint));
    }

    pub fn warning(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.0.push(Problem::warning(path, message, hint));
    }

    pub fn note(
        &mut self,
        path: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let severity = Severity::Note;
        self.0.push(Problem { severity, ..Problem::warning(path, message, hint) });
    }

    /// The value, or its problems as seen from the document.
    pub fn take<T>(&mut self, outer: &str, result: Result<T, Vec<Problem>>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(problems) => {
                self.all(outer, problems);
                None
            }
        }
    }

    /// Problems that a type reports about itself, as seen from the document.
    pub fn all(&mut self, outer: &str, problems: Vec<Problem>) {
        self.0.extend(problems.into_iter().map(|problem| problem.under(outer)));
    }

    /// Whether `value` is a number in `range`.
    pub fn number(
        &mut self,
        path: impl Into<String>,
        what: &str,
        value: f64,
        range: &RangeInclusive<f64>,
    ) -> bool {
        let fine = range.contains(&value);
        if !fine {
            let (low, high) = (typed(*range.start()), typed(*range.end()));
            // A share is typed as such in a document, and per cent in many a form.
            let per_cent = if *range == (0.0..=1.0) { " (0 % to 100 %)" } else { "" };
            self.error(
                path,
                format!("{what} is {value}", value = typed(value)),
                format!("give {low} to {high}{per_cent}"),
            );
        }
        fine
    }

    /// A span of at least a picosecond and at most the longest scenario.
    pub fn span(&mut self, path: impl Into<String>, what: &str, seconds: f64) -> Option<Picos> {
        if (1.0 / PICOS_PER_S as f64..=MAX_HORIZON_S).contains(&seconds) {
            return Some(Picos::from_secs(seconds));
        }
        self.error(
            path,
            format!("{what} is {seconds} s", seconds = typed(seconds)),
            format!(
                "give seconds above 0 and up to {longest}, or leave it out",
                longest = typed(MAX_HORIZON_S)
            ),
        );
        None
    }

    /// Whether `value` is a whole number in `range`.
    pub fn count(
        &mut self,
        path: impl Into<String>,
        what: &str,
        value: u64,
        range: &RangeInclusive<u64>,
    ) -> bool {
        let fine = range.contains(&value);
        if !fine {
            let (low, high) = (thousands(*range.start() as f64), thousands(*range.end() as f64));
            self.error(path, format!("{what} is {value}"), format!("give {low} to {high}"));
        }
        fine
    }

    /// What another check has found.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub fn any_error(&self) -> bool {
        self.0.iter().any(|problem| problem.severity == Severity::Error)
    }

    pub fn into_problems(self) -> Vec<Problem> {
        self.0
    }
}
