//! Requests of one session, or with one shared prefix, to one replica, as long as it is not much fuller than the others.
//!
//! The replica of a session is that with the highest hash of the two (rendezvous hashing: Thaler
//! and Ravishankar 1998), so that a replica that comes or goes moves only its own sessions. A bound
//! keeps a few long sessions from filling one replica (consistent hashing with bounded loads:
//! Mirrokni, Thorup and Zadimoghaddam 2018, as in Envoy's `hash_balance_factor`); what is above it
//! goes where the fewest are outstanding, as in the cache-aware routers of SGLang and vLLM.

use super::least::LeastOutstanding;
use super::{Caller, Policy, View};
use crate::rng::hash;

/// Affinity with a bound on load.
#[derive(Debug)]
pub struct Affinity {
    most_over_mean: f64,
    otherwise: LeastOutstanding,
}

impl Affinity {
    /// A replica keeps its sessions up to so many times its part of all that is outstanding.
    pub fn bounded_by(most_over_mean: f64) -> Self {
        Self { most_over_mean, otherwise: LeastOutstanding::default() }
    }

    /// Whether `replica` would then have no more than its part allows; one request is always fine.
    fn has_room(&self, replica: u32, view: &View) -> bool {
        let all: u64 = view.open().iter().map(|open| u64::from(view.outstanding(*open))).sum();
        let mean = (all + 1) as f64 / view.open().len() as f64;
        f64::from(view.outstanding(replica) + 1) <= (self.most_over_mean * mean).ceil()
    }
}

impl Policy for Affinity {
    fn choose(&mut self, caller: &Caller, view: &View) -> u32 {
        let home = caller.affinity().and_then(|shared| {
            view.open().iter().copied().max_by_key(|open| hash(&[shared, u64::from(*open)]))
        });
        match home {
            Some(home) if self.has_room(home, view) => home,
            _ => self.otherwise.choose(caller, view),
        }
    }
}
