//! The fleet: arrivals find a replica, replicas step, users give up, and somebody keeps count.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::event::{Event, EventKind};
use super::job::{Job, Place};
use super::loads::Loads;
use super::replica::Replica;
use super::sampler::Sampler;
use super::{FleetSpec, RunLimits, Sample, SimRun};
use crate::slo::{Fate, RequestStamps};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// A run in progress; [`FleetSim::advance`] takes it forward a bounded number of steps at a time.
#[derive(Debug)]
pub struct FleetSim<'a> {
    spec: &'a FleetSpec,
    limits: RunLimits,
    requests: &'a [OfferedRequest],
    jobs: Vec<Job>,
    replicas: Vec<Replica<'a>>,
    /// Step boundaries and users giving up; arrivals come from `requests` in their own order.
    events: BinaryHeap<Reverse<Event>>,
    next_arrival: usize,
    loads: Loads,
    now: Picos,
    counts: Counts,
    sampler: Sampler,
    steps: u64,
    cut_off: bool,
}

/// Requests that reached the router, and those that left without being served.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    offered: u64,
    refused: u64,
    gave_up: u64,
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    Running {
        /// Requests decided so far.
        decided: u64,
    },
    /// Everything is decided, or a limit cut the run off.
    Done,
}

impl<'a> FleetSim<'a> {
    /// A run that has not begun. `requests` are in order of their due times.
    pub fn new(requests: &'a [OfferedRequest], spec: &'a FleetSpec, limits: RunLimits) -> Self {
        debug_assert!(requests.is_sorted_by_key(|request| request.due));
        let replicas = (0..spec.replicas).map(|_| Replica::new(&spec.replica)).collect();
        Self {
            spec,
            limits,
            requests,
            jobs: requests.iter().map(Job::new).collect(),
            replicas,
            events: BinaryHeap::new(),
            next_arrival: 0,
            loads: Loads::idle(spec.replicas),
            now: Picos::ZERO,
            counts: Counts::default(),
            sampler: Sampler::new(limits.horizon),
            steps: 0,
            cut_off: false,
        }
    }

    /// Simulates about `budget` more steps.
    pub fn advance(&mut self, budget: u64) -> Progress {
        let pause = self.steps.saturating_add(budget).min(self.limits.max_steps);
        while let Some(event) = self.next_event() {
            if self.is_moot(event) {
                self.events.pop();
                continue;
            }
            if self.steps >= pause || event.at > self.limits.until {
                self.cut_off = self.steps >= self.limits.max_steps || event.at > self.limits.until;
                if self.cut_off {
                    return Progress::Done;
                }
                return Progress::Running { decided: self.decided() };
            }
            self.sample_until(event.at);
            self.take(event);
        }
        Progress::Done
    }

    /// The moment the run has come to.
    pub fn now(&self) -> Picos {
        self.now
    }

    /// What has happened to each request so far, in the order offered.
    pub fn stamps(&self) -> impl Iterator<Item = &RequestStamps> {
        self.jobs.iter().map(|job| &job.stamps)
    }

    /// What the run gave so far.
    pub fn finish(mut self) -> SimRun {
        let ended = if self.cut_off { self.limits.until.min(self.now) } else { self.now };
        self.sample_until(ended);
        self.sampler.record(self.snapshot(ended));
        let busy_s = self.replicas.iter().map(|replica| replica.load().busy.as_secs()).sum();
        let recomputed = self.replicas.iter().map(|replica| replica.load().recomputed_tokens);
        SimRun {
            busy_s,
            recomputed_tokens: recomputed.sum(),
            steps: self.steps,
            ended,
            cut_off: self.cut_off,
            usage: self.sampler.usage(),
            samples: self.sampler.into_samples(),
            stamps: self.jobs.into_iter().map(|job| job.stamps_at(ended)).collect(),
        }
    }

    fn next_event(&self) -> Option<Event> {
        let arrival = self.requests.get(self.next_arrival).map(|request| Event {
            at: request.due + self.spec.replica.api_overhead,
            kind: EventKind::Arrival,
            index: index_u32(self.next_arrival),
        });
        let other = self.events.peek().map(|Reverse(event)| *event);
        match (arrival, other) {
            (Some(arrival), Some(other)) => Some(arrival.min(other)),
            (arrival, other) => arrival.or(other),
        }
    }

    fn take(&mut self, event: Event) {
        self.now = event.at;
        if event.kind != EventKind::Arrival {
            self.events.pop();
        }
        match event.kind {
            EventKind::Arrival => self.arrive(event.index),
            EventKind::Boundary => self.boundary(event.index),
            EventKind::GiveUp => self.give_up(event.index),
        }
    }

    fn arrive(&mut self, id: u32) {
        self.next_arrival += 1;
        self.counts.offered += 1;
        let request = &self.requests[id as usize];
        if self.spec.replica.can_never_fit(request.input_tokens, request.output_tokens) {
            self.jobs[id as usize].end(Fate::TooLong, self.now);
            self.counts.refused += 1;
            return;
        }
        if let Some(patience) = request.patience {
            let at = self.now.max(request.due + patience);
            self.events.push(Reverse(Event { at, kind: EventKind::GiveUp, index: id }));
        }
        let replica = self.loads.least_outstanding();
        self.jobs[id as usize].stamps.replica = replica;
        let engine = &mut self.replicas[replica as usize];
        let wakes = engine.push(id, self.now, &mut self.jobs);
        self.loads.set(replica, engine.load().outstanding);
        if wakes {
            self.schedule_boundary(replica, self.now);
        }
    }

    fn boundary(&mut self, replica: u32) {
        let engine = &mut self.replicas[replica as usize];
        let next = engine.boundary(self.now, &mut self.jobs);
        self.loads.set(replica, engine.load().outstanding);
        if let Some(end) = next {
            self.steps += 1;
            self.sampler.hold(self.now, end, engine);
            self.schedule_boundary(replica, end);
        }
    }

    fn schedule_boundary(&mut self, replica: u32, at: Picos) {
        self.events.push(Reverse(Event { at, kind: EventKind::Boundary, index: replica }));
    }

    /// Whether an event is the patience of somebody served long since: nothing happens then, not
    /// even time.
    fn is_moot(&self, event: Event) -> bool {
        event.kind == EventKind::GiveUp && {
            let job = &self.jobs[event.index as usize];
            job.place == Place::Gone || job.stamps.first_token.is_some()
        }
    }

    fn give_up(&mut self, id: u32) {
        let replica = self.jobs[id as usize].stamps.replica;
        let engine = &mut self.replicas[replica as usize];
        engine.give_up(id, self.now, &mut self.jobs);
        self.loads.set(replica, engine.load().outstanding);
        self.counts.gave_up += 1;
    }

    /// Requests that have left the system.
    fn decided(&self) -> u64 {
        let served = |replica: &Replica| replica.load().completed + replica.load().failed;
        self.counts.refused + self.counts.gave_up + self.replicas.iter().map(served).sum::<u64>()
    }

    /// Records the fleet as it was at every sampling moment before `at`.
    fn sample_until(&mut self, at: Picos) {
        while self.sampler.next() < at {
            let moment = self.sampler.next();
            let sample = self.snapshot(moment);
            self.sampler.record(sample);
        }
    }

    fn snapshot(&self, at: Picos) -> Sample {
        let mut sample = Sample {
            at,
            offered: self.counts.offered,
            lost: self.counts.refused + self.counts.gave_up,
            ..Sample::default()
        };
        for replica in &self.replicas {
            let load = replica.load();
            sample.completed += load.completed;
            sample.lost += load.failed;
            sample.waiting += u64::from(load.waiting);
            sample.running += replica.running() as u64;
            sample.kv_used_tokens += replica.kv_used_tokens();
            sample.oldest_age = sample.oldest_age.max(replica.oldest_age(at, &self.jobs));
            sample.backlog_prefill_tokens += load.backlog_prefill_tokens;
            sample.backlog_decode_tokens += load.backlog_decode_tokens;
            sample.waiting_prefill_tokens += load.waiting_prefill_tokens;
            sample.waiting_decode_tokens += load.waiting_decode_tokens;
            sample.prefill_tokens += load.prefill_tokens;
            sample.decode_tokens += load.decode_tokens;
            sample.preemptions += load.preemptions;
        }
        sample
    }
}

fn index_u32(index: usize) -> u32 {
    u32::try_from(index).expect("workloads and fleets are bounded far below 2^32")
}
