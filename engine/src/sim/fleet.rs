//! The fleet: arrivals find a replica, replicas step, users give up, and somebody keeps count.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::ends::Ends;
use super::event::{Event, EventKind};
use super::job::{Job, Place};
use super::loads::Loads;
use super::replica::{Leaping, ReplicaEngine};
use super::sampler::Sampler;
use super::{CutOff, FleetSpec, RunLimits, Sample, SimRun, Usage};
use crate::slo::{Fate, RequestStamps};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// A run in progress; [`FleetSim::advance`] takes it forward a bounded number of boundaries at a
/// time. One loop for both replica engines.
#[derive(Debug)]
pub struct FleetSim<'a, R: ReplicaEngine<'a> = Leaping<'a>> {
    spec: &'a FleetSpec,
    limits: RunLimits,
    requests: &'a [OfferedRequest],
    jobs: Vec<Job<R::State>>,
    replicas: Vec<R>,
    /// When the replicas want their next boundary.
    ends: Ends,
    /// Users giving up; arrivals come from `requests` in their own order.
    events: BinaryHeap<Reverse<Event>>,
    next_arrival: usize,
    loads: Loads,
    now: Picos,
    counts: Counts,
    sampler: Sampler,
    /// Boundaries so far: the work this run took.
    boundaries: u64,
    /// Steps begun by all replicas when everything planned has begun.
    steps_planned: u64,
    cut_off: Option<CutOff>,
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
        Self::with_engine(requests, spec, limits)
    }
}

impl<'a, R: ReplicaEngine<'a>> FleetSim<'a, R> {
    /// The same with a replica engine of the caller's choice.
    pub fn with_engine(
        requests: &'a [OfferedRequest],
        spec: &'a FleetSpec,
        limits: RunLimits,
    ) -> Self {
        debug_assert!(requests.is_sorted_by_key(|request| request.due));
        Self {
            spec,
            limits,
            requests,
            jobs: requests.iter().map(Job::new).collect(),
            replicas: (0..spec.replicas).map(|_| R::new(&spec.replica, limits.horizon)).collect(),
            ends: Ends::idle(spec.replicas),
            events: BinaryHeap::new(),
            next_arrival: 0,
            loads: Loads::idle(spec.replicas),
            now: Picos::ZERO,
            counts: Counts::default(),
            sampler: Sampler::new(limits.horizon),
            boundaries: 0,
            steps_planned: 0,
            cut_off: None,
        }
    }

    /// Goes on for about `budget` more boundaries: some tens of nanoseconds each.
    pub fn advance(&mut self, budget: u64) -> Progress {
        let pause = self.boundaries.saturating_add(budget);
        while let Some(event) = self.next_event() {
            if self.is_moot(event) {
                self.events.pop();
                continue;
            }
            if self.steps_planned >= self.limits.max_steps && self.cut_plans() {
                continue; // the first event may be another now
            }
            self.cut_off = self.limit_reached(event);
            if self.cut_off.is_some() {
                return Progress::Done;
            }
            if self.boundaries >= pause {
                return Progress::Running { decided: self.decided() };
            }
            self.sample_until(event.at);
            self.take(event);
        }
        Progress::Done
    }

    /// The limit that forbids `event`, if one does.
    fn limit_reached(&self, event: Event) -> Option<CutOff> {
        if event.at > self.limits.until {
            Some(CutOff::Time)
        } else {
            (self.steps_planned >= self.limits.max_steps).then_some(CutOff::Steps)
        }
    }

    /// The moment of the last event.
    pub fn now(&self) -> Picos {
        self.now
    }

    /// Boundaries visited so far: what computing time is proportional to.
    pub fn boundaries(&self) -> u64 {
        self.boundaries
    }

    /// What has happened to each request so far, in the order offered. Rows of requests that
    /// stream now say when they began, not yet how they fare.
    pub fn stamps(&self) -> impl Iterator<Item = &RequestStamps> {
        self.jobs.iter().map(|job| &job.stamps)
    }

    /// What the run gave so far.
    pub fn finish(mut self) -> SimRun {
        let ended = self.last_moment();
        self.sample_until(ended);
        self.sampler.record(self.snapshot(ended));
        for replica in &mut self.replicas {
            replica.settle(ended, &mut self.jobs);
        }
        let mut run = SimRun {
            stamps: Vec::new(),
            samples: self.sampler.into_samples(),
            ended,
            steps: 0,
            busy: Picos::ZERO,
            recomputed_tokens: 0,
            usage: Usage::default(),
            cut_off: self.cut_off,
        };
        for replica in &self.replicas {
            let (load, held) = (replica.load(), replica.held());
            run.steps += load.steps;
            run.busy += load.busy;
            run.recomputed_tokens += load.recomputed_tokens;
            run.usage.kv_token_s += held.block_s() * f64::from(self.spec.replica.block_size);
            run.usage.running_s += held.running_s();
        }
        run.stamps = self.jobs.into_iter().map(|job| job.stamps_at(ended)).collect();
        run
    }

    /// The last step boundary or event of the run: of a run that was cut off, the last not after
    /// its limit.
    fn last_moment(&self) -> Picos {
        if self.cut_off.is_none() {
            return self.now;
        }
        let until = self.limits.until;
        let inner = self.replicas.iter().filter_map(|replica| replica.last_boundary(until));
        inner.fold(self.now, Picos::max).min(until)
    }

    fn next_event(&self) -> Option<Event> {
        let arrival = self.requests.get(self.next_arrival).map(|request| Event {
            at: request.due + self.spec.replica.api_overhead,
            kind: EventKind::Arrival,
            index: index_u32(self.next_arrival),
        });
        let boundary =
            self.ends.first().map(|(at, index)| Event { at, kind: EventKind::Boundary, index });
        let other = self.events.peek().map(|Reverse(event)| *event);
        earlier(arrival, earlier(boundary, other))
    }

    fn take(&mut self, event: Event) {
        self.now = event.at;
        match event.kind {
            EventKind::Arrival => self.arrive(event.index),
            EventKind::Boundary => self.boundary(event.index),
            EventKind::GiveUp => {
                self.events.pop();
                self.give_up(event.index);
            }
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
        self.drive(replica, |engine, now, jobs| engine.push(id, now, jobs));
    }

    fn boundary(&mut self, replica: u32) {
        self.boundaries += 1;
        let most_steps = self.step_allowance();
        self.drive(replica, |engine, now, jobs| engine.boundary(now, most_steps, jobs));
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
        self.drive(replica, |engine, now, jobs| engine.leave(id, Fate::Cancelled, now, jobs));
        self.counts.gave_up += 1;
    }

    /// Something happens to a replica now; what the fleet knows of it follows.
    fn drive(&mut self, replica: u32, happen: impl FnOnce(&mut R, Picos, &mut [Job<R::State>])) {
        let engine = &mut self.replicas[replica as usize];
        let planned = engine.steps_planned();
        happen(engine, self.now, &mut self.jobs);
        self.steps_planned = self.steps_planned - planned + engine.steps_planned();
        self.loads.set(replica, engine.load().outstanding);
        self.ends.set(replica, engine.end());
    }

    /// Steps that a replica may plan now. Half of what is left, shared by all: so that the limit
    /// is met to the step and reached in few plans.
    fn step_allowance(&self) -> u64 {
        let left = self.limits.max_steps.saturating_sub(self.steps_planned);
        let shares = self.replicas.len().next_power_of_two().trailing_zeros() + 1;
        (left >> shares).max(1)
    }

    /// As many steps are planned as may begin: plans are cut down to the steps in progress. Whether
    /// that left steps to be planned again.
    fn cut_plans(&mut self) -> bool {
        for replica in 0..index_u32(self.replicas.len()) {
            self.drive(replica, R::cut);
        }
        self.steps_planned < self.limits.max_steps
    }

    /// Requests that have left the system.
    fn decided(&self) -> u64 {
        let served = |replica: &R| replica.load().completed + replica.load().failed;
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
            replica.add_to(&mut sample, &self.jobs);
        }
        sample
    }
}

fn earlier(a: Option<Event>, b: Option<Event>) -> Option<Event> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b < a { b } else { a }),
        (a, b) => a.or(b),
    }
}

fn index_u32(index: usize) -> u32 {
    u32::try_from(index).expect("workloads and fleets are bounded far below 2^32")
}
