//! To where chance leads, by the identity of the request.

use rand::RngExt;

use super::{Caller, Policy, View};

/// To any replica, all alike.
#[derive(Debug)]
pub struct Random;

impl Policy for Random {
    fn choose(&mut self, caller: &Caller, view: &View) -> u32 {
        view.open()[caller.chance().random_range(0..count(view)) as usize]
    }
}

/// To the one of two different replicas that has fewer requests; of equal ones, the first drawn.
#[derive(Debug)]
pub struct PowerOfTwo;

impl Policy for PowerOfTwo {
    fn choose(&mut self, caller: &Caller, view: &View) -> u32 {
        let (open, n) = (view.open(), count(view));
        if n == 1 {
            return open[0];
        }
        let mut chance = caller.chance();
        let first = chance.random_range(0..n);
        let second = chance.random_range(0..n - 1);
        let second = if second < first { second } else { second + 1 };
        let (first, second) = (open[first as usize], open[second as usize]);
        if view.outstanding(second) < view.outstanding(first) { second } else { first }
    }
}

fn count(view: &View) -> u32 {
    u32::try_from(view.open().len()).expect("a pool has far fewer than 2^32 replicas")
}
