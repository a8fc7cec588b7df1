//! Statistics of one latency that cannot belong to one sample.

use crate::ingest::{Latency, LatencyStats};
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{millis, percentile};

/// Slack for percentiles interpolated between two requests, and for rounding.
const SLACK: f64 = 0.8;

/// Requests from which a mean above p99 cannot be.
const LARGE_SAMPLE: u64 = 100;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    let large = subject.point.completed.is_some_and(|completed| completed >= LARGE_SAMPLE);
    Latency::ALL.iter().find_map(|&latency| {
        let stats = subject.point.latency(latency)?;
        let (one, other) = out_of_order(stats).or_else(|| mean_out_of_reach(stats, large))?;
        let name = latency.name();
        Some(
            Finding::warning(
                "percentile_order",
                format!(
                    "{name} {} is {} and {} is {}: they cannot be of one sample",
                    one.0,
                    millis(one.1),
                    other.0,
                    millis(other.1)
                ),
            )
            .figure(&format!("{name} {}", one.0), one.1, "ms")
            .figure(&format!("{name} {}", other.0), other.1, "ms")
            .advice("check the unit of each column and how the percentiles were computed"),
        )
    })
}

type Named = (String, f64);

/// Two neighbours of min ≤ p… ≤ max in the wrong order.
fn out_of_order(stats: &LatencyStats) -> Option<(Named, Named)> {
    let ladder: Vec<Named> = stats
        .min_ms
        .map(|ms| ("min".to_owned(), ms))
        .into_iter()
        .chain(stats.percentiles.iter().map(|stated| (percentile(stated.share), stated.ms)))
        .chain(stats.max_ms.map(|ms| ("max".to_owned(), ms)))
        .collect();
    // Printed values are rounded, so neighbours may be equal but for the last digit.
    let (low, high) = ladder
        .iter()
        .zip(ladder.iter().skip(1))
        .find(|(low, high)| low.1 > high.1 * 1.001 + 0.01)?;
    Some((low.clone(), high.clone()))
}

/// A mean lies within its sample, is at least the share beyond a percentile times that
/// percentile (Markov's inequality), and in a large sample does not reach p99.
fn mean_out_of_reach(stats: &LatencyStats, large: bool) -> Option<(Named, Named)> {
    let mean = stats.mean_ms?;
    let named_mean = || ("mean".to_owned(), mean);
    let markov = stats
        .percentiles
        .iter()
        .find(|stated| mean < SLACK * (1.0 - stated.share) * stated.ms)
        .map(|stated| (named_mean(), (percentile(stated.share), stated.ms)));
    let below_min = || {
        let min = stats.min_ms.filter(|&min| mean < min * 0.999 - 0.01)?;
        Some((named_mean(), ("min".to_owned(), min)))
    };
    let above_max = || {
        let max = stats.max_ms.filter(|&max| mean > max * 1.001 + 0.01)?;
        Some((named_mean(), ("max".to_owned(), max)))
    };
    let above_p99 = || {
        let p99 = stats.percentile(0.99).filter(|&p99| large && mean > p99 * 1.001 + 0.01)?;
        // One request in a hundred may be beyond p99 without bound: then the mean can be too.
        let explained = stats.max_ms.is_none_or(|max| mean <= 0.99 * p99 + 0.01 * max);
        (!explained || stats.max_ms.is_none()).then(|| (named_mean(), ("p99".to_owned(), p99)))
    };
    markov.or_else(below_min).or_else(above_max).or_else(above_p99)
}
