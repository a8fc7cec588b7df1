//! What leaves the program: one JSON value or text on standard output, and an exit code.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use goodput_engine::planner::Progress;
use goodput_engine::problem::{Problem, Severity};
use serde::Serialize;

use super::args::{Cli, FailOn};
use super::json;

/// The answer of a verb.
#[derive(Debug)]
pub struct Answer {
    json: String,
    text: String,
    worst: Option<Severity>,
    /// An expectation of the scenario is not met.
    red: bool,
    /// It has been printed already, line by line.
    is_printed: bool,
}

/// Why a verb gave no answer.
#[derive(Debug)]
pub enum Failure {
    /// The input has problems: exit 1.
    Problems(Vec<Problem>),
    /// What was typed cannot be done: exit 2.
    Usage(String),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problems(vec![problem])
    }
}

impl From<Vec<Problem>> for Failure {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Problems(problems)
    }
}

impl Failure {
    /// Several failures as one, every problem kept.
    pub fn all(failures: impl IntoIterator<Item = Self>) -> Self {
        let mut problems = Vec::new();
        for failure in failures {
            match failure {
                Self::Problems(more) => problems.extend(more),
                usage @ Self::Usage(_) => return usage,
            }
        }
        Self::Problems(problems)
    }
}

impl Answer {
    /// An answer as `value`, in words as `text`.
    pub fn new(value: &impl Serialize, text: String) -> Result<Self, Failure> {
        let json = json::pretty(value)
            .map_err(|error| Failure::Usage(format!("the answer cannot be written: {error}")))?;
        Ok(Self { json, text, worst: None, red: false, is_printed: false })
    }

    /// An answer that has been printed already, with the worst that was found.
    pub fn printed(worst: Option<Severity>) -> Self {
        Self { json: String::new(), text: String::new(), worst, red: false, is_printed: true }
    }

    /// The same answer, of a scenario of which an expectation is not met if `red`: exit 3 without
    /// further asking, since whoever wrote it down has asked.
    pub fn red(self, red: bool) -> Self {
        Self { red, ..self }
    }

    /// The same answer with findings of these severities.
    pub fn with_findings(self, severities: impl IntoIterator<Item = Severity>) -> Self {
        Self { worst: severities.into_iter().max(), ..self }
    }

    /// The same answer with these findings as well.
    pub fn and_findings(self, severities: impl IntoIterator<Item = Severity>) -> Self {
        let worst = severities.into_iter().chain(self.worst).max();
        Self { worst, ..self }
    }
}

impl From<FailOn> for Severity {
    fn from(threshold: FailOn) -> Self {
        match threshold {
            FailOn::Note => Self::Note,
            FailOn::Warning => Self::Warning,
            FailOn::Error => Self::Error,
        }
    }
}

/// Prints `result` as `cli` asks for and gives its exit code.
pub fn finish(cli: &Cli, result: Result<Answer, Failure>) -> ExitCode {
    let as_json = cli.json || !(cli.text || io::stdout().is_terminal());
    match result {
        Ok(answer) => {
            let reached = cli
                .fail_on
                .zip(answer.worst)
                .is_some_and(|(threshold, worst)| worst >= threshold.into());
            let text = if as_json { &answer.json } else { &answer.text };
            let failed = if answer.is_printed { None } else { print(text) };
            let ended = reached || answer.red;
            failed.unwrap_or(if ended { ExitCode::from(3) } else { ExitCode::SUCCESS })
        }
        Err(Failure::Problems(problems)) => {
            let text = in_words(&problems);
            if as_json {
                eprint_line(&text);
                let json = serde_json::json!({ "problems": problems });
                print(&format!("{json:#}")).unwrap_or(ExitCode::FAILURE)
            } else {
                print(&text).unwrap_or(ExitCode::FAILURE)
            }
        }
        Err(Failure::Usage(message)) => {
            eprint_line(&format!("error: {message}"));
            ExitCode::from(2)
        }
    }
}

/// Problems as lines for people.
fn in_words(problems: &[Problem]) -> String {
    let lines = problems.iter().map(|problem| format!("{}: {problem}", problem.severity.word()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Warnings beside an answer, on standard error.
pub fn warn(problems: &[Problem]) {
    if !problems.is_empty() {
        eprint_line(&in_words(problems));
    }
}

/// What a long search is doing, on one line of standard error if somebody is watching.
pub fn progress(progress: &Progress) {
    let mut err = io::stderr();
    if !err.is_terminal() {
        return;
    }
    // Back to the start of the line and clear it.
    let _ = match progress {
        Progress::Working { done, next } => {
            write!(err, "\r\x1b[K{done} simulations; now {next}")
        }
        Progress::Done => write!(err, "\r\x1b[K"),
    };
}

/// Writes all of `text` and a line end to standard output. A reader who has seen enough and
/// closed the pipe is no error; a full disk is, and then the exit code is returned.
fn print(text: &str) -> Option<ExitCode> {
    let mut out = io::stdout().lock();
    let written = out
        .write_all(text.as_bytes())
        .and_then(|()| out.write_all(if text.ends_with('\n') { b"" } else { b"\n" }))
        .and_then(|()| out.flush());
    match written {
        Ok(()) => None,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Some(ExitCode::SUCCESS),
        Err(error) => {
            eprint_line(&format!("error: standard output cannot be written: {error}"));
            Some(ExitCode::from(2))
        }
    }
}

/// Standard error may be closed as well; there is nobody left to tell.
fn eprint_line(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
