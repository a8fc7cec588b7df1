//! One point with its records, and the quantities more than one check asks of it.

use crate::ingest::{BenchmarkPoint, LatencyStats, Load, ParsedFile, RecordOutcome, RequestRecord};

/// Sent ÷ asked below which a load was not the one asked for.
const LEAST_RATE_SHARE: f64 = 0.95;

/// Part by which lengths of points on one curve may differ.
const SAME_LENGTHS: f64 = 0.25;

/// A point under review.
pub(super) struct Subject<'a> {
    /// File it is in.
    pub file: &'a str,
    /// Id of that file's format.
    pub format: &'a str,
    pub point: &'a BenchmarkPoint,
    pub records: &'a [RequestRecord],
}

/// A mean E2E and whether the file states it.
#[derive(Clone, Copy)]
pub(super) struct WholeRequest {
    pub ms: f64,
    pub stated: bool,
}

impl<'a> Subject<'a> {
    /// Every point of a file with the records that name it. Records are grouped by point.
    pub(super) fn all(file: &'a ParsedFile) -> Vec<Self> {
        let Some(parsed) = &file.parsed else { return Vec::new() };
        let records = parsed.records();
        parsed
            .points()
            .iter()
            .enumerate()
            .map(|(index, point)| {
                let before = |record: &RequestRecord| (record.point as usize) < index;
                let upto = |record: &RequestRecord| (record.point as usize) <= index;
                let begin = records.partition_point(before);
                let end = records.partition_point(upto);
                Self {
                    file: &file.file,
                    format: parsed.format.id(),
                    point,
                    records: &records[begin..end.max(begin)],
                }
            })
            .collect()
    }

    /// The load as a number, of the kinds that have one.
    pub(super) fn load_value(&self) -> Option<f64> {
        match self.point.load {
            Load::Concurrency { requests } => Some(requests as f64),
            Load::RequestRate { rps } => Some(rps),
            Load::Unbounded | Load::Ramp { .. } | Load::Unstated => None,
        }
    }

    /// Whether two points may stand on one curve: one tool, one kind of load, one context, lengths
    /// that differ by less than a quarter.
    pub(super) fn same_curve(&self, other: &Self) -> bool {
        let (one, two) = (self.point, other.point);
        let same_kind = matches!(
            (one.load, two.load),
            (Load::Concurrency { .. }, Load::Concurrency { .. })
                | (Load::RequestRate { .. }, Load::RequestRate { .. })
        );
        let lengths = [(one.input, two.input), (one.output, two.output)];
        let same_lengths = lengths.into_iter().all(|pair| match pair {
            (Some(a), Some(b)) => {
                let longer = a.mean_tokens.max(b.mean_tokens);
                (a.mean_tokens - b.mean_tokens).abs() <= SAME_LENGTHS * longer
            }
            (None, None) => true,
            _ => false,
        });
        self.format == other.format
            && same_kind
            && same_lengths
            && one.context == two.context
            && one.label == two.label
    }

    /// Records with an outcome.
    pub(super) fn ending(&self, outcome: RecordOutcome) -> impl Iterator<Item = &RequestRecord> {
        self.records.iter().filter(move |record| record.outcome == outcome)
    }

    /// Something was answered, as far as the counts say.
    pub(super) fn answered(&self) -> bool {
        self.point.completed != Some(0) && self.mean_output() != Some(0.0)
    }

    /// Mean prompt tokens.
    pub(super) fn mean_input(&self) -> Option<f64> {
        self.point.input.map(|input| input.mean_tokens)
    }

    /// Mean output tokens.
    pub(super) fn mean_output(&self) -> Option<f64> {
        self.point.output.map(|output| output.mean_tokens)
    }

    /// Requests attempted, where the file counts them.
    pub(super) fn attempted(&self) -> Option<u64> {
        self.point.num_prompts.or_else(|| self.point.completed?.checked_add(self.point.failed?))
    }

    /// Completed requests per second, from the counts where they are there: printed rates are
    /// often rounded to two decimals.
    pub(super) fn completed_rps(&self) -> Option<f64> {
        self.counted_rps().or(self.point.completed_rps)
    }

    /// Completed ÷ duration.
    pub(super) fn counted_rps(&self) -> Option<f64> {
        let duration_s = self.point.duration_s.filter(|&duration| duration > 0.0)?;
        Some(self.point.completed? as f64 / duration_s)
    }

    /// Share of the asked rate below which a run was not at it: 0.95, less where so few requests
    /// were sent that their random gaps explain a slower rate (three standard errors).
    pub(super) fn least_rate_share(&self) -> f64 {
        let gap_cv = self
            .point
            .burstiness
            .filter(|&shape| shape > 0.0)
            .map_or(1.0, |shape| 1.0 / shape.sqrt());
        let noise = self
            .attempted()
            .filter(|&sent| sent > 0)
            .map_or(0.0, |sent| 3.0 * gap_cv / (sent as f64).sqrt());
        (1.0 - noise).min(LEAST_RATE_SHARE)
    }

    /// Requests in flight of a closed loop.
    pub(super) fn closed_loop(&self) -> Option<f64> {
        match self.point.load {
            Load::Concurrency { requests } if requests > 0 => Some(requests as f64),
            _ => None,
        }
    }

    /// Mean E2E as stated, else TTFT + (n − 1) · TPOT.
    pub(super) fn whole_request(&self) -> Option<WholeRequest> {
        let stated = self.point.e2e.as_ref().and_then(|stats| stats.mean_ms);
        stated
            .map(|ms| WholeRequest { ms, stated: true })
            .or_else(|| Some(WholeRequest { ms: self.sum_of_parts_ms()?, stated: false }))
            .filter(|whole| whole.ms > 0.0)
    }

    /// TTFT + (n − 1) · TPOT of the means, milliseconds.
    pub(super) fn sum_of_parts_ms(&self) -> Option<f64> {
        let ttft = mean(self.point.ttft.as_ref())?;
        let after_first = self.mean_output()? - 1.0;
        if after_first <= 0.0 {
            return Some(ttft);
        }
        Some(ttft + after_first * mean(self.point.tpot.as_ref())?)
    }
}

/// The stated mean, milliseconds.
pub(super) fn mean(stats: Option<&LatencyStats>) -> Option<f64> {
    stats?.mean_ms
}
