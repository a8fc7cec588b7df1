//! Where the requests of a class go: the shares of the pools that serve it.
//!
//! A request's pool is drawn by its identity alone, so that a route is an independent thinning: what
//! a pool is asked is a workload of its own, and another route changes no arrival, length or
//! patience.

use rand::RngExt;

use super::Quality;
use crate::problem::Problem;
use crate::rng::{Key, keyed};

/// Shares of a route may miss 1 in sum by as much, for what people round.
const ROUNDING: f64 = 1e-6;

/// The pools of a class and their shares, which sum to 1; at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    legs: Vec<Leg>,
}

/// One pool of a route.
#[derive(Debug, Clone, PartialEq)]
pub struct Leg {
    /// Index of the pool.
    pub pool: u32,
    /// Share of the requests that go there, above 0 and up to 1.
    pub share: f64,
    /// What is known about answers of that pool, where it is not what is known of the class.
    pub quality: Option<Quality>,
}

impl Route {
    /// All requests to one pool.
    pub fn to(pool: u32) -> Self {
        Self { legs: vec![Leg { pool, share: 1.0, quality: None }] }
    }

    /// The pools of `legs` at their shares.
    ///
    /// # Errors
    /// There is none, a share is not above 0, a pool comes twice, or they do not sum to 1. Paths are
    /// those of a list: `[1].share`.
    pub fn new(legs: Vec<Leg>) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        for (i, leg) in legs.iter().enumerate() {
            if !(leg.share > 0.0 && leg.share <= 1.0) {
                problems.push(Problem::error(
                    format!("[{i}].share"),
                    format!("the share of this pool is {:?}", leg.share),
                    "give a share above 0 and up to 1 (100 %), or leave the pool out",
                ));
            }
            if legs[..i].iter().any(|earlier| earlier.pool == leg.pool) {
                problems.push(Problem::error(
                    format!("[{i}].pool"),
                    "this pool is in the route already",
                    "name each pool once, with its whole share",
                ));
            }
        }
        let sum: f64 = legs.iter().map(|leg| leg.share).sum();
        if problems.is_empty() && (sum - 1.0).abs() > ROUNDING {
            problems.push(Problem::error(
                "",
                format!("the shares of this route sum to {sum:?}"),
                "let them sum to 1 (100 %): every request goes somewhere",
            ));
        }
        if problems.is_empty() { Ok(Self { legs }) } else { Err(problems) }
    }

    /// The pools, in the order of the document.
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// The leg to `pool`, if one leads there.
    pub fn leg(&self, pool: u32) -> Option<&Leg> {
        self.legs.iter().find(|leg| leg.pool == pool)
    }

    /// The same with nothing else known about answers of any pool than of the class.
    #[must_use]
    pub fn of_the_class_quality(&self) -> Self {
        let legs = self.legs.iter().map(|leg| Leg { quality: None, ..*leg });
        Self { legs: legs.collect() }
    }

    /// Whether some requests go to one pool and some to another.
    pub fn is_split(&self) -> bool {
        self.legs.len() > 1
    }

    /// The leg that the request of `key` takes: one number against all borders, so that what goes
    /// to the first pool at one share goes there at every larger one.
    pub fn draw(&self, key: Key) -> &Leg {
        let last = &self.legs[self.legs.len() - 1];
        if !self.is_split() {
            return last;
        }
        let mut left = keyed(key).random::<f64>();
        let passed = |leg: &&Leg| {
            left -= leg.share;
            left < 0.0
        };
        self.legs.iter().find(passed).unwrap_or(last)
    }
}

impl Default for Route {
    /// All to the first pool.
    fn default() -> Self {
        Self::to(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn leg(pool: u32, share: f64) -> Leg {
        Leg { pool, share, quality: None }
    }

    fn key(request: u64) -> Key {
        Key { seed: 1, stream: Stream::Route, class: 0, request, attempt: 0 }
    }

    #[test]
    fn requests_spread_by_the_shares_and_a_larger_share_only_adds() {
        let n = 20_000;
        let small = Route::new(vec![leg(1, 0.2), leg(0, 0.5), leg(2, 0.3)]).unwrap();
        let large = Route::new(vec![leg(1, 0.4), leg(0, 0.6)]).unwrap();
        let mut counts = [0.0; 3];
        for request in 0..n {
            let pool = small.draw(key(request)).pool;
            counts[pool as usize] += 1.0 / n as f64;
            assert!(pool != 1 || large.draw(key(request)).pool == 1);
        }
        for (seen, share) in counts.into_iter().zip([0.5, 0.2, 0.3]) {
            let error = (share * (1.0 - share) / n as f64).sqrt();
            assert!((seen - share).abs() < 4.0 * error, "{counts:?}");
        }
    }

    #[test]
    fn impossible_routes_are_refused_by_place() {
        for (legs, path) in [
            (vec![leg(0, 0.5), leg(1, 0.4)], ""),
            (vec![], ""),
            (vec![leg(0, 1.0), leg(1, 0.0)], "[1].share"),
            (vec![leg(0, f64::NAN)], "[0].share"),
            (vec![leg(0, 0.5), leg(0, 0.5)], "[1].pool"),
        ] {
            assert_eq!(Route::new(legs).unwrap_err()[0].path, path);
        }
        let thirds = Route::new((0..3).map(|pool| leg(pool, 1.0 / 3.0)).collect());
        assert!(thirds.is_ok());
    }
}
