//! One file: how far it is, what was read of it, or why nothing was.

use std::sync::Arc;

use goodput_engine::ingest::Refusal;
use leptos::prelude::*;

use super::facts::{Facts, open_facts};
use super::findings::Findings;
use super::lengths::Lengths;
use super::points::Points;
use super::trace::Trace;
use crate::state::uploads::{Status, desk};
use crate::view_model::uploads::{self as words, FileFacts};
use crate::worker::reader::{FileId, ReadFile};

/// A file with everything below it.
#[component]
pub fn FileCard(id: FileId) -> impl IntoView {
    let desk = desk();
    let file = move || desk.uploads.with(|uploads| uploads.file(id).cloned());
    let name = Memo::new(move |_| file().map(|file| file.name.clone()).unwrap_or_default());
    let status = Memo::new(move |_| file().map(|file| file.status.clone()));
    let reading = move || status.with(|status| *status == Some(Status::Reading));
    let head_id = format!("file-{id}");
    let labelled = head_id.clone();
    view! {
        <article class="file" data-testid="file" aria-labelledby=labelled>
            <div class="fhead">
                <h4 id=head_id>{move || name.get()}</h4>
                <button
                    type="button"
                    class="link"
                    data-testid="remove-file"
                    on:click=move |_| desk.remove(id)
                >
                    {move || if reading() { "Stop reading" } else { "Remove" }}
                    <span class="vh">" " {move || name.get()}</span>
                </button>
            </div>
            {move || match status.get() {
                None => ().into_any(),
                Some(Status::Reading) => view! { <p class="cap">"Reading …"</p> }.into_any(),
                Some(Status::Failed(why)) => {
                    view! {
                        <p data-testid="refused">
                            <strong>{words::sentence(&why)}</strong>
                        </p>
                        <p class="cap">{UNHARMED}</p>
                    }
                        .into_any()
                }
                Some(Status::Read(read)) => view! { <Contents id read/> }.into_any(),
            }}
        </article>
    }
    .into_any()
}

/// What is still valid.
const UNHARMED: &str = "Nothing else on the page was changed";

#[component]
fn Contents(id: FileId, read: Arc<ReadFile>) -> impl IntoView {
    if let Some(refusal) = read.refused() {
        return view! { <Refused refusal=refusal.clone()/> }.into_any();
    }
    let trace = read.trace.as_ref().map(|trace| {
        view! { <Trace id requests=trace.requests rows=words::trace_rows(trace)/> }
    });
    let lengths = read.lengths.clone().map(|lengths| {
        view! { <Lengths file=read.file.file.clone() lengths/> }
    });
    let (line, rows) = (words::findings_line(&read.findings), words::finding_rows(&read.findings));
    // The review is about measurements: neither a trace nor lengths have any.
    let measured = trace.is_none() && lengths.is_none();
    let findings = (measured || !rows.is_empty()).then(|| view! { <Findings line rows/> });
    let has_points = !read.points().is_empty();
    let points = has_points.then(|| view! { <Points id points=read.points().to_vec()/> });
    let facts = has_points.then(|| view! { <Facts id open=open_facts(read.points())/> });
    view! {
        {words::file_facts(&read).map(|facts| view! { <Rows facts/> })}
        {trace}
        {lengths}
        {findings}
        {points}
        {facts}
    }
    .into_any()
}

#[component]
fn Refused(refusal: Refusal) -> impl IntoView {
    let (message, hint, looked_for) = words::refusal(&refusal);
    let looked_for = (!looked_for.is_empty()).then(|| {
        let lines = looked_for.into_iter().map(|line| view! { <li>{line}</li> });
        view! {
            <p class="cap">"What was looked for"</p>
            <ul class="lines">{lines.collect_view()}</ul>
        }
    });
    view! {
        <p data-testid="refused">
            <strong>"Not read: " {message}</strong>
        </p>
        <p class="cap">{hint} ". " {UNHARMED}</p>
        {looked_for}
    }
    .into_any()
}

/// The account of the rows.
#[component]
fn Rows(facts: FileFacts) -> impl IntoView {
    let excluded = if facts.excluded.is_empty() {
        view! { "none" }.into_any()
    } else {
        lines(facts.excluded).into_any()
    };
    let remarks = (!facts.remarks.is_empty()).then(|| {
        view! {
            <tr>
                <th scope="row">"Noticed"</th>
                <td>{lines(facts.remarks)}</td>
            </tr>
        }
    });
    let row = |name: &'static str, value: String| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td>{value}</td>
            </tr>
        }
    };
    view! {
        <table class="facts" data-testid="file-facts">
            <caption class="vh">"How the file was read"</caption>
            <tbody>
                {row("Format", facts.format)}
                {row("Tool version", facts.tool_version)}
                {row("Read", facts.read)}
                {row("Used", facts.used)}
                <tr>
                    <th scope="row">"Left out"</th>
                    <td>{excluded}</td>
                </tr>
                {remarks}
            </tbody>
        </table>
    }
    .into_any()
}

fn lines(texts: Vec<String>) -> impl IntoView {
    let lines = texts.into_iter().map(|text| view! { <li>{text}</li> });
    view! { <ul class="lines">{lines.collect_view()}</ul> }
}
