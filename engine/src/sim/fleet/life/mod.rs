//! Replicas start, fail, drain and are scaled: what happens at the moments of the fleet itself.
//!
//! Everything here comes after the arrivals, boundaries and clocks of its moment, and only ever
//! shortens what replicas have planned. Where no replica takes requests, they are held by the
//! router until one does.

mod roster;
mod scale;

use std::cmp::Reverse;

pub use roster::{Roster, State};

use rand_distr::{Distribution, Exp1};

use super::FleetSim;
use crate::rng::{Key, Stream, keyed};
use crate::sim::StintEnd;
use crate::sim::event::{Event, EventKind};
use crate::sim::job::Place;
use crate::sim::replica::{Owed, ReplicaEngine};
use crate::slo::Fate;
use crate::units::Picos;
use roster::Member;
pub use scale::Scaler;

impl<'a, R: ReplicaEngine<'a>> FleetSim<'a, R> {
    /// Puts the first events of the fleet itself on the list.
    pub(super) fn begin_life(&mut self) {
        for pool in 0..self.pool_count() {
            for replica in self.pools.replicas_of(pool).to_vec() {
                let member = *self.roster.member(replica);
                if member.state == State::Ready {
                    self.draw_failure(replica);
                } else {
                    self.pools.close(replica);
                    self.happens(EventKind::Ready, member.ready_at, replica);
                }
            }
            self.begin_scaling(pool);
        }
        for (index, (_, crash)) in (0..).zip(self.crashes()) {
            self.happens(EventKind::Crash, crash.at, index);
        }
    }

    /// Failures at given moments, of all pools.
    fn crashes(&self) -> Vec<(u32, crate::fleet::Crash)> {
        let pools = (0..).zip(&self.spec.pools);
        let of = |(pool, spec): (u32, &crate::sim::PoolSpec)| {
            spec.life.failures.crashes.iter().map(|crash| (pool, *crash)).collect::<Vec<_>>()
        };
        pools.flat_map(of).collect()
    }

    /// Something happens to the fleet itself.
    pub(super) fn live(&mut self, event: Event) {
        match event.kind {
            EventKind::Ready => self.get_ready(event.index),
            EventKind::Fail => self.fail_by_chance(event.index),
            EventKind::Crash => {
                let (pool, crash) = self.crashes()[event.index as usize];
                if let Some(&replica) = self.pools.replicas_of(pool).get(crash.replica as usize) {
                    self.crash(replica);
                }
            }
            EventKind::Decide => self.decide(event.index),
            EventKind::Scale => self.carry_out(event.index),
            _ => {}
        }
    }

    /// A replica of `pool` is ordered now, in the place of one that is gone or in a new one.
    fn order(&mut self, pool: u32) {
        let spec = &self.spec.pools[pool as usize];
        let gone = |replica: &&u32| self.roster.member(**replica).state == State::Gone;
        let place = self.pools.replicas_of(pool).iter().find(gone).copied();
        let (since, ready_at) = (self.now, self.now + spec.life.start_up);
        let member = Member::ordered(since, ready_at);
        let replica = if let Some(replica) = place {
            let known = self.roster.member_mut(replica);
            *known = Member { lives: known.lives + 1, ..member };
            replica
        } else {
            self.roster.add(member);
            self.replicas.push(self.fresh_engine(pool));
            self.ends.add();
            self.pools.add(pool)
        };
        self.happens(EventKind::Ready, ready_at, replica);
    }

    /// A replica has started, if it is still wanted: it takes requests, and those that were held.
    fn get_ready(&mut self, replica: u32) {
        let now = self.now;
        let member = self.roster.member_mut(replica);
        if member.ready_at != now || !matches!(member.state, State::Starting | State::Replaced) {
            return;
        }
        member.state = State::Ready;
        self.pools.open(replica);
        self.draw_failure(replica);
        self.release_held(self.pools.of(replica));
    }

    /// When a replica that is ready now fails by chance, if any does.
    fn draw_failure(&mut self, replica: u32) {
        let pool = self.pools.of(replica);
        let failures = &self.spec.pools[pool as usize].life.failures;
        let Some(mean) = failures.mean_time_between else { return };
        let member = self.roster.member_mut(replica);
        let key = Key {
            seed: self.seed,
            stream: Stream::Failures,
            class: pool.into(),
            request: replica.into(),
            attempt: member.lives.into(),
        };
        let times: f64 = Exp1.sample(&mut keyed(key));
        let at = self.now + Picos::from_secs(times * mean.as_secs());
        member.fails_at = Some(at);
        self.happens(EventKind::Fail, at, replica);
    }

    fn fail_by_chance(&mut self, replica: u32) {
        if self.roster.member(replica).fails_at == Some(self.now) {
            self.crash(replica);
        }
    }

    /// A replica fails: all that is on it is lost, with what it had cached. One that took requests
    /// is replaced; one that was draining is gone.
    fn crash(&mut self, replica: u32) {
        let state = self.roster.member(replica).state;
        if !matches!(state, State::Ready | State::Draining) {
            return;
        }
        let pool = self.pools.of(replica);
        let lost = self.replicas[replica as usize].outstanding(&self.jobs);
        self.drive(replica, R::settle);
        for id in &lost {
            self.jobs[*id].end(Fate::Failed, self.now);
        }
        self.retire(replica);
        self.roster.end_stint(pool, replica, self.now, StintEnd::Crashed);
        let start_up = self.spec.pools[pool as usize].life.start_up;
        let now = self.now;
        let member = self.roster.member_mut(replica);
        let replaced = state == State::Ready;
        *member = Member {
            state: if replaced { State::Replaced } else { State::Gone },
            since: now,
            ready_at: now + start_up,
            fails_at: None,
            drains_from: None,
            lives: member.lives + 1,
        };
        if replaced {
            self.pools.close(replica);
            self.happens(EventKind::Ready, now + start_up, replica);
        }
        if !lost.is_empty() {
            self.last_work = now;
        }
        for id in lost {
            self.ended(id);
            self.jobs.close(id);
        }
    }

    /// A replica that is draining and has nothing left is gone.
    pub(super) fn let_go_if_drained(&mut self, replica: u32) {
        if self.roster.member(replica).state != State::Draining {
            return;
        }
        let engine = &self.replicas[replica as usize];
        if engine.load().outstanding == 0 && engine.end().is_none() {
            self.retire(replica);
            self.let_go(replica, StintEnd::Drained);
        }
    }

    fn let_go(&mut self, replica: u32, end: StintEnd) {
        let pool = self.pools.of(replica);
        self.roster.end_stint(pool, replica, self.now, end);
        self.roster.member_mut(replica).state = State::Gone;
    }

    /// Another engine takes the place of a replica's; what that has done is kept.
    fn retire(&mut self, replica: u32) {
        let pool = self.pools.of(replica);
        let fresh = self.fresh_engine(pool);
        let engine = std::mem::replace(&mut self.replicas[replica as usize], fresh);
        let owed = engine.load().owed();
        self.peaks.change(owed, Owed::default());
        self.pools.change(replica, owed, Owed::default());
        self.ends.set(replica, None);
        self.retired[pool as usize].add(engine.load(), engine.held());
    }

    /// A replica of `pool` that has done nothing yet and has nothing cached.
    fn fresh_engine(&self, pool: u32) -> R {
        let spec = self.spec;
        let mut engine = R::new(&spec.pools[pool as usize].replica, self.limits.horizon);
        engine.count_gaps_above(&self.gap_limits);
        engine
    }

    /// Holds an attempt that finds no replica of its pool ready.
    pub(super) fn hold(&mut self, id: u32, pool: u32) {
        let job = &mut self.jobs[id];
        job.place = Place::Held;
        let (prefill, decode) = (job.input, job.output);
        self.change_held(pool, |held| {
            held.load.accept(prefill, decode);
            held.load.enter_queue(prefill, decode);
            held.ids.push_back(id);
        });
    }

    /// An attempt that was held is held no more; whoever has left is skipped in the queue later.
    pub(super) fn unhold(&mut self, id: u32, pool: u32) {
        let now = self.now;
        let job = &mut self.jobs[id];
        let (prefill, decode, age) = (job.input, job.output, job.age_in_queue(now));
        job.place = Place::Outside;
        self.change_held(pool, |held| {
            held.load.leave_queue(prefill, decode, age);
            held.load.dismiss(prefill, decode);
        });
    }

    /// Everybody who was held finds a replica, first come, first served.
    fn release_held(&mut self, pool: u32) {
        for id in self.held[pool as usize].take() {
            if self.jobs[id].place == Place::Held {
                self.unhold(id, pool);
                self.jobs[id].stamps.held = self.held_for(id, pool, self.now);
                self.route(id, pool);
            }
        }
    }

    /// How long an attempt has been at the router at `now`.
    pub(super) fn held_for(&self, id: u32, pool: u32, now: Picos) -> Picos {
        let overhead = self.spec.pools[pool as usize].replica.api_overhead;
        (now - (self.clients.attempt(id).sent + overhead)).max(Picos::ZERO)
    }

    /// Those who are still held when the run has `ended` were never served.
    pub(super) fn stamp_held(&mut self, ended: Picos) {
        for pool in 0..self.pool_count() {
            let held = self.held[pool as usize].ids.clone();
            for id in held {
                if self.jobs[id].place == Place::Held {
                    self.jobs[id].stamps.held = self.held_for(id, pool, ended);
                }
            }
        }
    }

    fn change_held(&mut self, pool: u32, change: impl FnOnce(&mut super::held::Held)) {
        let held = &mut self.held[pool as usize];
        let before = held.load.owed();
        change(held);
        let after = held.load.owed();
        self.peaks.change(before, after);
        self.pools.change_held(pool, before, after);
    }

    /// Something of the fleet's own happens to `index` at `at`.
    pub(super) fn happens(&mut self, kind: EventKind, at: Picos, index: u32) {
        self.fleet_events += 1;
        self.events.push(Reverse(Event { at: at.max(self.now), kind, index }));
    }

    pub(super) fn pool_count(&self) -> u32 {
        u32::try_from(self.spec.pools.len()).expect("a few pools")
    }
}
