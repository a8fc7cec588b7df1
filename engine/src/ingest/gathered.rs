//! Points and records as the runs of a file come, with the account of them.

use super::parsed::{Contents, Notes, RowRemarks};
use super::registry::Body;
use super::{BenchmarkPoint, MAX_ROWS, Refusal, RequestRecord};

/// What has been read of a file so far.
#[derive(Default)]
pub(super) struct Gathered {
    pub points: Vec<BenchmarkPoint>,
    pub records: Vec<RequestRecord>,
    pub remarks: RowRemarks,
    pub tool_version: Option<String>,
    excluded: Vec<(u64, String)>,
    /// What was left out were runs, not requests.
    of_runs: bool,
}

impl Gathered {
    /// Index the next point will have.
    pub(super) fn next_index(&self) -> u32 {
        u32::try_from(self.points.len()).unwrap_or(u32::MAX)
    }

    /// The next run, counted from 1.
    pub(super) fn next_row(&self) -> u64 {
        self.points.len() as u64 + 1
    }

    /// Refuses a file that would hold more than [`MAX_ROWS`] with `more` rows on top.
    pub(super) fn make_room(&self, more: usize) -> Result<(), Refusal> {
        let found = self.records.len() + self.points.len() + more;
        if found > MAX_ROWS {
            return Err(Refusal::too_large(found, "runs and requests or more", MAX_ROWS));
        }
        Ok(())
    }

    /// Requests that were read and are not used.
    pub(super) fn exclude(&mut self, rows: u64, reason: impl Into<String>) {
        if rows > 0 {
            let reason = reason.into();
            match self.excluded.iter_mut().find(|(_, known)| *known == reason) {
                Some((sum, _)) => *sum += rows,
                None => self.excluded.push((rows, reason)),
            }
        }
    }

    /// A run that was read and is no point.
    pub(super) fn exclude_run(&mut self, reason: &str) {
        self.of_runs = true;
        self.exclude(1, reason);
    }

    /// Why nothing can be used, where nothing can.
    pub(super) fn nothing_left(&self) -> Option<&str> {
        let nothing = self.points.is_empty() && self.records.is_empty();
        self.excluded.first().filter(|_| nothing).map(|(_, reason)| reason.as_str())
    }

    /// The account: of requests where the file has any, else of `runs`.
    pub(super) fn finish(self, runs: &str) -> Body {
        let excluded: u64 = self.excluded.iter().map(|(rows, _)| rows).sum();
        let of_runs = self.of_runs || (self.records.is_empty() && excluded == 0);
        let mut notes = Notes::new(if of_runs { runs } else { "requests" });
        notes.rows_used =
            if of_runs { self.points.len() as u64 } else { self.records.len() as u64 };
        notes.rows_read = notes.rows_used + excluded;
        for (rows, reason) in self.excluded {
            notes.exclude(rows, reason);
        }
        notes.remark_all(self.remarks);
        let contents = Contents::Benchmark { points: self.points, records: self.records };
        Body { tool_version: self.tool_version, contents, notes }
    }
}
