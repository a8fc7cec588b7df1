//! The answer of `goodput review`: what each file holds, and what is wrong with it.

use serde::{Deserialize, Serialize};

use super::subject::Subject;
use super::{Finding, MeasuredGoodput, review};
use crate::accounts::accounting::Dimension;
use crate::ingest::{BenchmarkPoint, Contents, Notes, ParsedFile, Refusal, TraceSummary};
use crate::scenario::LengthsWorkload;
use crate::slo::Contract;

/// Everything there is to say about some files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewReport {
    /// One entry per file, in the order given.
    pub files: Vec<FileReport>,
    /// All findings.
    pub findings: Vec<Finding>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileReport {
    /// Name as given.
    pub file: String,
    /// Format id; also of a refused file that was recognised.
    pub format: Option<String>,
    /// Version of the tool that wrote it, where the file says so.
    pub tool_version: Option<String>,
    /// Benchmark points.
    pub points: Vec<BenchmarkPoint>,
    /// Requests the file describes one by one.
    pub requests: u64,
    /// Each point with records, judged by the contract that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub goodput: Vec<MeasuredGoodput>,
    /// Summary, if it is a request trace.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trace: Option<TraceSummary>,
    /// Prompt and output lengths, ready for a class of a scenario, if it is the page of a running
    /// server.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lengths: Option<LengthsWorkload>,
    /// Account of its rows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub notes: Option<Notes>,
    /// Why it was not read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<Refusal>,
}

/// Reviews the files and says what is in them.
pub fn report(files: &[ParsedFile]) -> ReviewReport {
    ReviewReport { files: files.iter().map(FileReport::of).collect(), findings: review(files) }
}

/// The same with every request judged by `contract`, and outcomes broken out by each of
/// `crossings`. What the contract asks and a file cannot tell is a finding.
pub fn report_under(
    files: &[ParsedFile],
    contract: &Contract,
    crossings: &[Vec<Dimension>],
) -> ReviewReport {
    let mut report = report(files);
    for (file, source) in report.files.iter_mut().zip(files) {
        let Some(parsed) = &source.parsed else { continue };
        let subjects = Subject::all(source);
        file.goodput = subjects
            .iter()
            .filter_map(|subject| MeasuredGoodput::of(subject, contract, crossings))
            .collect();
        for judged in &file.goodput {
            report.findings.extend(judged.accounting.streams.warnings.iter().map(|warning| {
                let advice = "set the limit on what the file tells, or export what it asks for";
                let mut finding = Finding::warning("limit_and_data_differ", warning).advice(advice);
                finding.file.clone_from(&file.file);
                finding.at_row(judged.row)
            }));
        }
        if file.goodput.is_empty() && !parsed.points().is_empty() {
            let message = "the file holds no requests one by one, so that none can be judged";
            let mut finding = Finding::warning("no_records_to_judge", message)
                .advice("save per-request results, e.g. vllm bench serve --save-detailed");
            finding.file.clone_from(&file.file);
            report.findings.push(finding);
        }
    }
    report
}

impl FileReport {
    fn of(file: &ParsedFile) -> Self {
        let parsed = file.parsed.as_ref();
        let recognised = parsed
            .map(|parsed| &parsed.format)
            .or_else(|| file.refused.as_ref().and_then(|refused| refused.format.as_ref()));
        let trace = parsed.and_then(|parsed| match &parsed.contents {
            Contents::Trace(trace) => trace.summary(),
            Contents::Benchmark { .. } | Contents::Lengths(_) => None,
        });
        let lengths = parsed.and_then(|parsed| match &parsed.contents {
            Contents::Lengths(served) => Some(LengthsWorkload::of(served)),
            Contents::Benchmark { .. } | Contents::Trace(_) => None,
        });
        Self {
            file: file.file.clone(),
            format: recognised.map(|format| format.id().to_owned()),
            tool_version: parsed.and_then(|parsed| parsed.tool_version.clone()),
            points: parsed.map(|parsed| parsed.points().to_vec()).unwrap_or_default(),
            requests: parsed.map_or(0, |parsed| parsed.requests() as u64),
            goodput: Vec::new(),
            trace,
            lengths,
            notes: parsed.map(|parsed| parsed.notes.clone()),
            refused: file.refused.clone(),
        }
    }
}
