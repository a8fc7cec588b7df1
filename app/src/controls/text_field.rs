//! A field for words of the document: names and who says so.

use leptos::prelude::*;

use crate::state::workbench;

/// A labelled text; `on_input` writes it as an edit with each keystroke.
#[component]
pub fn TextField(
    #[prop(into)] id: String,
    #[prop(into)] label: String,
    #[prop(into)] value: Signal<String>,
    /// Path of the document at which problems are reported for it.
    #[prop(into)]
    path: String,
    on_input: Callback<String>,
) -> impl IntoView {
    let bench = workbench();
    let note_id = format!("{id}-note");
    let described = note_id.clone();
    let test_id = path.clone();
    let problem = Memo::new(move |_| {
        bench.checked.with(|checked| {
            let here = checked.errors().find(|p| p.path == path);
            here.map(|p| format!("{}: {}", p.message, p.hint))
        })
    });
    view! {
        <div class="field" class:wrong=move || problem.with(Option::is_some)>
            <label for=id.clone()>{label}</label>
            <div class="num">
                <input
                    id=id
                    type="text"
                    autocomplete="off"
                    data-testid=test_id
                    aria-describedby=described
                    aria-invalid=move || problem.with(Option::is_some).then_some("true")
                    prop:value=move || value.get()
                    on:input:target=move |ev| on_input.run(ev.target().value())
                    on:blur=move |_| bench.seal()
                />
            </div>
            <p class="echo" id=note_id>{move || problem.get()}</p>
        </div>
    }
    .into_any()
}
