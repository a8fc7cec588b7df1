//! When requests are due.

use rand_distr::{Distribution, Exp1};

use super::profile::RateProfile;
use crate::problem::Problem;
use crate::rng::{Key, Stream, keyed};
use crate::units::{MAX_HORIZON_S, Picos};

/// When the requests of a class are due.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// Independent arrivals that follow a rate (an inhomogeneous Poisson process).
    Poisson(RateProfile),
    /// Evenly spaced in expected count: the i-th, from 0, is due when the count reaches i.
    Even(RateProfile),
    /// The moments of a trace, in order of time.
    Trace(Vec<Picos>),
}

impl Arrivals {
    /// Due moments in order of time, without end unless the arrivals have one.
    ///
    /// The i-th depends on the seed, the class and i alone, so a longer horizon only adds to a
    /// shorter one, and a rate twice as high has the same requests in half the time.
    pub fn dues(&self, seed: u64, class: u64) -> Box<dyn Iterator<Item = Picos> + '_> {
        match self {
            Self::Poisson(profile) => {
                let mut count = 0.0;
                Box::new((0..).map_while(move |request| {
                    let key = Key { seed, stream: Stream::Arrivals, class, request, attempt: 0 };
                    let gap: f64 = Exp1.sample(&mut keyed(key));
                    count += gap;
                    profile.time_of(count).map(Picos::from_secs)
                }))
            }
            Self::Even(profile) => Box::new((0..).map_while(|index| profile.due_of_index(index))),
            Self::Trace(dues) => Box::new(dues.iter().copied()),
        }
    }

    /// The same at `factor` times the rates; of a trace, which has none, in 1/`factor` of the time.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Self::Poisson(profile) => Self::Poisson(profile.scaled(factor)),
            Self::Even(profile) => Self::Even(profile.scaled(factor)),
            Self::Trace(dues) => {
                let sooner = |due: &Picos| Picos::from_secs(due.as_secs() / factor);
                Self::Trace(dues.iter().map(sooner).collect())
            }
        }
    }

    /// As many requests without chance: evenly spaced in expected count; of a trace, those before
    /// the horizon evenly over it.
    #[must_use]
    pub fn evened(&self, horizon: Picos) -> Self {
        match self {
            Self::Poisson(profile) | Self::Even(profile) => Self::Even(profile.clone()),
            Self::Trace(dues) => {
                let count = dues.partition_point(|due| *due < horizon);
                let gap_s = horizon.as_secs() / count.max(1) as f64;
                Self::Trace((0..count).map(|i| Picos::from_secs(i as f64 * gap_s)).collect())
            }
        }
    }

    /// Requests expected in `[from, to)`; of a trace, those recorded.
    pub fn expected(&self, from: Picos, to: Picos) -> f64 {
        match self {
            Self::Poisson(profile) | Self::Even(profile) => {
                profile.count_at(to.as_secs()) - profile.count_at(from.as_secs())
            }
            Self::Trace(dues) => {
                let before = |moment| dues.partition_point(|due| *due < moment);
                before(to) as f64 - before(from) as f64
            }
        }
    }
}

/// The moments of a trace, given in seconds from its start. Reports the first moment that is out
/// of range and the first that is out of order, with paths such as `due_s[7]`.
pub fn trace_dues(due_s: &[f64]) -> Result<Vec<Picos>, Vec<Problem>> {
    let mut problems = Vec::new();
    if due_s.is_empty() {
        problems.push(Problem::error(
            "due_s",
            "the trace has no requests",
            "give the moment of at least one request",
        ));
    }
    if let Some(i) = due_s.iter().position(|due| !(0.0..=MAX_HORIZON_S).contains(due)) {
        problems.push(Problem::error(
            format!("due_s[{i}]"),
            format!("this request is due at {:?} s", due_s[i]),
            format!("give seconds from the start of the trace, 0 to {MAX_HORIZON_S}"),
        ));
    }
    if let Some(i) = due_s.windows(2).position(|pair| pair[1] < pair[0]) {
        problems.push(Problem::error(
            format!("due_s[{}]", i + 1),
            format!(
                "this request is due at {:?} s, before the one at {:?} s",
                due_s[i + 1],
                due_s[i]
            ),
            "sort the requests by time, lengths along with them",
        ));
    }
    if problems.is_empty() {
        Ok(due_s.iter().map(|due| Picos::from_secs(*due)).collect())
    } else {
        Err(problems)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiple_of_the_rates_brings_the_same_requests_sooner() {
        let hour = Picos::from_secs(3600.0);
        let profile = RateProfile::new(&[(0.0, 1.0), (1800.0, 3.0)]).unwrap();
        let trace = Arrivals::Trace(vec![Picos::ZERO, Picos(10), Picos(3_000)]);
        let moments = |arrivals: &Arrivals| arrivals.dues(1, 0).take(3).collect::<Vec<_>>();
        for arrivals in
            [Arrivals::Poisson(profile.clone()), Arrivals::Even(profile.clone()), trace.clone()]
        {
            let doubled = arrivals.scaled(2.0);
            assert!(moments(&doubled).iter().zip(moments(&arrivals)).all(|(d, a)| *d <= a));
            if arrivals != trace {
                let ratio =
                    doubled.expected(Picos::ZERO, hour) / arrivals.expected(Picos::ZERO, hour);
                assert!((ratio - 2.0).abs() < 1e-12, "the axis of time stays");
            }
        }
        assert_eq!(moments(&trace.scaled(2.0)), [Picos::ZERO, Picos(5), Picos(1_500)]);
    }

    #[test]
    fn even_arrivals_are_as_many_and_have_no_gaps() {
        let minute = Picos::from_secs(60.0);
        let trace = Arrivals::Trace([0.0, 0.1, 0.2, 59.0, 61.0].map(Picos::from_secs).to_vec());
        let Arrivals::Trace(even) = trace.evened(minute) else { panic!("still a trace") };
        assert_eq!(even, [0.0, 15.0, 30.0, 45.0].map(Picos::from_secs));
        let poisson = Arrivals::Poisson(RateProfile::constant(2.0).unwrap());
        assert_eq!(poisson.evened(minute), Arrivals::Even(RateProfile::constant(2.0).unwrap()));
    }

    fn poisson(rate_rps: f64) -> Arrivals {
        Arrivals::Poisson(RateProfile::constant(rate_rps).unwrap())
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
        let dues: Vec<f64> = poisson(4.0).dues(1, 0).take(40_000).map(Picos::as_secs).collect();
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
        let slow = poisson(3.0);
        let fast = poisson(6.0);
        for (slow, fast) in slow.dues(7, 2).zip(fast.dues(7, 2)).take(1_000) {
            assert!((slow.0 - 2 * fast.0).abs() <= 2);
        }
    }

    #[test]
    fn arrivals_follow_their_profile() {
        let profile = RateProfile::new(&[(0.0, 0.0), (500.0, 100.0), (1_000.0, 0.0)]).unwrap();
        for arrivals in [Arrivals::Poisson(profile.clone()), Arrivals::Even(profile)] {
            let dues: Vec<_> = arrivals.dues(1, 0).collect();
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

    #[test]
    fn a_trace_is_replayed_as_recorded() {
        let trace = Arrivals::Trace(trace_dues(&[0.0, 0.5, 0.5, 3.25]).unwrap());
        let dues: Vec<_> = trace.dues(1, 0).map(Picos::as_secs).collect();
        assert_eq!(dues, [0.0, 0.5, 0.5, 3.25]);
        let counted = trace.expected(Picos::from_secs(0.5), Picos::from_secs(3.25));
        assert!((counted - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_bad_trace_says_where() {
        for (due_s, paths) in [
            (vec![], vec!["due_s"]),
            (vec![0.0, -1.0], vec!["due_s[1]", "due_s[1]"]),
            (vec![0.0, f64::NAN, 1.0], vec!["due_s[1]"]),
            (vec![0.0, 2.0, 1.0, 0.5], vec!["due_s[2]"]),
            (vec![1e9], vec!["due_s[0]"]),
        ] {
            let problems = trace_dues(&due_s).unwrap_err();
            assert_eq!(problems.iter().map(|p| &p.path).collect::<Vec<_>>(), paths, "{due_s:?}");
        }
    }
}
