//! Which formats are known, and which of them a text is.

use super::csv_points::TableReading;
use super::csv_table;
use super::json::Outline;
use super::parsed::{Contents, Format, Notes, Parsed};
use super::{
    Refusal, aiperf, console_block, csv_points, engine_log, guidellm, hash_trace,
    inference_benchmarker, inference_perf, inferencex, known_others, llama_bench, llm_d, llmperf,
    llmservingsim, mlperf, ollama, prometheus, request_table, sglang, trace_table, trtllm_bench,
    vllm_offline, vllm_serve,
};

/// Every format, the more specific before the more general. A new one is a module and a line.
const FORMATS: &[FormatDescription] = &[
    guidellm::REPORT,
    llm_d::FORMAT,
    guidellm::CSV,
    aiperf::REQUESTS,
    aiperf::SUMMARY,
    aiperf::GENAI_PERF,
    aiperf::CSV,
    inference_perf::SERVER,
    inference_perf::LIFECYCLE,
    inference_perf::REQUESTS,
    llmperf::SUMMARY,
    llmperf::REQUESTS,
    sglang::FORMAT,
    vllm_serve::FORMAT,
    vllm_offline::THROUGHPUT,
    vllm_offline::LATENCY,
    inferencex::FORMAT,
    inference_benchmarker::FORMAT,
    trtllm_bench::FORMAT,
    llama_bench::FORMAT,
    ollama::FORMAT,
    mlperf::FORMAT,
    llmservingsim::FORMAT,
    engine_log::FORMAT,
    console_block::FORMAT,
    prometheus::FORMAT,
    hash_trace::BAILIAN,
    hash_trace::MOONCAKE,
    trace_table::AZURE,
    trace_table::BURSTGPT,
    trace_table::VIDUR,
    trace_table::SPLITWISE,
    request_table::FORMAT,
    trace_table::TEMPLATE,
    csv_points::FORMAT,
];

/// The formats that are read, for a list beside the drop zone.
pub fn formats() -> &'static [FormatDescription] {
    FORMATS
}

/// One format.
pub struct FormatDescription {
    /// Stable id.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What it is recognised by, for the message when nothing is.
    pub looks_for: &'static str,
    /// Where it is documented.
    pub docs: &'static str,
    pub(super) sniff: fn(&Head) -> bool,
    pub(super) parse: fn(&str) -> Result<Body, Refusal>,
}

/// What a format's parser gives.
pub(super) struct Body {
    pub tool_version: Option<String>,
    pub contents: Contents,
    pub notes: Notes,
}

impl Body {
    /// The same, after saying something that holds for all of it.
    pub(super) fn noting(mut self, text: &str) -> Self {
        self.notes.remark(text);
        self
    }
}

/// What a text is recognised by.
pub(super) struct Head<'a> {
    /// The first line that is neither blank nor a `#` comment.
    pub first_line: &'a str,
    /// The keys of the first object, if the text looks like JSON.
    pub json: Option<Outline>,
    /// The text as far as it was looked at.
    pub text: &'a str,
}

/// Bytes looked at before the whole text is.
const HEAD_BYTES: usize = 65_536;

/// Recognises the text and parses it; a table of benchmark rows as the user says.
pub(super) fn parse(text: &str, tables: &TableReading) -> Result<Parsed, Refusal> {
    reject_hollow(text)?;
    let json = matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'['));
    let first_line = csv_table::first_line(text);
    let whole = text.len();
    let mut outline_closed = true;
    for scanned in [HEAD_BYTES.min(whole), whole] {
        let looked_at = &text[..text.floor_char_boundary(scanned)];
        let outline = json.then(|| Outline::of(looked_at.as_bytes()));
        outline_closed = outline.as_ref().is_none_or(|outline| outline.closed);
        let head = Head { first_line, json: outline, text: looked_at };
        if let Some(format) = FORMATS.iter().find(|format| (format.sniff)(&head)) {
            return parse_as(format, text, tables);
        }
        // With other names a table may be one of benchmark rows after all.
        if csv_points::fits(&head, tables) {
            return parse_as(&csv_points::FORMAT, text, tables);
        }
        if let Some(other) = known_others::refusal(&head) {
            return Err(other);
        }
        if json && outline_closed {
            break;
        }
    }
    // What comes after a preamble counts if it is of a known format, read or refused.
    let after =
        without_preamble(text).filter(|_| !json).map(|(rest, lines)| (parse(&rest, tables), lines));
    match after {
        Some((Ok(parsed), lines)) => Ok(parsed.after_preamble(lines)),
        Some((Err(refusal), _)) if refusal.format.is_some() => Err(refusal),
        _ => Err(unknown(first_line, outline_closed)),
    }
}

/// A text whose JSON follows lines of something else, such as what a tool printed on standard
/// error: blank lines in their stead, so that lines keep their numbers.
fn without_preamble(text: &str) -> Option<(String, usize)> {
    let mut begins = 0;
    for (lines, line) in text.split_inclusive('\n').enumerate() {
        if line.starts_with(['{', '[']) {
            return Some(("\n".repeat(lines) + &text[begins..], lines));
        }
        begins += line.len();
    }
    None
}

fn parse_as(
    format: &FormatDescription,
    text: &str,
    tables: &TableReading,
) -> Result<Parsed, Refusal> {
    let name = Format::new(format.id);
    let body = if format.id == csv_points::FORMAT.id {
        csv_points::parse_as(text, tables)
    } else {
        (format.parse)(text)
    };
    match body {
        Ok(Body { tool_version, contents, notes }) => {
            Ok(Parsed { format: name, tool_version, contents, notes })
        }
        Err(refusal) => Err(refusal.of(name)),
    }
}

fn reject_hollow(text: &str) -> Result<(), Refusal> {
    let mut marks = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    let first_three = [marks.next(), marks.next(), marks.next()];
    match first_three {
        [None, ..] => Err(Refusal::empty("the file holds nothing but blanks")),
        [Some(b'['), Some(b']'), None] => Err(Refusal::empty("the file is an empty list: []")),
        [Some(b'{'), Some(b'}'), None] => Err(Refusal::empty("the file is an empty object: {}")),
        _ => Ok(()),
    }
}

fn unknown(first_line: &str, json_closed: bool) -> Refusal {
    if !json_closed {
        return Refusal::truncated("the file begins as JSON and stops in the middle");
    }
    if first_line.starts_with("version https://git-lfs.github.com/spec/") {
        return Refusal::not_recognised(
            "this is a Git LFS pointer: it names the file but is not the file",
            "fetch the content with git lfs pull and upload that",
        );
    }
    Refusal::not_recognised(
        "no known format matches this file",
        "compare it with what was looked for, copy the numbers into the CSV template, or name the \
         columns of a table with goodput review --column",
    )
}
