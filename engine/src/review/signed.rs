//! A review that is handed on: who read what, what was found, what was left out and why, and what the
//! reviewer decided. One page of HTML that opens without a network, or a table of the findings.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::{Figure, Finding, ReviewReport};
use crate::counted::plural;
use crate::ingest::{BenchmarkPoint, LatencyStats, Load, TokenKind};

/// A review with its reviewer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SignedReview {
    /// What is in the files and what is wrong with it.
    #[serde(flatten)]
    pub report: ReviewReport,
    /// Who says so.
    pub sign_off: SignOff,
}

/// What a reviewer adds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SignOff {
    /// Name of the reviewer; empty where nobody signed.
    #[serde(default)]
    pub reviewer: String,
    /// Day of the review, as the reviewer wrote it.
    #[serde(default)]
    pub date: String,
    /// What the reviewer decided.
    #[serde(default)]
    pub decision: Decision,
    /// In the reviewer's words.
    #[serde(default)]
    pub note: String,
    /// Points that the reviewer left out.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
}

/// A decision about the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// None yet.
    #[default]
    Open,
    /// They may be planned with.
    Accepted,
    /// They may be planned with as far as nothing is left out.
    AcceptedInPart,
    /// They may not.
    Rejected,
}

impl Decision {
    /// All, in the order of a list.
    pub const ALL: [Self; 4] = [Self::Open, Self::Accepted, Self::AcceptedInPart, Self::Rejected];

    /// As the document writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Accepted => "accepted",
            Self::AcceptedInPart => "accepted_in_part",
            Self::Rejected => "rejected",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Open => "not decided",
            Self::Accepted => "accepted",
            Self::AcceptedInPart => "accepted in part",
            Self::Rejected => "rejected",
        }
    }
}

/// A point that is not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its file.
    pub file: String,
    /// Its row in that file.
    pub row: Option<u64>,
    /// Why.
    pub reason: String,
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;\
padding:0 1rem;color:#1b1f24;background:#fff}table{border-collapse:collapse;margin:.5rem 0 1.5rem;\
width:100%}th,td{border-bottom:1px solid #d5d9df;padding:.35rem .75rem .35rem 0;text-align:left;\
vertical-align:top}td.n{text-align:right;font-variant-numeric:tabular-nums}.error{color:#a8201a}\
.warning{color:#8a5a00}.note{color:#4a5561}@media(prefers-color-scheme:dark){body{color:#e6e9ed;\
background:#14171b}th,td{border-color:#3a414a}.error{color:#ff8f88}.warning{color:#f0b757}\
.note{color:#aab4c0}}";

const POINT_HEADS: [&str; 8] = [
    "Row",
    "Load",
    "Requests",
    "Failed",
    "Input tokens",
    "Output tokens",
    "Output tok/s",
    "TTFT mean or median, ms",
];

impl SignedReview {
    /// One page of HTML without a script, a font, an image or a link to anywhere.
    pub fn html(&self) -> String {
        let mut page =
            String::from("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        page.push_str("<meta name=\"viewport\" content=\"width=device-width\">");
        page.push_str("<title>Review of benchmark results</title><style>");
        page.push_str(STYLE);
        page.push_str("</style></head><body>\n<h1>Review of benchmark results</h1>\n");
        self.signature(&mut page);
        page.push_str("<h2>Findings</h2>\n");
        self.findings(&mut page);
        for file in &self.report.files {
            tag(&mut page, "h2", &file.file);
            let format = file.format.as_deref().unwrap_or("not recognised");
            let version = file.tool_version.as_deref().unwrap_or("version not in file");
            tag(&mut page, "p", &format!("{format}, {version}"));
            if let Some(refused) = &file.refused {
                tag(&mut page, "p", &format!("Not read: {} ({})", refused.message, refused.hint));
            }
            if !file.points.is_empty() {
                table(&mut page, &POINT_HEADS, file.points.iter().map(point_cells), 2);
            }
            for exclusion in file.notes.iter().flat_map(|notes| &notes.excluded) {
                let rows = plural(exclusion.rows, "row", "rows");
                tag(&mut page, "p", &format!("Left out: {rows}: {}", exclusion.reason));
            }
        }
        page.push_str("</body></html>\n");
        page
    }

    /// The findings as CSV, one a line.
    ///
    /// # Errors
    /// None in practice: it is written into memory.
    pub fn findings_csv(&self) -> Result<String, csv::Error> {
        let mut table = csv::Writer::from_writer(Vec::new());
        table.write_record(["severity", "code", "file", "row", "finding", "numbers", "advice"])?;
        for finding in &self.report.findings {
            let row = finding.row.map_or(String::new(), |row| row.to_string());
            let Finding { code, file, message, advice, .. } = finding;
            let cells =
                [finding.severity.word(), code, file, &row, message, &numbers(finding), advice];
            table.write_record(cells)?;
        }
        let bytes = table.into_inner().map_err(csv::IntoInnerError::into_error)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn signature(&self, page: &mut String) {
        let SignOff { reviewer, date, decision, note, left_out } = &self.sign_off;
        let who = if reviewer.is_empty() { "nobody signed" } else { reviewer };
        let when = if date.is_empty() { "no date" } else { date };
        let rows = [("Reviewer", who), ("Date", when), ("Decision", decision.words())];
        let rows = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value.to_owned()]);
        table(page, &["Sign-off", ""], rows, usize::MAX);
        if !note.is_empty() {
            tag(page, "p", note);
        }
        if !left_out.is_empty() {
            tag(page, "h2", "Left out by the reviewer");
            let cells = |out: &LeftOut| vec![out.file.clone(), row_of(out.row), out.reason.clone()];
            table(page, &["File", "Row", "Reason"], left_out.iter().map(cells), usize::MAX);
        }
    }

    fn findings(&self, page: &mut String) {
        if self.report.findings.is_empty() {
            tag(page, "p", "Nothing was found.");
            return;
        }
        page.push_str("<table><thead><tr>");
        for head in ["Severity", "File", "Row", "Finding", "Numbers", "What to do"] {
            tag(page, "th", head);
        }
        page.push_str("</tr></thead><tbody>\n");
        for finding in &self.report.findings {
            // Writing to a string cannot fail.
            let _ = write!(page, "<tr><td class=\"{0}\">{0}</td>", finding.severity.word());
            let Finding { file, row, message, advice, .. } = finding;
            for cell in [file, &row_of(*row), message, &numbers(finding), advice] {
                tag(page, "td", cell);
            }
            page.push_str("</tr>\n");
        }
        page.push_str("</tbody></table>\n");
    }
}

fn row_of(row: Option<u64>) -> String {
    row.map_or(String::new(), |row| row.to_string())
}

fn numbers(finding: &Finding) -> String {
    let figure = |Figure { name, value, unit }: &Figure| format!("{name} {value} {unit}");
    let all: Vec<String> = finding.numbers.iter().map(figure).collect();
    all.iter().map(|number| number.trim_end()).collect::<Vec<_>>().join("; ")
}

fn point_cells(point: &BenchmarkPoint) -> Vec<String> {
    let load = match point.load {
        Load::RequestRate { rps } => format!("{rps} req/s"),
        Load::Concurrency { requests } => format!("{requests} in flight"),
        Load::Unbounded => "all at once".to_owned(),
        Load::Ramp { from_rps, to_rps } => format!("{from_rps} to {to_rps} req/s"),
        Load::Unstated => "not stated".to_owned(),
    };
    let count = |count: Option<u64>| count.map_or("–".to_owned(), |count| count.to_string());
    let number = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.1}"));
    vec![
        row_of(point.row),
        load,
        count(point.num_prompts.or(point.completed)),
        count(point.failed),
        number(point.input.map(|length| length.mean_tokens)),
        number(point.output.map(|length| length.mean_tokens)),
        number(point.tps(TokenKind::Output)),
        number(point.ttft.as_ref().and_then(LatencyStats::typical_ms)),
    ]
}

/// A table whose cells from `numbers_from` on are numbers.
fn table(
    page: &mut String,
    heads: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
    numbers_from: usize,
) {
    page.push_str("<table><thead><tr>");
    for head in heads {
        tag(page, "th", head);
    }
    page.push_str("</tr></thead><tbody>\n");
    for row in rows {
        page.push_str("<tr>");
        for (place, cell) in row.iter().enumerate() {
            let class = if place >= numbers_from { " class=\"n\"" } else { "" };
            let _ = write!(page, "<td{class}>{}</td>", escaped(cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table>\n");
}

fn tag(page: &mut String, tag: &str, text: &str) {
    let _ = writeln!(page, "<{tag}>{}</{tag}>", escaped(text));
}

/// Text as HTML shows it: whatever a file holds, it is never markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::read_files;
    use crate::review::report;

    const TABLE: &str = "label,max_concurrency,num_prompts,completed,failed,mean_input_tokens,\
                         mean_output_tokens,output_tps,ttft_mean_ms\n\
                         <b>c8</b>,8,100,100,0,512,256,860,55\n";

    fn signed(note: &str) -> SignedReview {
        let files = read_files("<script>alert(1)</script>.csv", TABLE.as_bytes());
        SignedReview {
            report: report(&files),
            sign_off: SignOff {
                reviewer: "A. \"Ada\" <a@example.org>".to_owned(),
                date: "2026-10-01".to_owned(),
                decision: Decision::AcceptedInPart,
                note: note.to_owned(),
                left_out: vec![LeftOut {
                    file: "x.csv".to_owned(),
                    row: Some(2),
                    reason: "warm prefixes & one prompt".to_owned(),
                }],
            },
        }
    }

    #[test]
    fn a_page_shows_everything_and_asks_nobody_for_anything() {
        let review = signed("fine <for> chat");
        let html = review.html();
        for part in [
            "A. &quot;Ada&quot; &lt;a@example.org&gt;",
            "2026-10-01",
            "accepted in part",
            "fine &lt;for&gt; chat",
            "warm prefixes &amp; one prompt",
            "&lt;script&gt;alert(1)&lt;/script&gt;.csv",
            "8 in flight",
        ] {
            assert!(html.contains(part), "{part}");
        }
        for finding in &review.report.findings {
            assert!(html.contains(&escaped(&finding.message)), "{}", finding.message);
        }
        for outside in ["<script", "http", "src=", "href=", "@import", "url("] {
            assert!(!html.contains(outside), "{outside}");
        }
        assert_eq!(html.matches("<table>").count(), html.matches("</table>").count());
    }

    #[test]
    fn the_table_of_findings_has_a_line_for_each() {
        let review = signed("");
        assert!(!review.report.findings.is_empty());
        let text = review.findings_csv().expect("in memory");
        let mut table = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<_> = table.records().collect::<Result<_, _>>().expect("well formed");
        assert_eq!(rows.len(), review.report.findings.len());
        for (row, finding) in rows.iter().zip(&review.report.findings) {
            assert_eq!((&row[1], &row[4]), (finding.code.as_str(), finding.message.as_str()));
        }
    }

    #[test]
    fn a_signed_review_is_read_back_as_it_was_written() {
        let review = signed("note");
        let text = serde_json::to_string(&review).expect("plain data");
        let read: SignedReview = serde_json::from_str(&text).expect("the same shape");
        assert_eq!(read, review);
    }
}
