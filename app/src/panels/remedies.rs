//! What else would help: edits that the worker simulates while the panel is open, each to be applied.

use leptos::prelude::*;

use super::folded::folded;
use super::outcomes::in_words;
use crate::state::{Edit, Slot, workbench};
use crate::view_model::remedies::{self, RemedyLine};
use crate::worker::protocol::{Finding, Question, Viewed};
use crate::worker::remedies::Remedies;

/// Numbers that get worse which stand there at once.
const SHOWN: usize = 4;

/// Heads of the columns, which on a narrow screen name each number.
const GOOD: &str = "Good";
const PER_THOUSAND: &str = "Per 1,000 more good";
const PER_MONTH: &str = "Per month";
const WORSE: &str = "Makes worse";

/// The panel; nothing is simulated before it is opened.
#[component]
pub fn RemedyPanel() -> impl IntoView {
    let bench = workbench();
    let there = Memo::new(move |_| bench.screen.with(|s| s.simulated().is_some()));
    let said = "Each an edit, simulated on the same requests: what it gains, at what price, and what gets worse";
    view! {
        <section
            id="remedies"
            tabindex="-1"
            aria-label="Remedies"
            class:stale=move || !bench.current.get()
            hidden=move || !there.get()
        >
            {folded("remedies", "Remedies", said, body)}
        </section>
    }
    .into_any()
}

fn body() -> AnyView {
    let bench = workbench();
    let asked = bench.views.remedies;
    bench.ask(asked, || Some(Question::Remedies));
    let running = move || !bench.current.get() || asked.with(Slot::is_running);
    let why_not = move || asked.with(|slot| slot.ending.as_ref().map(in_words));
    let found = move || asked.with(|slot| found(slot).map(|found| table(found).into_any()));
    let waits = move || {
        let nothing = asked.with(|slot| slot.last.is_none());
        (nothing && running()).then_some("Simulating one edit after the other…")
    };
    view! {
        <div
            data-testid="remedies-tried"
            data-state=move || if running() { "running" } else { "done" }
            aria-live="polite"
        >
            <p class="note">{waits}</p>
            {found}
        </div>
        <p class="note">{why_not}</p>
    }
    .into_any()
}

fn found(slot: &Slot<Viewed>) -> Option<&Remedies> {
    match &slot.last.as_ref()?.value.finding {
        Finding::Remedies(found) => Some(found),
        _ => None,
    }
}

fn table(found: &Remedies) -> impl IntoView + use<> {
    let lines = remedies::lines(found);
    let docs = found.tried.iter().map(|remedy| (remedy.title.clone(), remedy.doc.clone()));
    let rows = lines.into_iter().zip(docs).map(|(line, (title, doc))| {
        let apply = move || {
            let doc = doc.clone();
            workbench().edit(&Edit::Variant { title: title.clone(), doc });
        };
        row(line, apply)
    });
    let absent = found.not_applicable.iter();
    let absent: Vec<_> =
        absent.map(|(id, why)| format!("{}: {why}", id.replace('_', " "))).collect();
    let count = crate::format::plural(absent.len() as u64, "edit does", "edits do");
    view! {
        <p class="cap">{remedies::caption(found)}</p>
        <table class="remedies">
            <thead>
                <tr>
                    <th scope="col">"Edit"</th>
                    <th scope="col">{GOOD}</th>
                    <th scope="col">{PER_THOUSAND}</th>
                    <th scope="col">{PER_MONTH}</th>
                    <th scope="col" class="worse">
                        {WORSE}
                    </th>
                    <th scope="col">
                        <span class="vh">"Action"</span>
                    </th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
        {(!absent.is_empty())
            .then(|| {
                let lines = absent.into_iter().map(|line| view! { <li>{line}</li> });
                view! {
                    <details class="more">
                        <summary>{count} " not apply"</summary>
                        <ul class="lines">{lines.collect_view()}</ul>
                    </details>
                }
            })}
    }
}

fn row(line: RemedyLine, apply: impl Fn() + 'static) -> AnyView {
    let RemedyLine { title, notes, good, per_thousand, per_month, worse, moved, holds, gains } =
        line;
    let label = format!("Apply: {title}");
    let notes = notes.into_iter().map(|note| view! { <span class="why">{note}</span> });
    let (per_month, more) = per_month.unwrap_or_else(|| ("–".to_owned(), String::new()));
    let lines =
        |all: Vec<String>| all.into_iter().map(|line| view! { <li>{line}</li> }).collect_view();
    let mut worse = worse;
    let rest = worse.split_off(worse.len().min(SHOWN));
    let rest = (!rest.is_empty()).then(|| {
        view! {
            <details class="more">
                <summary>{format!("and {} more", rest.len())}</summary>
                <ul class="lines">{lines(rest)}</ul>
            </details>
        }
    });
    let worse = if worse.is_empty() {
        "nothing that is measured".into_any()
    } else {
        view! {
            <ul class="lines">{lines(worse)}</ul>
            {rest}
        }
        .into_any()
    };
    let moved = (!moved.is_empty()).then(|| {
        view! {
            <details class="more">
                <summary>"Who goes where"</summary>
                <ul class="lines">{lines(moved)}</ul>
            </details>
        }
    });
    view! {
        <tr class:on=holds class:dim=!gains>
            <th scope="row">{title} {notes.collect_view()} {moved}</th>
            <td data-l=GOOD>{good.0} <span class="why">{good.1}</span></td>
            <td data-l=PER_THOUSAND>{per_thousand}</td>
            <td data-l=PER_MONTH>{per_month} <span class="why">{more}</span></td>
            <td data-l=WORSE class="worse">{worse}</td>
            <td>
                <button type="button" aria-label=label on:click=move |_| apply()>
                    "Apply"
                </button>
            </td>
        </tr>
    }
    .into_any()
}
