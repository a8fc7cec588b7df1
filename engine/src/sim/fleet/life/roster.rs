//! Which replicas there are and what state each is in; who is paid for and since when.

use crate::sim::{FleetSpec, PoolSpec, ReplicaStates, Stint, StintEnd};
use crate::units::Picos;

/// What a replica is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Ordered, not ready yet.
    Starting,
    /// Failed, and its replacement is starting.
    Replaced,
    /// Takes requests.
    Ready,
    /// Finishes what it has.
    Draining,
    /// Not there: its place may be taken by another.
    Gone,
}

/// One replica, or the place of one that is gone.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// What it is doing.
    pub state: State,
    /// When it was ordered.
    pub since: Picos,
    /// When it is or was ready.
    pub ready_at: Picos,
    /// When it fails by chance.
    pub fails_at: Option<Picos>,
    /// Since when it takes no more requests and finishes what it has.
    pub drains_from: Option<Picos>,
    /// Replicas that have had this place, this one included.
    pub lives: u32,
}

impl Member {
    /// One that is ordered at `since`, the first in its place.
    pub fn ordered(since: Picos, ready_at: Picos) -> Self {
        let state = State::Starting;
        Self { state, since, ready_at, fails_at: None, drains_from: None, lives: 1 }
    }
}

/// All replicas of a fleet.
#[derive(Debug)]
pub struct Roster {
    members: Vec<Member>,
    /// Of the replicas that are gone, by pool.
    stints: Vec<Vec<Stint>>,
    /// Pools by whether something happens to their replicas.
    lively: Vec<bool>,
}

impl Roster {
    /// The replicas with which `spec` begins.
    pub fn new(spec: &FleetSpec) -> Self {
        let members = spec.pools.iter().flat_map(|pool| {
            let state = if pool.life.cold_start { State::Starting } else { State::Ready };
            let ready_at = if pool.life.cold_start { pool.life.start_up } else { Picos::ZERO };
            let member = Member { state, ..Member::ordered(Picos::ZERO, ready_at) };
            (0..pool.replicas).map(move |_| member)
        });
        Self {
            members: members.collect(),
            stints: vec![Vec::new(); spec.pools.len()],
            lively: spec.pools.iter().map(|pool| !pool.life.is_constant()).collect(),
        }
    }

    /// Whether anything ever happens to a replica of `pool`.
    pub fn is_lively(&self, pool: u32) -> bool {
        self.lively[pool as usize]
    }

    /// Whether anything ever happens to any.
    pub fn is_any_lively(&self) -> bool {
        self.lively.contains(&true)
    }

    /// A replica.
    pub fn member(&self, replica: u32) -> &Member {
        &self.members[replica as usize]
    }

    /// A replica, to change it.
    pub fn member_mut(&mut self, replica: u32) -> &mut Member {
        &mut self.members[replica as usize]
    }

    /// A place for one more replica, at the end.
    pub fn add(&mut self, member: Member) {
        self.members.push(member);
    }

    /// The stint of a replica of `pool` ends at `now`.
    pub fn end_stint(&mut self, pool: u32, replica: u32, now: Picos, end: StintEnd) {
        let stint = self.stint(replica, end, now);
        self.stints[pool as usize].push(stint);
    }

    /// The states of `replicas`.
    pub fn states(&self, replicas: &[u32]) -> ReplicaStates {
        let mut states = ReplicaStates::default();
        for replica in replicas {
            *match self.member(*replica).state {
                State::Starting => &mut states.starting,
                State::Replaced => &mut states.crashed,
                State::Ready => &mut states.ready,
                State::Draining => &mut states.draining,
                State::Gone => continue,
            } += 1;
        }
        states
    }

    /// All stints of a pool, those of its present `replicas` until `end`, in order of their begin;
    /// none of a pool to whose replicas nothing happens.
    pub fn stints_until(&self, pool: u32, replicas: &[u32], end: Picos) -> Vec<Stint> {
        if !self.is_lively(pool) {
            return Vec::new();
        }
        let present = replicas.iter().filter(|r| self.member(**r).state != State::Gone);
        let present = present.map(|replica| self.stint(*replica, StintEnd::RunEnded, end));
        let mut all: Vec<Stint> =
            self.stints[pool as usize].iter().copied().chain(present).collect();
        all.sort_by_key(|stint| (stint.from, stint.replica));
        all
    }

    /// How many requests a replica of `pool` is given at `now` before the others: a rising part of
    /// its seats in its slow start, at least one.
    pub fn seats_of(&self, replica: u32, pool: &PoolSpec, now: Picos) -> u32 {
        let (passed, slow_start) = (now - self.member(replica).ready_at, pool.life.slow_start);
        if passed >= slow_start {
            return u32::MAX;
        }
        let seats = pool.replica.max_num_seqs;
        let share = i128::from(seats) * i128::from(passed.0) / i128::from(slow_start.0);
        u32::try_from(share).unwrap_or(seats).max(1)
    }

    fn stint(&self, replica: u32, end: StintEnd, to: Picos) -> Stint {
        let Member { since, ready_at, drains_from, .. } = *self.member(replica);
        // A replacement may have been ordered when the run was over.
        let to = to.max(since);
        let takes_until = drains_from.unwrap_or(to).min(to);
        Stint { replica, from: since, ready: ready_at.min(to), takes_until, to, end }
    }
}
