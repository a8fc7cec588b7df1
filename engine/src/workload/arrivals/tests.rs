//! When requests are due, of every kind of arrivals.

use super::*;

#[test]
fn a_multiple_of_the_rates_brings_the_same_requests_sooner() {
    let hour = Picos::from_secs(3600.0);
    let profile = RateProfile::new(&[(0.0, 1.0), (1800.0, 3.0)]).unwrap();
    let trace = Arrivals::Trace(Replay::new(&[0.0, 1e-11, 3e-9]).unwrap());
    let moments = |arrivals: &Arrivals| moments(arrivals).take(3).collect::<Vec<_>>();
    for arrivals in [
        Arrivals::Poisson(profile.clone()),
        Arrivals::Even(profile.clone()),
        Spacing::of_cv(2.5).unwrap().along(profile.clone()),
        Arrivals::Bursts(Bursts::new(1.0, 9.0, 30.0, 3.0).unwrap()),
        trace.clone(),
    ] {
        let doubled = arrivals.scaled(2.0);
        assert!(moments(&doubled).iter().zip(moments(&arrivals)).all(|(d, a)| *d <= a));
        if arrivals != trace {
            let ratio = doubled.expected(Picos::ZERO, hour) / arrivals.expected(Picos::ZERO, hour);
            assert!((ratio - 2.0).abs() < 1e-12, "the axis of time stays");
        }
    }
    assert_eq!(moments(&trace.scaled(2.0)), [Picos::ZERO, Picos(5), Picos(1_500)]);
}

#[test]
fn even_arrivals_are_as_many_and_have_no_gaps() {
    let minute = Picos::from_secs(60.0);
    let trace = Replay::new(&[0.0, 0.1, 0.2, 59.0, 61.0]).unwrap();
    let even = Arrivals::Trace(trace.clone()).evened(minute);
    let due: Vec<_> = even.dues(1, 0).collect();
    assert!(due.iter().map(|d| d.at).eq([0.0, 15.0, 30.0, 45.0].map(Picos::from_secs)));
    assert!(due.iter().map(|d| d.record).eq(0..4), "lengths stay with their request");
    // Half the requests of a loop, evenly, with the records they had.
    let some = Arrivals::Trace(trace.looped(70.0).unwrap().at_rate(0.5).unwrap());
    let hour = Picos::from_secs(3_600.0);
    let records = |a: &Arrivals| {
        a.dues(1, 0).take_while(|due| due.at < hour).map(|due| due.record).collect::<Vec<_>>()
    };
    let even = some.evened(hour);
    assert_eq!(records(&some), records(&even));
    let half = even.expected(Picos::ZERO, Picos(hour.0 / 2));
    assert!((half * 2.0 - some.expected(Picos::ZERO, hour)).abs() < 1e-6);
    let bursts = Arrivals::Bursts(Bursts::new(1.0, 9.0, 30.0, 10.0).unwrap());
    assert_eq!(bursts.evened(minute), Arrivals::Even(RateProfile::constant(3.0).unwrap()));
    let poisson = Arrivals::Poisson(RateProfile::constant(2.0).unwrap());
    assert_eq!(poisson.evened(minute), Arrivals::Even(RateProfile::constant(2.0).unwrap()));
}

fn moments(arrivals: &Arrivals) -> impl Iterator<Item = Picos> + '_ {
    arrivals.dues(1, 0).map(|due| due.at)
}

/// Gamma laws of many kinds, and what they are in words.
fn gamma(cv: f64, rate_rps: f64) -> Arrivals {
    Spacing::of_cv(cv).unwrap().along(RateProfile::constant(rate_rps).unwrap())
}

#[test]
fn gamma_gaps_have_their_mean_and_coefficient_of_variation() {
    for cv in [0.2, 0.5, 1.5, 3.0] {
        let dues: Vec<f64> = moments(&gamma(cv, 4.0)).take(60_001).map(Picos::as_secs).collect();
        let gaps: Vec<f64> = dues.windows(2).map(|pair| 4.0 * (pair[1] - pair[0])).collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / n;
        // The kurtosis of a gamma law of shape k is 3 + 6/k, and 1/k = cv².
        let error = cv * cv * ((2.0 + 6.0 * cv * cv) / n).sqrt();
        assert!((mean - 1.0).abs() < 4.0 * cv / n.sqrt(), "{cv}: {mean}");
        assert!((variance - cv * cv).abs() < 4.0 * error, "{cv}: {variance}");
    }
}

#[test]
fn bursty_arrivals_are_expected_as_often_as_they_come_from_the_first_second_on() {
    let first = Picos::from_secs(2.0);
    let seeds = 20_000_u32;
    for arrivals in [
        gamma(3.0, 1.0),
        gamma(0.5, 1.0),
        Arrivals::Bursts(Bursts::new(0.5, 3.0, 8.0, 2.0).unwrap()),
    ] {
        let counts: Vec<f64> = (0..seeds)
            .map(|seed| {
                arrivals.dues(seed.into(), 0).take_while(|due| due.at < first).count() as f64
            })
            .collect();
        let n = f64::from(seeds);
        let mean = counts.iter().sum::<f64>() / n;
        let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / n;
        let expected = arrivals.expected(Picos::ZERO, first);
        assert!((expected - 2.0).abs() < 1e-9);
        assert!((mean - expected).abs() < 4.0 * (variance / n).sqrt(), "{mean}");
    }
}

#[test]
fn cv_and_burstiness_say_the_same_and_the_ends_are_even_and_poisson() {
    let cv = |cv| Spacing::of_cv(cv).unwrap();
    let k = |k| Spacing::of_burstiness(k).unwrap();
    assert_eq!(cv(0.0), Spacing::Even);
    assert_eq!(k(f64::INFINITY), Spacing::Even);
    assert_eq!((cv(1.0), k(1.0)), (Spacing::Poisson, Spacing::Poisson));
    assert_eq!(cv(2.0), k(0.25));
    let Spacing::Gamma(gaps) = k(1.0 / 9.0) else { panic!("a gamma law") };
    assert!((gaps.cv() - 3.0).abs() < 1e-12);
    for bad in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        assert_eq!(Spacing::of_burstiness(bad).unwrap_err().path, "burstiness");
    }
    for bad in [-0.1, 101.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Spacing::of_cv(bad).unwrap_err().path, "cv");
    }
}

fn poisson(rate_rps: f64) -> Arrivals {
    Arrivals::Poisson(RateProfile::constant(rate_rps).unwrap())
}

#[test]
fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
    let dues: Vec<f64> = moments(&poisson(4.0)).take(40_000).map(Picos::as_secs).collect();
    let gaps: Vec<f64> = dues.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let n = gaps.len() as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    let variance = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum::<f64>() / n;
    // Standard error of the mean is 1/√n of it, of the variance √(8/n) of it: four of each.
    assert!((mean * 4.0 - 1.0).abs() < 4.0 / n.sqrt());
    assert!((variance * 16.0 - 1.0).abs() < 4.0 * (8.0 / n).sqrt());
}

#[test]
fn twice_the_rate_is_the_same_requests_in_half_the_time() {
    for (slow, fast) in [(poisson(3.0), poisson(6.0)), (gamma(2.0, 3.0), gamma(2.0, 6.0))] {
        for (slow, fast) in slow.dues(7, 2).zip(fast.dues(7, 2)).take(1_000) {
            assert!((slow.at.0 - 2 * fast.at.0).abs() <= 2);
            assert_eq!(slow.request, fast.request);
        }
    }
}

#[test]
fn arrivals_follow_their_profile() {
    let profile = RateProfile::new(&[(0.0, 0.0), (500.0, 100.0), (1_000.0, 0.0)]).unwrap();
    let gamma = Spacing::of_cv(0.5).unwrap().along(profile.clone());
    for arrivals in [Arrivals::Poisson(profile.clone()), gamma, Arrivals::Even(profile)] {
        let dues: Vec<_> = moments(&arrivals).collect();
        for (from, to) in [(0.0, 100.0), (450.0, 550.0), (0.0, 1_000.0)] {
            let (from, to) = (Picos::from_secs(from), Picos::from_secs(to));
            let expected = arrivals.expected(from, to);
            let seen = dues.iter().filter(|due| (from..to).contains(due)).count() as f64;
            let allowed =
                if matches!(arrivals, Arrivals::Even(_)) { 1.0 } else { 4.0 * expected.sqrt() };
            assert!((seen - expected).abs() <= allowed, "{seen} of {expected}");
        }
    }
}
