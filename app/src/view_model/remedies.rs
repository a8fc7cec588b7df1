//! What else would help, in rows: what an edit gains, what each further good request costs, and what
//! gets worse.

use goodput_engine::compare::Moved;
use goodput_engine::slo::Outcome;

use super::words;
use crate::format;
use crate::worker::remedies::{Change, Remedies, Remedy};

/// An edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemedyLine {
    /// In words.
    pub title: String,
    /// What it comes to, and what the simulation does not know.
    pub notes: Vec<String>,
    /// Share of good requests, and points more.
    pub good: (String, String),
    /// A thousand further good requests cost that.
    pub per_thousand: String,
    /// Per month, and what that is more.
    pub per_month: Option<(String, String)>,
    /// Numbers that get worse, before and after.
    pub worse: Vec<String>,
    /// From which outcome to which, most requests first.
    pub moved: Vec<String>,
    /// Every class meets its targets.
    pub holds: bool,
    /// It gains good requests.
    pub gains: bool,
}

/// Changes by less than this share are none that anybody would see.
const SEEN: f64 = 0.005;

/// The rows, in their order.
pub fn lines(remedies: &Remedies) -> Vec<RemedyLine> {
    remedies.tried.iter().map(line).collect()
}

/// The finding above them.
pub fn caption(remedies: &Remedies) -> String {
    let holds = remedies.tried.iter().filter(|remedy| remedy.contract_holds).count();
    let gains = remedies.tried.iter().filter(|remedy| remedy.added_good > 0).count();
    format!(
        "{} simulated on the same requests: {gains} gain good requests, with {holds} the contract \
         holds. None is advised: what it makes worse stands beside",
        format::plural(remedies.tried.len() as u64, "edit", "edits"),
    )
}

fn line(remedy: &Remedy) -> RemedyLine {
    let change = |name: &str| remedy.results.iter().find(|change| change.name == name);
    let both = |name: &str| change(name).and_then(|change| change.before.zip(change.after));
    let good = both("attainment").map_or_else(
        || (format::count(0), String::new()),
        |(before, after)| {
            let points = format::signed(100.0 * (after - before), 1);
            (format::percent(after), format!("{points} points"))
        },
    );
    let mut notes = Vec::new();
    if remedy.contract_holds {
        notes.push("the contract holds".to_owned());
    }
    notes.extend(remedy.caveats.iter().cloned());
    let worse = remedy.results.iter().filter(|change| change.worsens && is_seen(change));
    RemedyLine {
        title: words::clause(&remedy.title),
        notes,
        good,
        per_thousand: per_thousand(remedy, both("cost.per_month")),
        per_month: both("cost.per_month").map(|(before, after)| {
            let more = after - before;
            let sign = if more > 0.0 { "+" } else { "" };
            (format::usd_whole(after), format!("{sign}{}", format::usd_whole(more)))
        }),
        worse: worse.filter_map(worsened).collect(),
        moved: remedy.moved.as_deref().map(moves).unwrap_or_default(),
        holds: remedy.contract_holds,
        gains: remedy.added_good > 0,
    }
}

/// What a fleet costs a month is its price: one that costs no more there costs nothing, however long
/// its run drains.
fn per_thousand(remedy: &Remedy, per_month: Option<(f64, f64)>) -> String {
    let is_free = per_month.is_some_and(|(before, after)| before.total_cmp(&after).is_eq());
    match remedy.cost_per_added_good {
        Some(_) if is_free => format::usd(0.0),
        Some(each) => format::usd(1_000.0 * each),
        None => "–".to_owned(),
    }
}

fn is_seen(change: &Change) -> bool {
    let (Some(before), Some(after)) = (change.before, change.after) else { return true };
    (after - before).abs() > SEEN * before.abs()
}

/// A number that gets worse; nothing of those that stand in columns of their own.
fn worsened(change: &Change) -> Option<String> {
    let (name, show): (&str, fn(f64) -> String) = match change.name.as_str() {
        "attainment" | "good_rps" | "cost.per_month" | "cost.per_good_request" => return None,
        "good_per_gpu_hour" => ("good per GPU-hour", format::significant),
        "output_tps" => ("output tokens", format::tps),
        "input_tps" => ("input tokens", format::tps),
        "ttft_ms.p50" => ("TTFT p50", format::millis),
        "ttft_ms.p95" => ("TTFT p95", format::millis),
        "ttft_ms.p99" => ("TTFT p99", format::millis),
        "tpot_ms.p50" => ("TPOT p50", format::millis),
        "tpot_ms.p95" => ("TPOT p95", format::millis),
        "tpot_ms.p99" => ("TPOT p99", format::millis),
        "longest_stall_ms.p99" => ("longest stall p99", format::millis),
        "e2e_ms.p95" => ("E2E p95", format::millis),
        "sustainable.rps" => ("sustainable", format::rps),
        "debt.peak_waiting" => ("most waiting", format::significant),
        "debt.peak_work_s" => ("peak debt", format::seconds),
        "debt.drain_s" => ("drain", format::seconds),
        "attempts.per_request" => ("attempts per request", format::significant),
        "kv.peak_share" => ("KV in use at most", format::percent),
        "kv.preemptions" => ("preemptions", format::significant),
        other => (other, format::significant),
    };
    let shown = |value: Option<f64>| value.map_or_else(|| "never".to_owned(), show);
    Some(format!("{name} {} → {}", shown(change.before), shown(change.after)))
}

/// What became of whom, most requests first; who stays where they were is left out.
fn moves(moved: &[Moved]) -> Vec<String> {
    let mut moved: Vec<&Moved> = moved.iter().filter(|step| step.from != step.to).collect();
    moved.sort_by_key(|step| std::cmp::Reverse(step.requests));
    let name = |outcome: Outcome| words::outcome(outcome).to_lowercase();
    let step = |step: &&Moved| {
        format!("{} {} → {}", format::count(step.requests), name(step.from), name(step.to))
    };
    moved.iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodput_engine::scenario::presets;

    fn change(name: &str, before: f64, after: f64, worsens: bool) -> Change {
        Change { name: name.into(), before: Some(before), after: Some(after), worsens }
    }

    fn remedy() -> Remedy {
        Remedy {
            title: "three replicas more".into(),
            contract_holds: true,
            added_good: 412,
            cost_per_added_good: Some(0.000_81),
            results: vec![
                change("attainment", 0.574, 0.981, false),
                change("cost.per_month", 3_942.0, 9_855.0, true),
                change("ttft_ms.p99", 400.0, 400.4, true),
                change("longest_stall_ms.p99", 120.0, 310.0, true),
                Change { after: None, ..change("debt.drain_s", 2.0, 0.0, true) },
            ],
            moved: Some(vec![
                Moved { from: Outcome::Good, to: Outcome::Good, requests: 5_000 },
                Moved { from: Outcome::Good, to: Outcome::SlowTokens, requests: 8 },
                Moved { from: Outcome::LateFirstToken, to: Outcome::Good, requests: 420 },
            ]),
            caveats: vec!["they have to be had".into()],
            doc: Box::new(presets::presets()[0].doc.clone()),
        }
    }

    #[test]
    fn a_remedy_says_what_it_gains_what_that_costs_and_what_gets_worse() {
        let line = line(&remedy());
        assert_eq!(line.title, "Three replicas more");
        assert_eq!(line.good, ("98.1\u{202f}%".into(), "+40.7 points".into()));
        assert_eq!(line.per_thousand, "$0.81");
        assert_eq!(line.per_month, Some(("$9,855".into(), "+$5,913".into())));
        assert_eq!(line.notes, ["the contract holds", "they have to be had"]);
        // What nobody would see, and what has a column of its own, is not there.
        let worse = ["longest stall p99 120\u{202f}ms → 310\u{202f}ms", "drain 2\u{202f}s → never"];
        assert_eq!(line.worse, worse);
        assert_eq!(line.moved.len(), 2);
        assert!(line.moved[0].starts_with("420 ") && line.moved[0].ends_with("→ good"));
    }

    #[test]
    fn what_gains_nothing_has_no_price_for_a_gain() {
        let none = Remedy { added_good: -3, cost_per_added_good: None, ..remedy() };
        let line = line(&none);
        assert_eq!((line.per_thousand.as_str(), line.gains), ("–", false));
        // The same fleet for a month: what its run costs more is the time it takes to drain.
        let mut same_fleet = remedy();
        same_fleet.results[1].after = same_fleet.results[1].before;
        assert_eq!(super::line(&same_fleet).per_thousand, "$0");
    }
}
