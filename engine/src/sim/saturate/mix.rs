//! The mix that a saturated replica is fed: even samples of the requests of a scenario.

use rand::seq::SliceRandom;

use crate::rng::{Key, Stream, keyed};
use crate::sim::ReplicaSpec;
use crate::units::Picos;
use crate::workload::OfferedRequest;

/// The requests that fit a replica, and their means.
pub struct Mix<'a> {
    requests: Vec<&'a OfferedRequest>,
    /// Mean prompt tokens.
    pub input: f64,
    /// Mean output tokens.
    pub output: f64,
    /// Coefficient of variation of their KV token-steps.
    pub residency_cv: f64,
}

impl<'a> Mix<'a> {
    /// `None` when none fits.
    pub fn of(requests: &'a [OfferedRequest], spec: &ReplicaSpec) -> Option<Self> {
        let fits = |r: &&OfferedRequest| !spec.can_never_fit(r.input_tokens, r.output_tokens);
        let mut requests: Vec<&OfferedRequest> = requests.iter().filter(fits).collect();
        requests.sort_by_key(|request| kv_token_steps(request));
        if requests.is_empty() {
            return None;
        }
        let mean = |value: fn(&OfferedRequest) -> f64| {
            requests.iter().map(|r| value(r)).sum::<f64>() / requests.len() as f64
        };
        let held = |r: &OfferedRequest| kv_token_steps(r) as f64;
        let (first, second) =
            (mean(held), mean(|r| kv_token_steps(r) as f64 * kv_token_steps(r) as f64));
        Some(Self {
            input: mean(|r| f64::from(r.input_tokens)),
            output: mean(|r| f64::from(r.output_tokens)),
            residency_cv: (second / (first * first) - 1.0).max(0.0).sqrt(),
            requests,
        })
    }

    /// `count` requests from the `first` of an endless list with this mix, in random order.
    pub fn block(&self, first: usize, count: usize) -> Vec<OfferedRequest> {
        let request = |i| {
            let request = self.requests[golden_walk(i, self.requests.len())];
            OfferedRequest { due: Picos::ZERO, patience: None, ..*request }
        };
        let mut block: Vec<OfferedRequest> = (first..first + count).map(request).collect();
        let key = Key { seed: 0, stream: Stream::Saturation, class: 0, request: 0, attempt: 0 };
        block.shuffle(&mut keyed(Key { request: first as u64, ..key }));
        block
    }
}

/// Twice the KV token-steps that a request holds while it decodes, output × (input + output / 2).
fn kv_token_steps(request: &OfferedRequest) -> u64 {
    let (input, output) = (u64::from(request.input_tokens), u64::from(request.output_tokens));
    output * (2 * input + output)
}

/// The `i`-th stop of an even walk over `n` places: multiples of the golden ratio, modulo one.
/// Any stretch of the walk is spread evenly over all places.
fn golden_walk(i: usize, n: usize) -> usize {
    let fraction = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let place = (u128::from(fraction) * n as u128) >> 64;
    usize::try_from(place).expect("below n")
}
