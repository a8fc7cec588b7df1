//! What else would help, in rows.

use goodput_engine::accounts::words::{thousands, three_digits};
use goodput_engine::remedies::{RemedyReport, RemedyRow};

use super::{Page, usd};

/// Numbers that stand below every remedy, better or worse.
const SHOWN: [&str; 6] = [
    "ttft_ms.p95",
    "longest_stall_ms.p99",
    "tpot_ms.p95",
    "output_tps",
    "debt.peak_work_s",
    "attempts.per_request",
];

/// Every remedy with what it gains and what it makes worse.
pub fn remedies(report: &RemedyReport) -> String {
    let mut page = Page::default();
    page.heading("What else would help, each simulated on the same requests");
    for row in &report.remedies {
        remedy(&mut page, row);
    }
    for absent in &report.not_applicable {
        page.row(absent.id, &format!("does not apply: {}", absent.why));
    }
    page.into_text()
}

fn remedy(page: &mut Page, row: &RemedyRow) {
    let signed = |value: f64, words: String| {
        let sign = if value < 0.0 { "−" } else { "+" };
        format!("{sign}{words}")
    };
    let good = row.added_good as f64;
    let gains = format!("{} good", signed(good, thousands(good.abs())));
    let each = |cost: f64| format!(", {} for each", signed(cost, usd(cost.abs())));
    let each = row.cost_per_added_good.map(each).unwrap_or_default();
    let holds = if row.contract_holds { ", the contract holds" } else { "" };
    page.line(&format!("  {}: {gains}{each}{holds}", row.title));
    for name in SHOWN {
        let change = row.results.iter().find(|change| change.name == name);
        if let Some((Some(before), Some(after))) = change.map(|change| (change.a, change.b)) {
            page.row(name, &format!("{} → {}", three_digits(before), three_digits(after)));
        }
    }
    if !row.worsens.is_empty() {
        page.row("worse", &row.worsens.join(", "));
    }
    for caveat in &row.caveats {
        page.row("but", caveat);
    }
}
