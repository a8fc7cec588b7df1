//! What prompts share: in a line, as it begins when it is switched on, and what came of it.

use goodput_engine::accounts::report::{ClassReport, ClassSharing};
use goodput_engine::estimate::report::ClassWorkload;
use goodput_engine::scenario::doc::{
    ClassDoc, LengthsDoc, SessionDoc, SharedPrefixDoc, ThinkTimeDoc,
};
use goodput_engine::scenario::lengths_of;
use goodput_engine::workload::shape;

use crate::format;

/// A shared prefix to begin with: one system prompt that nearly all prompts are longer than.
pub fn prefix_to_begin_with(class: &ClassDoc) -> SharedPrefixDoc {
    let shortest = lengths_of(&class.input_tokens).map(|lengths| lengths.quantile(0.02));
    // A length that somebody would type: one digit of it.
    let tokens = shortest.unwrap_or(100).max(1);
    let unit = 10_u32.pow(tokens.ilog10());
    let tokens = tokens / unit * unit;
    SharedPrefixDoc { tokens, count: 1, zipf_exponent: 0.0, name: String::new() }
}

/// A session to begin with: four turns, and half a minute to read and to type.
pub fn session_to_begin_with() -> SessionDoc {
    SessionDoc {
        turns: LengthsDoc::Fixed { tokens: 4 },
        think_time: ThinkTimeDoc::Exponential { mean_s: 30.0 },
        new_tokens: None,
    }
}

/// What prompts of a class share, in a line: "100 tokens in front, 4 turns".
pub fn line(class: &ClassDoc) -> String {
    let prefix = class.shared_prefix.as_ref().map(|prefix| {
        let of = match prefix.count {
            1 => String::new(),
            n => format!(" of {}", format::count(n.into())),
        };
        format!("prefix of {} tokens{of}", format::count(prefix.tokens.into()))
    });
    let session = class.session.as_ref().map(|session| match mean_turns(session) {
        Some(turns) => format!("sessions of {} turns", format::significant(turns)),
        None => "sessions".to_owned(),
    });
    let parts: Vec<String> = prefix.into_iter().chain(session).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
}

/// Mean turns of a session; `None` where they are not valid.
pub fn mean_turns(session: &SessionDoc) -> Option<f64> {
    lengths_of(&session.turns).ok().map(|turns| shape(&turns, 16).mean)
}

/// Heads of the row that [`by_law`] and [`drawn`] fill.
pub const HEADS: [&str; 3] = ["turns", "cached tokens", "of prompt"];

/// Turns per session, prompt tokens found cached and their share, as the estimate expects them.
pub fn by_law(class: &ClassWorkload) -> Option<Vec<String>> {
    let sharing = class.sharing.as_ref()?;
    let share = sharing.mean_cached_tokens / class.input_tokens.mean;
    Some(cells(sharing.turns_per_session, Some((sharing.mean_cached_tokens, share))))
}

/// The same as they came out in a run.
pub fn drawn(class: &ClassReport) -> Option<Vec<String>> {
    let sharing = class.sharing.as_ref()?;
    let turns = sharing.session.filter(|session| session.sessions > 0);
    let turns = turns.map(|session| session.turns as f64 / session.sessions as f64);
    let found = sharing.counts.hit_rate.map(|rate| (rate * class.input_tokens.mean, rate));
    Some(cells(turns, found))
}

fn cells(turns: Option<f64>, found: Option<(f64, f64)>) -> Vec<String> {
    let none = || format::NONE.to_owned();
    vec![
        turns.map_or_else(none, format::significant),
        found.map_or_else(none, |(tokens, _)| format::fixed(tokens, 0)),
        found.map_or_else(none, |(_, share)| format::percent(share)),
    ]
}

/// What of sessions and prefixes came otherwise than asked: turns that were never asked, prompts that
/// are no longer than their prefix.
pub fn otherwise(sharing: &ClassSharing) -> Option<String> {
    let mut said = Vec::new();
    if sharing.share_no_longer_than_prefix > 0.0 {
        said.push(format!(
            "{} of prompts are no longer than their prefix",
            format::percent(sharing.share_no_longer_than_prefix)
        ));
    }
    let unasked = sharing.session.map(|session| session.unasked).unwrap_or_default();
    let why = [
        (unasked.after_a_lost_turn, "after one that was lost"),
        (unasked.beyond_max_model_len, "beyond max_model_len"),
        (unasked.after_the_horizon, "after the horizon"),
    ];
    let why: Vec<String> = why
        .into_iter()
        .filter(|(turns, _)| *turns > 0)
        .map(|(turns, why)| format!("{} {why}", format::count(turns)))
        .collect();
    if !why.is_empty() {
        said.push(format!("turns never asked: {}", why.join(", ")));
    }
    (!said.is_empty()).then(|| super::words::clause(&said.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::edit::tests::small_doc;
    use goodput_engine::{accounts, estimate, scenario};

    #[test]
    fn what_is_switched_on_is_valid_and_is_said() {
        let mut doc = small_doc();
        let class = &mut doc.workload.classes[0];
        assert_eq!(line(class), "nothing");
        class.shared_prefix = Some(prefix_to_begin_with(class));
        class.session = Some(session_to_begin_with());
        assert_eq!(line(class), "prefix of 70 tokens, sessions of 4 turns");
        let checked = scenario::check(&doc).expect("valid");
        assert_eq!(checked.warnings, []);
        let estimate = estimate::estimate(&checked.scenario).supply.expect("it fits");
        let report = accounts::answer(&checked.scenario).expect("simulated").report;
        let (law, drawn) = (by_law(&estimate.workload[0]), drawn(&report.classes[0]));
        let (law, drawn) = (law.expect("shares"), drawn.expect("shares"));
        let turns = |cells: &[String]| cells[0].parse::<f64>().expect("turns");
        assert!(turns(&law) > 3.0 && (turns(&law) / turns(&drawn) - 1.0).abs() < 0.2);
        assert!(law[2].ends_with('%') && drawn[2].ends_with('%'), "{law:?} {drawn:?}");
        let said = report.classes[0].sharing.as_ref().and_then(otherwise).expect("the horizon");
        assert!(said.contains("after the horizon"), "{said}");
    }
}
