//! The fleet over time, from the samples of a run: what is drawn, and what it is at one moment.

use goodput_engine::accounts::report::{SeriesPoint, SimReport};

use crate::charts::{Lane, Line, TimelineChart};
use crate::format;

/// A line: its name, the same beside its end, its unit in the table and in words, whether it counts things, and its value
/// from a point, the point before it, and the whole report.
struct Kind {
    name: &'static str,
    label: &'static str,
    unit: &'static str,
    whole: bool,
    read: fn(&SeriesPoint, &SeriesPoint, &SimReport) -> f64,
}

const fn kind(
    (name, label): (&'static str, &'static str),
    unit: &'static str,
    whole: bool,
    read: fn(&SeriesPoint, &SeriesPoint, &SimReport) -> f64,
) -> Kind {
    Kind { name, label, unit, whole, read }
}

/// The lanes from above: the unit as a phrase, and the lines.
const LANES: [(&str, &[Kind]); 10] = [
    (
        "replicas",
        &[
            kind(("ready", "ready"), "", true, |p, _, _| {
                f64::from(p.replicas.saturating_sub(p.draining))
            }),
            kind(("starting", "starting"), "", true, |p, _, _| f64::from(p.starting)),
            kind(("draining", "draining"), "", true, |p, _, _| f64::from(p.draining)),
            kind(("failed", "failed"), "", true, |p, _, _| f64::from(p.crashed)),
        ],
    ),
    ("sequences in batches", &[kind(("running", "running"), "", true, |p, _, _| p.running as f64)]),
    (
        "requests in queues",
        &[
            kind(("waiting", "waiting"), "", true, |p, _, _| p.waiting as f64),
            kind(("to try again", "to try again"), "", true, |p, _, _| p.deferred as f64),
        ],
    ),
    (
        "age of the oldest that waits, seconds",
        &[kind(("queue age", "oldest"), "s", false, |p, _, _| p.oldest_age_s)],
    ),
    (
        "KV memory in use, per cent",
        &[kind(("KV in use", "KV in use"), "%", false, |p, _, report| {
            100.0 * p.kv_used_tokens as f64 / report.kv.capacity_tokens.max(1) as f64
        })],
    ),
    (
        "preemptions since the moment before",
        &[kind(("preempted", "preempted"), "", true, |p, before, _| {
            p.preemptions.saturating_sub(before.preemptions) as f64
        })],
    ),
    (
        "tokens accepted and unfinished",
        &[
            kind(("prefill backlog", "prefill"), "tokens", true, |p, _, _| {
                p.backlog_prefill_tokens as f64
            }),
            kind(("decode backlog", "decode"), "tokens", true, |p, _, _| {
                p.backlog_tokens.saturating_sub(p.backlog_prefill_tokens) as f64
            }),
        ],
    ),
    ("requests per second", &[kind(("due", "due"), "req/s", false, |p, _, _| p.offered_rps)]),
    (
        "prompt tokens per second",
        &[
            kind(("prefill", "prefill"), "tok/s", false, |p, _, _| p.prefill_tps),
            kind(("prefill due", "due"), "tok/s", false, |p, _, _| p.required_prefill_tps),
        ],
    ),
    (
        "output tokens per second",
        &[
            kind(("decode", "decode"), "tok/s", false, |p, _, _| p.decode_tps),
            kind(("decode due", "due"), "tok/s", false, |p, _, _| p.required_decode_tps),
        ],
    ),
];

/// The chart of a run within its horizon, and its finding. A line that is nothing throughout is left
/// out where another of its lane is not.
pub fn timeline(report: &SimReport) -> (TimelineChart, String) {
    let points: Vec<&SeriesPoint> =
        report.series.iter().filter(|point| point.t_s <= report.horizon_s).collect();
    let line = |kind: &Kind| {
        let nothing = SeriesPoint::default();
        let before = [&nothing].into_iter().chain(points.iter().copied());
        let values =
            points.iter().zip(before).map(|(point, before)| (kind.read)(point, before, report));
        Line {
            name: kind.name,
            label: kind.label,
            unit: kind.unit,
            values: values.collect(),
            whole: kind.whole,
        }
    };
    let lane = |(unit, kinds): &(&'static str, &[Kind])| {
        let mut lines: Vec<Line> = kinds.iter().map(line).collect();
        let mut first = true;
        lines.retain(|line| std::mem::take(&mut first) || line.values.iter().any(|x| *x > 0.0));
        Lane { unit, lines }
    };
    // Replicas that are there all the time are no line to look at.
    let constant = usize::from(report.turnover.is_empty());
    let chart = TimelineChart {
        end_s: report.horizon_s,
        t_s: points.iter().map(|point| point.t_s).collect(),
        lanes: LANES.iter().skip(constant).map(lane).collect(),
    };
    (chart, caption(report))
}

fn caption(report: &SimReport) -> String {
    let preemptions = match report.kv.preemptions {
        0 => "nobody loses its blocks".to_owned(),
        n => format!("{} lost their blocks", format::plural(n, "sequence", "sequences")),
    };
    format!(
        "At most {} run and {} wait at once; KV memory is up to {} full and {preemptions}",
        format::count(report.kv.peak_running),
        format::count(report.debt.peak_waiting),
        format::percent(report.kv.peak_share),
    )
}

/// All values at the sampled moment that is nearest, in words.
pub fn readout(chart: &TimelineChart, t_s: f64) -> Option<(String, String)> {
    let off = |(_, a): &(usize, &f64)| (*a - t_s).abs();
    let moments = chart.t_s.iter().enumerate();
    let (at, moment) = moments.min_by(|a, b| off(a).total_cmp(&off(b)))?;
    let lines = chart.lanes.iter().flat_map(|lane| &lane.lines);
    let said = lines.filter_map(|line| {
        let mut value = format::significant(*line.values.get(at)?);
        if !line.unit.is_empty() {
            value = format::with_unit(&value, line.unit);
        }
        Some(format!("{} {value}", line.name))
    });
    Some((format::clock(*moment), said.collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodput_engine::accounts;
    use goodput_engine::scenario::{check, presets};

    #[test]
    fn every_lane_is_of_the_samples_and_is_read_out() {
        let doc = presets::preset("outputs-double").expect("a preset").doc.clone();
        let scenario = check(&doc).expect("a preset").scenario;
        let report = accounts::answer(&scenario).expect("simulated").report;
        let (chart, caption) = timeline(&report);
        let within = report.series.iter().filter(|point| point.t_s <= report.horizon_s);
        assert_eq!(chart.t_s.len(), within.count());
        assert_eq!(chart.lanes.len(), LANES.len() - 1, "replicas that are there all the time");
        let sum = |name: &str| -> f64 {
            let mut lines = chart.lanes.iter().flat_map(|lane| &lane.lines);
            lines.find(|line| line.name == name).map_or(0.0, |line| line.values.iter().sum())
        };
        let last = report.series.iter().rfind(|point| point.t_s <= report.horizon_s);
        let preempted = last.map_or(0, |point| point.preemptions);
        assert_eq!(sum("preempted").to_bits(), (preempted as f64).to_bits());
        let backlog: f64 = report
            .series
            .iter()
            .filter(|p| p.t_s <= report.horizon_s)
            .map(|point| point.backlog_tokens as f64)
            .sum();
        assert_eq!((sum("prefill backlog") + sum("decode backlog")).to_bits(), backlog.to_bits());
        let (clock, said) = readout(&chart, report.horizon_s / 2.0).expect("a moment");
        assert!(
            !clock.is_empty() && said.contains("running") && said.contains("KV in use"),
            "{said}"
        );
        assert!(caption.contains(&format::count(report.debt.peak_waiting)), "{caption}");
        assert_eq!(chart.table().columns.len(), chart.table().rows[0].len());
    }

    #[test]
    fn replicas_that_come_and_go_have_a_lane_of_their_states() {
        let mut doc = presets::preset("outputs-double").expect("a preset").doc.clone();
        let pool = &mut doc.fleet.pools[0];
        (pool.start_up_s, pool.cold_start) = (120.0, true);
        let scenario = check(&doc).expect("valid").scenario;
        let report = accounts::answer(&scenario).expect("simulated").report;
        let (chart, _) = timeline(&report);
        let lane = &chart.lanes[0];
        let names: Vec<&str> = lane.lines.iter().map(|line| line.name).collect();
        assert_eq!((lane.unit, names), ("replicas", vec!["ready", "starting"]));
        let at = |line: usize, moment: usize| lane.lines[line].values[moment];
        let all = f64::from(doc.fleet.pools[0].replicas);
        assert_eq!([at(0, 0), at(1, 0)].map(f64::to_bits), [0.0, all].map(f64::to_bits));
        let last = chart.t_s.len() - 1;
        assert_eq!([at(0, last), at(1, last)].map(f64::to_bits), [all, 0.0].map(f64::to_bits));
    }
}
