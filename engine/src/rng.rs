//! Random numbers keyed by identity: (seed, stream, class, request, attempt).
//!
//! A number never depends on how many were drawn before it, so adding a class, changing the
//! routing or resizing the fleet leaves every other draw as it was: two runs that differ in one
//! setting share their random numbers, and their difference is the setting's.

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// What a draw is for. The discriminants are part of what a seed means: never renumber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Stream {
    /// Gaps between arrivals.
    Arrivals = 1,
    /// Prompt lengths.
    InputTokens = 2,
    /// Output lengths.
    OutputTokens = 3,
    /// How long a user waits before giving up.
    Patience = 4,
    /// Whether the server fails the request.
    Error = 5,
    /// Whether the answer is acceptable.
    Quality = 6,
    /// How long bursts and the quiet between them last.
    Bursts = 21,
    /// Which requests of a trace are kept or repeated, and when the repeated ones are due.
    Replay = 22,
    /// How many hidden tokens come before the visible answer.
    HiddenTokens = 23,
    /// Which shared prefix a prompt begins with.
    SharedPrefix = 24,
    /// How many turns a session has.
    Turns = 25,
    /// How long a user who has a first token waits for the next.
    StallPatience = 32,
    /// How much of a back-off a client leaves out.
    BackOff = 33,
    /// How long a user in a closed loop thinks.
    ThinkTime = 34,
    /// Which of the pools of its route a request goes to.
    Route = 41,
    /// Which replicas a router looks at that chooses by chance.
    Routing = 42,
    /// When replicas fail.
    Failures = 43,
    /// The order in which a saturated replica meets the mix.
    Saturation = 64,
    /// Where the searches of a fit begin.
    Fit = 65,
}

/// Whose draw it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The scenario's seed.
    pub seed: u64,
    /// What the draw is for.
    pub stream: Stream,
    /// Index of the traffic class.
    pub class: u64,
    /// Index of the request within its class.
    pub request: u64,
    /// Attempt of that request, from zero.
    pub attempt: u64,
}

/// What draws the numbers of one key.
pub type Generator = Xoshiro256PlusPlus;

/// A generator of its own for `key`.
pub fn keyed(key: Key) -> Generator {
    let words = [key.seed, key.stream as u64, key.class, key.request, key.attempt];
    Xoshiro256PlusPlus::seed_from_u64(hash(&words))
}

/// A number that scatters over all of 64 bits with each of `words`.
pub fn hash(words: &[u64]) -> u64 {
    words.iter().fold(0, |hash, word| mix(hash ^ mix(*word)))
}

/// The output function of SplitMix64 (Steele, Lea and Flood 2014): a bijection that scatters
/// neighbouring numbers.
fn mix(word: u64) -> u64 {
    let z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    fn draw(class: u64, request: u64, stream: Stream) -> u64 {
        keyed(Key { seed: 1, stream, class, request, attempt: 0 }).random()
    }

    #[test]
    fn a_draw_depends_on_its_key_alone() {
        assert_eq!(draw(0, 7, Stream::Quality), draw(0, 7, Stream::Quality));
        let others =
            [draw(0, 8, Stream::Quality), draw(1, 7, Stream::Quality), draw(0, 7, Stream::Error)];
        for other in others {
            assert_ne!(draw(0, 7, Stream::Quality), other);
        }
    }

    #[test]
    fn neighbouring_requests_are_uncorrelated() {
        let n = 20_000_u32;
        let uniform = |request: u32| {
            keyed(Key {
                seed: 1,
                stream: Stream::Error,
                class: 0,
                request: request.into(),
                attempt: 0,
            })
            .random::<f64>()
        };
        let mut sum = 0.0;
        for request in 0..n {
            sum += (uniform(request) - 0.5) * (uniform(request + 1) - 0.5);
        }
        // Of n products with standard deviation 1/12 the mean is within 4/(12·√n).
        assert!((sum / f64::from(n)).abs() < 4.0 / 12.0 / f64::from(n).sqrt());
    }
}
