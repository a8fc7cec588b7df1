//! What reading a file gives: its format, its contents, and an account of every row.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::counted::plural;

use super::{BenchmarkPoint, Refusal, RequestRecord, RequestTrace, ServedLengths, registry};

/// A file that was understood.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parsed {
    /// Which format it was recognised as.
    pub format: Format,
    /// Version of the tool that wrote it, where the file says so.
    pub tool_version: Option<String>,
    /// What was in it.
    pub contents: Contents,
    /// Rows read, used and left out, and anything a reader should know about how.
    pub notes: Notes,
}

impl Parsed {
    /// The benchmark points; none in a trace.
    pub fn points(&self) -> &[BenchmarkPoint] {
        match &self.contents {
            Contents::Benchmark { points, .. } => points,
            Contents::Trace(_) | Contents::Lengths(_) => &[],
        }
    }

    /// The per-request records; none in a trace or a file of aggregates.
    pub fn records(&self) -> &[RequestRecord] {
        match &self.contents {
            Contents::Benchmark { records, .. } => records,
            Contents::Trace(_) | Contents::Lengths(_) => &[],
        }
    }

    /// The same, after saying how many lines before it were no part of it.
    pub(super) fn after_preamble(mut self, lines: usize) -> Self {
        self.notes.remark(plural(
            lines as u64,
            "line before the first JSON object was passed over",
            "lines before the first JSON object were passed over",
        ));
        self
    }

    /// Requests the file describes one by one: trace rows or per-request records.
    pub fn requests(&self) -> usize {
        match &self.contents {
            Contents::Trace(trace) => trace.len(),
            Contents::Lengths(_) => 0,
            Contents::Benchmark { records, .. } => records.len(),
        }
    }
}

/// What was in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contents {
    /// When requests were due and how long they were: a workload, no latencies.
    Trace(RequestTrace),
    /// How long the requests of a running server were, in a histogram: no moments, no latencies.
    Lengths(Box<ServedLengths>),
    /// Measurements.
    Benchmark {
        /// One per run or row.
        points: Vec<BenchmarkPoint>,
        /// One per request, grouped by point in the order of `points`; often empty.
        records: Vec<RequestRecord>,
    },
}

/// A known format, by its id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Format(String);

impl Format {
    pub(super) fn new(id: &str) -> Self {
        Self(id.to_owned())
    }

    /// Stable id, e.g. `vllm_bench_serve`.
    pub fn id(&self) -> &str {
        &self.0
    }

    /// Name for people, e.g. "vLLM bench serve JSON".
    pub fn title(&self) -> &str {
        registry::formats().iter().find(|f| f.id == self.0).map_or(&self.0, |f| f.title)
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.title())
    }
}

/// Account of the rows of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes {
    /// What a row is here: `rows`, `runs` or `requests`.
    pub counted: String,
    /// Rows found.
    pub rows_read: u64,
    /// Rows that entered the contents.
    pub rows_used: u64,
    /// The others, by reason.
    pub excluded: Vec<Exclusion>,
    /// Columns not used, values not finite, and the like, one sentence each.
    pub remarks: Vec<String>,
}

impl Notes {
    pub(super) fn new(counted: &str) -> Self {
        Self { counted: counted.to_owned(), ..Self::default() }
    }

    pub(super) fn remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }

    /// Adds what was gathered row by row, one sentence per kind of trouble.
    pub(super) fn remark_all(&mut self, gathered: RowRemarks) {
        self.remarks.extend(gathered.0.into_iter().map(|(text, (rows, first_line))| {
            if rows == 1 {
                format!("{text} (line {first_line})")
            } else {
                format!("{text} ({rows} times, first on line {first_line})")
            }
        }));
    }

    pub(super) fn exclude(&mut self, rows: u64, reason: impl Into<String>) {
        if rows > 0 {
            self.excluded.push(Exclusion { rows, reason: reason.into() });
        }
    }
}

/// Remarks that may repeat on every row: kept once each, with a count and the first line.
#[derive(Debug, Default)]
pub(super) struct RowRemarks(BTreeMap<String, (u64, u64)>);

impl RowRemarks {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, line: u64, text: impl Into<String>) {
        self.0.entry(text.into()).or_insert((0, line)).0 += 1;
    }
}

/// Rows left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exclusion {
    /// How many.
    pub rows: u64,
    /// Why.
    pub reason: String,
}

/// A file by name, read or refused; exactly one of the two is there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParsedFile {
    /// Name as the user gave it.
    pub file: String,
    /// What was read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parsed: Option<Parsed>,
    /// Why nothing was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<Refusal>,
}
