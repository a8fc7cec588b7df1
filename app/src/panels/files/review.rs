//! What was read of a file, what is wrong with it, what is missing.

use std::sync::Arc;

use goodput_engine::ingest::{Refusal, TraceSummary};
use goodput_engine::problem::Severity;
use goodput_engine::review::Finding;
use leptos::prelude::*;

use super::benchmark::Missing;
use crate::state::files::ReadFile;
use crate::state::workbench;
use crate::view_model::files as words;

/// A file that the reader has dealt with.
#[component]
pub fn FileCard(id: u64, read: Arc<ReadFile>) -> impl IntoView {
    let findings = read.findings.clone();
    if let Some(refusal) = &read.report.refused {
        return view! { <Refused refusal=refusal.clone()/> }.into_any();
    }
    let trace = read.report.trace.clone();
    let points = !read.report.points.is_empty();
    let remarks = words::remarks(&read.report);
    view! {
        <p class="sum" role="status" data-testid="file-read">{words::read_line(&read.report)}</p>
        {remarks
            .into_iter()
            .map(|remark| view! { <p class="echo">{remark}</p> })
            .collect_view()}
        {trace.map(|summary| view! { <Trace id summary/> })}
        {points.then(|| view! { <Points read/> })}
        <Findings findings/>
        {points.then(|| view! { <Missing id/> })}
    }
    .into_any()
}

#[component]
fn Refused(refusal: Refusal) -> impl IntoView {
    let place = refusal.line.map(|line| format!(" in line {line}")).unwrap_or_default();
    let looked = refusal.looked_for.join("; ");
    view! {
        <p role="status" data-testid="refused">
            <strong class="dn">{refusal.message}{place}</strong>
            " – "
            {refusal.hint}
        </p>
        {(!looked.is_empty())
            .then(|| view! { <p class="echo">"Looked for: " {looked}</p> })}
    }
    .into_any()
}

#[component]
fn Trace(id: u64, summary: TraceSummary) -> impl IntoView {
    let bench = workbench();
    let rows = words::trace_rows(&summary).into_iter().map(|(name, value)| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td>{value}</td>
            </tr>
        }
    });
    view! {
        <table class="facts" data-testid="trace-facts">
            <caption class="vh">"The trace"</caption>
            <tbody>{rows.collect_view()}</tbody>
        </table>
        <div class="row">
            <button data-testid="use-trace" on:click=move |_| bench.use_trace(id, true)>
                "Use as workload, replayed exactly"
            </button>
            <button data-testid="use-profile" on:click=move |_| bench.use_trace(id, false)>
                "Use as rate profile and quantiles"
            </button>
        </div>
        <p class="echo">
            "A replay keeps every request and is too long for a link; a profile fits in a link and loses bursts within its spans. Either changes the class being edited; undo brings it back."
        </p>
    }
    .into_any()
}

#[component]
fn Points(read: Arc<ReadFile>) -> impl IntoView {
    let heads = words::POINT_HEADS.map(|head| view! { <th scope="col">{head}</th> });
    let rows = read.report.points.iter().map(|point| {
        let cells = words::point_cells(point).map(|cell| view! { <td>{cell}</td> });
        view! { <tr>{cells.into_iter().collect_view()}</tr> }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Benchmark points">
            <table class="data" data-testid="points">
                <caption class="vh">"Benchmark points"</caption>
                <thead>
                    <tr>{heads.into_iter().collect_view()}</tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// Findings, gravest first.
#[component]
fn Findings(findings: Vec<Finding>) -> impl IntoView {
    let rows = findings.into_iter().map(|finding| {
        let class = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let place = finding.row.map(|row| format!("row {row}: ")).unwrap_or_default();
        view! {
            <li class=class>
                <span class="vh">{format!("{class}: ")}</span>
                {place}
                <strong>{finding.message}</strong>
                " – "
                {finding.advice}
            </li>
        }
    });
    view! { <ul class="problems" data-testid="findings">{rows.collect_view()}</ul> }.into_any()
}
