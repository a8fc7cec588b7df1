//! Latency distributions with their limits, also while one of them is being dragged.

use goodput_engine::accounts::Recount;
use goodput_engine::accounts::report::{Histogram, Percentiles, SimReport, WithinLimits};
use goodput_engine::math;
use goodput_engine::scenario::doc::ScenarioDoc;
use goodput_engine::slo::Limit;

use crate::charts::{LatencyChart, Look};
use crate::format;
use crate::state::field::Field;
use crate::state::limits::{Drag, field_of};

/// A latency that contracts may limit.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// What is limited.
    pub limit: Limit,
    /// Of its figure, and of its term in the glossary.
    pub id: &'static str,
    /// Above its figure.
    pub title: &'static str,
    /// What so many requests do, before the limit.
    verb: &'static str,
    /// How bars beyond the limit look.
    beyond: Look,
}

/// All of them, in the order of the waterfall.
pub const KINDS: [Kind; 5] = [
    Kind {
        limit: Limit::Ttft,
        id: "ttft",
        title: "Time to first token",
        verb: "get a first token within",
        beyond: Look::Late,
    },
    Kind {
        limit: Limit::Ttfvt,
        id: "ttfvt",
        title: "Time to first visible token",
        verb: "show a first token within",
        beyond: Look::Late,
    },
    Kind {
        limit: Limit::Tpot,
        id: "tpot",
        title: "Time per output token",
        verb: "stream their tokens within",
        beyond: Look::Slow,
    },
    Kind {
        limit: Limit::Stall,
        id: "stall",
        title: "Longest stall",
        verb: "pause no longer than",
        beyond: Look::Stalled,
    },
    Kind {
        limit: Limit::E2e,
        id: "e2e",
        title: "Whole answer (E2E)",
        verb: "are answered within",
        beyond: Look::LateSlow,
    },
];

impl Kind {
    /// `None` where no class hides tokens, and of what requests have no single value of.
    fn of<'a>(&self, report: &'a SimReport) -> Option<(&'a Histogram, &'a Percentiles)> {
        Some(match self.limit {
            Limit::Ttft => (&report.ttft_histogram, &report.ttft_ms),
            Limit::Ttfvt => (report.ttfvt_histogram.as_ref()?, report.ttfvt_ms.as_ref()?),
            Limit::Tpot => (&report.tpot_histogram, &report.tpot_ms),
            Limit::Stall => (&report.longest_stall_histogram, &report.longest_stall_ms),
            Limit::Itl => return None,
            Limit::E2e => (&report.e2e_histogram, &report.e2e_ms),
        })
    }

    /// Its percentiles.
    pub fn percentiles<'a>(&self, report: &'a SimReport) -> Option<&'a Percentiles> {
        self.of(report).map(|(_, percentiles)| percentiles)
    }

    fn within(&self, within: &WithinLimits) -> Option<u64> {
        match self.limit {
            Limit::Ttft => within.ttft,
            Limit::Ttfvt => within.ttfvt,
            Limit::Itl => within.itl,
            Limit::Tpot => within.tpot,
            Limit::Stall => within.stall,
            Limit::E2e => within.e2e,
        }
    }
}

/// A limit in a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitLine {
    /// Whose it is; `None` of all classes, which have the same.
    pub class: Option<usize>,
    /// That class's name; empty of all.
    pub name: String,
    /// Where it is, milliseconds.
    pub ms: f64,
}

/// The limits of a document: one where all classes have the same, one of each class that has one
/// where they differ.
pub fn lines(doc: &ScenarioDoc, limit: Limit) -> Vec<LimitLine> {
    let of = |class: usize| Field::Class(class, field_of(limit)).get(doc);
    let classes = &doc.workload.classes;
    let first = of(0);
    if let Some(ms) = first.filter(|_| (0..classes.len()).all(|class| of(class) == first)) {
        return vec![LimitLine { class: None, name: String::new(), ms }];
    }
    let line = |(class, named): (usize, &goodput_engine::scenario::doc::ClassDoc)| {
        Some(LimitLine { class: Some(class), name: named.name.clone(), ms: of(class)? })
    };
    classes.iter().enumerate().filter_map(line).collect()
}

/// What a latency's chart is made from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The scenario that was simulated.
    pub doc: &'a ScenarioDoc,
    /// Its simulation.
    pub report: &'a SimReport,
    /// Simulation of the pinned baseline.
    pub before: Option<&'a SimReport>,
    /// The limit of this latency that is being dragged, and what it makes of the run.
    pub drag: Option<(&'a Drag, Option<&'a Recount>)>,
}

/// The chart and its finding.
pub fn chart(kind: &Kind, source: &Source) -> Option<(LatencyChart, String)> {
    let (histogram, percentiles) = kind.of(source.report)?;
    let lines = lines(source.doc, kind.limit);
    let place = |line: &LimitLine| match source.drag {
        Some((drag, _)) if drag.class == line.class => drag.ms,
        _ => line.ms,
    };
    let common = lines.first().filter(|line| line.class.is_none());
    let within = match source.drag {
        Some((_, recount)) => recount.map(|recount| &recount.within),
        None => Some(&source.report.within),
    };
    let chart = LatencyChart {
        edges_ms: histogram.edges_ms.clone(),
        counts: histogram.counts.clone(),
        never: histogram.never,
        population: percentiles.population,
        limit_ms: common.map(place),
        class_limits: lines
            .iter()
            .filter(|line| line.class.is_some())
            .map(|line| (line.name.clone(), place(line)))
            .collect(),
        shown_ms: lines.iter().map(|line| line.ms).collect(),
        in_time: within.and_then(|within| kind.within(within)),
        p50_ms: percentiles.p50,
        beyond: kind.beyond,
        before: source
            .before
            .and_then(|report| kind.of(report))
            .map(|(histogram, percentiles)| ghost(histogram, percentiles.population))
            .unwrap_or_default(),
    };
    let caption = match source.drag {
        Some((drag, recount)) => dragged_caption(source.report, drag, recount),
        None => caption(kind, &chart, percentiles),
    };
    Some((chart, caption))
}

/// The outline of another distribution: edge and share, stepwise.
fn ghost(histogram: &Histogram, population: u64) -> Vec<(f64, f64)> {
    let share = |count: &u64| *count as f64 / population.max(1) as f64;
    let bins = histogram.counts.iter().zip(histogram.edges_ms.windows(2));
    let filled = bins.skip_while(|(count, _)| **count == 0);
    filled.flat_map(|(count, e)| [(e[0], share(count)), (e[1], share(count))]).collect()
}

fn caption(kind: &Kind, chart: &LatencyChart, percentiles: &Percentiles) -> String {
    if percentiles.population == 0 {
        return "No request to look at".into();
    }
    let p95 = percentiles
        .p95
        .map_or_else(|| "p95 is never".to_owned(), |ms| format!("p95 {}", format::millis(ms)));
    if let Some((limit, in_time)) = chart.limit_ms.zip(chart.in_time) {
        let share = format::percent(in_time as f64 / percentiles.population as f64);
        return format!("{share} {} {}; {p95}", kind.verb, format::millis(limit));
    }
    if let Some(in_time) = chart.in_time {
        let share = format::percent(in_time as f64 / percentiles.population as f64);
        return format!(
            "{share} {} the limit of their class; {p95}. Outlined: in time for some classes only",
            kind.verb
        );
    }
    let p50 = format::millis_or_never(percentiles.p50);
    let limits = if chart.class_limits.is_empty() {
        "no limit is set"
    } else {
        "limits by class, some have none. Outlined: in time for some classes only"
    };
    format!("p50 {p50}, {p95}; {limits}")
}

/// What a dragged limit makes of the run, by all limits together; the chart has this one alone.
fn dragged_caption(report: &SimReport, drag: &Drag, recount: Option<&Recount>) -> String {
    let at = format::millis(drag.ms);
    let Some(recount) = recount else { return format!("Limit {at}: counting") };
    format!(
        "Limit {at}: {} good, {}; before {}",
        format::percent(recount.attainment),
        format::rps(recount.good_rps),
        format::percent(report.attainment),
    )
}

/// A limit of two digits.
pub fn rounded(ms: f64) -> f64 {
    let decade = decade(ms);
    at(whole_digits(ms, decade), decade)
}

/// So many steps of the second digit up or down: 1.9 s, 2 s, 2.1 s; 1 s, 990 ms.
pub fn stepped(ms: f64, steps: i32) -> f64 {
    let mut ms = rounded(ms);
    for _ in 0..steps.unsigned_abs() {
        let decade = decade(ms);
        let digits = whole_digits(ms, decade);
        ms = match (steps > 0, digits > 10.5) {
            (true, _) => at(digits + 1.0, decade),
            (false, true) => at(digits - 1.0, decade),
            (false, false) => at(99.0, decade - 1),
        };
    }
    ms
}

/// Power of ten of the first digit.
#[expect(clippy::cast_possible_truncation, reason = "a decade of a double is small")]
fn decade(ms: f64) -> i32 {
    math::log10(ms.max(1e-6) * (1.0 + 1e-9)).floor() as i32
}

/// The first two digits, 10 to 100.
fn whole_digits(ms: f64, decade: i32) -> f64 {
    (ms / math::pow(10.0, f64::from(decade - 1))).round()
}

/// Two digits in their place; a division where it is a fraction, so that 1.3 is what is typed.
fn at(digits: f64, decade: i32) -> f64 {
    if decade >= 1 {
        (digits * math::pow(10.0, f64::from(decade - 1))).round()
    } else {
        digits / math::pow(10.0, f64::from(1 - decade)).round()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodput_engine::scenario::doc;

    #[test]
    fn steps_are_of_the_second_digit_and_written_as_they_are_typed() {
        for (from, steps, to) in [
            (2_000.0, 1, 2_100.0),
            (2_000.0, -1, 1_900.0),
            (1_000.0, -1, 990.0),
            (990.0, 1, 1_000.0),
            (50.0, 1, 51.0),
            (9.9, 1, 10.0),
            (10.0, -1, 9.9),
            (1.2, 1, 1.3),
            (0.3, 1, 0.31),
            (2_000.0, 10, 3_000.0),
            (1_234.0, 0, 1_200.0),
        ] {
            assert_eq!(stepped(from, steps).to_bits(), f64::to_bits(to), "{from} {steps}");
        }
        let mut ms = 0.5;
        for _ in 0..500 {
            let up = stepped(ms, 1);
            assert!(up > ms && stepped(up, -1).total_cmp(&ms).is_eq(), "{ms} {up}");
            ms = up;
        }
    }

    #[test]
    fn classes_with_one_limit_have_one_line_and_others_one_each() {
        let limits = |first: Option<f64>, second: Option<f64>| {
            let mut doc = doc::parse(
                r#"{"version":1,"workload":{"classes":[{"name":"chat",
                "arrivals":{"kind":"poisson","rate_rps":1.0},
                "input_tokens":{"kind":"fixed","tokens":512},
                "output_tokens":{"kind":"fixed","tokens":256},"slo":{}}]},
                "fleet":{"pools":[{"gpu":"h100-sxm","model":"llama-3.1-8b","replicas":1}]}}"#,
            )
            .expect("a document");
            let mut other = doc.workload.classes[0].clone();
            other.name = "batch".into();
            doc.workload.classes.push(other);
            doc.workload.classes[0].slo.e2e_ms = first;
            doc.workload.classes[1].slo.e2e_ms = second;
            let lines = lines(&doc, Limit::E2e).into_iter();
            lines.map(|line| (line.class, line.ms)).collect::<Vec<_>>()
        };
        assert_eq!(limits(Some(9.0), Some(9.0)), [(None, 9.0)]);
        assert_eq!(limits(Some(9.0), Some(7.0)), [(Some(0), 9.0), (Some(1), 7.0)]);
        assert_eq!(limits(None, Some(7.0)), [(Some(1), 7.0)]);
        assert_eq!(limits(None, None), []);
    }
}
