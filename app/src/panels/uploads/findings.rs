//! What is wrong with a file, gravest first.

use leptos::prelude::*;

use crate::controls::Shape;
use crate::view_model::uploads::FindingRow;

/// The table of findings.
#[component]
pub fn Findings(line: String, rows: Vec<FindingRow>) -> impl IntoView {
    let table = (!rows.is_empty()).then(|| {
        view! {
            <table class="findings" data-testid="findings">
                <caption class="vh">"Findings of the review, gravest first"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Severity"</th>
                        <th scope="col">"Finding"</th>
                        <th scope="col">"Numbers"</th>
                        <th scope="col">"What to do"</th>
                    </tr>
                </thead>
                <tbody>{rows.into_iter().map(|row| view! { <Row row/> }).collect_view()}</tbody>
            </table>
        }
    });
    view! {
        <p class="sum" data-testid="findings-line">"Review: " {line}</p>
        {table}
    }
    .into_any()
}

#[component]
fn Row(row: FindingRow) -> impl IntoView {
    let place = (!row.place.is_empty()).then(|| view! { <code>{row.place}</code> });
    let numbers = row.numbers.into_iter().map(|number| view! { <li>{number}</li> });
    let shape = if row.state == "note" {
        // A plain circle: neither a verdict nor a warning.
        view! { <svg viewBox="0 0 16 16" aria-hidden="true"><circle class="hollow" cx="8" cy="8" r="6"></circle></svg> }
            .into_any()
    } else {
        view! { <Shape state=row.state/> }.into_any()
    };
    view! {
        <tr>
            <th scope="row" class=format!("sev {}", row.state)>
                {shape}
                {row.word}
            </th>
            <td>{row.message} " " {place}</td>
            <td data-l="Numbers">
                <ul class="lines">{numbers.collect_view()}</ul>
            </td>
            <td data-l="What to do">{row.advice}</td>
        </tr>
    }
    .into_any()
}
