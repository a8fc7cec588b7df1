//! The accounting of requests as text for people.

use std::collections::BTreeMap;

use goodput_engine::accounts::accounting::{
    Accounting, BreakOut, Cause, Causes, Dimension, LimitLifted, LimitToSave, Relaxing,
    TargetResult,
};
use goodput_engine::accounts::words::{percent, plural, span_ms, thousands, three_digits};
use goodput_engine::compare::SettingLifted;

use super::text::Page;

/// Dimensions whose cells are lines of the text; the others are in the JSON.
const SHOWN: [Dimension; 3] = [Dimension::Class, Dimension::Prompt, Dimension::Output];

/// Where the requests went.
pub fn in_words(accounting: &Accounting) -> String {
    let mut page = Page::default();
    page.heading("Good requests by other rules");
    for reading in &accounting.readings {
        let share = reading.share;
        let of = format!("{} of {}", thousands(share.good as f64), thousands(share.of as f64));
        let percent = share.share.map_or_else(|| "–".to_owned(), percent);
        page.row(&reading.rule, &format!("{percent:>8}  ({of})  {}", reading.tool));
    }
    targets(&mut page, &accounting.percentile_targets);
    relaxing(&mut page, &accounting.relaxing);
    causes(&mut page, &accounting.causes);
    for warning in &accounting.streams.warnings {
        page.line(&format!("warning: {warning}"));
    }
    let shown = |out: &&BreakOut| {
        let several = out.cells.len() > 1;
        out.available && several && out.by.iter().all(|by| SHOWN.contains(by))
    };
    for out in accounting.break_outs.iter().filter(shown).chain(&accounting.crossed) {
        break_out(&mut page, out);
    }
    page.into_text()
}

fn targets(page: &mut Page, targets: &[TargetResult]) {
    if targets.is_empty() {
        return;
    }
    page.heading("Percentile targets              over offered   over answered");
    for target in targets {
        let value = |ms: Option<f64>| ms.map_or_else(|| "never".to_owned(), span_ms);
        let met = if target.met { "met" } else { "missed" };
        let percentile = three_digits(target.percentile);
        page.row(
            &format!("{} p{percentile} ≤ {}", target.of.name(), span_ms(target.limit_ms)),
            &format!(
                "{:>12}   {:>13}   {met}",
                value(target.over_offered_ms),
                value(target.over_completed_ms)
            ),
        );
    }
}

fn relaxing(page: &mut Page, relaxing: &Relaxing) {
    if relaxing.lost == 0 {
        return;
    }
    page.heading(&format!(
        "What alone would have saved the {}",
        plural(relaxing.lost, "lost request", "lost requests")
    ));
    for lifted in relaxing.limits.iter().filter(|lifted| lifted.saved > 0) {
        page.row(&format!("no {} limit", lifted.limit.name()), &saves(lifted));
    }
    for (what, requests) in [
        ("acceptable answers", relaxing.quality),
        ("no server errors", relaxing.errors),
        ("nothing alone", relaxing.several),
    ] {
        if requests > 0 {
            page.row(what, &thousands(requests as f64));
        }
    }
    for open in &relaxing.to_simulate {
        let requests = thousands(open.requests as f64);
        page.row(
            open.outcome.name(),
            &format!("{requests}: simulate a change of {}", open.setting),
        );
    }
}

/// What settings cost, each lifted alone.
pub fn lifted(rows: &[SettingLifted]) -> String {
    let mut page = Page::default();
    page.heading("Each setting lifted alone         cost     saves    beside    loses     good");
    if rows.is_empty() {
        page.line("  None cost a request, or users ask by what they were answered");
    }
    for row in rows {
        let count = |n: u64| thousands(n as f64);
        page.row(
            row.setting.lifted(),
            &format!(
                "{:>7} {:>9} {:>9} {:>8} {:>8}",
                count(row.requests),
                count(row.saved),
                count(row.saved_beside),
                count(row.lost_beside),
                format!("{:+}", row.added_good())
            ),
        );
    }
    page.into_text()
}

fn saves(lifted: &LimitLifted) -> String {
    let at = |save: &LimitToSave| {
        format!(", {} of them at {}", percent(save.share), span_ms(save.limit_ms))
    };
    let shares: String = lifted.to_save.iter().map(at).collect();
    format!("{}{shares}", thousands(lifted.saved as f64))
}

fn causes(page: &mut Page, causes: &Causes) {
    for (title, table) in [
        ("Late first tokens by their main part", &causes.late_first_token),
        ("Slow tokens by their main part", &causes.slow_tokens),
        ("Stalls by what made them", &causes.stall),
    ] {
        cause_table(page, title, table);
    }
}

fn cause_table(page: &mut Page, title: &str, table: &BTreeMap<Cause, u64>) {
    if table.is_empty() {
        return;
    }
    page.heading(title);
    for (cause, requests) in table {
        page.row(cause.words(), &thousands(*requests as f64));
    }
}

fn break_out(page: &mut Page, out: &BreakOut) {
    let by: Vec<&str> = out.by.iter().map(|by| by.name()).collect();
    page.heading(&format!("By {}", by.join(" and ")));
    for cell in &out.cells {
        let key: Vec<&str> = cell.key.iter().map(|bucket| bucket.label.as_str()).collect();
        page.row(
            &key.join(" × "),
            &format!("{:>8} good of {}", percent(cell.attainment), thousands(cell.offered as f64)),
        );
    }
}
