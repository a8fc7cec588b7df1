//! What alone would have saved how many of the lost requests: limits, answers and errors counted
//! on the run itself, settings named for a simulation.

use std::cmp::Reverse;

use goodput_engine::accounts::accounting::{Accounting, LimitLifted, Relaxing, ToSimulate};
use goodput_engine::compare::{Setting, SettingLifted};

use super::words;
use crate::format;

/// One thing changed alone.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedRow {
    /// What is changed.
    pub name: String,
    /// How many it concerns; `saved` says whether they would be good.
    pub requests: u64,
    /// They would be good: counted. Otherwise they stay lost, or only a simulation can tell.
    pub saved: bool,
    /// Their share of all lost, per cent.
    pub share: f64,
    /// How far it has to go, or why there is no number.
    pub detail: String,
}

/// The counterfactual.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    /// The finding.
    pub caption: String,
    /// What saves most first; then what nothing saves, and what a simulation has to tell.
    pub rows: Vec<SavedRow>,
}

/// Whether there is a setting to lift.
pub fn can_lift(accounting: &Accounting) -> bool {
    let costs =
        |open: &ToSimulate| Setting::ALL.iter().any(|s| s.outcomes().contains(&open.outcome));
    accounting.relaxing.to_simulate.iter().any(costs)
}

/// What lifting settings was found to do.
pub fn lifted(found: &[SettingLifted]) -> Vec<String> {
    let line = |row: &SettingLifted| {
        let count = |n| format::count(n);
        let mut parts = vec![format!(
            "saves {} of {} {}",
            count(row.saved),
            count(row.requests),
            row.setting
                .outcomes()
                .iter()
                .map(|o| words::outcome(*o).to_lowercase())
                .collect::<Vec<_>>()
                .join(" or ")
        )];
        if row.saved_beside > 0 {
            parts.push(format!("and {} lost otherwise", count(row.saved_beside)));
        }
        if row.lost_beside > 0 {
            parts.push(format!("loses {} that were good", count(row.lost_beside)));
        }
        let more = format::signed(row.added_good() as f64, 0);
        format!("{}: {}; {more} good", words::clause(row.setting.lifted()), parts.join(", "))
    };
    found.iter().map(line).collect()
}

/// The counterfactual of a run whose classes have these names.
pub fn saved(accounting: &Accounting, classes: &[&str]) -> Saved {
    let all = &accounting.relaxing;
    let mut rows = Vec::new();
    let by_class = &accounting.relaxing_by_class;
    if by_class.is_empty() {
        rows.extend(limits(all, None));
    }
    for (relaxing, name) in by_class.iter().zip(classes) {
        rows.extend(limits(relaxing, Some(name)));
    }
    let counted = [
        (all.quality, true, "Every answer acceptable", "in time, but a bad answer"),
        (all.errors, true, "No server errors", "within every limit until the server failed it"),
        (all.several, false, "Nothing alone", "several limits missed, or a bad answer as well"),
    ];
    let counted = counted.into_iter().filter(|(requests, ..)| *requests > 0);
    rows.extend(counted.map(|(requests, saved, name, detail)| SavedRow {
        name: name.to_owned(),
        requests,
        saved,
        share: 0.0,
        detail: detail.to_owned(),
    }));
    rows.extend(all.to_simulate.iter().map(|open| SavedRow {
        name: words::clause(&open.setting),
        requests: open.requests,
        saved: false,
        share: 0.0,
        detail: format!(
            "{}: change it and simulate, no record can say",
            words::outcome(open.outcome).to_lowercase()
        ),
    }));
    for row in &mut rows {
        row.share = 100.0 * row.requests as f64 / all.lost.max(1) as f64;
    }
    rows.sort_by_key(|row| (Reverse(row.saved), Reverse(row.requests)));
    Saved { caption: caption(all, &rows), rows }
}

/// Each limit whose lifting would save somebody.
fn limits(relaxing: &Relaxing, class: Option<&str>) -> Vec<SavedRow> {
    let of = class.map_or_else(String::new, |name| format!(" for {name}"));
    let saving = relaxing.limits.iter().filter(|lifted| lifted.saved > 0);
    let row = |lifted: &LimitLifted| SavedRow {
        name: format!("No limit on {}{of}", lifted.limit.name()),
        requests: lifted.saved,
        saved: true,
        share: 0.0,
        detail: detail(lifted),
    };
    saving.map(row).collect()
}

/// `now 2 s; half of them need 3.1 s, 90 % 4.6 s, all 9.8 s`.
fn detail(lifted: &LimitLifted) -> String {
    let mut parts = Vec::new();
    for save in &lifted.to_save {
        let who = match save.share {
            s if s >= 1.0 => "all".to_owned(),
            s if s <= 0.5 => "half of them need".to_owned(),
            s => format::percent(s),
        };
        let part = format!("{who} {}", format::millis(save.limit_ms));
        // Of few requests the shares are the same ones.
        if save.share >= 1.0 || save.requests < lifted.saved {
            parts.push(part);
        }
    }
    let mut parts = vec![parts.join(", ")];
    parts.retain(|part| !part.is_empty());
    if let Some(now) = lifted.now_ms {
        parts.insert(0, format!("now {}", format::millis(now)));
    }
    parts.join("; ")
}

fn caption(all: &Relaxing, rows: &[SavedRow]) -> String {
    let lost = format::plural(all.lost, "lost request", "lost requests");
    match rows.first() {
        None => "No request is lost".to_owned(),
        Some(best) if best.saved => format!(
            "Of {lost}, one change alone saves {} at most ({}): {}",
            format::count(best.requests),
            format::percent(best.share / 100.0),
            in_sentence(&best.name),
        ),
        Some(_) => format!("Of {lost}, no limit alone saves any"),
    }
}

/// A row's name in the middle of a sentence.
fn in_sentence(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodput_engine::accounts::accounting::{LimitToSave, ToSimulate};
    use goodput_engine::slo::{Limit, Outcome};

    fn relaxing() -> Relaxing {
        let to_save = [(0.5, 150, 3_100.0), (0.9, 270, 4_600.0), (1.0, 300, 9_800.0)];
        let to_save =
            to_save.map(|(share, requests, limit_ms)| LimitToSave { share, requests, limit_ms });
        let lifted =
            |limit, saved, to_save| LimitLifted { limit, now_ms: Some(2e3), saved, to_save };
        Relaxing {
            lost: 1_000,
            limits: vec![
                lifted(Limit::Tpot, 0, Vec::new()),
                lifted(Limit::Ttft, 300, to_save.to_vec()),
            ],
            quality: 20,
            errors: 0,
            several: 80,
            to_simulate: vec![ToSimulate {
                outcome: Outcome::CancelledBeforeFirst,
                requests: 600,
                setting: "the patience of users".into(),
            }],
        }
    }

    #[test]
    fn what_saves_most_comes_first_and_what_is_not_known_last() {
        let accounting = Accounting { relaxing: relaxing(), ..Accounting::default() };
        let saved = saved(&accounting, &["chat"]);
        let names: Vec<&str> = saved.rows.iter().map(|row| row.name.as_str()).collect();
        let expected = [
            "No limit on TTFT",
            "Every answer acceptable",
            "The patience of users",
            "Nothing alone",
        ];
        assert_eq!(names, expected);
        assert_eq!(
            saved.rows[0].detail,
            "now 2\u{202f}s; half of them need 3.1\u{202f}s, 90\u{202f}% 4.6\u{202f}s, all 9.8\u{202f}s"
        );
        assert_eq!(saved.rows.iter().map(|row| row.requests).sum::<u64>(), 1_000);
        assert!(saved.caption.contains("saves 300 at most (30\u{202f}%): no limit on TTFT"));
    }

    #[test]
    fn a_lifted_setting_says_whom_it_saves_and_whom_it_loses() {
        let row = |saved_beside, lost_beside| SettingLifted {
            setting: Setting::Patience,
            requests: 600,
            saved: 40,
            saved_beside,
            lost_beside,
        };
        let lines = lifted(&[row(0, 0), row(2, 340)]);
        assert!(lines[0].starts_with("Users wait for ever: saves 40 of 600 "), "{}", lines[0]);
        assert!(lines[0].ends_with("; +40 good"), "{}", lines[0]);
        assert!(lines[1].contains("and 2 lost otherwise, loses 340 that were good"));
        assert!(lines[1].ends_with("; −298 good"), "{}", lines[1]);
        let accounting = Accounting { relaxing: relaxing(), ..Accounting::default() };
        assert!(can_lift(&accounting) && !can_lift(&Accounting::default()));
    }

    #[test]
    fn several_classes_have_rows_of_their_own_limits() {
        let by_class = vec![relaxing(), Relaxing { limits: Vec::new(), ..relaxing() }];
        let accounting = Accounting {
            relaxing: relaxing(),
            relaxing_by_class: by_class,
            ..Accounting::default()
        };
        let saved = saved(&accounting, &["chat", "batch"]);
        let limits: Vec<&str> =
            saved.rows.iter().map(|r| r.name.as_str()).filter(|n| n.contains("limit on")).collect();
        assert_eq!(limits, ["No limit on TTFT for chat"]);
        assert_eq!(super::saved(&Accounting::default(), &[]).caption, "No request is lost");
    }
}
