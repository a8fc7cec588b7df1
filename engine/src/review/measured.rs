//! The requests of a benchmark point judged by a contract: the accounting of a simulation, over what
//! was measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::subject::Subject;
use crate::accounts::accounting::{
    Accounting, Case, Cause, ClassLabel, Context, Dimension, Labels, MainParts, Spans, StreamSeen,
    break_out,
};
use crate::accounts::peak_windows;
use crate::accounts::report::GoodputKind;
use crate::ingest::{RecordClass, RecordOutcome, RequestRecord};
use crate::slo::{Contract, Fate, GapsSeen, Limit, Measures, Outcome, Seen, Tpot, outcome_of};
use crate::units::Picos;

/// What a missing column reads.
const MISSING: &str = "not in file";

/// What a file of records never says about causes.
const NOT_KNOWN: &[&str] =
    &["a client sees neither batches nor preemptions: why tokens were slow is not in the file"];

/// A benchmark point judged by a contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasuredGoodput {
    /// [`row`](crate::ingest::BenchmarkPoint::row) of the point.
    pub row: Option<u64>,
    /// The limits it was judged by, milliseconds.
    pub limits_ms: BTreeMap<Limit, f64>,
    /// Which percentile of its own gaps each was held to, where one was limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub itl_percentile: Option<f64>,
    /// Requests attempted.
    pub offered: u64,
    /// Good ones: `latency_only_goodput`, since nobody checked the answers.
    pub good: u64,
    /// good ÷ offered.
    pub attainment: f64,
    /// Under which name.
    pub kind: GoodputKind,
    /// Every outcome with its count; they sum to `offered`.
    pub outcomes: BTreeMap<Outcome, u64>,
    /// From the first request sent to the last answer, seconds.
    pub span_s: Option<f64>,
    /// Good requests per second of that span.
    pub good_rps: Option<f64>,
    /// Prompt tokens of answered requests per second of that span: never without `good_rps`.
    pub input_tps: Option<f64>,
    /// Output tokens per second of that span.
    pub output_tps: Option<f64>,
    /// Output tokens of good requests per second of that span.
    pub good_output_tps: Option<f64>,
    /// Where every request went, and what would have saved the lost ones.
    pub accounting: Accounting,
}

impl MeasuredGoodput {
    /// Judges the records of `subject`; `None` where it has none.
    pub(super) fn of(
        subject: &Subject,
        contract: &Contract,
        crossings: &[Vec<Dimension>],
    ) -> Option<Self> {
        if subject.records.is_empty() {
            return None;
        }
        let cases: Vec<Case> = subject.records.iter().map(|r| case(r, contract)).collect();
        let span_s = span_s(subject);
        let labels = labels(subject, span_s);
        let contracts = vec![contract.clone(); labels.classes.len()];
        let context = Context {
            contracts: &contracts,
            labels: &labels,
            spans: Spans { window_s: span_s, run_s: span_s },
            causes_not_known: NOT_KNOWN,
        };
        let mut accounting = Accounting::of(&cases, &context);
        accounting.crossed = crossings.iter().map(|by| break_out(&cases, by, &labels)).collect();
        let mut outcomes: BTreeMap<Outcome, u64> = Outcome::ALL.map(|outcome| (outcome, 0)).into();
        for case in &cases {
            *outcomes.entry(case.outcome).or_default() += 1;
        }
        let good = accounting.denominators.offered.good;
        let per_second = |count: u64| span_s.filter(|s| *s > 0.0).map(|s| count as f64 / s);
        let tokens = |of: fn(&Case) -> bool, count: fn(&Case) -> Option<u32>| -> u64 {
            cases.iter().filter(|case| of(case)).filter_map(count).map(u64::from).sum()
        };
        let answered: fn(&Case) -> bool = |case| case.fate == Fate::Completed;
        Some(Self {
            row: subject.point.row,
            limits_ms: Limit::ALL
                .into_iter()
                .filter_map(|limit| Some((limit, contract.limit(limit)?.as_millis())))
                .collect(),
            itl_percentile: contract.itl.map(|limit| limit.percentile.number()),
            offered: cases.len() as u64,
            good,
            attainment: good as f64 / cases.len() as f64,
            kind: GoodputKind::LatencyOnlyGoodput,
            outcomes,
            span_s,
            good_rps: per_second(good),
            input_tps: per_second(tokens(answered, |case| case.input_tokens)),
            output_tps: per_second(tokens(answered, |case| case.output_tokens)),
            good_output_tps: per_second(tokens(Case::is_good, |case| case.output_tokens)),
            accounting,
        })
    }
}

/// The run's own duration, else from the first request sent to the last answer.
fn span_s(subject: &Subject) -> Option<f64> {
    let ends = subject.records.iter().filter_map(|r| Some(r.start_s? + r.e2e_s?));
    let last = ends.fold(None, |last: Option<f64>, end| Some(last.map_or(end, |l| l.max(end))));
    subject.point.duration_s.or(last)
}

/// A file has the classes that it names, or one without a name; it may name their model.
fn labels(subject: &Subject, span_s: Option<f64>) -> Labels {
    let horizon = to_nanosecond(span_s.unwrap_or(0.0));
    let model = &subject.point.context.model;
    let unnamed = [RecordClass::default()];
    let named = subject.point.record_classes.as_slice();
    let of = if named.is_empty() { unnamed.as_slice() } else { named };
    let label = |class: &RecordClass| ClassLabel {
        name: class.name.clone().unwrap_or_default(),
        tenant: class.tenant.clone(),
        model: class.model.clone().or_else(|| model.clone()),
    };
    let classes = of.iter().map(label).collect();
    Labels {
        pools: Vec::new(),
        classes,
        replicas: 0,
        horizon,
        windows: peak_windows(horizon),
        missing: MISSING,
    }
}

/// A measured request under `contract`. Clocks run from when it was due: from sending, and the wait
/// in the client before it where the file tells that.
fn case(record: &RequestRecord, contract: &Contract) -> Case {
    let client_queue_s = record.client_queue_s.unwrap_or(0.0);
    let measures = measures(record, client_queue_s);
    let missed = measures.missed(contract);
    let fate = match record.outcome {
        RecordOutcome::Ok => Fate::Completed,
        // An answer without a token is none.
        RecordOutcome::Error | RecordOutcome::EmptySuccess => Fate::Failed,
        RecordOutcome::Cancelled => Fate::Cancelled,
    };
    let had_first_token = record.outcome == RecordOutcome::Ok
        || (record.outcome == RecordOutcome::Cancelled && record.ttft_s.is_some());
    Case {
        class: Some(record.class.unwrap_or(0)),
        due: record.start_s.map(|start| to_nanosecond((start - client_queue_s).max(0.0))),
        input_tokens: record.input_tokens,
        cached_tokens: record.cached_tokens,
        output_tokens: record.output_tokens,
        fate,
        called_success: !matches!(record.outcome, RecordOutcome::Error | RecordOutcome::Cancelled),
        had_first_token,
        measures,
        ranked: measures,
        missed,
        missed_from_send: match record.outcome {
            // Its tool wrote 0 for every latency, which is within any limit.
            RecordOutcome::EmptySuccess => crate::slo::MissedLimits::default(),
            _ => self::measures(record, 0.0).missed(contract),
        },
        outcome: outcome_of(fate, had_first_token, true, missed),
        parts: MainParts {
            first_token: missed.ttft.then(|| before_first_token(record)),
            tokens: missed.tpot.then_some(Cause::NotInFile),
            stall: (missed.stall || missed.itl).then_some(Cause::NotInFile),
        },
        stream: stream(record),
        ..Case::default()
    }
}

fn measures(record: &RequestRecord, client_queue_s: f64) -> Measures {
    let at = |seconds: f64| Seen::At(to_nanosecond(seconds + client_queue_s));
    let from_due = |seconds: Option<f64>| seconds.map_or(Seen::NotInFile, at);
    if record.outcome != RecordOutcome::Ok {
        // Whoever left in mid-stream had a first token.
        let had = record.ttft_s.filter(|_| record.outcome == RecordOutcome::Cancelled);
        return Measures {
            ttft: had.map_or(Seen::Never, at),
            // Which of its tokens were shown, no format says.
            ttfvt: had.map_or(Seen::Never, |_| Seen::NotInFile),
            tpot: Seen::Never,
            stall: Seen::Never,
            itl: Seen::Never,
            e2e: Seen::Never,
        };
    }
    let streams = record.output_tokens.is_none_or(|tokens| tokens > 1);
    let gaps = record.gaps.filter(|gaps| gaps.count > 0);
    Measures {
        ttft: from_due(record.ttft_s),
        ttfvt: from_due(record.ttfvt_s),
        tpot: tpot(record),
        itl: match gaps.map(|gaps| GapsSeen::Known(gaps.percentiles_s.map(to_nanosecond))) {
            Some(known) if streams => Seen::At(known),
            None if streams => Seen::NotInFile,
            _ => Seen::NotApplicable,
        },
        stall: match gaps.map(|gaps| to_nanosecond(gaps.longest_s)) {
            Some(longest) if streams => Seen::At(longest),
            None if streams => Seen::NotInFile,
            _ => Seen::NotApplicable,
        },
        e2e: from_due(record.e2e_s),
    }
}

fn tpot(record: &RequestRecord) -> Seen<Tpot> {
    match (record.output_tokens, span(record)) {
        (Some(0 | 1), _) => Seen::NotApplicable,
        (Some(tokens), Some(span)) => Seen::At(Tpot { span, gaps: tokens - 1 }),
        _ => Seen::NotInFile,
    }
}

/// From first token to last.
fn span(record: &RequestRecord) -> Option<Picos> {
    let span = to_nanosecond(record.e2e_s?) - to_nanosecond(record.ttft_s?);
    (span >= Picos::ZERO).then_some(span)
}

fn stream(record: &RequestRecord) -> Option<StreamSeen> {
    let gaps = record.gaps.filter(|gaps| gaps.count > 0)?;
    let token_gaps = record.output_tokens?.checked_sub(1).filter(|gaps| *gaps > 0)?;
    Some(StreamSeen { event_gaps: gaps.count, token_gaps, span: to_nanosecond(gaps.sum_s) })
}

fn before_first_token(record: &RequestRecord) -> Cause {
    match (record.queue_wait_s, record.ttft_s) {
        (Some(wait), Some(ttft)) if wait > ttft - wait => Cause::Queue,
        (Some(_), Some(_)) => Cause::Prefill,
        _ => Cause::NotInFile,
    }
}

/// Files hold seconds as differences of large floats: what is finer than a nanosecond is rounding,
/// and an inclusive limit must not fall to it.
#[expect(clippy::cast_possible_truncation, reason = "float to int casts saturate")]
fn to_nanosecond(seconds: f64) -> Picos {
    Picos(((seconds * 1e9).round() as i64).saturating_mul(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slo::parse_limits;

    #[test]
    fn a_cancelled_request_is_lost_before_its_first_token_or_after() {
        let contract = parse_limits("ttft=1s").expect("limits");
        let cancelled = |ttft_s| RequestRecord {
            point: 0,
            start_s: Some(0.0),
            input_tokens: Some(10),
            cached_tokens: None,
            output_tokens: None,
            ttft_s,
            ttfvt_s: None,
            e2e_s: None,
            client_queue_s: None,
            queue_wait_s: None,
            gaps: None,
            outcome: RecordOutcome::Cancelled,
            quality: None,
            class: None,
        };
        for (ttft_s, outcome, ttft) in [
            (None, Outcome::CancelledBeforeFirst, Seen::Never),
            (Some(0.5), Outcome::CancelledMidStream, Seen::At(Picos::from_secs(0.5))),
        ] {
            let case = case(&cancelled(ttft_s), &contract);
            assert_eq!((case.outcome, case.measures.ttft), (outcome, ttft));
            assert!(!case.called_success && !case.is_good());
        }
    }
}
