//! Laws of draws: their moments, their quantiles, and what is refused.

use super::*;
use crate::rng::Stream;

const DRAWS: u64 = 100_000;

fn sorted_draws(lengths: &Lengths) -> Vec<u32> {
    let key = |request| Key { seed: 1, stream: Stream::InputTokens, class: 0, request, attempt: 0 };
    let mut drawn: Vec<_> = (0..DRAWS).map(|i| lengths.draw(key(i), 0).unwrap()).collect();
    drawn.sort_unstable();
    drawn
}

fn mean(values: &[u32]) -> f64 {
    values.iter().map(|v| f64::from(*v)).sum::<f64>() / values.len() as f64
}

fn uniform(min: u32, max: u32) -> Lengths {
    Lengths::Uniform(Uniform::new(min, max, None, None).unwrap())
}

fn gamma(mean: f64, cv: f64) -> Lengths {
    Lengths::Gamma(GammaLengths::new(mean, Some(cv), None).unwrap())
}

fn pareto(min: f64, alpha: f64) -> Lengths {
    Lengths::Pareto(ParetoLengths::new(min, Some(alpha), None, None, false).unwrap())
}

fn bimodal() -> Lengths {
    let parts = vec![(3.0, uniform(10, 20)), (1.0, Lengths::lognormal(900.0, 2_000.0).unwrap())];
    Lengths::Mixture(Mixture::new(parts).unwrap())
}

/// Every law with its mean and standard deviation by formula.
fn laws() -> Vec<(Lengths, f64, f64)> {
    let lognormal = Lognormal::from_mean_p99(512.0, 2_048.0).unwrap();
    let sd = |law: Lognormal| law.mean() * math::exp_m1(law.sigma() * law.sigma()).sqrt();
    let part = Lognormal::from_mean_p99(900.0, 2_000.0).unwrap();
    let mixed_mean = 0.75 * 15.0 + 0.25 * 900.0;
    let second = 0.75 * (225.0 + 10.0) + 0.25 * (900.0 * 900.0 + sd(part) * sd(part));
    vec![
        (Lengths::Lognormal(lognormal), 512.0, sd(lognormal)),
        (uniform(100, 300), 200.0, ((201.0 * 201.0 - 1.0) / 12.0_f64).sqrt()),
        (gamma(400.0, 0.7), 400.0, 280.0),
        (gamma(400.0, 1.8), 400.0, 720.0),
        (pareto(100.0, 5.0), 125.0, 125.0 / 15.0_f64.sqrt()),
        (bimodal(), mixed_mean, (second - mixed_mean * mixed_mean).sqrt()),
    ]
}

#[test]
fn draws_have_the_mean_and_the_spread_of_their_law() {
    for (lengths, due_mean, due_sd) in laws() {
        let drawn = sorted_draws(&lengths);
        let n = drawn.len() as f64;
        let seen_mean = mean(&drawn);
        assert!((seen_mean - due_mean).abs() < 4.0 * due_sd / n.sqrt() + 0.2, "{lengths:?}");
        let fourth = |x: &u32| {
            let d = f64::from(*x) - seen_mean;
            (d * d, d * d * d * d)
        };
        let (second, fourth) =
            drawn.iter().map(fourth).fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let (variance, fourth) = (second / n, fourth / n);
        let error = ((fourth - variance * variance) / n).sqrt();
        let due = due_sd * due_sd;
        assert!((variance - due).abs() < 4.0 * error + 0.2, "{lengths:?}: {variance} {due}");
    }
}

#[test]
fn draws_fall_where_the_quantiles_say() {
    let clipped = gamma(400.0, 1.8).clipped(Some(50), Some(900)).unwrap();
    let table = Lengths::quantiles(&[(0.1, 10.0), (0.5, 50.0), (0.9, 450.0)]).unwrap();
    let samples = Lengths::empirical(vec![9, 1, 5, 5, 70]).unwrap();
    let all = laws().into_iter().map(|(lengths, ..)| lengths).chain([clipped, table, samples]);
    for lengths in all {
        let drawn = sorted_draws(&lengths);
        for p in [0.05, 0.3, 0.5, 0.75, 0.95] {
            let at = lengths.quantile(p);
            let error = 4.0 * (p * (1.0 - p) / DRAWS as f64).sqrt();
            let below = drawn.partition_point(|x| *x < at) as f64 / DRAWS as f64;
            let up_to = drawn.partition_point(|x| *x <= at) as f64 / DRAWS as f64;
            assert!(below < p + error && up_to > p - error, "{lengths:?} {p}: {at}");
            // Within half a token of rounding the share is what the law says.
            let (low, high) = (f64::from(at) - 0.501, f64::from(at) + 0.501);
            // Nothing is shorter than one token.
            assert!(at == 1 || lengths.share_at(low) <= p + 1e-9, "{lengths:?} {p}");
            assert!(lengths.share_at(high) >= p - 1e-9, "{lengths:?} {p}");
        }
    }
}

#[test]
fn a_mixture_draws_each_part_as_often_as_its_weight() {
    let drawn = sorted_draws(&bimodal());
    let short = drawn.partition_point(|x| *x <= 20) as f64 / DRAWS as f64;
    assert!((short - 0.75).abs() < 4.0 * (0.1875 / DRAWS as f64).sqrt(), "{short}");
}

#[test]
fn clipped_lengths_pile_up_at_their_ends() {
    let clipped = pareto(100.0, 1.2).clipped(None, Some(1_000)).unwrap();
    let drawn = sorted_draws(&clipped);
    let at_the_end = drawn.iter().filter(|x| **x == 1_000).count() as f64 / DRAWS as f64;
    let due = math::pow(0.1, 1.2);
    assert!((at_the_end - due).abs() < 4.0 * (due / DRAWS as f64).sqrt() + 1e-3);
    assert_eq!((drawn[0], drawn[drawn.len() - 1]), (100, 1_000));
    let same = gamma(9.0, 1.0).clipped(None, None).unwrap();
    assert_eq!(same, gamma(9.0, 1.0));
    assert_eq!(gamma(9.0, 1.0).clipped(Some(9), Some(8)).unwrap_err()[0].path, "max");
    assert_eq!(gamma(9.0, 1.0).clipped(Some(0), None).unwrap_err()[0].path, "min");
}

#[test]
fn a_rank_that_is_known_gives_the_draw_of_a_lognormal() {
    // The same key draws the same normal value, so prompts stay when answers follow them.
    use rand_distr::StandardNormal;
    let law = Lengths::lognormal(512.0, 2_048.0).unwrap();
    for request in 0..1_000 {
        let key = Key { seed: 1, stream: Stream::InputTokens, class: 0, request, attempt: 0 };
        let z: f64 = StandardNormal.sample(&mut keyed(key));
        assert_eq!(law.draw(key, 0).unwrap(), whole_tokens(law.at_normal(z)));
    }
}

#[test]
fn empirical_lengths_come_as_often_as_they_were_seen() {
    let drawn = sorted_draws(&Lengths::empirical(vec![1, 1, 1, 9]).unwrap());
    let nines = drawn.iter().filter(|tokens| **tokens == 9).count() as f64 / DRAWS as f64;
    assert!((nines - 0.25).abs() < 4.0 * (0.1875 / DRAWS as f64).sqrt());
    assert!(drawn.iter().all(|tokens| [1, 9].contains(tokens)));
}

#[test]
fn bad_lengths_say_which() {
    assert_eq!(Lengths::empirical(vec![5, 0]).unwrap_err().path, "samples[1]");
    assert_eq!(Lengths::recorded(vec![]).unwrap_err().path, "tokens");
    assert_eq!(Lengths::fixed(0).unwrap_err().path, "tokens");
    assert_eq!(Lengths::fixed(MAX_LENGTH_TOKENS + 1).unwrap_err().path, "tokens");
    for (parts, paths) in [
        (vec![], vec!["parts"]),
        (
            vec![(0.0, uniform(1, 2)), (f64::NAN, uniform(1, 2))],
            vec!["parts[0].weight", "parts[1].weight"],
        ),
        (vec![(1.0, bimodal())], vec!["parts[0].tokens.kind"]),
        (vec![(1.0, Lengths::Recorded(vec![1]))], vec!["parts[0].tokens.kind"]),
        (vec![(1.0, uniform(1, 2)); 21], vec!["parts"]),
    ] {
        let problems = Mixture::new(parts).unwrap_err();
        assert_eq!(problems.iter().map(|p| p.path.as_str()).collect::<Vec<_>>(), paths);
    }
}

#[test]
fn scaled_lengths_are_the_same_draws_as_many_times_as_long() {
    let mut all: Vec<Lengths> = laws().into_iter().map(|(lengths, ..)| lengths).collect();
    all.push(Lengths::fixed(400).unwrap());
    all.push(Lengths::quantiles(&[(0.1, 100.0), (0.9, 900.0)]).unwrap());
    all.push(Lengths::empirical(vec![30, 700, 90]).unwrap());
    all.push(gamma(400.0, 0.7).clipped(Some(100), Some(900)).unwrap());
    for lengths in all {
        let scaled = lengths.scaled(2.5);
        for p in [0.05, 0.5, 0.95] {
            let (plain, times) = (lengths.at(Rank::of_share(p)), scaled.at(Rank::of_share(p)));
            // Whole ends of ranges are rounded.
            assert!((times - 2.5 * plain).abs() <= 2.0 + 1e-9 * times, "{lengths:?} {p}");
        }
        let key =
            |request| Key { seed: 1, stream: Stream::InputTokens, class: 0, request, attempt: 0 };
        let close = (0..200).filter(|&i| {
            let (plain, times) =
                (lengths.draw(key(i), 0).unwrap(), scaled.draw(key(i), 0).unwrap());
            (f64::from(times) - 2.5 * f64::from(plain)).abs() <= 4.0
        });
        // A wider range of whole numbers is drawn from by other bits.
        let is_uniform = matches!(lengths, Lengths::Uniform(_) | Lengths::Mixture(_));
        assert!(is_uniform || close.count() == 200, "{lengths:?}");
    }
    assert_eq!(Lengths::Recorded(vec![1, 10]).scaled(0.25), Lengths::Recorded(vec![1, 3]));
}
