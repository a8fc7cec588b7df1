//! Tables: where they may go, and the two of `simulate`: every offered request, and the fleet over
//! time.
//!
//! Moments are integer picoseconds printed as seconds with 12 decimals, exactly. Everything else
//! is printed so that reading it back gives the same number. An empty cell is a value that never
//! came: over the column it counts as +∞.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use goodput_engine::accounts::report::SeriesPoint;
use goodput_engine::slo::{self, Contract, Fate, RequestStamps, Tpot};
use goodput_engine::units::{PICOS_PER_S, Picos};
use goodput_engine::workload::OfferedRequest;

use super::output::Failure;

/// Whether a table may go to `path`. `-` is standard output elsewhere, and that is taken by the
/// report.
pub fn check_table(path: &Path) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Err(Failure::Usage(
            "standard output holds the report, so a table cannot go there: name a file, or \
             /dev/stderr"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Makes the file at `path` and writes it.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Failure> {
    let cannot =
        |error: io::Error| Failure::Usage(format!("{} cannot be written: {error}", path.display()));
    let mut out = BufWriter::new(File::create(path).map_err(cannot)?);
    write(&mut out).map_err(cannot)
}

/// One line per request of the measurement window.
pub struct RequestTable<'a> {
    /// Every request of the run.
    pub requests: &'a [OfferedRequest],
    /// What happened to each.
    pub stamps: &'a [RequestStamps],
    /// Names of the classes.
    pub class_names: Vec<&'a str>,
    /// Contracts of the classes.
    pub contracts: &'a [Contract],
    /// Requests due before this are left out.
    pub warmup: Picos,
    /// USD per replica-second of each pool; no price, no cost.
    pub usd_per_replica_s: Vec<Option<f64>>,
}

const REQUEST_COLUMNS: [&str; 20] = [
    "request",
    "class",
    "due_s",
    "queued_s",
    "scheduled_s",
    "first_token_s",
    "completed_s",
    "input_tokens",
    "output_tokens",
    "ttft_ms",
    "tpot_ms",
    "longest_stall_ms",
    "e2e_ms",
    "attempts",
    "preemptions",
    "cached_tokens",
    "outcome",
    "cost",
    "ttfvt_ms",
    "gaps_above_itl_limit",
];

const SERIES_COLUMNS: [&str; 20] = [
    "t_s",
    "offered",
    "completed",
    "waiting",
    "waiting_past_limit",
    "running",
    "kv_used_tokens",
    "oldest_age_s",
    "backlog_tokens",
    "backlog_work_s",
    "waiting_work_s",
    "replicas",
    "offered_rps",
    "required_prefill_tps",
    "required_decode_tps",
    "prefill_tps",
    "decode_tps",
    "deferred",
    "backlog_prefill_tokens",
    "preemptions",
];

impl RequestTable<'_> {
    /// Writes the table.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record(REQUEST_COLUMNS)?;
        for (index, (request, stamps)) in self.requests.iter().zip(self.stamps).enumerate() {
            if request.due >= self.warmup {
                table.write_record(self.row(index, request, stamps))?;
            }
        }
        table.flush()
    }

    fn row(&self, index: usize, request: &OfferedRequest, stamps: &RequestStamps) -> [String; 20] {
        let class = request.class as usize;
        let completed = stamps.fate == Fate::Completed;
        let stall = stamps.longest_stall.as_millis();
        [
            index.to_string(),
            self.class_names[class].to_owned(),
            exact_seconds(request.due),
            moment(stamps.queued),
            moment(stamps.scheduled),
            moment(stamps.first_token),
            moment(stamps.ended.filter(|_| completed)),
            request.input_tokens.to_string(),
            request.output_tokens.to_string(),
            millis(slo::ttft(request, stamps)),
            number(slo::tpot(stamps).map(Tpot::as_millis)),
            number((completed && request.output_tokens > 1).then_some(stall)),
            millis(slo::e2e(request, stamps)),
            stamps.attempts.to_string(),
            stamps.preemptions.to_string(),
            stamps.cached_tokens.to_string(),
            slo::classify(&self.contracts[class], request, stamps).name().to_owned(),
            number(
                self.usd_per_replica_s[request.pool as usize]
                    .map(|usd| usd * stamps.busy.as_secs()),
            ),
            millis(slo::ttfvt(request, stamps)),
            // Without a limit nobody counted.
            self.contracts[class].itl.map_or_else(String::new, |_| stamps.gaps_above.to_string()),
        ]
    }
}

/// Writes the fleet over time.
pub fn write_series(series: &[SeriesPoint], out: impl Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(SERIES_COLUMNS)?;
    for point in series {
        table.write_record([
            point.t_s.to_string(),
            point.offered.to_string(),
            point.completed.to_string(),
            point.waiting.to_string(),
            point.waiting_past_limit.to_string(),
            point.running.to_string(),
            point.kv_used_tokens.to_string(),
            point.oldest_age_s.to_string(),
            point.backlog_tokens.to_string(),
            point.backlog_work_s.to_string(),
            point.waiting_work_s.to_string(),
            point.replicas.to_string(),
            point.offered_rps.to_string(),
            point.required_prefill_tps.to_string(),
            point.required_decode_tps.to_string(),
            point.prefill_tps.to_string(),
            point.decode_tps.to_string(),
            point.deferred.to_string(),
            point.backlog_prefill_tokens.to_string(),
            point.preemptions.to_string(),
        ])?;
    }
    table.flush()
}

/// Seconds with 12 decimals, from the integer itself.
fn exact_seconds(at: Picos) -> String {
    let sign = if at.0 < 0 { "-" } else { "" };
    let per_s = PICOS_PER_S.unsigned_abs();
    let picos = at.0.unsigned_abs();
    format!("{sign}{}.{:012}", picos / per_s, picos % per_s)
}

fn moment(at: Option<Picos>) -> String {
    at.map_or(String::new(), exact_seconds)
}

fn millis(span: Option<Picos>) -> String {
    number(span.map(Picos::as_millis))
}

fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picoseconds_are_printed_without_rounding() {
        for (picos, text) in [
            (0, "0.000000000000"),
            (1, "0.000000000001"),
            (1_000_000_000_000, "1.000000000000"),
            (123_456_789_012_345_678, "123456.789012345678"),
            (-1, "-0.000000000001"),
        ] {
            assert_eq!(exact_seconds(Picos(picos)), text);
        }
    }
}
