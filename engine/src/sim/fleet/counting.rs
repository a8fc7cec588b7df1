//! What happened, counted: samples of the fleet over time, and the run as a whole.

use super::clients::Clients;
use super::held::Held;
use super::{FleetSim, index_u32};
use crate::sim::replica::ReplicaEngine;
use crate::sim::rows::Rows;
use crate::sim::{CutOff, Peaks, PoolRun, PoolSpec, Sample, SimRun, Stamps};
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

/// The most of one pool at a sampled moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sampled {
    /// KV tokens' worth of blocks held.
    pub kv_tokens: u64,
    /// Sequences in batches.
    pub running: u64,
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
        // The fleet's own may go on when nobody asks any more.
        let seen_until = if self.is_cut_off() { ended } else { self.now };
        self.sample_until(seen_until);
        let last = self.snapshot(seen_until);
        self.sampler.record(last);
        for replica in &mut self.replicas {
            replica.settle(ended, &mut self.jobs);
        }
        self.stamp_held(ended);
        let peaks = Peaks { oldest_age: last.oldest_age, ..self.peaks.peaks() };
        let pools = self.pool_runs(peaks, ended);
        let mut run = SimRun {
            stamps: Stamps::default(),
            requests: None,
            samples: self.sampler.into_samples(),
            peaks,
            ended,
            steps: 0,
            busy: Picos::ZERO,
            recomputed_tokens: 0,
            pools,
            cut_off: self.cut_off,
            unasked: self.clients.unasked().to_vec(),
        };
        for pool in &run.pools {
            run.busy += pool.busy;
            run.recomputed_tokens += pool.recomputed_tokens;
            run.peaks.oldest_age = run.peaks.oldest_age.max(pool.peaks.oldest_age);
        }
        // The work of a fleet of several pools is done when that of the last one is.
        if let Some(most) =
            run.pools.iter().max_by(|a, b| a.peaks.work_s.total_cmp(&b.peaks.work_s))
        {
            (run.peaks.work_s, run.peaks.work_at) = (most.peaks.work_s, most.peaks.work_at);
        }
        run.steps = self.replicas.iter().map(|replica| replica.load().steps).sum();
        run.steps += self.retired.iter().map(|retired| retired.steps).sum::<u64>();
        let mut rows = self.jobs.rows_at(ended);
        by_request(self.requests.len(), &self.clients, &mut rows, Some(ended));
        if self.clients.made().next().is_some() {
            let (requests, order) = in_order(self.requests, &self.clients);
            rows = rows.in_order(&order);
            run.requests = Some(requests);
        }
        run.stamps = Stamps::packed(rows);
        run
    }

    /// Each pool alone, when every replica is settled; the run `ended` then.
    fn pool_runs(&self, fleet: Peaks, ended: Picos) -> Vec<PoolRun> {
        let paid_until = ended.max(self.limits.horizon);
        let of = |((pool, peaks), spec): ((u32, Peaks), &PoolSpec)| {
            let (replicas, retired) = (self.pools.replicas_of(pool), &self.retired[pool as usize]);
            let Sampled { kv_tokens, running } = self.sampled[pool as usize];
            let mut run = PoolRun {
                peaks,
                peak_kv_tokens: kv_tokens,
                peak_running: running,
                stints: self.roster.stints_until(pool, replicas, paid_until),
                ..PoolRun::default()
            };
            let engines = replicas.iter().map(|replica| &self.replicas[*replica as usize]);
            let engines = engines.map(|engine| (engine.load().into(), *engine.held()));
            for (did, held) in engines.chain([(*retired, retired.held)]) {
                run.add(&did, &held, spec.replica.block_size);
            }
            let held = self.held[pool as usize].load.oldest_age;
            run.peaks.oldest_age = run.peaks.oldest_age.max(held);
            run
        };
        (0..).zip(self.pools.peaks(fleet)).zip(&self.spec.pools).map(of).collect()
    }

    /// Every request due so far and what has happened to it, in the order offered, those of users
    /// in closed loops last. Rows of requests that stream now say when they began, not yet how they
    /// fare; a request whose client waits to try again is undecided.
    pub fn rows(&self) -> Box<dyn Iterator<Item = (OfferedRequest, RequestStamps)> + '_> {
        let attempts = 0..index_u32(self.jobs.len());
        let stamps = attempts.map(|id| self.jobs.stamps(id));
        let given = self.requests.iter().copied();
        let due = |(request, _): &(OfferedRequest, RequestStamps)| request.due <= self.now;
        if self.clients.later().is_empty() {
            return Box::new(given.zip(stamps).take_while(due));
        }
        let mut rows: Rows = stamps.collect();
        by_request(self.requests.len(), &self.clients, &mut rows, None);
        let stamps = rows.into_iter().collect::<Vec<_>>();
        Box::new(given.chain(self.clients.made().copied()).zip(stamps).filter(due))
    }

    /// The last step boundary or event of the run: of a run that was cut off, the last not after
    /// its limit.
    fn last_moment(&self) -> Picos {
        if !self.is_cut_off() {
            return self.last_work;
        }
        let until = self.limits.until;
        let inner = self.replicas.iter().filter_map(|replica| replica.last_boundary(until));
        inner.fold(self.now, Picos::max).min(until)
    }

    /// Whether a limit ended the run before the end of what replicas had planned.
    fn is_cut_off(&self) -> bool {
        matches!(self.cut_off, Some(CutOff::Steps | CutOff::Time))
    }

    /// Requests that have left the system.
    pub(super) fn decided(&self) -> u64 {
        let present = self.replicas.iter().map(|replica| replica.load().completed);
        let retired = self.retired.iter().map(|retired| retired.completed);
        self.counts.lost + present.chain(retired).sum::<u64>()
    }

    /// Whether what is owed now, when all of this moment has happened, is the most so far.
    pub(super) fn look_for_peaks(&mut self) {
        let (now, replicas) = (self.now, &self.replicas);
        let owed = |replica: &R| replica.load_at(now).backlog_decode_tokens;
        let held = |held: &Held| held.load.backlog_decode_tokens;
        let all = || replicas.iter().map(owed).chain(self.held.iter().map(held)).sum();
        self.peaks.look(now, all);
        let of_replica = |replica: u32| owed(&replicas[replica as usize]);
        self.pools.look(now, of_replica, |pool| held(&self.held[pool]));
    }

    /// Records the fleet as it was at every sampling moment before `at`.
    pub(super) fn sample_until(&mut self, at: Picos) {
        while self.sampler.next() < at {
            let moment = self.sampler.next();
            let sample = self.snapshot(moment);
            self.sampler.record(sample);
        }
    }

    fn snapshot(&mut self, at: Picos) -> Sample {
        let Counts { offered, lost, deferred, attempts } = self.counts;
        let mut sample = Sample { at, offered, lost, deferred, attempts, ..Sample::default() };
        for pool in 0..self.pool_count() {
            let before = sample;
            let replicas = self.pools.replicas_of(pool);
            for replica in replicas {
                self.replicas[*replica as usize].add_to(&mut sample, &self.jobs);
            }
            self.held[pool as usize].add_to(&mut sample, &self.jobs);
            self.retired[pool as usize].add_to(&mut sample);
            sample.replicas.add(self.roster.states(replicas));
            self.pools.add_work_to(pool, &before, &mut sample);
            let sampled = &mut self.sampled[pool as usize];
            let kv_tokens = sample.kv_used_tokens - before.kv_used_tokens;
            sampled.kv_tokens = sampled.kv_tokens.max(kv_tokens);
            sampled.running = sampled.running.max(sample.running - before.running);
        }
        sample
    }
}

/// Makes one row per request of one per attempt: of the `given` ones in their order, then of what
/// users in closed loops asked. An attempt that has not been sent leaves its request undecided,
/// until `ended` if the run is over.
fn by_request(given: usize, clients: &Clients, rows: &mut Rows, ended: Option<Picos>) {
    let mut requests = index_u32(given);
    for (id, attempt) in (requests..).zip(clients.later()) {
        let stamps = rows.get(id);
        if attempt.number == 0 {
            rows.set(requests, &stamps);
            requests += 1;
            continue;
        }
        let earlier = rows.get(attempt.request);
        let row = stamps.after(&earlier);
        let was_sent = stamps.queued.is_some() || stamps.held > Picos::ZERO;
        let is_to_come = stamps.fate == Fate::Unfinished && !was_sent;
        let row = if is_to_come {
            RequestStamps { attempts: earlier.attempts, ended, ..row }
        } else {
            row
        };
        rows.set(attempt.request, &row);
    }
    rows.truncate(requests as usize);
}

/// All requests of a run by due moment, then class, and where each was before.
fn in_order(given: &[OfferedRequest], clients: &Clients) -> (Vec<OfferedRequest>, Vec<u32>) {
    let requests: Vec<OfferedRequest> = given.iter().chain(clients.made()).copied().collect();
    let mut order: Vec<u32> = (0..index_u32(requests.len())).collect();
    let request = |id: &u32| requests[*id as usize];
    order.sort_by_key(|id| (request(id).due, request(id).class));
    (order.iter().map(request).collect(), order)
}
