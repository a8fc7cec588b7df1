//! The long-lived worker that reads files and keeps what it parsed.
//!
//! [`Shelf`] is what it does, in the worker; [`Reader`] is the page's side of it, which starts it
//! with the first file and, when one dies over a file, tells the next what it has to know
//! ([`Ledger`]).

mod client;
mod ledger;
mod shelf;

pub use client::{Heard, Reader, Source};
pub use ledger::Ledger;
pub use shelf::{Attached, Shelf};

use goodput_engine::ingest::{BenchmarkPoint, Parsed, ParsedFile, Refusal, TraceSummary};
use goodput_engine::review::Finding;
use goodput_engine::scenario::LengthsWorkload;
use serde::{Deserialize, Serialize};

/// Number by which page and worker know a file; never reused.
pub type FileId = u32;

/// What the reader says of a file: everything but its rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadFile {
    /// Name, format, points and account of rows, or the refusal; without requests and records.
    pub file: ParsedFile,
    /// SHA-256 of its bytes; `None` where it was refused unread.
    pub sha256: Option<String>,
    /// What its trace looks like, if it is one.
    pub trace: Option<TraceSummary>,
    /// Lengths for a class, if it is the page of a running server.
    pub lengths: Option<LengthsWorkload>,
    /// Requests that it describes one by one.
    pub requests: u64,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

impl ReadFile {
    /// What was read.
    pub fn parsed(&self) -> Option<&Parsed> {
        self.file.parsed.as_ref()
    }

    /// Its benchmark points.
    pub fn points(&self) -> &[BenchmarkPoint] {
        self.parsed().map(Parsed::points).unwrap_or_default()
    }

    /// Why it was not read.
    pub fn refused(&self) -> Option<&Refusal> {
        self.file.refused.as_ref()
    }
}
