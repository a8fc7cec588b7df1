//! The router of a pool: which replica takes a request.
//!
//! A policy sees who asks ([`Caller`]) and what a gateway knows of its replicas ([`View`]), and
//! nothing else: not how long an answer will be, nor what a replica will do next.

mod affinity;
mod chance;
mod least;
mod round_robin;

use std::fmt::Debug;

use super::clients::Clients;
use crate::fleet::Routing;
use crate::rng::{Generator, Stream, keyed};
use crate::sim::loads::Loads;

/// A routing policy. Replicas are numbered within their pool.
pub trait Policy: Debug {
    /// The replica that takes the request of `caller`, one of [`View::open`].
    fn choose(&mut self, caller: &Caller, view: &View) -> u32;
}

/// What a router knows of an arriving request.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'c> {
    clients: &'c Clients<'c>,
    id: u32,
}

impl<'c> Caller<'c> {
    /// The caller of an attempt.
    pub fn new(clients: &'c Clients<'c>, id: u32) -> Self {
        Self { clients, id }
    }

    /// Chance, of this attempt alone: whatever else is routed changes none of it.
    pub fn chance(&self) -> Generator {
        keyed(self.clients.key(self.id, Stream::Routing))
    }

    /// What requests have in common that should meet on one replica: their session, or else the
    /// prefix they share.
    pub fn affinity(&self) -> Option<u64> {
        self.clients.affinity(self.id)
    }
}

/// What a router knows of the replicas of its pool.
pub struct View<'v> {
    loads: &'v Loads,
    /// In ascending order; never empty.
    open: &'v [u32],
    /// Some replicas take requests and are spared for now.
    some_are_spared: bool,
    kv_tokens: &'v dyn Fn(u32) -> u64,
}

impl View<'_> {
    /// Replicas that may take the request, in ascending order.
    pub fn open(&self) -> &[u32] {
        self.open
    }

    /// Requests queued or running at a replica.
    pub fn outstanding(&self, replica: u32) -> u32 {
        self.loads.of(replica)
    }

    /// KV tokens' worth of blocks that a replica holds now.
    pub fn kv_tokens(&self, replica: u32) -> u64 {
        (self.kv_tokens)(replica)
    }

    /// The open replica with the fewest requests, of equal ones the first from `start` on.
    pub fn least_outstanding(&self, start: u32) -> u32 {
        if !self.some_are_spared {
            return self.loads.least_outstanding(start);
        }
        self.first_least(start, |replica| self.outstanding(replica))
    }

    /// The open replica for which `cost` is least, of equal ones the first from `start` on.
    pub fn first_least<T: Ord>(&self, start: u32, cost: impl Fn(u32) -> T) -> u32 {
        let (before, from) = self.open.split_at(self.open.partition_point(|open| *open < start));
        let in_turn = from.iter().chain(before).copied();
        in_turn.min_by_key(|replica| cost(*replica)).unwrap_or_default()
    }
}

/// The router of one pool.
#[derive(Debug)]
pub struct Router {
    policy: Box<dyn Policy>,
    loads: Loads,
    /// Replicas that take requests, in ascending order.
    open: Vec<u32>,
}

impl Router {
    /// A router before `replicas` idle replicas that all take requests.
    pub fn new(routing: Routing, replicas: u32) -> Self {
        let policy: Box<dyn Policy> = match routing {
            Routing::LeastOutstanding => Box::<least::LeastOutstanding>::default(),
            Routing::LeastKv => Box::<least::LeastKv>::default(),
            Routing::RoundRobin => Box::<round_robin::RoundRobin>::default(),
            Routing::Random => Box::new(chance::Random),
            Routing::PowerOfTwo => Box::new(chance::PowerOfTwo),
            Routing::Affinity { most_over_mean } => {
                Box::new(affinity::Affinity::bounded_by(most_over_mean))
            }
        };
        Self { policy, loads: Loads::idle(replicas), open: (0..replicas).collect() }
    }

    /// A replica has this many requests now.
    pub fn set(&mut self, replica: u32, outstanding: u32) {
        self.loads.set(replica, outstanding);
    }

    /// A replica takes requests from now on.
    pub fn open(&mut self, replica: u32) {
        self.loads.open(replica);
        if let Err(place) = self.open.binary_search(&replica) {
            self.open.insert(place, replica);
        }
    }

    /// A replica takes no requests from now on.
    pub fn close(&mut self, replica: u32) {
        self.loads.close(replica);
        self.open.retain(|open| *open != replica);
    }

    /// One more replica, which does not take requests yet.
    pub fn add(&mut self) {
        self.loads.add();
    }

    /// The replica that takes the request of `caller`, one for which `spares` is false if there is
    /// any; `None` where no replica takes requests. `kv_tokens` is what each holds now.
    pub fn choose(
        &mut self,
        caller: &Caller,
        kv_tokens: &dyn Fn(u32) -> u64,
        spares: Option<&dyn Fn(u32, u32) -> bool>,
    ) -> Option<u32> {
        if self.open.is_empty() {
            return None;
        }
        let Self { policy, loads, open } = self;
        let others: Vec<u32> = spares.map_or_else(Vec::new, |spares| {
            open.iter().copied().filter(|replica| !spares(*replica, loads.of(*replica))).collect()
        });
        let some_are_spared = !others.is_empty() && others.len() < open.len();
        let open = if some_are_spared { &others } else { &*open };
        Some(policy.choose(caller, &View { loads, open, some_are_spared, kv_tokens }))
    }
}
