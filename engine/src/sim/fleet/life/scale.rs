//! How many replicas a pool has: a timetable or an autoscaler decides, orders and drains follow.

use std::collections::VecDeque;

use super::super::FleetSim;
use super::State;
use crate::fleet::{Autoscaler, Scaling, Signal};
use crate::sim::StintEnd;
use crate::sim::event::EventKind;
use crate::sim::replica::ReplicaEngine;
use crate::units::Picos;

/// What the scaling of one pool remembers.
#[derive(Debug, Clone)]
pub struct Scaler {
    /// Replicas decided for last.
    wanted: u32,
    last_up: Option<Picos>,
    last_down: Option<Picos>,
    /// Decisions on their way, in order: what is wanted.
    on_the_way: VecDeque<u32>,
}

impl Scaler {
    /// A pool that begins with so many replicas.
    pub fn new(replicas: u32) -> Self {
        Self { wanted: replicas, last_up: None, last_down: None, on_the_way: VecDeque::new() }
    }

    /// Decides at `now` for `desired` replicas, unless it is too soon after another decision.
    /// Whether anything was decided.
    fn decide(&mut self, desired: u32, now: Picos, by: &Autoscaler) -> bool {
        let waited = |since: Option<Picos>, cooldown: Picos| {
            since.is_none_or(|since| now - since >= cooldown)
        };
        let (up, down) = (desired > self.wanted, desired < self.wanted);
        if up && waited(self.last_up, by.up_cooldown) {
            self.last_up = Some(now);
        } else if down && waited(self.last_up.max(self.last_down), by.down_cooldown) {
            self.last_down = Some(now);
        } else {
            return false;
        }
        self.wanted = desired;
        self.on_the_way.push_back(desired);
        true
    }
}

impl<'a, R: ReplicaEngine<'a>> FleetSim<'a, R> {
    /// Puts the first looks of an autoscaler, or all entries of a timetable, on the list.
    pub(super) fn begin_scaling(&mut self, pool: u32) {
        match &self.spec.pools[pool as usize].life.scaling {
            Scaling::Fixed => {}
            Scaling::Auto(autoscaler) => {
                self.happens(EventKind::Decide, autoscaler.interval, pool);
            }
            Scaling::Schedule(entries) => {
                for (at, replicas) in entries {
                    self.scalers[pool as usize].on_the_way.push_back(*replicas);
                    self.happens(EventKind::Scale, *at, pool);
                }
            }
        }
    }

    /// The autoscaler of a pool looks, and may decide.
    pub(super) fn decide(&mut self, pool: u32) {
        let Scaling::Auto(autoscaler) = &self.spec.pools[pool as usize].life.scaling else {
            return;
        };
        let desired = autoscaler.wanted(self.signal(pool, autoscaler.signal));
        if self.scalers[pool as usize].decide(desired, self.now, autoscaler) {
            self.happens(EventKind::Scale, self.now + autoscaler.delay, pool);
        }
        self.happens(EventKind::Decide, self.now + autoscaler.interval, pool);
    }

    /// What all replicas of a pool that take requests have of a signal.
    fn signal(&self, pool: u32, signal: Signal) -> f64 {
        let spec = &self.spec.pools[pool as usize].replica;
        let held = self.held[pool as usize].load.waiting;
        let ready = self.pools.replicas_of(pool).iter().copied();
        let ready = ready.filter(|replica| self.roster.member(*replica).state == State::Ready);
        let engines = ready.map(|replica| &self.replicas[replica as usize]);
        let count =
            |of: fn(&R) -> u32| f64::from(engines.clone().map(of).fold(held, u32::saturating_add));
        let kv_tokens = spec.usable_blocks as f64 * f64::from(spec.block_size);
        match signal {
            Signal::Outstanding => count(|engine| engine.load().outstanding),
            Signal::Waiting => count(|engine| engine.load().waiting),
            Signal::KvUsage => {
                let held: u64 = engines.map(|engine| engine.kv_used_tokens(self.now)).sum();
                held as f64 / kv_tokens.max(1.0)
            }
            Signal::SeatUsage => {
                let running: usize = engines.map(R::running).sum();
                running as f64 / f64::from(spec.max_num_seqs)
            }
        }
    }

    /// A decision has come through: replicas are ordered or let go.
    pub(super) fn carry_out(&mut self, pool: u32) {
        let Some(wanted) = self.scalers[pool as usize].on_the_way.pop_front() else { return };
        let is = |state: State| matches!(state, State::Starting | State::Replaced | State::Ready);
        let mut there: Vec<u32> = self.pools.replicas_of(pool).to_vec();
        there.retain(|replica| is(self.roster.member(*replica).state));
        let count = u32::try_from(there.len()).expect("far fewer than 2^32 replicas");
        for _ in count..wanted {
            self.order(pool);
        }
        // As a Kubernetes ReplicaSet does: first who is not ready, then the newest.
        there.sort_by_key(|replica| {
            let member = self.roster.member(*replica);
            (member.state == State::Ready, std::cmp::Reverse((member.ready_at, *replica)))
        });
        for replica in there.into_iter().take(count.saturating_sub(wanted) as usize) {
            self.drain(replica);
        }
    }

    /// A replica takes no more requests, and is gone when it has finished what it has; one that
    /// has not started is gone at once.
    fn drain(&mut self, replica: u32) {
        if self.roster.member(replica).state == State::Ready {
            self.pools.close(replica);
            let now = self.now;
            let member = self.roster.member_mut(replica);
            (member.state, member.drains_from) = (State::Draining, Some(now));
            self.let_go_if_drained(replica);
        } else {
            self.let_go(replica, StintEnd::Cancelled);
        }
    }
}
