//! The table of traffic classes: which are offered, whose they are, and which one is edited below.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::text::problem_note;
use crate::state::edit::{ClassEdit, Edit};
use crate::state::{Workbench, workbench};
use crate::view_model::workload::{self, ClassRow};

/// All classes, and what can be done with the chosen one.
pub fn table() -> AnyView {
    let rows = workbench().about(workload::class_rows);
    let count = Memo::new(move |_| rows.with(Vec::len));
    let with_tenants =
        Memo::new(move |_| rows.with(|rows| rows.iter().any(|row| !row.tenant.is_empty())));
    view! {
        <div class="classes">
            <table aria-label="Traffic classes" on:keydown=move |ev| press(&ev)>
                <thead>
                    <tr>
                        <th scope="col">"On"</th>
                        <th scope="col">"Class"</th>
                        {move || with_tenants.get().then(|| view! { <th scope="col">"Tenant"</th> })}
                        <th scope="col" class="num-col">"req/s"</th>
                    </tr>
                </thead>
                <tbody>
                    {move || {
                        let tenants = with_tenants.get();
                        (0..count.get()).map(|index| row(index, rows, tenants)).collect_view()
                    }}
                </tbody>
            </table>
            {problem_note("workload.classes".to_owned())}
            {actions(count)}
        </div>
    }
    .into_any()
}

fn row(index: usize, rows: Memo<Vec<ClassRow>>, tenants: bool) -> AnyView {
    let bench = workbench();
    let part = move |read: fn(&ClassRow) -> String| {
        Memo::new(move |_| rows.with(|rows| rows.get(index).map(read).unwrap_or_default()))
    };
    let (name, tenant, rate) = (
        part(|row| row.name.clone()),
        part(|row| row.tenant.clone()),
        part(|row| row.rate.clone()),
    );
    let on = Memo::new(move |_| rows.with(|rows| rows.get(index).is_some_and(|row| row.enabled)));
    let chosen = move || bench.class.get() == index;
    let switch = move |on| bench.edit(&Edit::Class(index, ClassEdit::Enabled(on)));
    view! {
        <tr class:chosen=chosen class:off=move || !on.get()>
            <td>
                <label class="tick-box">
                    <input
                        type="checkbox"
                        data-testid=format!("class-on-{index}")
                        aria-label=move || format!("Offer {}", name.get())
                        prop:checked=on
                        on:change:target=move |ev| switch(ev.target().checked())
                    />
                </label>
            </td>
            <td>
                <button
                    class="cls"
                    type="button"
                    id=format!("class-row-{index}")
                    data-testid=format!("class-{index}")
                    aria-pressed=move || if chosen() { "true" } else { "false" }
                    on:click=move |_| bench.class.set(index)
                >
                    {move || name.get()}
                </button>
            </td>
            {tenants.then(|| view! { <td class="tenant">{move || tenant.get()}</td> })}
            <td class="num-col">{move || rate.get()}</td>
        </tr>
    }
    .into_any()
}

/// Arrow keys choose the class above or below, with Alt they move the chosen one.
fn press(event: &KeyboardEvent) {
    let up = match event.key().as_str() {
        "ArrowUp" => true,
        "ArrowDown" => false,
        _ => return,
    };
    let bench = workbench();
    event.prevent_default();
    if event.alt_key() {
        move_class(bench, up);
    } else if let Some(to) = neighbour(bench, up) {
        bench.class.set(to);
    }
    crate::browser::focus(&format!("class-row-{}", bench.class.get_untracked()));
}

/// The place above or below the chosen class; `None` at the end.
fn neighbour(bench: Workbench, up: bool) -> Option<usize> {
    let (now, count) = (bench.class.get_untracked(), bench.doc_untracked().workload.classes.len());
    let to = if up { now.checked_sub(1)? } else { now + 1 };
    (to < count).then_some(to)
}

fn move_class(bench: Workbench, up: bool) {
    let from = bench.class.get_untracked();
    if let Some(to) = neighbour(bench, up) {
        bench.edit(&Edit::MoveClass { from, to });
        bench.class.set(to);
    }
}

fn actions(count: Memo<usize>) -> AnyView {
    let bench = workbench();
    let add = move || {
        bench.edit(&Edit::AddClass);
        bench.class.set(count.get_untracked().saturating_sub(1));
    };
    let duplicate = move || {
        let from = bench.class.get_untracked();
        bench.edit(&Edit::DuplicateClass(from));
        bench.class.set(from + 1);
    };
    let alone = Memo::new(move |_| count.get() < 2);
    let first = Memo::new(move |_| bench.class.get() == 0);
    let last = Memo::new(move |_| bench.class.get() + 1 >= count.get());
    let never = Memo::new(|_| false);
    view! {
        <div class="acts" role="group" aria-label="Change the classes">
            {action("Add", "add-class", never, add)}
            {action("Duplicate", "duplicate-class", never, duplicate)}
            {action("Up", "move-class-up", first, move || move_class(bench, true))}
            {action("Down", "move-class-down", last, move || move_class(bench, false))}
            {action("Remove", "remove-class", alone, move || {
                bench.edit(&Edit::RemoveClass(bench.class.get_untracked()));
            })}
        </div>
    }
    .into_any()
}

/// A button that keeps the focus also while there is nothing for it to do.
pub(super) fn action(
    name: &'static str,
    test_id: &'static str,
    idle: Memo<bool>,
    run: impl Fn() + 'static,
) -> AnyView {
    view! {
        <button
            class="link"
            type="button"
            id=test_id
            data-testid=test_id
            aria-disabled=move || idle.get().then_some("true")
            on:click=move |_| {
                if !idle.get_untracked() {
                    run();
                }
            }
        >
            {name}
        </button>
    }
    .into_any()
}
