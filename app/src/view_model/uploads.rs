//! What a file holds and what is wrong with it, in words and rows.

use goodput_engine::ingest::{
    BenchmarkPoint, Latency, LatencyStats, Length, LengthSource, LengthSummary, Load, Notes,
    Refusal, TokenKind, TraceSummary,
};
use goodput_engine::problem::Severity;
use goodput_engine::review::{Figure, Finding};
use goodput_engine::scenario::LengthsWorkload;

use super::formats::format_title;
use crate::format;
use crate::state::uploads::Fact;
use crate::worker::reader::ReadFile;

/// What the review table says of a file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// Its format.
    pub format: String,
    /// Version of the tool that wrote it.
    pub tool_version: String,
    /// Rows in the file.
    pub read: String,
    /// Rows that were used.
    pub used: String,
    /// Rows that were not, each count with its reason.
    pub excluded: Vec<String>,
    /// Anything else a reader should know about how it was read.
    pub remarks: Vec<String>,
}

/// What the review table says of a file that was read.
pub fn file_facts(read: &ReadFile) -> Option<FileFacts> {
    let parsed = read.parsed()?;
    let Notes { counted, rows_read, rows_used, excluded, remarks } = &parsed.notes;
    let excluded = excluded.iter();
    Some(FileFacts {
        format: format_title(parsed.format.id()),
        tool_version: parsed.tool_version.clone().unwrap_or_else(|| "not in the file".to_owned()),
        read: format::counted(*rows_read, counted),
        used: format::count(*rows_used),
        excluded: excluded.map(|e| format!("{}: {}", format::count(e.rows), e.reason)).collect(),
        remarks: remarks.clone(),
    })
}

/// A refusal: what is wrong and where, what would help, what was looked for.
pub fn refusal(refusal: &Refusal) -> (String, String, Vec<String>) {
    let format = refusal.format.as_ref().map(|format| format_title(format.id()));
    let format = format.map(|title| format!(" (read as {title})")).unwrap_or_default();
    // Most messages about a line name it.
    let named = refusal.message.contains("line");
    let line = refusal.line.filter(|_| !named).map(|line| format!(", line {line}"));
    let message = format!("{}{}{format}", sentence(&refusal.message), line.unwrap_or_default());
    (message, sentence(&refusal.hint), refusal.looked_for.clone())
}

/// With a capital at the start, unless that is a name of something.
pub fn sentence(text: &str) -> String {
    super::words::clause(text)
}

/// A row of the findings table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingRow {
    /// The state whose shape and colour it takes.
    pub state: &'static str,
    /// How grave it is, in a word.
    pub word: &'static str,
    /// Which line of the file; empty for all of it.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// The numbers that disagree.
    pub numbers: Vec<String>,
    /// What to do.
    pub advice: String,
}

/// The findings of a file, gravest first as the engine gives them.
pub fn finding_rows(findings: &[Finding]) -> Vec<FindingRow> {
    findings.iter().map(finding_row).collect()
}

fn finding_row(finding: &Finding) -> FindingRow {
    let (state, word) = match finding.severity {
        Severity::Error => ("over", "Error"),
        Severity::Warning => ("late", "Warning"),
        Severity::Note => ("note", "Note"),
    };
    FindingRow {
        state,
        word,
        place: finding.row.map(|row| format!("line {row}")).unwrap_or_default(),
        message: sentence(&finding.message),
        numbers: finding.numbers.iter().map(figure).collect(),
        advice: sentence(&finding.advice),
    }
}

fn figure(figure: &Figure) -> String {
    let number = format::rounded(figure.value, 4);
    let number =
        if figure.unit.is_empty() { number } else { format::with_unit(&number, &figure.unit) };
    format!("{} {number}", figure.name)
}

/// How many findings of each severity, in words: "2 errors, 1 note".
pub fn findings_line(findings: &[Finding]) -> String {
    let parts = [
        (Severity::Error, "error", "errors"),
        (Severity::Warning, "warning", "warnings"),
        (Severity::Note, "note", "notes"),
    ]
    .into_iter()
    .filter_map(|(severity, one, many)| {
        let count = findings.iter().filter(|finding| finding.severity == severity).count() as u64;
        (count > 0).then(|| format::plural(count, one, many))
    });
    let line = parts.collect::<Vec<_>>().join(", ");
    if line.is_empty() { "nothing wrong was found".to_owned() } else { line }
}

/// What a planner asks of a trace, name and value.
pub fn trace_rows(trace: &TraceSummary) -> Vec<(&'static str, String)> {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| format::NONE.to_owned());
    vec![
        (
            "Requests",
            format!("{} in {}", format::count(trace.requests), format::seconds(trace.span_s)),
        ),
        ("Mean rate", or_none(trace.mean_rate_rps.map(rate))),
        (
            "Gap CV",
            or_none(
                trace
                    .gap_cv
                    .map(|cv| format!("{}; Poisson arrivals have 1", format::significant(cv))),
            ),
        ),
        ("Peak minute", peak(trace.peak_minute_rps, trace.peak_minute_bin_rps)),
        ("Peak 10\u{202f}s", peak(trace.peak_10s_rps, trace.peak_10s_bin_rps)),
        ("Input", lengths(&trace.input_tokens)),
        ("Output", lengths(&trace.output_tokens)),
    ]
}

/// What the requests of a running server were like, name and value.
pub fn served_rows(served: &LengthsWorkload) -> Vec<(&'static str, String)> {
    let mean = |mean: Option<f64>| {
        let tokens = |tokens| format::with_unit(&format::rounded(tokens, 4), "tokens on average");
        mean.map_or_else(|| format::NONE.to_owned(), tokens)
    };
    vec![
        ("Requests finished", format::count(served.requests)),
        ("Input", mean(served.mean_input_tokens)),
        ("Output", mean(served.mean_output_tokens)),
    ]
}

fn rate(rps: f64) -> String {
    format::with_unit(&format::rounded(rps, 4), "req/s")
}

fn peak(sliding: f64, bins: f64) -> String {
    let bins = format::rounded(bins, 4);
    format!("{} in any such span; {bins} in fixed spans from the first request", rate(sliding))
}

fn lengths(lengths: &LengthSummary) -> String {
    let [mean, p50, p99] =
        [lengths.mean, lengths.p50, lengths.p99].map(|tokens| format::fixed(tokens, 1));
    format!("mean {mean}, p50 {p50}, p99 {p99} tokens")
}

/// Heads of the table of points.
pub const POINT_HEADS: [&str; 9] =
    ["Line", "Load", "Input", "Output", "Completed", "Failed", "Output, tok/s", "TTFT", "TPOT"];

/// One point as a row.
pub fn point_cells(point: &BenchmarkPoint) -> [String; 9] {
    let number = |n: Option<u64>| n.map_or_else(|| format::NONE.to_owned(), format::count);
    let output = point.tps(TokenKind::Output);
    [
        number(point.row),
        load(point),
        mean_length(point.input),
        mean_length(point.output),
        number(point.completed),
        number(point.failed),
        output.map_or_else(|| format::NONE.to_owned(), format::significant),
        latency(point.latency(Latency::Ttft)),
        latency(point.latency(Latency::Tpot)),
    ]
}

/// What distinguishes a point among those of its file, for a label.
pub fn point_name(point: &BenchmarkPoint) -> String {
    let row = point.row.map(|row| format!("line {row}, ")).unwrap_or_default();
    format!("{row}{}", load(point))
}

fn load(point: &BenchmarkPoint) -> String {
    let load = match point.load {
        Load::RequestRate { rps } => format::rps(rps),
        Load::Concurrency { requests } => format!("{} in flight", format::count(requests)),
        Load::Unbounded => "all at once".to_owned(),
        Load::Ramp { from_rps, to_rps } => {
            format!("{} to {}", format::significant(from_rps), format::rps(to_rps))
        }
        Load::Unstated => "not stated".to_owned(),
    };
    match (&point.load, point.client_cap) {
        (Load::RequestRate { .. } | Load::Unbounded, Some(cap)) => {
            format!("{load}, at most {} in flight", format::count(cap))
        }
        _ => load,
    }
}

fn mean_length(length: Option<Length>) -> String {
    length.map_or_else(
        || format::NONE.to_owned(),
        |length| {
            let tokens = format::fixed(length.mean_tokens, 1);
            match length.source {
                LengthSource::Measured => tokens,
                LengthSource::Declared => format!("{tokens}, declared"),
            }
        },
    )
}

fn latency(stats: Option<&LatencyStats>) -> String {
    let Some(stats) = stats else { return format::NONE.to_owned() };
    let parts =
        [("mean", stats.mean_ms), ("p50", stats.percentile(0.5)), ("p99", stats.percentile(0.99))];
    let stated = parts.into_iter().filter_map(|(name, ms)| Some((name, ms?)));
    // Mean and p99 say enough; the median stands in for a mean that is not there.
    let stated: Vec<_> =
        stated.filter(|(name, _)| *name != "p50" || stats.mean_ms.is_none()).collect();
    if stated.is_empty() {
        return format::NONE.to_owned();
    }
    let words = stated.iter().map(|(name, ms)| format!("{name} {}", format::millis(*ms)));
    words.collect::<Vec<_>>().join(", ")
}

/// The question about a fact.
pub fn question(fact: Fact) -> &'static str {
    match fact {
        Fact::Gpu => "GPU",
        Fact::GpuCount => "GPUs in use",
        Fact::TensorParallel => "tensor_parallel",
        Fact::Model => "Model",
        Fact::RequestRate => "Request rate",
        Fact::Concurrency => "Or requests in flight",
        Fact::InputTokens => "Mean input",
        Fact::OutputTokens => "Mean output",
        Fact::EngineVersion => "Engine and version",
        Fact::Quality => "Answers that passed a check",
    }
}

/// The unit of a fact; empty for words.
pub fn fact_unit(fact: Fact) -> &'static str {
    match fact {
        Fact::RequestRate => "req/s",
        Fact::InputTokens | Fact::OutputTokens => "tokens",
        Fact::Quality => "%",
        _ => "",
    }
}

/// What an unanswered fact means.
pub fn when_unanswered(fact: Fact) -> &'static str {
    match fact {
        Fact::EngineVersion => "Empty: not known; a fit does not need it",
        Fact::Quality => "Empty: nobody checked; a fit does not need it",
        Fact::RequestRate | Fact::Concurrency => "One of the two is needed for a fit",
        _ => "Needed for a fit",
    }
}

#[cfg(test)]
mod tests {
    use goodput_engine::ingest;

    use super::super::formats::FORMATS;
    use super::*;

    const TRACE: &str = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n\
                         2024-05-10 00:00:00.0000000,100,10\r\n\
                         2024-05-10 00:00:02.0000000,300,30\r\n\
                         2024-05-10 00:00:04.0000000,200,20\r\n";

    #[test]
    fn a_trace_says_what_a_planner_asks() {
        let parsed = ingest::read("t.csv", TRACE.as_bytes()).expect("a trace");
        let ingest::Contents::Trace(trace) = parsed.contents else { panic!("a trace") };
        let rows = trace_rows(&trace.summary().expect("requests"));
        let row = |name: &str| rows.iter().find(|r| r.0 == name).map(|r| r.1.as_str());
        assert_eq!(row("Requests"), Some("3 in 4\u{202f}s"));
        assert_eq!(row("Mean rate"), Some("0.75\u{202f}req/s"));
        assert_eq!(row("Gap CV"), Some("0; Poisson arrivals have 1"));
        assert_eq!(row("Input"), Some("mean 200, p50 200, p99 300 tokens"));
    }

    #[test]
    fn points_say_what_is_not_in_the_file() {
        let text = "max_concurrency,mean_input_tokens,ttft_p50_ms,output_tps\n32,512,220,\n";
        let parsed = ingest::read("p.csv", text.as_bytes()).expect("points");
        let cells = point_cells(&parsed.points()[0]);
        let none = format::NONE;
        let expected =
            ["2", "32 in flight", "512", none, none, none, none, "p50 220\u{202f}ms", none];
        assert_eq!(cells, expected);
        assert_eq!(point_name(&parsed.points()[0]), "line 2, 32 in flight");
    }

    #[test]
    fn refusals_say_where_and_what_would_help() {
        let why = ingest::read("x.csv", b"TIMESTAMP,ContextTokens,GeneratedTokens\nnever,1,2\n");
        let (message, hint, _) = refusal(&why.expect_err("broken"));
        assert!(message.starts_with("Line 2") && message.contains("read as Azure"), "{message}");
        assert!(!hint.is_empty());
        let (message, _, looked_for) = refusal(&ingest::read("x", b"hello").expect_err("unknown"));
        assert!(message.starts_with("No known format"), "{message}");
        assert_eq!(looked_for.len(), FORMATS.len());
    }

    #[test]
    fn one_row_is_singular_and_names_keep_their_spelling() {
        let one = TRACE.lines().take(2).collect::<Vec<_>>().join("\n");
        let parsed = ingest::read("t.csv", one.as_bytes()).expect("a trace of one");
        let Notes { counted, rows_read, .. } = &parsed.notes;
        assert_eq!(format::counted(*rows_read, counted), "1 request");
        let why = ingest::read("run.json", b"").expect_err("empty");
        assert_eq!(refusal(&why).0, "The file run.json is empty");
        assert_eq!(sentence("run.json has no load"), "run.json has no load");
    }

    #[test]
    fn findings_are_counted_by_severity() {
        let finding = |severity| Finding {
            code: "x".into(),
            severity,
            file: "f".into(),
            row: Some(3),
            message: "counts disagree".into(),
            numbers: vec![Figure { name: "completed".into(), value: 1_000.0, unit: String::new() }],
            advice: "look again".into(),
        };
        let all = [finding(Severity::Error), finding(Severity::Note), finding(Severity::Note)];
        assert_eq!(findings_line(&all), "1 error, 2 notes");
        assert_eq!(findings_line(&[]), "nothing wrong was found");
        let row = &finding_rows(&all)[0];
        assert_eq!((row.state, row.place.as_str()), ("over", "line 3"));
        assert_eq!(row.numbers, ["completed 1,000"]);
        assert_eq!(row.message, "Counts disagree");
    }
}
