//! Request traces in CSV, one request per row: Azure's, BurstGPT, Vidur's, splitwise-sim's, and a
//! template of our own for any other.
//!
//! - Azure: <https://github.com/Azure/AzurePublicDataset> (2023, 2024). Stamps carry seven
//!   fractional digits; lines end in CRLF, the last often not at all.
//! - BurstGPT: <https://github.com/HPMLL/BurstGPT> (1, 2, and 3 with sessions). Seconds since a
//!   midnight; a request that failed has 0 response tokens.
//! - Vidur: <https://github.com/microsoft/vidur>, processed traces. Seconds since the start.
//! - splitwise-sim: <https://github.com/Mutinifni/splitwise-sim>. Seconds since the start.
//!
//! Columns are found by name; others, such as `NumImages`, are named in the notes.

use csv::ByteRecord;

use super::csv_table::{self, Delimiter, trimmed};
use super::quantity::{quantity, tokens};
use super::registry::{Body, FormatDescription, Head};
use super::trace_rows::{TraceRow, TraceRows};
use super::{Refusal, timestamp};

pub(super) const AZURE: FormatDescription = FormatDescription {
    id: "azure_llm_trace",
    title: "Azure LLM inference trace (CSV)",
    looks_for: "a CSV header with TIMESTAMP, ContextTokens and GeneratedTokens",
    docs: "https://github.com/Azure/AzurePublicDataset",
    sniff: |head| AZURE_COLUMNS.are_in(head),
    parse: |text| parse(text, &AZURE_COLUMNS),
};

pub(super) const BURSTGPT: FormatDescription = FormatDescription {
    id: "burstgpt_trace",
    title: "BurstGPT trace (CSV)",
    looks_for: "a CSV header with Timestamp, Request tokens and Response tokens",
    docs: "https://github.com/HPMLL/BurstGPT",
    sniff: |head| BURSTGPT_COLUMNS.are_in(head),
    parse: |text| parse(text, &BURSTGPT_COLUMNS),
};

pub(super) const VIDUR: FormatDescription = FormatDescription {
    id: "vidur_trace",
    title: "Vidur trace (CSV)",
    looks_for: "a CSV header with arrived_at, num_prefill_tokens and num_decode_tokens",
    docs: "https://github.com/microsoft/vidur",
    sniff: |head| VIDUR_COLUMNS.are_in(head),
    parse: |text| parse(text, &VIDUR_COLUMNS),
};

pub(super) const SPLITWISE: FormatDescription = FormatDescription {
    id: "splitwise_sim_trace",
    title: "splitwise-sim trace (CSV)",
    looks_for: "a CSV header with arrival_timestamp, prompt_size and token_size",
    docs: "https://github.com/Mutinifni/splitwise-sim",
    sniff: |head| SPLITWISE_COLUMNS.are_in(head),
    parse: |text| parse(text, &SPLITWISE_COLUMNS),
};

pub(super) const TEMPLATE: FormatDescription = FormatDescription {
    id: "trace_table",
    title: "trace of requests (CSV)",
    looks_for: "a CSV header with arrival_s, input_tokens and output_tokens",
    docs: "https://github.com/Azure/AzurePublicDataset",
    sniff: |head| TEMPLATE_COLUMNS.are_in(head),
    parse: |text| parse(text, &TEMPLATE_COLUMNS),
};

/// The columns of a trace.
struct Columns {
    stamp: &'static str,
    input: &'static str,
    output: &'static str,
    clock: Clock,
    /// Why a row without output is no request; `None` if it is one.
    without_output: Option<&'static str>,
}

/// How stamps are written.
#[derive(PartialEq)]
enum Clock {
    Calendar,
    Seconds,
}

const AZURE_COLUMNS: Columns = Columns {
    stamp: "TIMESTAMP",
    input: "ContextTokens",
    output: "GeneratedTokens",
    clock: Clock::Calendar,
    without_output: None,
};

const BURSTGPT_COLUMNS: Columns = Columns {
    stamp: "Timestamp",
    input: "Request tokens",
    output: "Response tokens",
    clock: Clock::Seconds,
    without_output: Some(
        "0 response tokens mark a request that failed: how long its answer would be is not known",
    ),
};

const VIDUR_COLUMNS: Columns = Columns {
    stamp: "arrived_at",
    input: "num_prefill_tokens",
    output: "num_decode_tokens",
    clock: Clock::Seconds,
    without_output: None,
};

const SPLITWISE_COLUMNS: Columns = Columns {
    stamp: "arrival_timestamp",
    input: "prompt_size",
    output: "token_size",
    clock: Clock::Seconds,
    without_output: None,
};

const TEMPLATE_COLUMNS: Columns = Columns {
    stamp: "arrival_s",
    input: "input_tokens",
    output: "output_tokens",
    clock: Clock::Seconds,
    without_output: None,
};

const DELIMITER: Delimiter = Delimiter::Comma;

impl Columns {
    fn are_in(&self, head: &Head) -> bool {
        self.places(&csv_table::header_cells(head.first_line, DELIMITER)).is_some()
    }

    /// Where the three columns are.
    fn places(&self, header: &[String]) -> Option<[usize; 3]> {
        let place = |name: &str| header.iter().position(|cell| cell.eq_ignore_ascii_case(name));
        Some([place(self.stamp)?, place(self.input)?, place(self.output)?])
    }

    fn row(&self, places: [usize; 3], line: u64, cells: &ByteRecord) -> Result<TraceRow, Refusal> {
        let [stamp, input, output] = places.map(|place| cells.get(place).unwrap_or_default());
        let (due_ns, hint) = match self.clock {
            Clock::Calendar => {
                (timestamp::parse_ns(stamp.trim_ascii()), "write it as 2024-05-10 00:00:00.0099300")
            }
            Clock::Seconds => (
                trimmed(stamp).parse().ok().and_then(seconds_ns),
                "write it as a number of seconds, 12.5",
            ),
        };
        let count = |name: &str, cell: &[u8]| {
            let whole = || tokens(trimmed(cell).parse().ok()?).ok();
            whole().ok_or_else(|| {
                broken(line, name, cell, "a whole number of tokens, at most 4294967295")
            })
        };
        Ok(TraceRow {
            due_ns: due_ns.ok_or_else(|| broken(line, self.stamp, stamp, hint))?,
            input_tokens: count(self.input, input)?,
            output_tokens: count(self.output, output)?,
        })
    }
}

fn parse(text: &str, columns: &Columns) -> Result<Body, Refusal> {
    let mut found: Option<[usize; 3]> = None;
    let mut first: Option<(i64, String)> = None;
    let mut trace = TraceRows::default();
    csv_table::for_each_row(text, DELIMITER, |record| {
        let Some(places) = found else {
            let names: Vec<String> = record.cells.iter().map(|c| trimmed(c).to_owned()).collect();
            found = columns.places(&names);
            trace.remarks.extend(not_used(&names, found.unwrap_or_default()));
            return Ok(());
        };
        let row = columns.row(places, record.line, record.cells)?;
        match columns.without_output {
            Some(reason) if row.output_tokens == 0 => {
                trace.exclude(reason);
                return Ok(());
            }
            _ => {}
        }
        if columns.clock == Clock::Calendar && first.as_ref().is_none_or(|f| row.due_ns < f.0) {
            let stamp = record.cells.get(places[0]).unwrap_or_default();
            first = Some((row.due_ns, trimmed(stamp).to_owned()));
        }
        trace.push(row)
    })?;
    trace.finish(first.map(|(_, stamp)| stamp))
}

/// The other columns, by name.
fn not_used(names: &[String], used: [usize; 3]) -> Option<String> {
    let others: Vec<String> = names
        .iter()
        .enumerate()
        .filter(|(place, _)| !used.contains(place))
        .map(|(place, name)| match name.as_str() {
            "" => format!("column {} (unnamed)", place + 1),
            name => name.to_owned(),
        })
        .collect();
    (!others.is_empty()).then(|| format!("columns not used: {}", others.join(", ")))
}

/// Nanoseconds of a stamp in seconds, which may count from 1970 but not beyond 2255.
#[expect(clippy::cast_possible_truncation, reason = "at most 9e18")]
pub(super) fn seconds_ns(seconds: f64) -> Option<i64> {
    let seconds = quantity(seconds).ok().filter(|seconds| *seconds <= 9e9)?;
    Some((seconds * 1e9).round() as i64)
}

fn broken(line: u64, column: &str, cell: &[u8], hint: &str) -> Refusal {
    let shown: String = trimmed(cell).chars().take(40).collect();
    Refusal::broken(format!("line {line}: {column} is \"{shown}\""), hint).at_line(line)
}
