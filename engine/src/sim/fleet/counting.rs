//! What happened, counted: samples of the fleet over time, and the run as a whole.

use super::FleetSim;
use super::clients::Clients;
use crate::sim::replica::ReplicaEngine;
use crate::sim::{CutOff, Peaks, Sample, SimRun, Usage};
use crate::slo::{Fate, RequestStamps};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// Requests by where they are, beside those on replicas.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Requests that reached the router.
    pub offered: u64,
    /// Requests that are decided and were not completed.
    pub lost: u64,
    /// Requests whose clients wait to try again.
    pub deferred: u64,
    /// Attempts that reached the router.
    pub attempts: u64,
}

impl Counts {
    /// The `number`-th attempt, from 0, of a request reaches the router.
    pub fn arrived(&mut self, number: u32) {
        self.attempts += 1;
        if number == 0 {
            self.offered += 1;
        } else {
            self.deferred -= 1;
        }
    }
}

impl<'a, R: ReplicaEngine<'a>> FleetSim<'a, R> {
    /// What the run gave so far.
    pub fn finish(mut self) -> SimRun {
        self.look_for_peaks();
        let ended = self.last_moment();
        self.sample_until(ended);
        let last = self.snapshot(ended);
        self.sampler.record(last);
        for replica in &mut self.replicas {
            replica.settle(ended, &mut self.jobs);
        }
        let mut run = SimRun {
            stamps: Vec::new(),
            requests: None,
            samples: self.sampler.into_samples(),
            peaks: Peaks { oldest_age: last.oldest_age, ..self.peaks.peaks() },
            ended,
            steps: 0,
            busy: Picos::ZERO,
            recomputed_tokens: 0,
            usage: Usage::default(),
            cut_off: self.cut_off,
            unasked: self.clients.unasked().to_vec(),
        };
        for replica in &self.replicas {
            let (load, held) = (replica.load(), replica.held());
            run.steps += load.steps;
            run.busy += load.busy;
            run.recomputed_tokens += load.recomputed_tokens;
            run.peaks.oldest_age = run.peaks.oldest_age.max(load.oldest_age);
            run.usage.kv_token_s += held.block_s() * f64::from(self.spec.replica.block_size);
            run.usage.running_s += held.running_s();
        }
        let attempts = self.jobs.into_iter().map(|job| job.stamps_at(ended)).collect();
        run.stamps = by_request(self.requests, &self.clients, attempts, Some(ended));
        if self.clients.made().next().is_some() {
            let rows = in_order(self.requests, &self.clients, run.stamps);
            let (requests, stamps) = rows.into_iter().unzip();
            run.stamps = stamps;
            run.requests = Some(requests);
        }
        run
    }

    /// Every request due so far and what has happened to it, in the order offered, those of users
    /// in closed loops last. Rows of requests that stream now say when they began, not yet how they
    /// fare; a request whose client waits to try again is undecided.
    pub fn rows(&self) -> Box<dyn Iterator<Item = (OfferedRequest, RequestStamps)> + '_> {
        let stamps = self.jobs.iter().map(|job| job.stamps);
        let given = self.requests.iter().copied();
        let due = |(request, _): &(OfferedRequest, RequestStamps)| request.due <= self.now;
        if self.clients.later().is_empty() {
            return Box::new(given.zip(stamps).take_while(due));
        }
        let stamps = by_request(self.requests, &self.clients, stamps.collect(), None);
        Box::new(given.chain(self.clients.made().copied()).zip(stamps).filter(due))
    }

    /// The last step boundary or event of the run: of a run that was cut off, the last not after
    /// its limit.
    fn last_moment(&self) -> Picos {
        if matches!(self.cut_off, None | Some(CutOff::Attempts)) {
            return self.now;
        }
        let until = self.limits.until;
        let inner = self.replicas.iter().filter_map(|replica| replica.last_boundary(until));
        inner.fold(self.now, Picos::max).min(until)
    }

    /// Requests that have left the system.
    pub(super) fn decided(&self) -> u64 {
        self.counts.lost + self.replicas.iter().map(|replica| replica.load().completed).sum::<u64>()
    }

    /// Whether what is owed now, when all of this moment has happened, is the most so far.
    pub(super) fn look_for_peaks(&mut self) {
        let (now, replicas) = (self.now, &self.replicas);
        let owed = |replica: &R| replica.load_at(now).backlog_decode_tokens;
        self.peaks.look(now, || replicas.iter().map(owed).sum());
    }

    /// Records the fleet as it was at every sampling moment before `at`.
    pub(super) fn sample_until(&mut self, at: Picos) {
        while self.sampler.next() < at {
            let moment = self.sampler.next();
            let sample = self.snapshot(moment);
            self.sampler.record(sample);
        }
    }

    fn snapshot(&self, at: Picos) -> Sample {
        let Counts { offered, lost, deferred, attempts } = self.counts;
        let mut sample = Sample { at, offered, lost, deferred, attempts, ..Sample::default() };
        for replica in &self.replicas {
            replica.add_to(&mut sample, &self.jobs);
        }
        sample
    }
}

/// One row per request from one per attempt: what was given in its order, then what users in
/// closed loops asked. An attempt that has not been sent leaves its request undecided, until
/// `ended` if the run is over.
fn by_request(
    given: &[OfferedRequest],
    clients: &Clients,
    mut attempts: Vec<RequestStamps>,
    ended: Option<Picos>,
) -> Vec<RequestStamps> {
    let later = attempts.split_off(given.len());
    let mut rows = attempts;
    for (attempt, stamps) in clients.later().iter().zip(later) {
        if attempt.number == 0 {
            rows.push(stamps);
            continue;
        }
        let earlier = &rows[attempt.request as usize];
        let row = stamps.after(earlier);
        let is_to_come = stamps.fate == Fate::Unfinished && stamps.queued.is_none();
        rows[attempt.request as usize] = if is_to_come {
            RequestStamps { attempts: earlier.attempts, ended, ..row }
        } else {
            row
        };
    }
    rows
}

/// All requests of a run by due moment, then class, with their rows.
fn in_order(
    given: &[OfferedRequest],
    clients: &Clients,
    stamps: Vec<RequestStamps>,
) -> Vec<(OfferedRequest, RequestStamps)> {
    let requests = given.iter().chain(clients.made()).copied();
    let mut rows: Vec<_> = requests.zip(stamps).collect();
    rows.sort_by_key(|(request, _)| (request.due, request.class));
    rows
}
