//! What is wrong with an input: where, what, why, and how to mend it.

use serde::{Deserialize, Serialize};

/// How much a problem matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing; the answer stands.
    Note,
    /// The answer stands but may mislead.
    Warning,
    /// There is no answer until this is mended.
    Error,
}

impl Severity {
    /// As lines begin with it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One thing that is wrong, located in the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Dotted path into the scenario document, e.g. `workload.classes[0].arrivals.rate_rps`.
    pub path: String,
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong and why, in one sentence without a full stop.
    pub message: String,
    /// The allowed range or how to mend it.
    pub hint: String,
}

impl Problem {
    /// A problem without whose repair there is no answer.
    pub fn error(
        path: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Error, path, message, hint)
    }

    /// A problem that may mislead, though the answer stands.
    pub fn warning(
        path: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Warning, path, message, hint)
    }

    /// The same problem, its path seen from further out: types check their own fields and do not
    /// know where in the document they stand.
    #[must_use]
    pub fn under(mut self, outer: &str) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        self.path = format!("{outer}{dot}{}", self.path);
        self
    }

    fn new(
        severity: Severity,
        path: impl Into<String>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), severity, message: message.into(), hint: hint.into() }
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{} ({})", self.message, self.hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_grows_outwards() {
        for (inner, whole) in [("rate_rps", "a.rate_rps"), ("[2].t_s", "a[2].t_s"), ("", "a")] {
            assert_eq!(Problem::error(inner, "m", "h").under("a").path, whole);
        }
    }
}
