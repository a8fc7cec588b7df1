//! The page of a running server: how long its requests were, for a class to take over.

use goodput_engine::scenario::LengthsWorkload;
use leptos::prelude::*;

use crate::state::edit::Edit;
use crate::state::uploads::desk;
use crate::view_model::uploads as words;

/// What the server's requests were like, and one button.
#[component]
pub fn Lengths(file: String, lengths: LengthsWorkload) -> impl IntoView {
    let bench = desk().bench;
    let class = bench.class;
    let name = bench.about(move |doc| {
        let class = doc.workload.classes.get(class.get());
        class.map(|class| class.name.clone()).unwrap_or_default()
    });
    let rows = words::served_rows(&lengths).into_iter().map(|(name, value)| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td>{value}</td>
            </tr>
        }
    });
    let remarks = lengths.remarks.clone().into_iter().map(|remark| view! { <li>{remark}</li> });
    let both = (lengths.input_tokens, lengths.output_tokens);
    let used = RwSignal::new(false);
    let take = move |_| {
        let lengths = Box::new(both.clone());
        bench.edit(&Edit::UseLengths { class: class.get_untracked(), file: file.clone(), lengths });
        bench.seal();
        used.set(true);
    };
    view! {
        <table class="facts" data-testid="served-lengths">
            <caption class="vh">"How long the server's requests were"</caption>
            <tbody>{rows.collect_view()}</tbody>
        </table>
        <div class="uses" role="group" aria-label="Use as lengths">
            <div>
                <button type="button" data-testid="use-lengths" on:click=take>
                    "Use these prompt and output lengths"
                </button>
                <p class="echo">
                    "Replaces the lengths of the class “" {move || name.get()}
                    "” as one edit; arrivals and limits stay as they are"
                </p>
            </div>
        </div>
        <ul class="lines">{remarks.collect_view()}</ul>
        <p class="cap" role="status" data-testid="lengths-used">
            {move || used.get().then_some("Used; undo takes it back")}
        </p>
    }
    .into_any()
}
