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

use std::collections::BTreeMap;

use goodput_engine::accounts::accounting::{Accounting, Dimension};
use goodput_engine::ingest::{BenchmarkPoint, Parsed, ParsedFile, Refusal, TraceSummary};
use goodput_engine::review::{Finding, MeasuredGoodput};
use goodput_engine::scenario::LengthsWorkload;
use goodput_engine::scenario::doc::SloDoc;
use goodput_engine::slo::Outcome;
use serde::{Deserialize, Serialize};

use crate::format;

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

/// The requests of a benchmark under a contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The contract.
    pub slo: SloDoc,
    /// What outcomes are crossed by, if by anything.
    pub cross: Vec<Dimension>,
    /// Each point that has requests one by one.
    pub points: Vec<JudgedPoint>,
    /// What the contract asks and the file does not tell, in words.
    pub remarks: Vec<String>,
}

/// The requests of a benchmark point under a contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedPoint {
    /// Its row, and how many requests it has.
    pub name: String,
    /// Requests attempted.
    pub offered: u64,
    /// Every outcome with its count; they sum to `offered`.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// Where every request went.
    pub accounting: Accounting,
}

impl From<MeasuredGoodput> for JudgedPoint {
    fn from(point: MeasuredGoodput) -> Self {
        let MeasuredGoodput { row, offered, outcomes, accounting, .. } = point;
        let requests = format::plural(offered, "request", "requests");
        let name = row.map_or_else(|| requests.clone(), |row| format!("row {row}, {requests}"));
        Self { name, offered, outcomes, accounting }
    }
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
