//! The requests of a trace as its rows come, and what is said about them: shared by every format
//! that holds one request per row.

use super::parsed::{Contents, Notes};
use super::registry::Body;
use super::{MAX_ROWS, Refusal, RequestTrace};
use crate::counted::plural;

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TraceRow {
    /// Nanoseconds on the file's own clock: differences of integers are exact, those of floats
    /// since 1970 good to 200 ns only.
    pub due_ns: i64,
    pub input_tokens: u32,
    pub output_tokens: u32,
}

/// A trace as far as it was read.
#[derive(Default)]
pub(super) struct TraceRows {
    rows: Vec<TraceRow>,
    /// Rows read and left out, and why.
    excluded: Vec<(&'static str, u64)>,
    pub remarks: Vec<String>,
}

/// Steps of the stamps from which requests of one stamp are taken for a clock too coarse to part
/// them, nanoseconds.
const COARSE_NS: i64 = 100_000_000;

impl TraceRows {
    /// One more request.
    pub(super) fn push(&mut self, row: TraceRow) -> Result<(), Refusal> {
        if self.rows.len() == MAX_ROWS {
            return Err(Refusal::too_large(MAX_ROWS + 1, "rows or more", MAX_ROWS));
        }
        self.rows.push(row);
        Ok(())
    }

    /// A row that is no request of the workload.
    pub(super) fn exclude(&mut self, reason: &'static str) {
        match self.excluded.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, rows)) => *rows += 1,
            None => self.excluded.push((reason, 1)),
        }
    }

    /// The workload, and the account of the rows.
    pub(super) fn finish(mut self, started_at: Option<String>) -> Result<Body, Refusal> {
        let mut notes = Notes::new("requests");
        notes.rows_used = self.rows.len() as u64;
        notes.rows_read = notes.rows_used + self.excluded.iter().map(|(_, rows)| rows).sum::<u64>();
        if self.rows.is_empty() {
            return Err(match self.excluded.first() {
                Some((reason, _)) => Refusal::broken(
                    format!("none of the {} rows is a request: {reason}", notes.rows_read),
                    "compare the file with its format's description",
                ),
                None => Refusal::empty("the trace holds no requests"),
            });
        }
        for (reason, rows) in self.excluded {
            notes.exclude(rows, reason);
        }
        notes.remarks = self.remarks;
        let late = self.rows.windows(2).filter(|pair| pair[1].due_ns < pair[0].due_ns).count();
        if late > 0 {
            notes.remark(plural(
                late as u64,
                "row is stamped before the row above it: requests were sorted by time",
                "rows are stamped before the row above them: requests were sorted by time",
            ));
            self.rows.sort_by_key(|row| row.due_ns);
        }
        let silent = self.rows.iter().filter(|row| row.output_tokens == 0).count();
        if silent > 0 {
            notes.remark(plural(
                silent as u64,
                "request has no generated token; it was kept",
                "requests have no generated token; they were kept",
            ));
        }
        let trace = RequestTrace {
            due_s: due_s(&self.rows, &mut notes),
            input_tokens: self.rows.iter().map(|row| row.input_tokens).collect(),
            output_tokens: self.rows.iter().map(|row| row.output_tokens).collect(),
            started_at,
        };
        Ok(Body { tool_version: None, contents: Contents::Trace(trace), notes })
    }
}

/// Seconds after the first request. Where most requests share their stamp with the one before, on
/// a clock that moves in coarse steps, those of one stamp are spread evenly over its step.
fn due_s(rows: &[TraceRow], notes: &mut Notes) -> Vec<f64> {
    let first = rows.first().map_or(0, |row| row.due_ns);
    let gaps = || rows.windows(2).map(|pair| pair[1].due_ns - pair[0].due_ns);
    let shared = gaps().filter(|gap| *gap == 0).count();
    let step = gaps().filter(|gap| *gap > 0).min();
    let step = step.filter(|step| *step >= COARSE_NS && 2 * shared >= rows.len()).unwrap_or(0);
    if step > 0 {
        notes.remark(format!(
            "the clock moves in steps of {} s and {} share the stamp of the one before: those of \
             one stamp were spread evenly over the step, so bursts shorter than it are not known",
            step as f64 / 1e9,
            plural(shared as u64, "request", "requests")
        ));
    }
    let mut due_s = Vec::with_capacity(rows.len());
    for group in rows.chunk_by(|a, b| a.due_ns == b.due_ns) {
        let since = (group[0].due_ns - first) as f64 / 1e9;
        let apart = step as f64 / 1e9 / group.len() as f64;
        due_s.extend((0..group.len()).map(|place| since + place as f64 * apart));
    }
    due_s
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(stamps_ms: &[i64]) -> (Vec<f64>, usize) {
        let mut rows = TraceRows::default();
        for stamp in stamps_ms {
            let due_ns = stamp * 1_000_000;
            rows.push(TraceRow { due_ns, input_tokens: 1, output_tokens: 1 }).unwrap();
        }
        let body = rows.finish(None).unwrap();
        let Contents::Trace(trace) = body.contents else { panic!("a trace") };
        (trace.due_s, body.notes.remarks.len())
    }

    #[test]
    fn a_coarse_clock_is_spread_and_a_fine_one_is_left_alone() {
        let coarse = [0, 0, 0, 3_000, 3_000, 6_000, 6_000, 6_000];
        assert_eq!(due(&coarse), (vec![0.0, 1.0, 2.0, 3.0, 4.5, 6.0, 7.0, 8.0], 1));
        for (fine, expected) in [
            ([500, 500, 500, 501], vec![0.0, 0.0, 0.0, 0.001]),
            ([0, 3_000, 6_000, 6_000], vec![0.0, 3.0, 6.0, 6.0]),
            ([7, 7, 7, 7], vec![0.0; 4]),
        ] {
            assert_eq!(due(&fine), (expected, 0), "{fine:?}");
        }
    }

    #[test]
    fn a_spread_request_stays_in_its_step_and_in_order() {
        let stamps: Vec<i64> = (0..200).map(|i| i / 7 * 1_000).collect();
        let (due, _) = due(&stamps);
        assert!(due.windows(2).all(|pair| pair[0] < pair[1]));
        for (due, stamp) in due.iter().zip(stamps) {
            let step = stamp as f64 / 1e3;
            assert!((step..step + 1.0).contains(due), "{due} of {step}");
        }
    }
}
