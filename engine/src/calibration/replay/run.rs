//! One run as it can be replayed: its requests in order, and what was measured of each.

use std::collections::BTreeMap;

use super::compare::{Compared, GoodReplay, MeasureReplay, RequestReplay, Times, error_of};
use super::{RunReport, compare};
use crate::ingest::{Exclusion, RecordOutcome, RequestRecord};
use crate::sim::{FleetSpec, ReplicaSpec, RunLimits, SimRun, simulate};
use crate::slo::{self, Contract, RequestStamps};
use crate::units::Picos;
use crate::workload::{Lineage, OfferedRequest};

/// The requests of one run that a simulation can repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayedRun {
    /// Row of the run in its file, from one.
    pub row: u32,
    /// In order of sending.
    pub requests: Vec<OfferedRequest>,
    /// What was measured of each.
    pub measured: Vec<Times>,
    /// When the engine first worked on each, where the file says so.
    pub scheduled: Option<Vec<Picos>>,
    /// Requests left out, by reason.
    pub excluded: Vec<Exclusion>,
}

impl ReplayedRun {
    /// The runs of a file, in order of their rows.
    pub fn of(records: &[RequestRecord], replica: &ReplicaSpec) -> Vec<Self> {
        let mut by_row: BTreeMap<u32, Vec<&RequestRecord>> = BTreeMap::new();
        for record in records {
            by_row.entry(record.point).or_default().push(record);
        }
        by_row.into_iter().map(|(point, records)| Self::new(point + 1, records, replica)).collect()
    }

    fn new(row: u32, records: Vec<&RequestRecord>, replica: &ReplicaSpec) -> Self {
        let mut excluded: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut usable: Vec<(OfferedRequest, Times, Option<f64>)> = Vec::new();
        for record in records {
            match usable_request(record, replica) {
                Ok((request, times)) => usable.push((request, times, record.queue_wait_s)),
                Err(reason) => *excluded.entry(reason).or_default() += 1,
            }
        }
        usable.sort_by_key(|(request, ..)| request.due);
        let due = |(request, _, wait): &(OfferedRequest, Times, Option<f64>)| {
            wait.map(|wait| request.due + Picos::from_secs(wait))
        };
        Self {
            row,
            scheduled: usable.iter().map(due).collect(),
            measured: usable.iter().map(|(_, times, _)| *times).collect(),
            requests: usable.into_iter().map(|(request, ..)| request).collect(),
            excluded: excluded
                .into_iter()
                .map(|(reason, rows)| Exclusion { rows, reason: reason.to_owned() })
                .collect(),
        }
    }

    /// The run on `fleet`.
    pub fn simulate(&self, fleet: &FleetSpec) -> SimRun {
        let last = self.requests.last().map_or(Picos::ZERO, |request| request.due);
        let measured_s = self.measured_makespan_s();
        simulate(
            &self.requests,
            fleet,
            RunLimits::to_the_end(last.max(Picos::from_secs(measured_s))),
        )
    }

    /// What `run` predicts of a request; `None` unless it completes there.
    pub fn predicted(&self, run: &SimRun, index: usize) -> Option<Times> {
        let (request, stamps) = (&self.requests[index], &run.stamps[index]);
        Some(Times {
            ttft_s: slo::ttft(request, stamps)?.as_secs(),
            e2e_s: slo::e2e(request, stamps)?.as_secs(),
            output_tokens: request.output_tokens,
        })
    }

    /// The run on `fleet` beside what was measured: of all requests, or, after a fit to those with
    /// even numbers, of those with odd ones.
    pub fn report(
        self,
        fleet: &FleetSpec,
        contract: Option<&Contract>,
        odd_only: bool,
    ) -> RunReport {
        let run = self.simulate(fleet);
        let rows: Vec<RequestReplay> = (0..self.requests.len())
            .map(|index| RequestReplay {
                number: index as u64,
                due_s: self.requests[index].due.as_secs(),
                input_tokens: self.requests[index].input_tokens,
                measured: self.measured[index],
                predicted: self.predicted(&run, index),
                compared: !odd_only || index % 2 == 1,
            })
            .collect();
        let compared: Vec<&RequestReplay> = rows.iter().filter(|row| row.compared).collect();
        let errors = compared.iter().map(|row| error_of(row.measured, row.predicted));
        let output_tokens: f64 =
            self.requests.iter().map(|request| f64::from(request.output_tokens)).sum();
        let makespan_s =
            Compared::new(run.ended.as_secs() - self.first_due_s(), self.measured_makespan_s());
        RunReport {
            row: self.row,
            simulated: self.requests.len() as u64,
            compared: compared.len() as u64,
            per_request_error: errors.sum::<f64>() / compared.len().max(1) as f64,
            measures: MeasureReplay::all(&compared),
            output_tps: makespan_s.reciprocal_of(output_tokens),
            makespan_s,
            waiting_peak: self.waiting_peak(&run.stamps),
            predicted_preemptions: run.stamps.iter().map(|s| u64::from(s.preemptions)).sum(),
            good: contract.map(|contract| GoodReplay::of(&compared, contract)),
            excluded: self.excluded,
            requests: rows,
        }
    }

    fn first_due_s(&self) -> f64 {
        self.requests.first().map_or(0.0, |request| request.due.as_secs())
    }

    /// From the first request to the last token, seconds.
    fn measured_makespan_s(&self) -> f64 {
        let end = |(request, times): (&OfferedRequest, &Times)| request.due.as_secs() + times.e2e_s;
        let ends = self.requests.iter().zip(&self.measured).map(end);
        ends.fold(0.0, f64::max) - self.first_due_s()
    }

    fn waiting_peak(&self, stamps: &[RequestStamps]) -> Option<Compared> {
        let measured = self.scheduled.as_ref()?;
        let predicted: Vec<Picos> =
            stamps.iter().map(|stamps| stamps.scheduled.unwrap_or(Picos::NEVER)).collect();
        let due: Vec<Picos> = self.requests.iter().map(|request| request.due).collect();
        let peak = |scheduled: &[Picos]| compare::most_between(&due, scheduled) as f64;
        Some(Compared::new(peak(&predicted), peak(measured)))
    }
}

/// A record as a request, or why it cannot be one.
fn usable_request(
    record: &RequestRecord,
    replica: &ReplicaSpec,
) -> Result<(OfferedRequest, Times), &'static str> {
    if record.outcome != RecordOutcome::Ok {
        return Err("failed or cut off: how much work it made is not in the file");
    }
    let due_s = record.start_s.ok_or("the moment it was sent is not in the file")?;
    let input_tokens = record.input_tokens.filter(|n| *n > 0).ok_or("no prompt length")?;
    let output_tokens = record.output_tokens.filter(|n| *n > 0).ok_or("no output length")?;
    let ttft_s = record.ttft_s.ok_or("no TTFT")?;
    let e2e_s = record.e2e_s.ok_or("no E2E")?;
    if e2e_s < ttft_s || ttft_s <= 0.0 {
        return Err("E2E below TTFT, or a TTFT of zero");
    }
    if replica.can_never_fit(input_tokens, output_tokens) {
        return Err("longer than max_model_len or than the KV blocks of the pool");
    }
    let request = OfferedRequest {
        class: 0,
        pool: 0,
        due: Picos::from_secs(due_s),
        input_tokens,
        output_tokens,
        hidden_tokens: 0,
        patience: None,
        fails: false,
        acceptable: true,
        lineage: Lineage::NONE,
    };
    Ok((request, Times { ttft_s, e2e_s, output_tokens }))
}
