//! How answers stream, by event and by token: one event may carry several tokens, and then the gap
//! between events (ITL) is several times the time per token (TPOT).

use serde::{Deserialize, Serialize};

use super::Case;
use crate::slo::{Contract, Limit};

/// Tokens per event from which a stream counts as bundled.
const BUNDLED: f64 = 1.3;

/// Streams of answers of at least two tokens.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Streams {
    /// Answers of which the way they came is known.
    pub streams: u64,
    /// Mean gap between two events, milliseconds: ITL.
    pub event_gap_ms: Option<f64>,
    /// Mean time per token after the first, over the same tokens, milliseconds.
    pub token_gap_ms: Option<f64>,
    /// Tokens that one event carries, over all of them.
    pub tokens_per_event: Option<f64>,
    /// Streams of which an event carries at least 1.3 tokens on average.
    pub bundled: u64,
    /// Where a limit is on one of them and the data on the other, in words.
    pub warnings: Vec<String>,
}

impl Streams {
    /// Of `cases`, judged by `contracts`.
    pub fn of(cases: &[Case], contracts: &[Contract]) -> Self {
        let mut totals = Totals::default();
        for stream in cases.iter().filter_map(|case| case.stream) {
            totals.streams += 1;
            totals.events += u64::from(stream.event_gaps);
            totals.tokens += u64::from(stream.token_gaps);
            totals.span_ms += stream.span.as_millis();
            let per_event = f64::from(stream.token_gaps) / f64::from(stream.event_gaps.max(1));
            totals.bundled += u64::from(per_event >= BUNDLED);
        }
        let per = |count: u64| (count > 0).then(|| totals.span_ms / count as f64);
        let mut streams = Self {
            streams: totals.streams,
            event_gap_ms: per(totals.events),
            token_gap_ms: per(totals.tokens),
            tokens_per_event: (totals.events > 0)
                .then(|| totals.tokens as f64 / totals.events as f64),
            bundled: totals.bundled,
            warnings: Vec::new(),
        };
        streams.warnings = streams.warn(cases, contracts);
        streams
    }

    fn warn(&self, cases: &[Case], contracts: &[Contract]) -> Vec<String> {
        let mut warnings = Vec::new();
        let limited = |limit| contracts.iter().any(|contract| contract.limit(limit).is_some());
        let per_event = self.tokens_per_event.unwrap_or(1.0);
        let ranked = |contract: &Contract| {
            contract.percentile_targets.iter().any(|target| target.of == Limit::Stall)
        };
        let on_gaps = [
            (limited(Limit::Stall), "the limit on the longest stall"),
            (limited(Limit::Itl), "the limit on a percentile of ITL"),
            (contracts.iter().any(ranked), "the percentile target on the longest stall"),
        ];
        for (_, what) in on_gaps.iter().filter(|(is_set, _)| *is_set && per_event >= BUNDLED) {
            warnings.push(format!(
                "{what} is on gaps between events, and an event carries {per_event:.1} tokens here: \
                 a gap is the time of several tokens, so compare speed by TPOT"
            ));
        }
        for limit in Limit::ALL {
            let unknown = cases.iter().filter(|case| !case.measures.knows(limit)).count();
            if limited(limit) && unknown > 0 {
                let beside = match limit {
                    Limit::Stall => {
                        ": TPOT does not tell, a stream that pauses and then bundles \
                                     its tokens has the same"
                    }
                    Limit::Tpot => {
                        ": gaps between events do not tell, an event may carry several \
                                    tokens"
                    }
                    _ => "",
                };
                warnings.push(format!(
                    "the limit on {} cannot be judged for {unknown} of {} requests, which do not \
                     state it{beside}",
                    limit.name(),
                    cases.len()
                ));
            }
        }
        warnings
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    streams: u64,
    events: u64,
    tokens: u64,
    span_ms: f64,
    bundled: u64,
}
