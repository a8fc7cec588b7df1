//! More load and less throughput: past its peak a system does not merely stop gaining.

use crate::ingest::{BenchmarkPoint, Load};
use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{number, percent};

/// Part of the peak below which it is a collapse.
const COLLAPSED: f64 = 0.8;
/// Part by which lengths of comparable points may differ.
const SAME_LENGTHS: f64 = 0.25;

pub(super) fn check(subjects: &[Subject]) -> Vec<Finding> {
    subjects.iter().filter_map(|subject| collapse(subject, subjects)).collect()
}

fn collapse(subject: &Subject, all: &[Subject]) -> Option<Finding> {
    let load = load_value(subject.point)?;
    let rate = subject.completed_rps()?;
    let alike: Vec<(f64, f64)> = all
        .iter()
        .filter(|other| comparable(subject.point, other.point))
        .filter_map(|other| Some((load_value(other.point)?, other.completed_rps()?)))
        .collect();
    // Two unlike results at one load: the rows differ in something the file does not say.
    let mixed = alike.iter().any(|a| {
        alike.iter().any(|b| (a.0 - b.0).abs() <= f64::EPSILON * a.0 && a.1 < COLLAPSED * b.1)
    });
    let peak = alike
        .iter()
        .filter(|(other, _)| *other < load)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, peak)| rate < COLLAPSED * peak && !mixed)?;
    Some(
        Finding::warning(
            "throughput_collapse",
            format!(
                "at load {} the throughput is {}/s, {} below the {}/s at load {}: it collapses \
                 instead of levelling off",
                number(load),
                number(rate),
                percent(1.0 - rate / peak.1),
                number(peak.1),
                number(peak.0)
            ),
        )
        .at_row(subject.point.row)
        .figure("throughput here", rate, "requests/s")
        .figure("throughput at the peak", peak.1, "requests/s")
        .figure("load at the peak", peak.0, "")
        .advice(format!(
            "cap the load of a replica near {} and add replicas; fit nothing beyond it",
            number(peak.0)
        )),
    )
}

fn load_value(point: &BenchmarkPoint) -> Option<f64> {
    match point.load {
        Load::Concurrency { requests } => Some(requests as f64),
        Load::RequestRate { rps } => Some(rps),
        Load::Unbounded | Load::Ramp { .. } | Load::Unstated => None,
    }
}

fn comparable(one: &BenchmarkPoint, other: &BenchmarkPoint) -> bool {
    let same_kind = matches!(
        (one.load, other.load),
        (Load::Concurrency { .. }, Load::Concurrency { .. })
            | (Load::RequestRate { .. }, Load::RequestRate { .. })
    );
    let lengths = [(one.input, other.input), (one.output, other.output)];
    let same_lengths = lengths.into_iter().all(|pair| match pair {
        (Some(a), Some(b)) => {
            (a.mean_tokens - b.mean_tokens).abs() <= SAME_LENGTHS * a.mean_tokens.max(b.mean_tokens)
        }
        (None, None) => true,
        _ => false,
    });
    same_kind && same_lengths && one.context == other.context && one.label == other.label
}
