//! Latencies whose definition the file does not give.

use crate::ingest::{Definition, Latency};
use crate::review::Finding;
use crate::review::subject::Subject;

pub(super) fn check(subjects: &[Subject]) -> Vec<Finding> {
    let unstated = |latency: Latency| {
        subjects.iter().any(|subject| {
            let stats = subject.point.latency(latency);
            stats.is_some_and(|stats| stats.definition == Definition::Unstated)
        })
    };
    let named: Vec<&str> = [
        (Latency::Ttft, "TTFT from sending, client queue left out"),
        (Latency::Tpot, "TPOT as (E2E − TTFT) ÷ (n − 1)"),
        (Latency::Itl, "ITL between stream events"),
        (Latency::E2e, "E2E from sending to the last token"),
    ]
    .into_iter()
    .filter_map(|(latency, reading)| unstated(latency).then_some(reading))
    .collect();
    if named.is_empty() {
        return Vec::new();
    }
    vec![
        Finding::note(
            "definitions_unstated",
            format!("the file does not define its latencies; read as: {}", named.join("; ")),
        )
        .advice("check them against the tool that measured: some include the first token in TPOT"),
    ]
}
