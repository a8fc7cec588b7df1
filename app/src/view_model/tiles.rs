//! The five headline numbers, each with unit, decomposition, origin, and the change from the
//! pinned baseline.

mod replicas;

use goodput_engine::accounts::report::{GoodputKind, MixRate, SimReport, TokenKind, VerdictState};
use goodput_engine::planner::report::PlanReport;
use goodput_engine::scenario::doc::{QualityDoc, ScenarioDoc};
use goodput_engine::step_time::Origin;

use replicas::replicas;
pub use replicas::shortfall;

use super::delta::{Better, Delta, Tone};
use super::figures::deliverable;
use super::words::Tag;
use crate::format;

/// One headline number.
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    /// Name for tests and styles.
    pub id: &'static str,
    /// What it is.
    pub label: &'static str,
    /// The number; a dash where it is undefined.
    pub value: String,
    /// The number in full, in the unit of the report; `None` where it is undefined.
    pub exact: Option<f64>,
    /// Its unit.
    pub unit: &'static str,
    /// Change, shortfall or spare.
    pub delta: Option<Delta>,
    /// How it comes about, or why there is none.
    pub detail: String,
    /// Where it comes from.
    pub tags: Vec<Tag>,
    /// It is for the inputs before, while the rest is not.
    pub is_earlier: bool,
}

impl Tile {
    /// The anchor of its label in the glossary.
    pub fn term(&self) -> &'static str {
        match self.id {
            "goodput" if self.label.starts_with("Latency") => "latency-only-goodput",
            "goodput" => "goodput",
            "replicas" => "replicas",
            "supply" => "sustainable",
            "debt" => "queue-debt",
            _ => "cost-per-good",
        }
    }
}

/// What the tiles are made from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The scenario.
    pub doc: &'a ScenarioDoc,
    /// Its simulation.
    pub report: &'a SimReport,
    /// Its plan; `None` while it is being worked out.
    pub plan: Option<&'a PlanReport>,
    /// The plan for the inputs before, where there is none for these.
    pub earlier_plan: Option<&'a PlanReport>,
    /// Simulation of the pinned baseline.
    pub before: Option<&'a SimReport>,
    /// Origin of the step time.
    pub origin: Option<Origin>,
}

/// The five tiles.
pub fn tiles(source: &Source) -> Vec<Tile> {
    vec![goodput(source), replicas(source), supply(source), debt(source), cost(source)]
}

/// Tiles of final size before the first result.
pub fn soon() -> Vec<Tile> {
    let tile = |id, label| Tile {
        id,
        label,
        value: format::NONE.to_owned(),
        exact: None,
        unit: "",
        delta: None,
        detail: String::new(),
        tags: Vec::new(),
        is_earlier: false,
    };
    vec![
        tile("goodput", "SLO goodput"),
        tile("replicas", "Replicas that hold it"),
        tile("supply", "Supply at peak"),
        tile("debt", "Queue debt, peak"),
        tile("cost", "Cost per 1,000 good"),
    ]
}

fn goodput(source: &Source) -> Tile {
    let report = source.report;
    let label = match report.goodput.kind {
        GoodputKind::SloGoodput => "SLO goodput",
        GoodputKind::LatencyOnlyGoodput => "Latency-only goodput",
    };
    let span = report.horizon_s - report.warmup_s;
    let offered_rps = report.offered as f64 / span;
    let detail = format!(
        "{} of {} offered are good; {} of {}",
        format::count(report.goodput.good),
        format::count(report.offered),
        format::significant(report.goodput.good_rps),
        format::rps(offered_rps),
    );
    let mut tags = step_time(source);
    tags.push(quality(source.doc));
    Tile {
        id: "goodput",
        label,
        value: format::fixed(report.attainment * 100.0, 1),
        exact: Some(report.attainment),
        unit: "%",
        delta: source.before.map(|before| Delta::points(before.attainment, report.attainment)),
        detail,
        tags,
        is_earlier: false,
    }
}

fn quality(doc: &ScenarioDoc) -> Tag {
    let classes = &doc.workload.classes;
    let unchecked = classes.iter().filter(|c| c.quality == QualityDoc::NotChecked).count();
    if unchecked == classes.len() {
        return Tag::assumed("quality not checked");
    }
    if unchecked > 0 {
        return Tag::assumed(format!("quality not checked in {unchecked} of {}", classes.len()));
    }
    match classes.iter().find_map(|c| match &c.quality {
        QualityDoc::Assumed { pass_rate, .. } => Some(*pass_rate),
        _ => None,
    }) {
        Some(rate) if classes.len() == 1 => {
            Tag::assumed(format!("quality {} assumed", format::percent(rate)))
        }
        Some(_) => Tag::assumed("quality assumed"),
        None => Tag::measured("quality verified"),
    }
}

fn supply(source: &Source) -> Tile {
    let supply = &source.report.supply;
    let deliverable = deliverable(source.plan, supply);
    let deliverable = deliverable.map_or_else(String::new, |mix| {
        format!("; deliverable {}", format::significant(mix.tps(supply.binds)))
    });
    let mix = match &supply.over_time {
        Some(over_time) => {
            let there = format::significant(over_time.tightest_replicas);
            format!("; replicas taking requests: {there} of {}", over_time.most_replicas)
        }
        None if supply.is_another_mix_at_peak() => " for the mix at that hour".to_owned(),
        None => String::new(),
    };
    let mut tags = step_time(source);
    if supply.simplified {
        tags.push(Tag::assumed("simplified"));
    }
    let (required, sustainable) = supply.at_tightest();
    let tile = supply_at_peak(supply.binds, required, sustainable);
    let delta = tile.delta.map(|delta| brief(delta, source.report));
    Tile { detail: format!("{}{mix}{deliverable}", tile.detail), delta, tags, ..tile }
}

/// A shortfall at the peak that breaks no contract says so and is not red: the verdict holds.
fn brief(delta: Delta, report: &SimReport) -> Delta {
    if delta.tone != Tone::Worse || report.verdict.state != VerdictState::Holds {
        return delta;
    }
    Delta::plain(format!("{}, too briefly to break the contract", delta.text), Tone::Same)
}

/// Sustainable supply over demand at the peak, in tokens of the kind that binds.
pub fn supply_at_peak(binds: TokenKind, required: &MixRate, sustainable: &MixRate) -> Tile {
    let (need, have) = (required.tps(binds), sustainable.tps(binds));
    let ratio = have / need;
    let delta = if need > have {
        Delta::plain(format!("short {}", format::tps(need - have)), Tone::Worse)
    } else {
        Delta::plain(format!("{} to spare", format::tps(have - need)), Tone::Same)
    };
    let rate = format::rps(required.rps);
    Tile {
        id: "supply",
        label: match binds {
            TokenKind::Prefill => "Prefill supply at peak",
            TokenKind::Decode => "Decode supply at peak",
        },
        value: if ratio.is_finite() {
            format::significant(ratio * 100.0)
        } else {
            format::NONE.into()
        },
        exact: ratio.is_finite().then_some(ratio),
        unit: "%",
        delta: Some(delta),
        detail: format!("{} of {} at {rate}", format::significant(have), format::tps(need)),
        tags: Vec::new(),
        is_earlier: false,
    }
}

fn debt(source: &Source) -> Tile {
    let debt = &source.report.debt;
    let delta = source.before.map(|before| {
        Delta::amount(before.debt.peak_work_s, debt.peak_work_s, Better::Lower, format::seconds)
    });
    let detail = format!(
        "{} tokens unfinished; oldest waits {}{}{}",
        format::short(debt.peak_tokens as f64),
        format::seconds(debt.oldest_age_s),
        // A clock runs from the first attempt, and a queue's limit from the one that is in it.
        match source.report.attempts.retried {
            0 => "",
            _ => " since it was first due, earlier attempts included",
        },
        match debt.waiting_at_end {
            0 => String::new(),
            n => format!("; {} waiting at the end", format::count(n)),
        }
    );
    let (value, unit) = split_unit(&format::seconds(debt.peak_work_s));
    Tile {
        id: "debt",
        label: "Queue debt, peak",
        value,
        exact: Some(debt.peak_work_s),
        unit,
        delta,
        detail,
        tags: step_time(source),
        is_earlier: false,
    }
}

/// The number and the unit of a formatted time, which stand in different sizes.
pub fn split_unit(text: &str) -> (String, &'static str) {
    let number = text.split(format::THIN).next().unwrap_or(text).to_owned();
    let unit = ["ms", "min", "s", "h"].into_iter().find(|unit| text.ends_with(unit));
    (number, unit.unwrap_or(""))
}

fn cost(source: &Source) -> Tile {
    let tile = |usd: Option<f64>, delta: Option<Delta>, detail: String, tags: Vec<Tag>| Tile {
        id: "cost",
        label: "Cost per 1,000 good",
        value: usd.map_or_else(|| format::NONE.to_owned(), format::usd),
        exact: usd,
        unit: "",
        delta,
        detail,
        tags,
        is_earlier: false,
    };
    let Some(cost) = &source.report.cost else {
        return tile(None, None, "no price is set".into(), Vec::new());
    };
    let mut tags = step_time(source);
    tags.push(Tag::assumed("declared price"));
    let month = format!("{} per month", format::usd_whole(cost.per_month));
    let Some(per_good) = cost.per_good_request else {
        return tile(None, None, format!("no good request; {month}"), tags);
    };
    let before = source.before.and_then(|b| b.cost.as_ref()).and_then(|c| c.per_good_request);
    let delta = before
        .map(|before| Delta::amount(before * 1e3, per_good * 1e3, Better::Lower, format::usd));
    let good = format::count(cost.good);
    let total = format::usd_fixed(cost.total, super::books::decimals_of(cost.total));
    // Books are of all that is paid for; other tiles are of the window.
    let whole = match cost.after_warmup.and_then(|after| after.per_good_request) {
        Some(after) => {
            let after = format::usd(after * 1e3);
            format!(" in the whole run ({after} per 1,000 after the warm-up)")
        }
        None => String::new(),
    };
    let detail = format!("{total} ÷ {good} good{whole}; {month}");
    tile(Some(per_good * 1e3), delta, detail, tags)
}

fn step_time(source: &Source) -> Vec<Tag> {
    source.origin.map(Tag::origin).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_peak_under_a_contract_that_holds_is_not_red() {
        use goodput_engine::{accounts, scenario};
        let doc = crate::state::edit::tests::small_doc();
        let scenario = scenario::check(&doc).expect("a scenario").scenario;
        let mut report = accounts::answer(&scenario).expect("an answer").report;
        let short = || Delta::plain("short 141 tok/s".into(), Tone::Worse);
        report.verdict.state = VerdictState::Holds;
        let brief_one = brief(short(), &report);
        assert_eq!(brief_one.tone, Tone::Same);
        assert_eq!(brief_one.text, "short 141 tok/s, too briefly to break the contract");
        report.verdict.state = VerdictState::Overloaded;
        assert_eq!(brief(short(), &report), short());
    }

    #[test]
    fn the_supply_tile_shows_what_binds_to_three_digits() {
        let mix = |rps, prefill_tps, decode_tps| MixRate { rps, prefill_tps, decode_tps };
        let required = mix(50.0, 20_000.0, 100_000.0);
        let sustainable = mix(57.45, 22_980.0, 114_900.0);
        let decode = supply_at_peak(TokenKind::Decode, &required, &sustainable);
        assert_eq!((decode.label, decode.value.as_str()), ("Decode supply at peak", "115"));
        assert!(decode.detail.starts_with("115,000 of 100,000"), "{}", decode.detail);
        let prefill = supply_at_peak(TokenKind::Prefill, &required, &mix(49.7, 19_880.0, 99_400.0));
        assert_eq!((prefill.label, prefill.value.as_str()), ("Prefill supply at peak", "99.4"));
        assert_eq!(prefill.delta.map(|delta| delta.tone), Some(Tone::Worse));
        let nothing = supply_at_peak(TokenKind::Decode, &MixRate::default(), &sustainable);
        assert_eq!((nothing.value.as_str(), nothing.exact), (format::NONE, None));
    }
}
