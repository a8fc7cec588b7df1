//! What a workload asks for: tokens over time, lengths, and the moments of the mix.

use serde::{Deserialize, Serialize};

use super::{Arrivals, OfferedRequest, TrafficClass};
use crate::stats;
use crate::units::Picos;

/// What a list of requests asks for, computed from the list itself: no formula of a distribution
/// stands between it and what the fleet will see.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// The whole list.
    pub mix: Mix,
    /// Each class alone, in the order of the classes.
    pub classes: Vec<Mix>,
    /// Evenly spaced intervals of `[0, horizon)`.
    pub bins: Vec<DemandBin>,
}

/// The requests of one interval of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DemandBin {
    /// Start of the interval.
    pub from: Picos,
    /// End of the interval, not in it.
    pub to: Picos,
    /// Requests due.
    pub requests: u64,
    /// Prompt tokens of the requests due.
    pub input_tokens: u64,
    /// Output tokens of the requests due.
    pub output_tokens: u64,
    /// Requests the arrival rates lead to expect; of a closed loop and of sessions, those that came.
    pub expected_requests: f64,
    /// Expected prompt tokens: expected requests at the mean lengths of their class.
    pub expected_input_tokens: f64,
    /// Expected output tokens.
    pub expected_output_tokens: f64,
}

/// Moments of a set of requests; zero of none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Mix {
    /// Requests.
    pub requests: u64,
    /// Mean prompt, tokens.
    pub mean_input_tokens: f64,
    /// Mean output, tokens.
    pub mean_output_tokens: f64,
    /// Mean of output × (input + output / 2): token-steps of KV cache that one request holds
    /// while it decodes. Not the product of the means: long answers hold their own length.
    pub mean_kv_token_steps: f64,
    /// Mean of input² / 2: attention pairs of one prompt.
    pub mean_prefill_pairs: f64,
}

impl Mix {
    /// The moments of `requests`.
    pub fn of<'a>(requests: impl IntoIterator<Item = &'a OfferedRequest>) -> Self {
        // Integers, so that the sums do not depend on the order of requests.
        let (mut n, mut input, mut output) = (0_u64, 0_u64, 0_u64);
        let (mut twice_steps, mut twice_pairs) = (0_u128, 0_u128);
        for request in requests {
            let (i, o) = (u64::from(request.input_tokens), u64::from(request.output_tokens));
            n += 1;
            input += i;
            output += o;
            twice_steps += u128::from(o * (2 * i + o));
            twice_pairs += u128::from(i * i);
        }
        if n == 0 {
            return Self::default();
        }
        let per_request = |sum: f64| sum / n as f64;
        Self {
            requests: n,
            mean_input_tokens: per_request(input as f64),
            mean_output_tokens: per_request(output as f64),
            mean_kv_token_steps: per_request(twice_steps as f64 / 2.0),
            mean_prefill_pairs: per_request(twice_pairs as f64 / 2.0),
        }
    }
}

/// What `requests` (offered by `classes` in `[0, horizon)`) ask for, over `bins` intervals.
pub fn demand(
    classes: &[TrafficClass],
    requests: &[OfferedRequest],
    horizon: Picos,
    bins: u32,
) -> Demand {
    let by_class: Vec<Mix> = (0..)
        .zip(classes)
        .map(|(index, _): (u32, _)| Mix::of(requests.iter().filter(|r| r.class == index)))
        .collect();
    let mut rest = requests;
    let bins = (0..bins)
        .map(|bin| {
            let from = edge(horizon, bin, bins);
            let to = edge(horizon, bin + 1, bins);
            let (due, later) = rest.split_at(rest.partition_point(|request| request.due < to));
            rest = later;
            bin_of(classes, &by_class, due, from, to)
        })
        .collect();
    Demand { mix: Mix::of(requests), classes: by_class, bins }
}

fn bin_of(
    classes: &[TrafficClass],
    mixes: &[Mix],
    due: &[OfferedRequest],
    from: Picos,
    to: Picos,
) -> DemandBin {
    let mut bin = DemandBin {
        from,
        to,
        requests: due.len() as u64,
        input_tokens: due.iter().map(|request| u64::from(request.input_tokens)).sum(),
        output_tokens: due.iter().map(|request| u64::from(request.output_tokens)).sum(),
        expected_requests: 0.0,
        expected_input_tokens: 0.0,
        expected_output_tokens: 0.0,
    };
    for ((index, class), mix) in (0..).zip(classes).zip(mixes) {
        let expected = match class.arrivals {
            // Their rate is what came of them.
            _ if class.session.is_some() => due.iter().filter(|r| r.class == index).count() as f64,
            Arrivals::ClosedLoop(_) => due.iter().filter(|r| r.class == index).count() as f64,
            _ => class.expected(from, to),
        };
        bin.expected_requests += expected;
        bin.expected_input_tokens += expected * mix.mean_input_tokens;
        bin.expected_output_tokens += expected * mix.mean_output_tokens;
    }
    bin
}

/// Where interval `bin` of `bins` starts.
fn edge(horizon: Picos, bin: u32, bins: u32) -> Picos {
    let edge = i128::from(horizon.0) * i128::from(bin) / i128::from(bins.max(1));
    Picos(i64::try_from(edge).unwrap_or(horizon.0))
}

/// Realised lengths, tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct LengthSummary {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Share of requests whose prompt plus output exceed `max_model_len`.
    pub share_over_max_model_len: f64,
}

impl LengthSummary {
    /// Summaries of the prompts and of the outputs of `requests`, by the `max_model_len` of each;
    /// zero of none.
    pub fn of(
        requests: &[OfferedRequest],
        max_model_len: impl Fn(&OfferedRequest) -> u32,
    ) -> (Self, Self) {
        let over = requests
            .iter()
            .filter(|r| r.input_tokens.saturating_add(r.output_tokens) > max_model_len(r))
            .count();
        let summary = |tokens: fn(&OfferedRequest) -> u32| {
            let mut lengths: Vec<f64> = requests.iter().map(|r| f64::from(tokens(r))).collect();
            lengths.sort_unstable_by(f64::total_cmp);
            let rank = |p| stats::nearest_rank(&lengths, p).unwrap_or(0.0);
            Self {
                mean: stats::mean(&lengths).unwrap_or(0.0),
                p50: rank(0.5),
                p90: rank(0.9),
                p99: rank(0.99),
                share_over_max_model_len: over as f64 / requests.len().max(1) as f64,
            }
        };
        (summary(|request| request.input_tokens), summary(|request| request.output_tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Arrivals, Lengths, RateProfile, generate};
    use super::*;

    const MINUTE: Picos = Picos(60_000_000_000_000);

    fn class(rate_rps: f64, input: u32, output: u32) -> TrafficClass {
        let arrivals = Arrivals::Even(RateProfile::constant(rate_rps).unwrap());
        let name = format!("{input} in, {output} out");
        TrafficClass::new(&name, arrivals, Lengths::Fixed(input), Lengths::Fixed(output))
    }

    #[test]
    fn required_decode_tokens_are_rate_times_length() {
        let classes = [class(137.0, 512, 731)];
        let requests = generate(&classes, 1, MINUTE).unwrap();
        let demand = demand(&classes, &requests, MINUTE, 6);
        for bin in &demand.bins {
            assert_eq!(bin.output_tokens, 10 * 137 * 731);
            assert_eq!(bin.input_tokens, 10 * 137 * 512);
            assert!((bin.expected_output_tokens - 1_001_470.0).abs() < 1e-6);
        }
        assert!((demand.mix.mean_kv_token_steps - 731.0 * (512.0 + 365.5)).abs() < 1e-6);
        assert!((demand.mix.mean_prefill_pairs - 512.0 * 256.0).abs() < 1e-9);
    }

    #[test]
    fn bins_lose_nobody() {
        let profile = RateProfile::new(&[(0.0, 5.0), (60.0, 90.0)]).unwrap();
        let classes = [
            TrafficClass { arrivals: Arrivals::Poisson(profile), ..class(1.0, 7, 9) },
            class(3.0, 1, 2),
        ];
        let requests = generate(&classes, 1, MINUTE).unwrap();
        for bins in [1, 7, 600] {
            let demand = demand(&classes, &requests, MINUTE, bins);
            assert_eq!(demand.bins.len(), usize::try_from(bins).unwrap());
            assert_eq!(demand.bins[0].from, Picos::ZERO);
            assert!(demand.bins.windows(2).all(|pair| pair[0].to == pair[1].from));
            let total: u64 = demand.bins.iter().map(|bin| bin.requests).sum();
            assert_eq!(total, requests.len() as u64);
            assert_eq!(total, demand.classes.iter().map(|mix| mix.requests).sum::<u64>());
            let expected: f64 = demand.bins.iter().map(|bin| bin.expected_requests).sum();
            assert!((expected - (60.0 * 47.5 + 180.0)).abs() < 1e-6);
        }
    }

    #[test]
    fn the_mix_is_not_made_of_means() {
        let classes = [class(1.0, 100, 10), class(1.0, 100, 1_000)];
        let requests = generate(&classes, 1, MINUTE).unwrap();
        let mix = Mix::of(&requests);
        let of_means =
            mix.mean_output_tokens * (mix.mean_input_tokens + mix.mean_output_tokens / 2.0);
        assert!(mix.mean_kv_token_steps > 1.4 * of_means);
        assert_eq!(Mix::of(&[]), Mix::default());
    }

    #[test]
    fn summaries_rank_and_count_what_is_too_long() {
        let classes = [class(9.0, 100, 10), class(1.0, 4_000, 100)];
        let requests = generate(&classes, 1, MINUTE).unwrap();
        let (input, output) = LengthSummary::of(&requests, |_| 4_096);
        assert_eq!((input.p50, input.p90, input.p99), (100.0, 100.0, 4_000.0));
        assert!((input.mean - 490.0).abs() < 1e-9 && (output.mean - 19.0).abs() < 1e-9);
        assert!((input.share_over_max_model_len - 0.1).abs() < 1e-12);
        assert_eq!(LengthSummary::of(&[], |_| 4_096).0, LengthSummary::default());
    }
}
