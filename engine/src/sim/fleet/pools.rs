//! The pools of a fleet: whose each replica is, and what is kept pool by pool.

use super::router::{Caller, Router};
use crate::sim::peaks::{PeakWatch, WorkRate};
use crate::sim::replica::Owed;
use crate::sim::{FleetSpec, Peaks, Sample};
use crate::units::Picos;

/// All pools of a fleet.
#[derive(Debug)]
pub struct Pools {
    pools: Vec<Pool>,
    /// By replica of the fleet.
    homes: Vec<Home>,
}

/// One pool.
#[derive(Debug)]
struct Pool {
    router: Router,
    /// Its replicas by their number in the fleet.
    replicas: Vec<u32>,
    /// Not kept of an only pool: what it owes is what the fleet does.
    peaks: PeakWatch,
    rate: WorkRate,
}

/// A replica within its pool.
#[derive(Debug, Clone, Copy)]
struct Home {
    pool: u32,
    number: u32,
}

impl Pools {
    /// The pools of `spec`, whose replicas are numbered through.
    pub fn new(spec: &FleetSpec) -> Self {
        let mut homes = Vec::new();
        let pools = (0..).zip(&spec.pools).map(|(pool, of)| {
            let first = u32::try_from(homes.len()).expect("fleets are far below 2^32");
            homes.extend((0..of.replicas).map(|number| Home { pool, number }));
            Pool {
                router: Router::new(spec.routing, of.replicas),
                replicas: (first..first + of.replicas).collect(),
                peaks: PeakWatch::default(),
                rate: WorkRate::default(),
            }
        });
        Self { pools: pools.collect(), homes }
    }

    /// Weighs what each pool owes by its own rate.
    pub fn weigh_by(&mut self, rates: &[WorkRate]) {
        for (pool, rate) in self.pools.iter_mut().zip(rates) {
            pool.peaks.weigh_by(*rate);
            pool.rate = *rate;
        }
    }

    /// The pool of a replica.
    pub fn of(&self, replica: u32) -> u32 {
        self.homes[replica as usize].pool
    }

    /// A replica takes requests from now on.
    pub fn open(&mut self, replica: u32) {
        let Home { pool, number } = self.homes[replica as usize];
        self.pools[pool as usize].router.open(number);
    }

    /// A replica takes no requests from now on.
    pub fn close(&mut self, replica: u32) {
        let Home { pool, number } = self.homes[replica as usize];
        self.pools[pool as usize].router.close(number);
    }

    /// One more replica of `pool`, the last of the fleet, which does not take requests yet.
    pub fn add(&mut self, pool: u32) -> u32 {
        let of = &mut self.pools[pool as usize];
        let number = u32::try_from(of.replicas.len()).expect("fleets are far below 2^32");
        let replica = u32::try_from(self.homes.len()).expect("fleets are far below 2^32");
        of.replicas.push(replica);
        of.router.add();
        self.homes.push(Home { pool, number });
        replica
    }

    /// The replicas of a pool.
    pub fn replicas_of(&self, pool: u32) -> &[u32] {
        &self.pools[pool as usize].replicas
    }

    /// What a pool adds between two samples of one moment, in seconds of its work: the work of a
    /// fleet is done when that of its last pool is.
    pub fn add_work_to(&self, pool: u32, before: &Sample, sample: &mut Sample) {
        let rate = &self.pools[pool as usize].rate;
        let of = |tokens: fn(&Sample) -> u64| tokens(sample) - tokens(before);
        let (prefill, decode) = (of(|s| s.backlog_prefill_tokens), of(|s| s.backlog_decode_tokens));
        let (waiting_prefill, waiting_decode) =
            (of(|s| s.waiting_prefill_tokens), of(|s| s.waiting_decode_tokens));
        sample.backlog_work_s = before.backlog_work_s.max(rate.seconds(prefill, decode));
        sample.waiting_work_s =
            before.waiting_work_s.max(rate.seconds(waiting_prefill, waiting_decode));
    }

    /// The replica of `pool` that takes the request of `caller`, by what each holds now, if one
    /// takes requests: one that is not spared, by its number and what is outstanding, if there is.
    pub fn choose(
        &mut self,
        pool: u32,
        caller: &Caller,
        kv_tokens: &dyn Fn(u32) -> u64,
        spares: Option<&dyn Fn(u32, u32) -> bool>,
    ) -> Option<u32> {
        let Pool { router, replicas, .. } = &mut self.pools[pool as usize];
        let replica = |number: u32| replicas[number as usize];
        let kv_tokens = |number: u32| kv_tokens(replica(number));
        let number = match spares {
            None => router.choose(caller, &kv_tokens, None),
            Some(spares) => {
                let spares = |number: u32, outstanding: u32| spares(replica(number), outstanding);
                router.choose(caller, &kv_tokens, Some(&spares))
            }
        };
        number.map(replica)
    }

    /// What the router of a pool holds changed.
    pub fn change_held(&mut self, pool: u32, before: Owed, now: Owed) {
        if self.pools.len() > 1 {
            self.pools[pool as usize].peaks.change(before, now);
        }
    }

    /// What a replica owed changed.
    #[inline]
    pub fn change(&mut self, replica: u32, before: Owed, now: Owed) {
        let several = self.pools.len() > 1;
        if several || before.outstanding != now.outstanding {
            self.note(replica, before, now, several);
        }
    }

    fn note(&mut self, replica: u32, before: Owed, now: Owed, several: bool) {
        let Home { pool, number } = self.homes[replica as usize];
        let pool = &mut self.pools[pool as usize];
        pool.router.set(number, now.outstanding);
        if several {
            pool.peaks.change(before, now);
        }
    }

    /// Looks for the peaks of each pool, as [`PeakWatch::look`] does; `decode_tokens` counts those
    /// of a replica, `held` those that the router of a pool holds.
    pub fn look(
        &mut self,
        at: Picos,
        decode_tokens: impl Fn(u32) -> u64,
        held: impl Fn(usize) -> u64,
    ) {
        if self.pools.len() > 1 {
            for (index, pool) in self.pools.iter_mut().enumerate() {
                let of_replicas = || pool.replicas.iter().map(|replica| decode_tokens(*replica));
                pool.peaks.look(at, || held(index) + of_replicas().sum::<u64>());
            }
        }
    }

    /// The peaks of each pool; `fleet`'s of an only one.
    pub fn peaks(&self, fleet: Peaks) -> Vec<Peaks> {
        match self.pools.as_slice() {
            [_] => vec![fleet],
            several => several.iter().map(|pool| pool.peaks.peaks()).collect(),
        }
    }
}
