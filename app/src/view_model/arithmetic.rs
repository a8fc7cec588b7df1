//! The answer where only token rates are declared: supply and debt by arithmetic, never a latency.

use goodput_engine::accounts::report::{TokenKind, VerdictState};
use goodput_engine::estimate::report::{FluidDebt, SupplyEstimate};
use goodput_engine::scenario::doc::ScenarioDoc;

use super::figures::{demand_line, supply_caption};
use super::tiles::{Tile, split_unit, supply_at_peak};
use super::verdict::{VerdictView, names};
use super::words::Tag;
use crate::charts::{DebtChart, DebtPoint, SupplyChart};
use crate::format;

/// The verdict by arithmetic.
pub fn verdict(supply: &SupplyEstimate) -> VerdictView {
    let (peak, declared) = (&supply.required_peak, &supply.sustainable_at_peak);
    let kind = match supply.binds {
        TokenKind::Prefill => "Prompts",
        TokenKind::Decode => "Outputs",
    };
    let need = format::tps(peak.tps(supply.binds));
    let have = format::tps(declared.tps(supply.binds));
    let over = peak.rps > declared.rps;
    let (state, word) =
        names(if over { VerdictState::Overloaded } else { VerdictState::NotMeasuredHere });
    let sentence = if over {
        let growth = growth(supply);
        format!("{kind} need {need} at the peak and {have} are declared: debt grows by {growth}")
    } else {
        format!(
            "{kind} need {need} at the peak and {have} are declared; whether anybody waits too \
             long, bare rates do not say"
        )
    };
    let why = format!(
        "Simplified: declared token rates give supply and debt, never a latency. Choose another \
         step time to simulate{}",
        proviso(supply)
    );
    VerdictView { state, word, sentence, change: None, why }
}

/// Where the arithmetic may not be trusted and what it does not see, in words; nothing where it
/// sees all and may be.
pub fn proviso(supply: &SupplyEstimate) -> String {
    let distrust = supply.outside_trusted_range.iter().map(|reason| reason.message.as_str());
    let clause = |begin: &str, all: Vec<&str>| {
        if all.is_empty() { String::new() } else { format!(". {begin} {}", all.join("; ")) }
    };
    let seen = clause("Arithmetic may not be trusted here:", distrust.collect());
    let left_out = supply.leaves_out.iter().map(String::as_str).collect();
    format!("{seen}{}", clause("It leaves out", left_out))
}

/// Demand beyond supply at the peak, in tokens and in requests.
fn growth(supply: &SupplyEstimate) -> String {
    let (peak, declared) = (&supply.required_peak, &supply.sustainable_at_peak);
    let tokens = peak.tps(supply.binds) - declared.tps(supply.binds);
    format!("{} = {}", format::tps(tokens), format::rps(peak.rps - declared.rps))
}

/// The five tiles, as far as arithmetic goes.
pub fn tiles(doc: &ScenarioDoc, supply: &SupplyEstimate) -> Vec<Tile> {
    let have = doc.fleet.pools.iter().map(|pool| pool.replicas).fold(0, u32::saturating_add);
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
        supply_at_peak(supply.binds, &supply.required_peak, &supply.sustainable_at_peak),
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
    let (exact, delta, tags) = (None, None, Vec::new());
    Tile { id, label, value, exact, unit: "", delta, detail, tags, is_earlier: false }
}

fn debt_tile(supply: &SupplyEstimate) -> Tile {
    let peak = peak(&supply.debt_series).filter(|p| p.debt_requests > 0.5);
    let detail = peak.map_or_else(
        || "a steady flow never queues".to_owned(),
        |p| {
            format!(
                "{}, {} output tokens wait at {}; grows by {} at the peak",
                format::plural(whole(p.debt_requests), "request", "requests"),
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
    let (kind, window_s) = (supply.binds, supply.peak_window_s);
    let required = demand_line(&supply.demand, window_s, kind);
    let declared = supply.sustainable_at_peak.tps(kind);
    let chart = SupplyChart {
        kind,
        end_s: supply.debt_series.last().map_or(1.0, |p| p.t_s),
        sustainable: required.iter().map(|&(t, _)| (t, declared)).collect(),
        required,
        before: Vec::new(),
        band: None,
        deliverable: None,
        peak: Some((supply.peak_from_s + window_s / 2.0, supply.required_peak.tps(kind))),
    };
    let caption = supply_caption(&chart, supply.is_another_mix_at_peak());
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
            "By arithmetic, {} at {}: {} of fleet work",
            format::plural(whole(p.debt_requests), "request waits", "requests wait"),
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
