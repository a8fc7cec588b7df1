//! From traffic classes to the list of requests they offer.

use rand::RngExt;

use super::{Due, OfferedRequest, TrafficClass};
use crate::problem::Problem;
use crate::rng::{Key, Stream, keyed};
use crate::units::Picos;

/// The most requests one scenario may offer.
pub const MAX_REQUESTS: u64 = 5_000_000;

/// Every request that `classes` offer in `[0, horizon)`, by due moment, then class, then order
/// within the class.
///
/// Every number is drawn by the identity of its request (see [`crate::rng`]): the same seed gives
/// a class the same requests whatever the other classes, the horizon or the fleet.
///
/// # Errors
/// More than [`MAX_REQUESTS`] would be offered, or a recording of lengths is shorter than its
/// trace.
pub fn generate(
    classes: &[TrafficClass],
    seed: u64,
    horizon: Picos,
) -> Result<Vec<OfferedRequest>, Problem> {
    let expected: f64 =
        classes.iter().map(|class| class.arrivals.expected(Picos::ZERO, horizon)).sum();
    if expected > MAX_REQUESTS as f64 {
        return Err(too_many(expected));
    }
    let mut offered = Vec::new();
    for (index, class) in (0..).zip(classes) {
        let dues = class.arrivals.dues(seed, u64::from(index));
        for due in dues.take_while(|due| due.at < horizon) {
            if offered.len() as u64 >= MAX_REQUESTS {
                return Err(too_many(expected));
            }
            let who = Identity { seed, class: index, request: due.request };
            offered.push(class.request(who, due)?);
        }
    }
    // Stable, so requests of one class that are due at once stay in their order.
    offered.sort_by_key(|request: &OfferedRequest| (request.due, request.class));
    Ok(offered)
}

fn too_many(expected: f64) -> Problem {
    Problem::error(
        "workload",
        format!(
            "about {expected:.0} requests would be offered, more than {MAX_REQUESTS} that one \
             scenario may hold"
        ),
        "shorten the horizon or lower the rates",
    )
}

/// A fingerprint of a workload: equal for equal lists, on every machine (FNV-1a, 64 bits).
pub fn digest(requests: &[OfferedRequest]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |word: u64| {
        for byte in word.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for request in requests {
        add(u64::from(request.class));
        add(request.due.0.cast_unsigned());
        add(u64::from(request.input_tokens));
        add(u64::from(request.output_tokens));
        add(request.patience.map_or(u64::MAX, |patience| patience.0.cast_unsigned()));
        add(u64::from(request.fails) << 1 | u64::from(request.acceptable));
    }
    hash
}

#[derive(Debug, Clone, Copy)]
struct Identity {
    seed: u64,
    class: u32,
    request: u64,
}

impl Identity {
    fn key(self, stream: Stream) -> Key {
        let Self { seed, class, request } = self;
        Key { seed, stream, class: u64::from(class), request, attempt: 0 }
    }

    /// Uniform in [0, 1). One number against every threshold: a request that fails at one error
    /// rate fails at every higher one.
    fn uniform(self, stream: Stream) -> f64 {
        keyed(self.key(stream)).random()
    }
}

impl TrafficClass {
    fn request(&self, who: Identity, due: Due) -> Result<OfferedRequest, Problem> {
        let too_short = |side: &str| {
            Problem::error(
                format!("workload.classes[{}].{side}", who.class),
                format!("request {} of the trace has no recorded length", due.record),
                "give one length per request of the trace",
            )
        };
        let input = self.input.draw(who.key(Stream::InputTokens), due.record);
        let output = self.output.draw(who.key(Stream::OutputTokens), due.record);
        let budget = self.max_output_tokens.unwrap_or(u32::MAX).max(1);
        let pass_rate = self.quality.pass_rate().unwrap_or(1.0);
        Ok(OfferedRequest {
            class: who.class,
            due: due.at,
            input_tokens: input.ok_or_else(|| too_short("input_tokens"))?,
            output_tokens: output.ok_or_else(|| too_short("output_tokens"))?.min(budget),
            patience: self.patience.and_then(|patience| patience.draw(who.key(Stream::Patience))),
            fails: self.error_rate > 0.0 && who.uniform(Stream::Error) < self.error_rate,
            acceptable: pass_rate >= 1.0 || who.uniform(Stream::Quality) < pass_rate,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        Arrivals, Bursts, Lengths, Patience, Quality, RateProfile, Replay, Spacing, sinusoid, weeks,
    };
    use super::*;

    const MINUTE: Picos = Picos(60_000_000_000_000);

    fn class(arrivals: Arrivals) -> TrafficClass {
        TrafficClass {
            name: "chat".to_owned(),
            arrivals,
            input: Lengths::lognormal(512.0, 2_000.0).unwrap(),
            output: Lengths::lognormal(256.0, 1_000.0).unwrap(),
            max_output_tokens: None,
            patience: Some(Patience::lognormal(5.0, 20.0).unwrap()),
            error_rate: 0.02,
            quality: Quality::Assumed { pass_rate: 0.9, by: "a test".to_owned() },
        }
    }

    fn poisson(rate_rps: f64) -> TrafficClass {
        class(Arrivals::Poisson(RateProfile::constant(rate_rps).unwrap()))
    }

    fn even(rate_rps: f64) -> TrafficClass {
        class(Arrivals::Even(RateProfile::constant(rate_rps).unwrap()))
    }

    fn of_class(requests: &[OfferedRequest], class: u32) -> Vec<OfferedRequest> {
        requests.iter().filter(|request| request.class == class).copied().collect()
    }

    #[test]
    fn requests_come_in_order_of_due_then_class() {
        let requests = generate(&[even(5.0), even(5.0), poisson(9.0)], 1, MINUTE).unwrap();
        assert!(requests.windows(2).all(|p| (p[0].due, p[0].class) <= (p[1].due, p[1].class)));
        assert!(requests.iter().all(|request| request.due < MINUTE));
        assert_eq!((requests[0].class, requests[1].class), (0, 1));
    }

    #[test]
    fn another_class_changes_nothing_for_the_first() {
        let alone = generate(&[poisson(20.0)], 1, MINUTE).unwrap();
        let among = generate(&[poisson(20.0), even(50.0)], 1, MINUTE).unwrap();
        assert_eq!(alone, of_class(&among, 0));
    }

    #[test]
    fn a_longer_horizon_only_adds() {
        let short = generate(&[poisson(20.0)], 1, Picos(MINUTE.0 / 2)).unwrap();
        let long = generate(&[poisson(20.0)], 1, MINUTE).unwrap();
        assert_eq!(short, long[..short.len()]);
        assert!(long.len() > short.len());
    }

    #[test]
    fn what_the_rates_change_is_monotone_request_by_request() {
        let more = |error_rate, pass_rate| {
            let mut class = poisson(50.0);
            class.error_rate = error_rate;
            class.quality = Quality::Assumed { pass_rate, by: "a test".to_owned() };
            generate(&[class], 1, MINUTE).unwrap()
        };
        let (few, many) = (more(0.01, 0.9), more(0.2, 0.5));
        for (few, many) in few.iter().zip(&many) {
            assert!(many.fails >= few.fails && many.acceptable <= few.acceptable);
        }
        let share = |f: fn(&OfferedRequest) -> bool| {
            many.iter().filter(|r| f(r)).count() as f64 / many.len() as f64
        };
        assert!((share(|r| r.fails) - 0.2).abs() < 0.03);
        assert!((share(|r| r.acceptable) - 0.5).abs() < 0.04);
        assert!(more(0.0, 1.0).iter().all(|request| request.acceptable && !request.fails));
        assert!(more(1.0, 0.0).iter().all(|request| !request.acceptable && request.fails));
    }

    #[test]
    fn the_output_budget_cuts_and_changes_no_other_draw() {
        let free = generate(&[poisson(30.0)], 1, MINUTE).unwrap();
        let mut cut = poisson(30.0);
        cut.max_output_tokens = Some(100);
        for (free, cut) in free.iter().zip(generate(&[cut], 1, MINUTE).unwrap()) {
            assert_eq!(OfferedRequest { output_tokens: free.output_tokens.min(100), ..*free }, cut);
        }
    }

    #[test]
    fn evenly_spaced_requests_come_exactly_rate_times_horizon() {
        for (rate, count) in [(1.0, 60), (137.0, 8_220), (137.5, 8_250), (0.1, 6)] {
            let requests = generate(&[even(rate)], 1, MINUTE).unwrap();
            assert_eq!(requests.len(), count);
            assert_eq!(requests[0].due, Picos::ZERO);
        }
    }

    #[test]
    fn a_replayed_trace_keeps_moment_and_lengths_together() {
        let mut class = class(Arrivals::Trace(Replay::new(&[0.5, 1.0, 90.0]).unwrap()));
        class.input = Lengths::recorded(vec![10, 20, 30]).unwrap();
        class.output = Lengths::recorded(vec![1, 2, 3]).unwrap();
        let requests = generate(std::slice::from_ref(&class), 1, MINUTE).unwrap();
        let seen: Vec<_> =
            requests.iter().map(|r| (r.due.as_secs(), r.input_tokens, r.output_tokens)).collect();
        assert_eq!(seen, [(0.5, 10, 1), (1.0, 20, 2)]);
        class.output = Lengths::recorded(vec![1]).unwrap();
        let problem = generate(&[class], 1, MINUTE).unwrap_err();
        assert_eq!(problem.path, "workload.classes[0].output_tokens");
    }

    #[test]
    fn too_many_requests_are_refused_before_they_are_made() {
        let problem = generate(&[poisson(1e9)], 1, MINUTE).unwrap_err();
        assert!(problem.message.contains("60000000000 requests"), "{}", problem.message);
    }

    /// The numbers a seed stands for. They are part of every link: a change here is a change of
    /// what people shared.
    #[test]
    fn a_seed_means_these_numbers_on_every_machine() {
        let lengths = |input| TrafficClass { input, ..even(10.0) };
        let quantiles = Lengths::quantiles(&[(0.1, 20.0), (0.5, 300.0), (0.99, 4_000.0)]).unwrap();
        let profile = RateProfile::new(&[(0.0, 2.0), (30.0, 40.0), (60.0, 5.0)]).unwrap();
        let looped = Replay::new(&[0.0, 0.4, 1.9]).and_then(|replay| {
            let changed = replay.looped(2.0).and_then(|r| r.at_rate(2.5));
            changed.map_err(|problem| vec![problem])
        });
        let looped = looped.unwrap();
        let seen: Vec<_> = [
            ("poisson", poisson(10.0)),
            ("evenly spaced", even(10.0)),
            ("poisson profile", class(Arrivals::Poisson(profile.clone()))),
            ("even profile", class(Arrivals::Even(profile.clone()))),
            ("gamma profile", class(Spacing::of_cv(3.0).unwrap().along(profile))),
            ("bursts", class(Arrivals::Bursts(Bursts::new(2.0, 40.0, 9.0, 3.0).unwrap()))),
            ("wave", class(Arrivals::Poisson(sinusoid(1.0, 9.0, 17.0, 0.3).unwrap()))),
            ("week", class(Arrivals::Poisson(weeks(20.0, 3.0, 0.5, 0.4).unwrap()))),
            ("loop", class(Arrivals::Trace(looped))),
            ("quantiles", lengths(quantiles)),
            ("empirical", lengths(Lengths::empirical(vec![3, 5, 8, 13, 21]).unwrap())),
        ]
        .into_iter()
        .map(|(what, class)| (what, digest(&generate(&[class], 1, MINUTE).unwrap())))
        .collect();
        let expected = [
            ("poisson", 3_892_508_070_314_557_812),
            ("evenly spaced", 13_943_843_811_910_960_737),
            ("poisson profile", 5_080_550_511_999_777_603),
            ("even profile", 1_599_320_516_244_865_622),
            ("gamma profile", 12_137_805_122_392_151_125),
            ("bursts", 17_506_314_925_037_844_075),
            ("wave", 8_242_891_684_395_150_101),
            ("week", 13_119_918_562_895_224_683),
            ("loop", 5_441_215_454_907_831_168),
            ("quantiles", 12_191_761_599_985_875_418),
            ("empirical", 5_462_304_261_417_224_304),
        ];
        assert_eq!(seen, expected);
    }
}
