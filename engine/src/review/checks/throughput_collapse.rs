//! More load and less throughput: past its peak a system does not merely stop gaining.

use crate::review::Finding;
use crate::review::subject::Subject;
use crate::review::words::{number, percent};

/// Part of the peak below which it is a collapse.
const COLLAPSED: f64 = 0.8;

pub(super) fn check(subjects: &[Subject]) -> Vec<Finding> {
    subjects.iter().filter_map(|subject| collapse(subject, subjects)).collect()
}

fn collapse(subject: &Subject, all: &[Subject]) -> Option<Finding> {
    let load = subject.load_value()?;
    let rate = subject.completed_rps()?;
    let alike: Vec<(f64, f64)> = all
        .iter()
        .filter(|other| subject.same_curve(other))
        .filter_map(|other| Some((other.load_value()?, other.completed_rps()?)))
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
        .at(subject)
        .figure("throughput here", rate, "requests/s")
        .figure("throughput at the peak", peak.1, "requests/s")
        .figure("load at the peak", peak.0, "")
        .advice(format!(
            "cap the load of a replica near {} and add replicas; fit nothing beyond it",
            number(peak.0)
        )),
    )
}
