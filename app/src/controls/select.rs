//! A choice among few, and a switch.

use leptos::prelude::*;

/// One thing to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What is handed on.
    pub value: String,
    /// What is read.
    pub label: String,
}

impl Choice {
    /// A choice.
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Self { value: value.into(), label: label.into() }
    }
}

/// A labelled native choice. `quiet` puts the label beside it in small type.
#[component]
pub fn Select(
    #[prop(into)] id: String,
    #[prop(into)] label: String,
    choices: Vec<Choice>,
    #[prop(into)] value: Signal<String>,
    on_choose: Callback<String>,
    #[prop(optional)] quiet: bool,
) -> impl IntoView {
    let options = choices.into_iter().map(|choice| {
        let own = choice.value.clone();
        view! {
            <option value=choice.value prop:selected=move || value.with(|v| *v == own)>
                {choice.label}
            </option>
        }
    });
    let test_id = id.clone();
    view! {
        <div class=if quiet { "pick quiet" } else { "field pick" }>
            <label for=id.clone()>{label}</label>
            <select
                id=id
                data-testid=test_id
                on:change:target=move |ev| on_choose.run(ev.target().value())
            >
                {options.collect_view()}
            </select>
        </div>
    }
    .into_any()
}

/// A labelled check box.
#[component]
pub fn SwitchBox(
    #[prop(into)] id: String,
    label: &'static str,
    #[prop(into)] on: Signal<bool>,
    on_change: Callback<bool>,
) -> impl IntoView {
    let of = id.clone();
    view! {
        <label class="switch" for=of>
            <input
                id=id
                type="checkbox"
                prop:checked=move || on.get()
                on:change:target=move |ev| on_change.run(ev.target().checked())
            />
            <span>{label}</span>
        </label>
    }
    .into_any()
}
