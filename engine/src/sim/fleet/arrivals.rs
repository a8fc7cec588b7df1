//! Which request of the list reaches the router next.
//!
//! The list is in order of due, and a pool's tokeniser and server take as long for each of its
//! requests: so the order holds within a pool, and only the first of each pool can be next.

use crate::sim::PoolSpec;
use crate::sim::event::{Event, EventKind};
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// The next arrival of each pool.
#[derive(Debug)]
pub struct Arrivals {
    pools: Vec<Option<Event>>,
}

impl Arrivals {
    /// The first arrivals among `requests`.
    pub fn of(requests: &[OfferedRequest], pools: &[PoolSpec]) -> Self {
        let first = |pool: (u32, &PoolSpec)| arrival_from(0, requests, pools.len(), pool);
        Self { pools: (0..).zip(pools).map(first).collect() }
    }

    /// The next one, if there is another.
    pub fn next(&self) -> Option<Event> {
        match self.pools.as_slice() {
            [only] => *only,
            several => several.iter().flatten().min().copied(),
        }
    }

    /// The request at `index` has arrived.
    #[inline]
    pub fn take(&mut self, index: u32, requests: &[OfferedRequest], pools: &[PoolSpec]) {
        let pool = requests[index as usize].pool;
        let next = (pool, &pools[pool as usize]);
        self.pools[pool as usize] = arrival_from(index as usize + 1, requests, pools.len(), next);
    }
}

/// The first request of a pool at `start` or later.
fn arrival_from(
    start: usize,
    requests: &[OfferedRequest],
    pools: usize,
    (pool, spec): (u32, &PoolSpec),
) -> Option<Event> {
    let mut rest = requests.get(start..)?.iter();
    let ahead = if pools == 1 { 0 } else { rest.position(|request| request.pool == pool)? };
    let index = start + ahead;
    let due: Picos = requests.get(index)?.due;
    Some(Event {
        at: due + spec.replica.api_overhead,
        kind: EventKind::Arrival,
        index: u32::try_from(index).expect("workloads are bounded far below 2^32"),
    })
}
