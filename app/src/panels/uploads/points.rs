//! The points of a benchmark, each of which may be left out of the fit.

use std::collections::BTreeMap;

use goodput_engine::ingest::BenchmarkPoint;
use leptos::prelude::*;

use crate::state::uploads::desk;
use crate::view_model::uploads::{POINT_HEADS, point_cells, point_name};
use crate::worker::reader::FileId;

/// The table of points.
#[component]
pub fn Points(id: FileId, points: Vec<BenchmarkPoint>) -> impl IntoView {
    let desk = desk();
    let disproved: BTreeMap<usize, String> = desk.uploads.with_untracked(|uploads| {
        uploads.file(id).map(|file| file.disproved()).unwrap_or_default()
    });
    let heads = POINT_HEADS.map(|head| view! { <th scope="col">{head}</th> });
    let rows = points.into_iter().enumerate().map(|(index, point)| {
        let finding = disproved.get(&index).cloned();
        let (name, cells) = (point_name(&point), point_cells(&point));
        view! { <Row id index name cells finding/> }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label="Benchmark points">
            <table class="data" data-testid="points">
                <caption class="vh">"Benchmark points"</caption>
                <thead>
                    <tr>
                        <th scope="col">"In the fit"</th>
                        {heads.into_iter().collect_view()}
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

#[component]
fn Row(
    id: FileId,
    index: usize,
    name: String,
    cells: [String; 9],
    finding: Option<String>,
) -> impl IntoView {
    let desk = desk();
    let left_out = Memo::new(move |_| {
        desk.uploads
            .with(|uploads| uploads.file(id).is_some_and(|file| file.left_out.contains(&index)))
    });
    let choice = match finding {
        Some(finding) => view! { <span title=finding>"no: review"</span> }.into_any(),
        None => view! {
            <input
                type="checkbox"
                data-testid="in-fit"
                aria-label=format!("{name} in the fit")
                prop:checked=move || !left_out.get()
                on:change:target=move |ev| desk.leave_out(id, index, !ev.target().checked())
            />
        }
        .into_any(),
    };
    let cells = cells.map(|cell| view! { <td>{cell}</td> });
    view! {
        <tr class:out=left_out>
            <td>{choice}</td>
            {cells.into_iter().collect_view()}
        </tr>
    }
    .into_any()
}
