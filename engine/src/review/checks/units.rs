//! Seconds taken for milliseconds, or the other way round.

use crate::ingest::Latency;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{millis, number};

/// Typical values outside these bounds were never measured: a first token needs a network round
/// trip and a forward pass, an hour-long one no benchmark waits for. Milliseconds.
const PLAUSIBLE: [(Latency, f64, f64); 4] = [
    (Latency::Ttft, 1.0, 3.6e6),
    (Latency::Tpot, 0.2, 6.0e4),
    (Latency::Itl, 0.2, 6.0e4),
    (Latency::E2e, 2.0, 3.6e7),
];

/// A disagreement this large is a unit, not a measurement.
const UNIT_FACTOR: f64 = 100.0;

pub(super) fn check(subject: &Subject) -> Option<Finding> {
    implausible(subject)
        .or_else(|| mean_and_median(subject))
        .or_else(|| e2e_below_ttft(subject))
        .or_else(|| parts(subject))
        .or_else(|| little(subject))
        .map(|finding| {
            finding.advice("check whether the column is in seconds or milliseconds, and scale it")
        })
}

fn implausible(subject: &Subject) -> Option<Finding> {
    PLAUSIBLE.iter().find_map(|&(latency, least, most)| {
        let typical = subject.point.latency(latency)?.typical_ms().filter(|&ms| ms > 0.0)?;
        if (least..=most).contains(&typical) {
            return None;
        }
        let bound = if typical < least { least } else { most };
        Some(
            suspicion(format!("{} {} ms is implausible", latency.name(), number(typical)))
                .figure(latency.name(), typical, "ms")
                .figure("plausible bound", bound, "ms"),
        )
    })
}

/// A skewed sample may have its mean at some ten times its median, not at a hundred.
fn mean_and_median(subject: &Subject) -> Option<Finding> {
    Latency::ALL.iter().find_map(|&latency| {
        let stats = subject.point.latency(latency)?;
        let mean = stats.mean_ms.filter(|&ms| ms > 0.0)?;
        let median = stats.percentile(0.5).filter(|&ms| ms > 0.0)?;
        let name = latency.name();
        is_unit(mean / median).then(|| {
            suspicion(format!(
                "{name} has a mean of {} and a median of {}",
                millis(mean),
                millis(median)
            ))
            .figure(&format!("{name} mean"), mean, "ms")
            .figure(&format!("{name} median"), median, "ms")
        })
    })
}

fn e2e_below_ttft(subject: &Subject) -> Option<Finding> {
    let ttft = subject.point.ttft.as_ref()?.typical_ms()?;
    let e2e = subject.point.e2e.as_ref()?.typical_ms().filter(|&ms| ms > 0.0)?;
    // Means and medians may cross a little when only one of the two is stated for each.
    (e2e < 0.9 * ttft).then(|| {
        suspicion(format!(
            "E2E {} is shorter than TTFT {}, which it contains",
            millis(e2e),
            millis(ttft)
        ))
        .figure("E2E", e2e, "ms")
        .figure("TTFT", ttft, "ms")
    })
}

fn parts(subject: &Subject) -> Option<Finding> {
    let stated = subject.whole_request().filter(|whole| whole.stated)?.ms;
    let sum = subject.sum_of_parts_ms().filter(|&sum| sum > 0.0)?;
    is_unit(stated / sum).then(|| {
        suspicion(format!(
            "E2E {} is {} times TTFT + (n − 1) · TPOT, {}",
            millis(stated),
            number(stated / sum),
            millis(sum)
        ))
        .figure("E2E", stated, "ms")
        .figure("TTFT + (n − 1) · TPOT", sum, "ms")
    })
}

fn little(subject: &Subject) -> Option<Finding> {
    let requests = subject.closed_loop()?;
    let in_flight = subject.completed_rps()? * subject.whole_request()?.ms / 1e3;
    (in_flight > 0.0 && is_unit(in_flight / requests)).then(|| {
        suspicion(format!(
            "rate × E2E makes {} requests in flight where {} were kept",
            number(in_flight),
            number(requests)
        ))
        .figure("rate × E2E", in_flight, "requests")
        .figure("concurrency", requests, "requests")
    })
}

/// A ratio so far from 1 that a unit is wrong.
pub(super) fn is_unit(ratio: f64) -> bool {
    !(1.0 / UNIT_FACTOR..=UNIT_FACTOR).contains(&ratio)
}

fn suspicion(message: String) -> Finding {
    Finding::warning("units", message + ": seconds and milliseconds may be mixed up")
}
