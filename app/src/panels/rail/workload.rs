//! Who asks: the classes, and the editor of the one that is chosen.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::Group;
use super::arrivals::Arrivals;
use super::lengths::LengthsEditor;
use crate::controls::{NumberField, TextField};
use crate::state::edit::{ClassEdit, Edit};
use crate::state::field::{ClassField, Field, Side};
use crate::state::workbench;

/// Classes, arrivals and lengths.
#[component]
pub fn Workload() -> impl IntoView {
    let bench = workbench();
    let class = bench.class;
    let count = bench.about(|doc| doc.workload.classes.len());
    let summary = bench.about(|doc| {
        let names: Vec<&str> = doc.workload.classes.iter().map(|c| c.name.as_str()).collect();
        names.join(", ")
    });
    view! {
        <Group id="workload" title="Workload" summary open=true>
            <ClassTabs/>
            {move || {
                let index = class.get();
                (index < count.get()).then(|| view! { <ClassEditor index/> })
            }}
        </Group>
    }
    .into_any()
}

/// One tab per class, and what can be done with the chosen one.
#[component]
fn ClassTabs() -> impl IntoView {
    let bench = workbench();
    let class = bench.class;
    let names = bench.about(|doc| {
        doc.workload.classes.iter().map(|class| class.name.clone()).collect::<Vec<_>>()
    });
    let choose = move |index: usize| {
        class.set(index);
        crate::browser::focus(&format!("class-tab-{index}"));
    };
    let press = move |ev: KeyboardEvent| {
        let (now, last) = (class.get_untracked(), names.with_untracked(Vec::len).saturating_sub(1));
        match ev.key().as_str() {
            "ArrowRight" => choose(if now == last { 0 } else { now + 1 }),
            "ArrowLeft" => choose(if now == 0 { last } else { now - 1 }),
            "Home" => choose(0),
            "End" => choose(last),
            _ => return,
        }
        ev.prevent_default();
    };
    let tabs = move || {
        let names = names.get().into_iter().enumerate();
        names.map(|(index, name)| view! { <ClassTab index name/> }).collect_view()
    };
    let add = move |_| {
        bench.edit(&Edit::AddClass);
        class.set(names.with_untracked(|n| n.len().saturating_sub(1)));
    };
    view! {
        <div class="classes">
            <div role="tablist" aria-label="Traffic classes" on:keydown=press>
                {tabs}
            </div>
            <div class="acts">
                <button class="link" type="button" data-testid="add-class" on:click=add>
                    "Add class"
                </button>
                <button
                    class="link"
                    type="button"
                    data-testid="duplicate-class"
                    on:click=move |_| bench.edit(&Edit::DuplicateClass(class.get_untracked()))
                >
                    "Duplicate"
                </button>
                {move || {
                    (names.with(Vec::len) > 1)
                        .then(|| {
                            view! {
                                <button
                                    class="link"
                                    type="button"
                                    data-testid="remove-class"
                                    on:click=move |_| bench.edit(&Edit::RemoveClass(class.get_untracked()))
                                >
                                    "Remove"
                                </button>
                            }
                        })
                }}
            </div>
        </div>
    }
    .into_any()
}

#[component]
fn ClassTab(index: usize, name: String) -> impl IntoView {
    let class = workbench().class;
    let chosen = move || class.get() == index;
    view! {
        <button
            class="cls"
            type="button"
            role="tab"
            id=format!("class-tab-{index}")
            aria-controls="class-panel"
            aria-selected=move || if chosen() { "true" } else { "false" }
            tabindex=move || if chosen() { "0" } else { "-1" }
            data-testid=format!("class-{index}")
            on:click=move |_| class.set(index)
        >
            {name}
        </button>
    }
    .into_any()
}

#[component]
fn ClassEditor(index: usize) -> impl IntoView {
    let bench = workbench();
    let name = bench.about(move |doc| {
        doc.workload.classes.get(index).map(|class| class.name.clone()).unwrap_or_default()
    });
    let rename = Callback::new(move |text: String| {
        bench.edit(&Edit::Class(index, ClassEdit::Name(text)));
    });
    let path = format!("workload.classes[{index}].name");
    view! {
        <div id="class-panel" role="tabpanel" aria-labelledby=format!("class-tab-{index}")>
            <TextField id=format!("class-name-{index}") label="Class" value=name path on_input=rename/>
            <Arrivals index/>
            <LengthsEditor index side=Side::Input/>
            <LengthsEditor index side=Side::Output/>
            <NumberField field=Field::Class(index, ClassField::MaxOutputTokens)/>
        </div>
    }
    .into_any()
}
