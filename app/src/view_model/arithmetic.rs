//! The answer where only token rates are declared: supply and debt by arithmetic, never a latency.

use goodput_engine::accounts::report::VerdictState;
use goodput_engine::estimate::report::{FluidDebt, SupplyEstimate};
use goodput_engine::scenario::doc::ScenarioDoc;

use super::delta::{Delta, Tone};
use super::tiles::{Tile, split_unit};
use super::verdict::{VerdictView, names};
use super::words::Tag;
use crate::charts::{DebtChart, DebtPoint, SupplyChart};
use crate::format;

/// The verdict by arithmetic.
pub fn verdict(supply: &SupplyEstimate) -> VerdictView {
    let (need, have) = (supply.required_peak.decode_tps, supply.sustainable_decode_tps);
    let over = supply.required_peak.rps > supply.sustainable_rps;
    let (state, word) =
        names(if over { VerdictState::Overloaded } else { VerdictState::NotMeasuredHere });
    let sentence = if over {
        format!(
            "Outputs need {} at the peak and {} are declared: debt grows by {}",
            format::tps(need),
            format::tps(have),
            growth(supply)
        )
    } else {
        format!(
            "Outputs need {} at the peak and {} are declared; whether anybody waits too long, bare \
             rates do not say",
            format::tps(need),
            format::tps(have)
        )
    };
    let why = "Simplified: declared token rates give supply and debt, never a latency. Choose \
               another step time to simulate"
        .to_owned();
    VerdictView { state, word, sentence, why }
}

/// Demand beyond supply at the peak, in tokens and in requests.
fn growth(supply: &SupplyEstimate) -> String {
    let requests = supply.required_peak.rps - supply.sustainable_rps;
    let tokens = supply.required_peak.decode_tps - supply.sustainable_decode_tps;
    format!("{} = {}", format::tps(tokens), format::rps(requests))
}

/// The five tiles, as far as arithmetic goes.
pub fn tiles(doc: &ScenarioDoc, supply: &SupplyEstimate) -> Vec<Tile> {
    let have = doc.fleet.pools.first().map_or(0, |pool| pool.replicas);
    let judged = "bare token rates say nothing about latency, so no request can be judged";
    let month = supply.cost_per_month.map_or_else(
        || "no price is set".to_owned(),
        |usd| format!("{} per month; per good request needs a latency", format::usd_whole(usd)),
    );
    let mut tiles = vec![
        tile("goodput", "SLO goodput", judged.to_owned()),
        Tile {
            value: supply.replicas_floor.to_string(),
            exact: Some(f64::from(supply.replicas_floor)),
            delta: Some(super::tiles::shortfall(supply.replicas_floor, have)),
            ..tile(
                "replicas",
                "Replicas, at least",
                "required ÷ one replica's rate, rounded up: a floor, never the plan".to_owned(),
            )
        },
        supply_tile(supply),
        debt_tile(supply),
        tile("cost", "Cost per 1,000 good", month),
    ];
    for tile in &mut tiles {
        tile.tags = vec![Tag::origin(supply.origin), Tag::assumed("simplified")];
    }
    tiles
}

/// A tile without a number.
fn tile(id: &'static str, label: &'static str, detail: String) -> Tile {
    let value = format::NONE.to_owned();
    Tile { id, label, value, exact: None, unit: "", delta: None, detail, tags: Vec::new() }
}

fn supply_tile(supply: &SupplyEstimate) -> Tile {
    let (need, have) = (supply.required_peak.decode_tps, supply.sustainable_decode_tps);
    let detail = format!(
        "{} of {} at {}",
        format::significant(have),
        format::tps(need),
        format::rps(supply.required_peak.rps)
    );
    let delta = if have < need {
        Delta::plain(format!("short {}", format::tps(need - have)), Tone::Worse)
    } else {
        Delta::plain(format!("{} to spare", format::tps(have - need)), Tone::Same)
    };
    let exact = Some(1.0 / supply.utilization_peak).filter(|share| share.is_finite());
    let value =
        exact.map_or_else(|| format::NONE.to_owned(), |share| format::rounded(share * 100.0, 2));
    let tile = tile("supply", "Decode supply at peak", detail);
    Tile { value, exact, unit: "%", delta: Some(delta), ..tile }
}

fn debt_tile(supply: &SupplyEstimate) -> Tile {
    let peak = peak(&supply.debt_series).filter(|p| p.debt_requests > 0.5);
    let detail = peak.map_or_else(
        || "a steady flow never queues".to_owned(),
        |p| {
            format!(
                "{} requests, {} output tokens wait at {}; grows by {} at the peak",
                format::fixed(p.debt_requests, 0),
                format::short(p.debt_decode_tokens),
                format::clock(p.t_s),
                growth(supply)
            )
        },
    );
    let work_s = peak.map_or(0.0, |p| p.debt_work_s);
    let (value, unit) = split_unit(&format::seconds(work_s));
    Tile { value, exact: Some(work_s), unit, ..tile("debt", "Queue debt, peak", detail) }
}

fn peak(series: &[FluidDebt]) -> Option<&FluidDebt> {
    series.iter().max_by(|a, b| a.debt_work_s.total_cmp(&b.debt_work_s))
}

/// Demand against declared supply.
pub fn supply_chart(supply: &SupplyEstimate) -> (SupplyChart, String) {
    let required: Vec<_> =
        supply.debt_series.iter().map(|p| (p.t_s, p.required_decode_tps)).collect();
    let chart = SupplyChart {
        end_s: supply.debt_series.last().map_or(1.0, |p| p.t_s),
        required,
        before: Vec::new(),
        sustainable: supply.sustainable_decode_tps,
        band: None,
        deliverable: None,
        peak: Some(supply.required_peak.decode_tps),
    };
    let caption = super::figures::supply_caption(&chart);
    (chart, caption)
}

/// Debt of a fluid queue.
pub fn debt_chart(supply: &SupplyEstimate) -> (DebtChart, String) {
    let point = |p: &FluidDebt| DebtPoint {
        t_s: p.t_s,
        total_s: p.debt_work_s,
        waiting_s: p.debt_work_s,
        waiting: whole(p.debt_requests),
        oldest_s: p.debt_work_s,
    };
    let peak = peak(&supply.debt_series).filter(|p| p.debt_work_s > 0.0);
    let chart = DebtChart {
        end_s: supply.debt_series.last().map_or(1.0, |p| p.t_s),
        points: supply.debt_series.iter().map(point).collect(),
        before: Vec::new(),
        peak: peak.map(|p| (p.t_s, p.debt_work_s)),
        oldest_s: peak.map_or(0.0, |p| p.debt_work_s),
        empty_at_s: None,
    };
    let caption = match peak {
        Some(p) => format!(
            "By arithmetic, {} requests wait at {}: {} of fleet work",
            format::fixed(p.debt_requests, 0),
            format::clock(p.t_s),
            format::seconds(p.debt_work_s)
        ),
        None => "By arithmetic, the queue of a steady flow stays empty".to_owned(),
    };
    (chart, caption)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "debt is finite and not negative"
)]
fn whole(x: f64) -> u64 {
    x.max(0.0).round() as u64
}
