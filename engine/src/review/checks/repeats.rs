//! Points at one load: the same one twice, or replicates, which are one point with a spread.

use crate::ingest::Latency;
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{count, number, percent};

pub(super) fn check(subjects: &[Subject]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut grouped = vec![false; subjects.len()];
    for (place, first) in subjects.iter().enumerate() {
        let Some(load) = first.load_value().filter(|_| !grouped[place]) else { continue };
        let mut group = vec![first];
        for (other, subject) in subjects.iter().enumerate().skip(place + 1) {
            let same = subject.load_value().is_some_and(|value| (value - load).abs() < 1e-9);
            if !grouped[other] && same && first.same_curve(subject) {
                grouped[other] = true;
                group.push(subject);
            }
        }
        findings.extend(duplicate(&group).or_else(|| replicates(&group, load)));
    }
    findings
}

/// Two points all of whose measurements are equal to the last digit were measured once.
fn duplicate(group: &[&Subject]) -> Option<Finding> {
    let measured = |subject: &Subject| {
        let latencies = Latency::ALL.map(|latency| subject.point.latency(latency).cloned());
        (subject.point.completed_rps, subject.point.duration_s, latencies)
    };
    let (place, twin) = group.iter().enumerate().find_map(|(place, subject)| {
        let stated = subject.point.latency(Latency::Ttft).or(subject.point.e2e.as_ref())?;
        stated.typical_ms()?;
        let earlier =
            group[..place].iter().find(|earlier| measured(earlier) == measured(subject))?;
        Some((place, *earlier))
    })?;
    let subject = group[place];
    let row = twin.point.row.unwrap_or(0);
    Some(
        Finding::warning(
            "duplicate",
            format!("every figure equals that of row {row} of {}: measured once", twin.file),
        )
        .at(subject)
        .figure("row of the other", row as f64, "")
        .figure("this row", subject.point.row.unwrap_or(0) as f64, "")
        .advice("leave one of the two out"),
    )
}

fn replicates(group: &[&Subject], load: f64) -> Option<Finding> {
    let rates: Vec<f64> = group.iter().filter_map(|subject| subject.completed_rps()).collect();
    if group.len() < 2 || rates.len() < 2 {
        return None;
    }
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    Some(
        Finding::note(
            "replicates",
            format!(
                "{} runs at load {} are replicates of one point: their rates are {} to {}/s, {} \
                 apart",
                count(group.len() as u64),
                number(load),
                number(least),
                number(most),
                percent((most - least) / most.max(f64::MIN_POSITIVE))
            ),
        )
        .at(group[0])
        .figure("lowest rate", least, "requests/s")
        .figure("highest rate", most, "requests/s")
        .advice("give them one weight together; a cold first run may be left out"),
    )
}
