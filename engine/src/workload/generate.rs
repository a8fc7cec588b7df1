//! From traffic classes to the list of requests they offer.

use rand::RngExt;

use super::class::Hidden;
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
    let expected: f64 = classes.iter().map(|class| class.expected(Picos::ZERO, horizon)).sum();
    if expected > MAX_REQUESTS as f64 {
        return Err(too_many(expected));
    }
    let mut offered = Vec::new();
    for (index, class) in (0..).zip(classes) {
        let dues = class.arrivals.dues(seed, u64::from(class.position));
        for due in dues.take_while(|due| due.at < horizon) {
            if offered.len() as u64 >= MAX_REQUESTS {
                return Err(too_many(expected));
            }
            let who = Identity { seed, position: class.position, request: due.request };
            if class.is_asked_of_its_part(who) {
                offered.push(class.request(index, who, due)?);
            }
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
        add(u64::from(request.pool) << 32 | u64::from(request.class));
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
    position: u32,
    request: u64,
}

impl Identity {
    fn key(self, stream: Stream) -> Key {
        let Self { seed, position, request } = self;
        Key { seed, stream, class: u64::from(position), request, attempt: 0 }
    }

    /// Uniform in [0, 1).
    fn uniform(self, stream: Stream) -> f64 {
        keyed(self.key(stream)).random()
    }
}

impl TrafficClass {
    /// The request with that index in the class, the `class`-th, whenever it is due.
    ///
    /// # Errors
    /// Its length was not recorded.
    pub(super) fn request_of(
        &self,
        seed: u64,
        class: u32,
        request: u64,
        due: Picos,
    ) -> Result<OfferedRequest, Problem> {
        let who = Identity { seed, position: self.position, request };
        self.request(class, who, Due { at: due, request, record: 0 })
    }

    /// Whether a request is one of those that this is the part of.
    fn is_asked_of_its_part(&self, who: Identity) -> bool {
        self.part.is_none_or(|pool| self.route.draw(who.key(Stream::Route)).pool == pool)
    }

    /// Whether the server fails that attempt, from 0, of a request of this class.
    pub fn attempt_fails(&self, key: Key) -> bool {
        // One number against every threshold: what fails at one error rate fails at every higher.
        self.error_rate > 0.0 && keyed(key).random::<f64>() < self.error_rate
    }

    fn request(&self, class: u32, who: Identity, due: Due) -> Result<OfferedRequest, Problem> {
        let too_short = |side: &str| {
            Problem::error(
                format!("workload.classes[{}].{side}", who.position),
                format!("request {} of the trace has no recorded length", due.record),
                "give one length per request of the trace",
            )
        };
        let (input, output) = self.pairing.draw(
            (&self.input, who.key(Stream::InputTokens)),
            (&self.output, who.key(Stream::OutputTokens)),
            due.record,
        );
        let output = output.ok_or_else(|| too_short("output_tokens"))?;
        let hidden = match &self.hidden {
            Hidden::Added(lengths) => lengths
                .draw(who.key(Stream::HiddenTokens), due.record)
                .ok_or_else(|| too_short("hidden_tokens"))?,
            Hidden::None | Hidden::Share(_) => 0,
        };
        let generated = output.saturating_add(hidden);
        let budget = self.max_output_tokens.unwrap_or(u32::MAX).max(1);
        let truncated = if generated > budget { 1.0 } else { 0.0 };
        let leg = self.route.draw(who.key(Stream::Route));
        let of_leg = leg.quality.as_ref().filter(|_| self.part.is_none());
        let quality = of_leg.unwrap_or(&self.quality);
        let pass_rate = self.pass_rate_of(quality, truncated).unwrap_or(1.0);
        Ok(OfferedRequest {
            class,
            pool: if self.part.is_some() { 0 } else { leg.pool },
            due: due.at,
            input_tokens: input.ok_or_else(|| too_short("input_tokens"))?,
            output_tokens: generated.min(budget),
            patience: self.patience.and_then(|patience| patience.draw(who.key(Stream::Patience))),
            fails: self.attempt_fails(who.key(Stream::Error)),
            acceptable: pass_rate >= 1.0 || who.uniform(Stream::Quality) < pass_rate,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        Arrivals, Bursts, Copula, GammaLengths, Lengths, Mixture, Pairing, ParetoLengths, Patience,
        Quality, RateProfile, Replay, Spacing, Uniform, sinusoid, weeks,
    };
    use super::*;

    const MINUTE: Picos = Picos(60_000_000_000_000);

    fn class(arrivals: Arrivals) -> TrafficClass {
        let input = Lengths::lognormal(512.0, 2_000.0).unwrap();
        let output = Lengths::lognormal(256.0, 1_000.0).unwrap();
        TrafficClass {
            patience: Some(Patience::lognormal(5.0, 20.0).unwrap()),
            error_rate: 0.02,
            quality: Quality::Assumed { pass_rate: 0.9, by: "a test".to_owned() },
            ..TrafficClass::new("chat", arrivals, input, output)
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
    fn truncated_answers_pass_at_their_own_rate_and_whole_ones_as_before() {
        let mut class = poisson(200.0);
        class.max_output_tokens = Some(200);
        let before = generate(std::slice::from_ref(&class), 1, MINUTE).unwrap();
        class.truncated_pass_rate = Some(0.3);
        let now = generate(&[class], 1, MINUTE).unwrap();
        let (mut cut, mut passed) = (0.0, 0.0);
        for (before, now) in before.iter().zip(&now) {
            assert!(before.acceptable >= now.acceptable);
            if now.output_tokens == 200 {
                cut += 1.0;
                passed += f64::from(u8::from(now.acceptable));
            } else {
                assert_eq!(before, now);
            }
        }
        // A few answers have 200 tokens of their own.
        assert!(cut > 3_000.0 && (passed / cut - 0.3).abs() < 0.04, "{passed} of {cut}");
    }

    #[test]
    fn hidden_tokens_are_generated_before_the_answer_and_count_in_the_budget() {
        let plain = generate(&[poisson(20.0)], 1, MINUTE).unwrap();
        let mut class = poisson(20.0);
        class.hidden = Hidden::Added(Lengths::fixed(1_000).unwrap());
        let thinking = generate(std::slice::from_ref(&class), 1, MINUTE).unwrap();
        class.max_output_tokens = Some(1_100);
        let cut = generate(std::slice::from_ref(&class), 1, MINUTE).unwrap();
        class.hidden = Hidden::Share(0.5);
        class.max_output_tokens = None;
        assert_eq!(plain, generate(&[class], 1, MINUTE).unwrap(), "a share is inside the output");
        for ((plain, thinking), cut) in plain.iter().zip(&thinking).zip(&cut) {
            assert_eq!(thinking.output_tokens, plain.output_tokens + 1_000);
            assert_eq!(cut.output_tokens, thinking.output_tokens.min(1_100));
        }
    }

    #[test]
    fn a_class_draws_by_its_place_in_the_document() {
        let mut second = poisson(20.0);
        second.position = 1;
        let alone = generate(std::slice::from_ref(&second), 1, MINUTE).unwrap();
        let both = generate(&[poisson(20.0), second], 1, MINUTE).unwrap();
        let same = of_class(&both, 1).into_iter().map(|r| OfferedRequest { class: 0, ..r });
        assert!(same.eq(alone.iter().copied()));
        assert_ne!(of_class(&both, 0), alone);
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

    /// One class of every kind of arrivals and lengths.
    fn kinds() -> Vec<(&'static str, TrafficClass)> {
        let lengths = |input| TrafficClass { input, ..even(10.0) };
        let quantiles = Lengths::quantiles(&[(0.1, 20.0), (0.5, 300.0), (0.99, 4_000.0)]).unwrap();
        let profile = RateProfile::new(&[(0.0, 2.0), (30.0, 40.0), (60.0, 5.0)]).unwrap();
        let looped = Replay::new(&[0.0, 0.4, 1.9]).and_then(|replay| {
            let changed = replay.looped(2.0).and_then(|r| r.at_rate(2.5));
            changed.map_err(|problem| vec![problem])
        });
        let looped = looped.unwrap();
        let uniform = Lengths::Uniform(Uniform::new(5, 900, None, None).unwrap());
        let gamma = Lengths::Gamma(GammaLengths::new(300.0, Some(1.4), None).unwrap());
        let pareto = ParetoLengths::new(40.0, Some(1.3), None, None, false).unwrap();
        let pareto = Lengths::Pareto(pareto);
        let parts = vec![(2.0, uniform.clone()), (1.0, gamma.clone()), (1.0, pareto.clone())];
        let mixture = Lengths::Mixture(Mixture::new(parts).unwrap());
        let copula = Copula::of_rank_correlation(0.4).unwrap();
        let correlated = TrafficClass {
            pairing: Pairing::Correlated(copula),
            hidden: Hidden::Added(uniform.clone()),
            output: mixture.clone(),
            ..lengths(gamma.clone())
        };
        vec![
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
            ("uniform", lengths(uniform.clone())),
            ("gamma", lengths(gamma.clone())),
            ("pareto", lengths(pareto.clone().clipped(None, Some(5_000)).unwrap())),
            ("mixture", lengths(mixture)),
            ("correlated", correlated),
        ]
    }

    /// The numbers a seed stands for. They are part of every link: a change here is a change of
    /// what people shared.
    #[test]
    fn a_seed_means_these_numbers_on_every_machine() {
        let seen: Vec<_> = kinds()
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
            ("uniform", 9_949_906_788_961_793_662),
            ("gamma", 12_068_336_323_151_278_966),
            ("pareto", 13_789_452_619_965_072_001),
            ("mixture", 15_445_732_541_179_606_242),
            ("correlated", 9_041_889_838_447_315_029),
        ];
        assert_eq!(seen, expected);
    }
}
