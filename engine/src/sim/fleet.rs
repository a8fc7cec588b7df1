//! The fleet: arrivals find a replica, replicas step, users give up, and somebody keeps count.

mod admission;
mod arrivals;
mod boundaries;
mod clients;
mod clocks;
mod counting;
mod held;
mod life;
mod pools;
mod retired;
mod router;
mod visits;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::ends::Ends;
use super::event::{Event, EventKind};
use super::jobs::Jobs;
use super::peaks::{PeakWatch, WorkRate};
use super::replica::{Leaping, ReplicaEngine};
use super::sampler::Sampler;
use super::{CutOff, FleetSpec, RunLimits};
use crate::slo::Fate;
use crate::units::Picos;
use crate::workload::{OfferedRequest, TrafficClass};
use admission::Door;
use arrivals::Arrivals;
use clients::Clients;
use clocks::Due;
use counting::{Counts, Sampled};
use held::Held;
use life::{Roster, Scaler};
use pools::Pools;
use retired::Retired;

/// A run in progress; [`FleetSim::advance`] takes it forward a bounded number of boundaries at a
/// time. One loop for both replica engines.
#[derive(Debug)]
pub struct FleetSim<'a, R: ReplicaEngine<'a> = Leaping<'a>> {
    spec: &'a FleetSpec,
    limits: RunLimits,
    requests: &'a [OfferedRequest],
    clients: Clients<'a>,
    door: Door<'a>,
    jobs: Jobs<R::State>,
    /// Of all pools.
    replicas: Vec<R>,
    pools: Pools,
    roster: Roster,
    /// What the scaling of each pool remembers.
    scalers: Vec<Scaler>,
    /// What the router of each pool holds.
    held: Vec<Held>,
    /// What replicas of each pool did that are gone.
    retired: Vec<Retired>,
    /// The most of each pool at a sampled moment.
    sampled: Vec<Sampled>,
    /// Gaps of each class above these are counted.
    gap_limits: Vec<Option<Picos>>,
    /// Of the draws of clients and failures.
    seed: u64,
    /// When the replicas want their next boundary.
    ends: Ends,
    /// Clocks of clients and queues, and attempts beyond those of `requests`, which come in their
    /// own order.
    events: BinaryHeap<Reverse<Event>>,
    /// Those of them that are the fleet's own.
    fleet_events: usize,
    arrivals: Arrivals,
    has_begun: bool,
    now: Picos,
    /// When something last happened to a request.
    last_work: Picos,
    counts: Counts,
    sampler: Sampler,
    peaks: PeakWatch,
    /// Boundaries so far: the work this run took.
    boundaries: u64,
    /// Steps begun by all replicas when everything planned has begun.
    steps_planned: u64,
    cut_off: Option<CutOff>,
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
        let replicas = spec
            .pools
            .iter()
            .flat_map(|pool| (0..pool.replicas).map(|_| R::new(&pool.replica, limits.horizon)));
        Self {
            spec,
            limits,
            requests,
            clients: Clients::nobody(requests, spec.routing),
            door: Door::new(&spec.admission),
            jobs: Jobs::to_come(requests.len()),
            replicas: replicas.collect(),
            pools: Pools::new(spec),
            roster: Roster::new(spec),
            scalers: spec.pools.iter().map(|pool| Scaler::new(pool.replicas)).collect(),
            held: vec![Held::default(); spec.pools.len()],
            retired: vec![Retired::default(); spec.pools.len()],
            sampled: vec![Sampled::default(); spec.pools.len()],
            gap_limits: Vec::new(),
            seed: 0,
            has_begun: false,
            ends: Ends::idle(spec.replicas()),
            events: BinaryHeap::new(),
            fleet_events: 0,
            arrivals: Arrivals::of(requests, &spec.pools),
            now: Picos::ZERO,
            last_work: Picos::ZERO,
            counts: Counts::default(),
            sampler: Sampler::new(limits.horizon),
            peaks: PeakWatch::default(),
            boundaries: 0,
            steps_planned: 0,
            cut_off: None,
        }
    }

    /// The people of `classes` stand behind the requests: they have priorities, some leave before
    /// they are served, some try again, and users in a closed loop and sessions ask what is not in the
    /// list.
    /// `seed` is that of the requests.
    #[must_use]
    pub fn asked_by(mut self, classes: &'a [TrafficClass], seed: u64) -> Self {
        let horizon = self.limits.horizon;
        self.seed = seed;
        self.clients = Clients::of(self.requests, classes, (seed, horizon), self.spec.routing);
        for (id, asked) in self.clients.first_turns() {
            self.send(id, &asked, Picos::ZERO);
        }
        self
    }

    /// The same run, its most work found by the rate of each pool; without, every token is a second.
    #[must_use]
    pub fn weighing(mut self, rates: &[WorkRate]) -> Self {
        if let [only] = rates {
            self.peaks.weigh_by(*only);
        }
        self.pools.weigh_by(rates);
        self
    }

    /// The same run; of requests of each class, gaps above its limit are counted.
    #[must_use]
    pub fn counting_gaps_above(mut self, limits: &[Option<Picos>]) -> Self {
        for replica in &mut self.replicas {
            replica.count_gaps_above(limits);
        }
        self.gap_limits = limits.to_vec();
        self
    }

    /// Goes on for about `budget` more boundaries: some tens of nanoseconds each.
    pub fn advance(&mut self, budget: u64) -> Progress {
        let pause = self.boundaries.saturating_add(budget);
        if !std::mem::replace(&mut self.has_begun, true) && self.roster.is_any_lively() {
            self.begin_life();
        }
        loop {
            self.pass_boundaries(pause);
            let Some(event) = self.next_event() else { break };
            if event.kind > EventKind::Boundary {
                if event.kind.is_of_the_fleet() && self.is_over(event.at) {
                    break;
                }
                let due = self.due(event);
                if due != Due::Now {
                    self.put_off(event, due);
                    continue;
                }
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
            if event.at > self.now && self.peaks.has_grown() {
                self.look_for_peaks();
            }
            self.sample_until(event.at);
            self.take(event);
        }
        Progress::Done
    }

    /// Whether nothing but the fleet's own is left at `at`, so that it need not go on: nobody asks
    /// from the horizon on. Whoever is undecided then, on replicas that stand still, stays so.
    fn is_over(&self, at: Picos) -> bool {
        let asked = self.requests.len() + self.clients.made().len();
        let nothing_else_comes = || {
            self.arrivals.next().is_none()
                && self.ends.first().is_none()
                && self.events.len() == self.fleet_events
                && self.held.iter().all(|held| held.load.waiting == 0)
        };
        at > self.limits.horizon && (self.decided() == asked as u64 || nothing_else_comes())
    }

    /// The limit that forbids `event`, if one does.
    fn limit_reached(&self, event: Event) -> Option<CutOff> {
        let too_many_attempts = self.clients.attempts() > self.limits.max_attempts;
        if too_many_attempts && event.at > self.now {
            Some(CutOff::Attempts) // once everything at the moment of the last one has happened
        } else if event.at > self.limits.until {
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

    /// Attempts so far, those to come included: at least one of every request that was given.
    pub fn attempts(&self) -> usize {
        self.clients.attempts()
    }

    fn next_event(&self) -> Option<Event> {
        let mut next = self.arrivals.next();
        if let Some((at, index)) = self.ends.first()
            && next.is_none_or(|arrival| at < arrival.at)
        {
            next = Some(Event { at, kind: EventKind::Boundary, index });
        }
        match self.events.peek() {
            Some(&Reverse(other)) if next.is_none_or(|next| other < next) => Some(other),
            _ => next,
        }
    }

    fn take(&mut self, event: Event) {
        self.now = event.at;
        if !event.kind.is_of_the_fleet() {
            self.last_work = event.at;
        }
        match event.kind {
            EventKind::Arrival if (event.index as usize) < self.requests.len() => {
                self.arrivals.take(event.index, self.requests, &self.spec.pools);
                self.jobs.enter(event.index, &self.requests[event.index as usize]);
                self.arrive(event.index);
            }
            EventKind::Arrival => {
                self.events.pop();
                self.arrive(event.index);
            }
            EventKind::Boundary => self.boundary(event.index),
            of_the_fleet if of_the_fleet.is_of_the_fleet() => {
                self.events.pop();
                self.fleet_events -= 1;
                self.boundaries += 1;
                self.live(event);
            }
            clock => {
                self.events.pop();
                self.leave(event.index, clocks::fate(clock));
            }
        }
    }

    /// An attempt is over. Its client tries again; or its request is decided, and if its session goes
    /// on or its user is one of a closed loop, the next one follows.
    ///
    /// What follows comes after, by a picosecond if nothing else lies between: at one moment all
    /// arrivals come before all boundaries, so none may be the consequence of one.
    fn ended(&mut self, id: u32) {
        let stamps = &self.jobs[id].stamps;
        if !self.clients.ask_more_than_given() {
            self.counts.lost += u64::from(stamps.fate != Fate::Completed);
            return;
        }
        let soonest = self.now + Picos(1);
        let retry_after = self.spec.admission.retry_after;
        if let Some((next, asked)) = self.clients.try_again(id, stamps, self.now, retry_after) {
            self.counts.deferred += 1;
            self.send(next, &asked, soonest);
            return;
        }
        self.counts.lost += u64::from(stamps.fate != Fate::Completed);
        let pool = self.clients.request(id).pool;
        let max_model_len = self.spec.pools[pool as usize].replica.max_model_len;
        if let Some((next, asked)) = self.clients.next_turn(id, stamps, self.now, max_model_len) {
            self.send(next, &asked, soonest);
        }
    }

    /// A new attempt is on its way to the router, which it does not reach before `soonest`.
    fn send(&mut self, id: u32, asked: &OfferedRequest, soonest: Picos) {
        let pool = &self.spec.pools[asked.pool as usize];
        let at = self.clients.attempt(id).sent + pool.replica.api_overhead;
        let at = at.max(soonest);
        self.jobs.push(asked);
        self.events.push(Reverse(Event { at, kind: EventKind::Arrival, index: id }));
    }

    /// Something happens to a replica now; what the fleet knows of it follows.
    fn drive(&mut self, replica: u32, happen: impl FnOnce(&mut R, Picos, &mut Jobs<R::State>)) {
        let engine = &mut self.replicas[replica as usize];
        let (planned, before) = (engine.steps_planned(), engine.load().owed());
        happen(engine, self.now, &mut self.jobs);
        let after = engine.load().owed();
        self.steps_planned = self.steps_planned - planned + engine.steps_planned();
        self.peaks.change(before, after);
        self.pools.change(replica, before, after);
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
}

fn index_u32(index: usize) -> u32 {
    u32::try_from(index).expect("workloads and fleets are bounded far below 2^32")
}
