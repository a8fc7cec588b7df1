//! `goodput review`.

use std::io::{self, Write};
use std::path::Path;

use goodput_engine::accounts::words::{counted, percent, plural, thousands, three_digits};
use goodput_engine::ingest::{Notes, ParsedFile, Refusal};
use goodput_engine::problem::{Problem, Severity};
use goodput_engine::review::{
    MeasuredGoodput, ReviewReport, SignOff, SignedReview, report, report_under,
};
use goodput_engine::slo::parse_limits;

use super::args::{Crossing, ReviewArgs};
use super::output::{Answer, Failure, warn};
use super::text::Page;
use super::{accounting, csv, input, text};

pub fn run(args: &ReviewArgs) -> Result<Answer, Failure> {
    let contract = args.slo.as_deref().map(parse_limits).transpose()?;
    let tables = args.tables.reading()?;
    let files = args.files.iter().map(|path| (path, input::benchmark_files(path, &tables)));
    let opened: Vec<_> = files.collect();
    if opened.iter().all(|(_, files)| files.is_err()) {
        let problems = opened.into_iter().filter_map(|(_, files)| files.err());
        return Err(Failure::all(problems));
    }
    // One that cannot be opened is refused like one that cannot be understood, beside the others.
    let parsed: Vec<ParsedFile> = opened
        .into_iter()
        .flat_map(|(path, files)| match files {
            Ok(files) => files.into_iter().map(|file| file.file).collect(),
            Err(why) => vec![unreadable(path, &why)],
        })
        .collect();
    let report = match &contract {
        Some(contract) => {
            let crossings: Vec<_> = args.by.iter().map(|Crossing(by)| by.clone()).collect();
            report_under(&parsed, contract, &crossings)
        }
        None => report(&parsed),
    };
    let signed = SignedReview { report, sign_off: sign_off(args) };
    write_documents(args, &signed)?;
    let report = &signed.report;
    // A file that nobody could read is as grave as one that contradicts itself.
    let refused = report.files.iter().filter(|file| file.refused.is_some());
    let severities: Vec<Severity> = report
        .findings
        .iter()
        .map(|finding| finding.severity)
        .chain(refused.map(|_| Severity::Error))
        .collect();
    let text = in_words(report);
    let answer = match &args.reviewer {
        Some(_) => Answer::new(&signed, text)?,
        None => Answer::new(report, text)?,
    };
    Ok(answer.with_findings(severities))
}

fn sign_off(args: &ReviewArgs) -> SignOff {
    SignOff {
        reviewer: args.reviewer.clone().unwrap_or_default(),
        date: args.date.clone().unwrap_or_default(),
        decision: args.decision.unwrap_or_default(),
        note: args.note.clone().unwrap_or_default(),
        left_out: Vec::new(),
    }
}

/// The review as a page and its findings as a table, where they are asked for.
fn write_documents(args: &ReviewArgs, signed: &SignedReview) -> Result<(), Failure> {
    for path in [&args.html, &args.findings].into_iter().flatten() {
        csv::check_table(path)?;
    }
    if let Some(path) = &args.html {
        csv::write_file(path, |out| out.write_all(signed.html().as_bytes()))?;
    }
    if let Some(path) = &args.findings {
        csv::write_file(path, |out| {
            let table = signed.findings_csv().map_err(io::Error::other)?;
            out.write_all(table.as_bytes())
        })?;
    }
    Ok(())
}

fn goodput(page: &mut Page, judged: &MeasuredGoodput) {
    let row = judged.row.map_or(String::new(), |row| format!(" of run {row}"));
    page.heading(&format!("Of {}{row}", plural(judged.offered, "request", "requests")));
    for (outcome, count) in judged.outcomes.iter().filter(|(_, count)| **count > 0) {
        let share = *count as f64 / judged.offered.max(1) as f64;
        page.row(outcome.name(), &format!("{} ({})", thousands(*count as f64), percent(share)));
    }
    let rate = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), three_digits);
    page.row(
        "latency-only goodput",
        &format!(
            "{} good req/s beside {} input and {} output tok/s",
            rate(judged.good_rps),
            rate(judged.input_tps),
            rate(judged.output_tps)
        ),
    );
    page.line(&accounting::in_words(&judged.accounting));
}

/// What became of the rows of a file.
fn rows(page: &mut Page, notes: &Notes) {
    let used = thousands(notes.rows_used as f64);
    page.row("rows", &format!("{} read, {used} used", counted(notes.rows_read, &notes.counted)));
    for exclusion in &notes.excluded {
        let left_out = counted(exclusion.rows, &notes.counted);
        page.row("left out", &format!("{left_out}: {}", exclusion.reason));
    }
    for remark in &notes.remarks {
        page.row("note", remark);
    }
}

fn unreadable(path: &Path, why: &Failure) -> ParsedFile {
    let (message, hint) = match why {
        Failure::Problems(problems) => {
            problems.first().map(|p| (p.message.clone(), p.hint.clone())).unwrap_or_default()
        }
        Failure::Usage(message) => (message.clone(), String::new()),
    };
    warn(&[Problem::warning(path.display().to_string(), message.clone(), hint.clone())]);
    let refused = Some(Refusal::unreadable(message, hint));
    ParsedFile { file: path.display().to_string(), parsed: None, refused }
}

fn in_words(report: &ReviewReport) -> String {
    let mut page = Page::default();
    for file in &report.files {
        page.line(&file.file);
        if let Some(refused) = &file.refused {
            page.row("not read", &format!("{} ({})", refused.message, refused.hint));
            for looked_for in &refused.looked_for {
                page.row("looked for", looked_for);
            }
            continue;
        }
        let version = file.tool_version.as_deref().unwrap_or("version not in file");
        let format = file.format.as_deref().unwrap_or("–");
        page.row("format", &format!("{format}, {version}"));
        page.row("benchmark points", &file.points.len().to_string());
        page.row("requests one by one", &file.requests.to_string());
        if let Some(trace) = &file.trace {
            text::trace(&mut page, trace);
        }
        if let Some(lengths) = &file.lengths {
            page.row("requests finished", &thousands(lengths.requests as f64));
            for (label, mean) in [
                ("mean prompt", lengths.mean_input_tokens),
                ("mean output", lengths.mean_output_tokens),
            ] {
                page.row(label, &format!("{} tokens", text::or_dash(mean, three_digits)));
            }
            page.row("lengths for a class", "with --json, under `lengths`");
        }
        for judged in &file.goodput {
            goodput(&mut page, judged);
        }
        if let Some(notes) = &file.notes {
            rows(&mut page, notes);
        }
    }
    for finding in &report.findings {
        let row = finding.row.map_or(String::new(), |row| format!(":{row}"));
        let severity = finding.severity.word();
        page.line(&format!("{severity}: {}{row}: {}", finding.file, finding.message));
        if !finding.advice.is_empty() {
            page.line(&format!("  {}", finding.advice));
        }
    }
    page.into_text()
}
