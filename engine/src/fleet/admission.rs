//! Whom the fleet lets in.
//!
//! A limit that is set applies beside the others; with none, everybody is let in and waits. What
//! is turned away gets an answer at once (HTTP 429), so its client may try again.

use crate::counted::typed;
use crate::problem::Problem;
use crate::units::Picos;

/// Limits at the door and in the queue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Admission {
    /// Arrivals are turned away while so many requests wait in the queues of all replicas.
    pub max_waiting: Option<u32>,
    /// A request that has waited so long in a queue without being scheduled is turned away then.
    /// Its age alone decides, not that of others, so whoever is served was served in time.
    pub max_queue_age: Option<Picos>,
    /// A rate that arrivals may not exceed for long.
    pub token_bucket: Option<TokenBucket>,
    /// Turns less urgent classes away first.
    pub shedding: Option<Shedding>,
    /// What those who are turned away are told to wait (HTTP Retry-After).
    pub retry_after: Option<Picos>,
}

impl Admission {
    /// Whether anybody may be turned away.
    pub fn is_limited(&self) -> bool {
        let Self { max_waiting, max_queue_age, token_bucket, shedding, retry_after: _ } = self;
        max_waiting.is_some()
            || max_queue_age.is_some()
            || token_bucket.is_some()
            || shedding.is_some()
    }
}

/// A bucket of `burst` tokens that gains one every `interval`; each request takes one or is turned
/// away. It is full at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenBucket {
    /// Time in which one token comes: the inverse of the rate.
    pub interval: Picos,
    /// Tokens it holds.
    pub burst: u32,
}

impl TokenBucket {
    /// A bucket that gains `rate_rps` tokens per second and holds `burst`.
    ///
    /// # Errors
    /// A rate outside 1e-6 to 1e6 per second, or no room for a token.
    pub fn new(rate_rps: f64, burst: u32) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        if !(1e-6..=1e6).contains(&rate_rps) {
            problems.push(Problem::error(
                "rate_rps",
                format!(
                    "the bucket gains {rate_rps} requests per second",
                    rate_rps = typed(rate_rps)
                ),
                "give 0.000001 to 1000000, or leave the bucket out",
            ));
        }
        if burst == 0 {
            problems.push(Problem::error(
                "burst",
                "the bucket holds no request, so nobody is ever let in",
                "give 1 or more",
            ));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self { interval: Picos::from_secs(1.0 / rate_rps), burst })
    }
}

/// What a token bucket holds, as the moment at which it would be full, in whole picoseconds (the
/// generic cell rate algorithm, ITU-T I.371).
#[derive(Debug, Clone, Copy)]
pub struct BucketLevel {
    rule: TokenBucket,
    full_at: Picos,
}

impl BucketLevel {
    /// A full bucket, at the start.
    pub fn full(rule: TokenBucket) -> Self {
        Self { rule, full_at: Picos::ZERO }
    }

    /// Takes a token at `now`, no earlier than any before, if there is one.
    pub fn take(&mut self, now: Picos) -> bool {
        let missing = (self.full_at.max(now) - now).0;
        let room = self.rule.interval.0.saturating_mul(i64::from(self.rule.burst) - 1);
        let some_left = missing <= room;
        if some_left {
            self.full_at = self.full_at.max(now) + self.rule.interval;
        }
        some_left
    }
}

/// While so many requests wait, classes of a priority above a bound are turned away. As in vLLM a
/// lower number is more urgent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shedding {
    /// Requests waiting in the queues of all replicas from which on shedding begins.
    pub max_waiting: u32,
    /// Classes whose priority is above this are shed.
    pub above_priority: i32,
}
