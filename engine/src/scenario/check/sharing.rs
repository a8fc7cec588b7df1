//! Checks of what prompts have in common: shared prefixes and sessions.

use super::clients::think_time_of;
use super::findings::Findings;
use super::lengths::check_lengths;
use super::workload::LONGEST_NAME;
use crate::scenario::doc::{
    ArrivalsDoc, ClassDoc, HiddenTokensDoc, LengthsDoc, SessionDoc, SharedPrefixDoc,
};
use crate::workload::{Session, SharedPrefix, TrafficClass};

/// Share of prompts no longer than their shared prefix from which on that is worth a warning.
const SHORT_PROMPTS: f64 = 0.05;

/// The prefix of a class, numbered from nothing yet.
#[expect(clippy::option_option, reason = "`None` where the document is wrong, as of every check")]
pub(super) fn check_prefix(
    class: &ClassDoc,
    path: &str,
    findings: &mut Findings,
) -> Option<Option<SharedPrefix>> {
    let Some(doc) = &class.shared_prefix else { return Some(None) };
    let long = doc.name.chars().count() > LONGEST_NAME;
    if long {
        findings.error(
            format!("{path}.name"),
            format!("the name of this prefix has {} characters", doc.name.chars().count()),
            format!("give one of up to {LONGEST_NAME}"),
        );
    }
    let prefix = SharedPrefix::new(doc.tokens, doc.count, doc.zipf_exponent);
    findings.take(path, prefix).filter(|_| !long).map(Some)
}

#[expect(clippy::option_option, reason = "`None` where the document is wrong, as of every check")]
pub(super) fn check_session(
    class: &ClassDoc,
    path: &str,
    findings: &mut Findings,
) -> Option<Option<Session>> {
    let Some(SessionDoc { turns, think_time, new_tokens }) = &class.session else {
        return Some(None);
    };
    let lengths = [Some(turns), new_tokens.as_ref()];
    let fine = check_can_have_turns(class, lengths, path, findings);
    let turns = check_lengths(class, turns, &format!("{path}.turns"), findings);
    let think = findings.take(path, think_time_of(*think_time));
    let new_tokens = match new_tokens {
        None => Some(None),
        Some(doc) => check_lengths(class, doc, &format!("{path}.new_tokens"), findings).map(Some),
    };
    let session = Session { turns: turns?, think: think?, new_tokens: new_tokens? };
    fine.then_some(Some(session))
}

/// Whether there is something to draw the later turns of.
fn check_can_have_turns(
    class: &ClassDoc,
    lengths: [Option<&LengthsDoc>; 2],
    path: &str,
    findings: &mut Findings,
) -> bool {
    let of_class = [Some(&class.input_tokens), Some(&class.output_tokens)];
    let recorded = |lengths: &LengthsDoc| matches!(lengths, LengthsDoc::Recorded { .. });
    let (what, hint) = if let ArrivalsDoc::ClosedLoop { .. } = class.arrivals {
        (
            "users in a closed loop ask one request after the other already",
            "let sessions arrive (e.g. `poisson`, at users ÷ (time of a session + pause)), or leave \
             the session out",
        )
    } else if of_class.into_iter().chain(lengths).flatten().any(recorded) {
        (
            "recorded lengths are of the requests of a trace, and turns of sessions have none",
            "use the lengths as `empirical` samples, or leave the session out",
        )
    } else if let (ArrivalsDoc::Trace { .. }, Some(HiddenTokensDoc::Added { .. })) =
        (&class.arrivals, &class.hidden_tokens)
    {
        (
            "what a turn of a replayed trace carries on is not known where hidden tokens are added",
            "give the hidden tokens as a `share`, or leave the session out",
        )
    } else {
        return true;
    };
    findings.error(path, what, hint);
    false
}

/// Numbers the prefixes of all `classes`, which are the enabled ones of `docs`: those that classes
/// of one tenant share by name once.
pub(super) fn number_prefixes(
    docs: &[ClassDoc],
    classes: &mut [TrafficClass],
    findings: &mut Findings,
) {
    let doc = |class: &TrafficClass| docs.get(class.position as usize)?.shared_prefix.as_ref();
    let mut next = 0;
    for i in 0..classes.len() {
        let (before, rest) = classes.split_at_mut(i);
        let class = &mut rest[0];
        let (Some(prefix), Some(named)) = (class.shared_prefix, doc(class)) else { continue };
        let same = |other: &&TrafficClass| {
            let name = named.name.trim();
            !name.is_empty()
                && other.tenant == class.tenant
                && doc(other).is_some_and(|other| other.name.trim() == name)
        };
        let first = match before.iter().find(same) {
            None => {
                next += prefix.count();
                next - prefix.count()
            }
            Some(other) => {
                check_alike(named, (class, other), doc(other), findings);
                other.shared_prefix.map_or(0, |prefix| prefix.first())
            }
        };
        class.shared_prefix = Some(prefix.numbered_from(first));
    }
}

fn check_alike(
    named: &SharedPrefixDoc,
    (class, other): (&TrafficClass, &TrafficClass),
    others: Option<&SharedPrefixDoc>,
    findings: &mut Findings,
) {
    let Some(others) = others else { return };
    for (field, mine, theirs) in
        [("tokens", named.tokens, others.tokens), ("count", named.count, others.count)]
    {
        if mine != theirs {
            findings.error(
                format!("workload.classes[{}].shared_prefix.{field}", class.position),
                format!(
                    "class `{}` has the same prefixes, `{}`, with {field} {theirs}, not {mine}",
                    other.name,
                    named.name.trim()
                ),
                format!("give {theirs}, or another name"),
            );
        }
    }
}

/// Prompts that a shared prefix does not fit into.
pub(super) fn warn_about_prefix(class: &TrafficClass, path: &str, findings: &mut Findings) {
    let Some(prefix) = &class.shared_prefix else { return };
    let shorter = class.input.share_at(f64::from(prefix.tokens()));
    if shorter > SHORT_PROMPTS {
        findings.warning(
            format!("{path}.shared_prefix.tokens"),
            format!(
                "{:.0} % of prompts are no longer than the shared prefix of {} tokens: they share \
                 all but their last token",
                shorter * 100.0,
                prefix.tokens()
            ),
            "`input_tokens` is the length of the whole prompt: lengthen it, or shorten the prefix",
        );
    }
}
