//! Bursts: Poisson arrivals whose rate jumps between two values at random moments (a Markov-
//! modulated Poisson process of two states; Fischer and Meier-Hellstern 1993).

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use super::profile::RateProfile;
use crate::counted::typed;
use crate::problem::Problem;
use crate::rng::{Key, Stream, keyed};
use crate::units::{MAX_HORIZON_S, Picos};

/// The shortest mean span, seconds: it bounds the number of spans of the longest scenario.
const SHORTEST_SPAN_S: f64 = 0.1;

/// Two rates, and how long each lasts in the mean; how long it lasts each time is exponential.
/// It begins in the long run's mixture of both, so that the expected rate is the mean at every
/// moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bursts {
    /// Quiet, then burst.
    states: [State; 2],
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct State {
    rate_rps: f64,
    mean_span_s: f64,
}

impl Bursts {
    /// Rates in requests per second, mean spans in seconds.
    pub fn new(
        quiet_rps: f64,
        burst_rps: f64,
        mean_quiet_s: f64,
        mean_burst_s: f64,
    ) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        for (field, rate) in [("quiet_rps", quiet_rps), ("burst_rps", burst_rps)] {
            if !rate.is_finite() || rate < 0.0 {
                problems.push(Problem::error(
                    field,
                    format!("the rate is {rate} requests per second", rate = typed(rate)),
                    "give a rate of 0 or more",
                ));
            }
        }
        if problems.is_empty() && burst_rps <= quiet_rps {
            problems.push(Problem::error(
                "burst_rps",
                format!(
                    "a burst of {burst_rps} requests per second is not above the quiet",
                    burst_rps = typed(burst_rps)
                ),
                format!("give a rate above {quiet_rps}, or Poisson arrivals"),
            ));
        }
        for (field, span) in [("mean_quiet_s", mean_quiet_s), ("mean_burst_s", mean_burst_s)] {
            if !(SHORTEST_SPAN_S..=MAX_HORIZON_S).contains(&span) {
                problems.push(Problem::error(
                    field,
                    format!("it lasts {span} s in the mean", span = typed(span)),
                    format!(
                        "give {SHORTEST_SPAN_S} to {longest} s",
                        longest = typed(MAX_HORIZON_S)
                    ),
                ));
            }
        }
        if problems.is_empty() {
            let quiet = State { rate_rps: quiet_rps, mean_span_s: mean_quiet_s };
            let burst = State { rate_rps: burst_rps, mean_span_s: mean_burst_s };
            Ok(Self { states: [quiet, burst] })
        } else {
            Err(problems)
        }
    }

    /// Both rates times `factor`; the spans stay.
    pub(super) fn scaled(mut self, factor: f64) -> Self {
        for state in &mut self.states {
            state.rate_rps *= factor;
        }
        self
    }

    /// The mean rate in the long run, requests per second.
    pub fn mean_rps(&self) -> f64 {
        let [quiet, burst] = self.states;
        (quiet.rate_rps * quiet.mean_span_s + burst.rate_rps * burst.mean_span_s)
            / (quiet.mean_span_s + burst.mean_span_s)
    }

    /// The mean rate, always.
    pub(super) fn mean_profile(&self) -> Option<RateProfile> {
        RateProfile::constant(self.mean_rps()).ok()
    }

    /// The moments of arrivals of one seed and class.
    pub(super) fn dues(self, seed: u64, class: u64) -> impl Iterator<Item = Picos> {
        let mut count = 0.0;
        let mut spans = Spans::new(self, seed, class);
        (0..).map_while(move |request| {
            let key = Key { seed, stream: Stream::Arrivals, class, request, attempt: 0 };
            let gap: f64 = Exp1.sample(&mut keyed(key));
            count += gap;
            spans.time_of(count).map(Picos::from_secs)
        })
    }
}

/// Spans of one realisation, in order of time.
#[derive(Debug)]
struct Spans {
    bursts: Bursts,
    seed: u64,
    class: u64,
    index: u64,
    in_burst: bool,
    start_s: f64,
    end_s: f64,
    /// Expected requests before `start_s`, given the spans.
    count: f64,
}

impl Spans {
    fn new(bursts: Bursts, seed: u64, class: u64) -> Self {
        let [quiet, burst] = bursts.states;
        let key = Key { seed, stream: Stream::Bursts, class, request: u64::MAX, attempt: 0 };
        let share = burst.mean_span_s / (quiet.mean_span_s + burst.mean_span_s);
        let in_burst = keyed(key).random::<f64>() < share;
        let mut spans =
            Self { bursts, seed, class, index: 0, in_burst, start_s: 0.0, end_s: 0.0, count: 0.0 };
        spans.end_s = spans.length_s();
        spans
    }

    fn state(&self) -> State {
        self.bursts.states[usize::from(self.in_burst)]
    }

    /// An exponential span has no memory, so the first is no different.
    fn length_s(&self) -> f64 {
        let Self { seed, class, index, .. } = *self;
        let key = Key { seed, stream: Stream::Bursts, class, request: index, attempt: 0 };
        let length: f64 = Exp1.sample(&mut keyed(key));
        length * self.state().mean_span_s
    }

    /// When the expected count reaches `count`, which never falls; `None` beyond every horizon.
    fn time_of(&mut self, count: f64) -> Option<f64> {
        while self.start_s <= MAX_HORIZON_S {
            let rate_rps = self.state().rate_rps;
            let here = rate_rps * (self.end_s - self.start_s);
            if count < self.count + here {
                return Some(self.start_s + (count - self.count) / rate_rps);
            }
            self.count += here;
            self.start_s = self.end_s;
            self.in_burst = !self.in_burst;
            self.index += 1;
            self.end_s += self.length_s();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts() -> Bursts {
        Bursts::new(1.0, 21.0, 40.0, 10.0).unwrap()
    }

    #[test]
    fn counts_have_the_mean_and_the_spread_of_the_process() {
        let bursts = bursts();
        assert!((bursts.mean_rps() - 5.0).abs() < 1e-12);
        let (windows, seconds) = (4_000.0, 100.0);
        let end = Picos::from_secs(windows * seconds);
        let mut counts = vec![0.0_f64; 4_000];
        for due in bursts.dues(1, 0).take_while(|due| *due < end) {
            let window = due.0 / Picos::from_secs(seconds).0;
            counts[usize::try_from(window).unwrap()] += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / windows;
        let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / windows;
        // Var N(t) = λt + 2Δ²·πq·πb/r·(t − (1 − e^{−rt})/r), r the sum of both switching rates.
        let (r, swing) = (1.0 / 40.0 + 1.0 / 10.0, 20.0 * 20.0 * 0.8 * 0.2);
        let due = 5.0 * seconds
            + 2.0 * swing / r * (seconds - (1.0 - crate::math::exp(-r * seconds)) / r);
        // Neighbouring windows are correlated, which widens the error of the mean a little.
        let error = (2.0 * swing / r * seconds + 5.0 * seconds).sqrt() / windows.sqrt();
        assert!((mean - 500.0).abs() < 4.0 * error, "{mean}");
        assert!((variance / due - 1.0).abs() < 4.0 * (2.5 / windows).sqrt(), "{variance} {due}");
    }

    #[test]
    fn twice_the_rates_are_the_same_requests_in_the_same_bursts_sooner() {
        let slow = bursts().dues(3, 1);
        let fast = bursts().scaled(2.0).dues(3, 1);
        for (slow, fast) in slow.zip(fast).take(2_000) {
            assert!(fast <= slow);
        }
        let before = |bursts: Bursts| {
            let end = Picos::from_secs(20_000.0);
            bursts.dues(3, 1).take_while(|due| *due < end).count() as f64
        };
        let ratio = before(bursts().scaled(2.0)) / before(bursts());
        assert!((ratio - 2.0).abs() < 0.03, "{ratio}");
    }

    #[test]
    fn impossible_bursts_are_refused_by_field() {
        let nan = f64::NAN;
        for (bursts, paths) in [
            (
                Bursts::new(-1.0, nan, 0.0, 1e9),
                vec!["quiet_rps", "burst_rps", "mean_quiet_s", "mean_burst_s"],
            ),
            (Bursts::new(5.0, 5.0, 1.0, 1.0), vec!["burst_rps"]),
        ] {
            let seen: Vec<_> = bursts.unwrap_err().into_iter().map(|p| p.path).collect();
            assert_eq!(seen, paths);
        }
    }
}
