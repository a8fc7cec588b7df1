//! The pools: which there are, which one is edited below, and what it is called.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::classes::action;
use super::text::problem_at;
use super::when;
use crate::controls::id_of;
use crate::state::edit::{Edit, pools};
use crate::state::field::{Field, PoolField};
use crate::state::{Workbench, workbench};
use crate::view_model::fleet::{self, PoolRow};
use crate::view_model::route;

/// The table of pools where there are several, and what makes more or fewer of them.
pub fn table() -> AnyView {
    let rows = workbench().about(fleet::pool_rows);
    let count = Memo::new(move |_| rows.with(Vec::len));
    let several = Memo::new(move |_| count.get() > 1);
    // What became of the requests of a pool that was removed, until there is another one.
    let said = RwSignal::new(String::new());
    Effect::new(move |before: Option<usize>| {
        let now = count.get();
        if before.is_some_and(|before| now > before) {
            said.set(String::new());
        }
        now
    });
    let note = move || {
        let said = said.get();
        (!said.is_empty()).then(|| view! { <p class="echo" data-testid="pool-removed">{said}</p> })
    };
    let table = move || {
        view! {
            <table class="pool-list" aria-label="Pools" on:keydown=move |ev| press(&ev)>
                <thead>
                    <tr>
                        <th scope="col">"Pool"</th>
                        <th scope="col" class="num-col">"replicas"</th>
                    </tr>
                </thead>
                <tbody>{move || (0..count.get()).map(|index| row(index, rows)).collect_view()}</tbody>
            </table>
        }
        .into_any()
    };
    view! {
        <div class="classes">
            {when(several, table)}
            {actions(several, said)}
            <div role="status">{note}</div>
        </div>
    }
    .into_any()
}

fn row(index: usize, rows: Memo<Vec<PoolRow>>) -> AnyView {
    let bench = workbench();
    let part = move |read: fn(&PoolRow) -> String| {
        Memo::new(move |_| rows.with(|rows| rows.get(index).map(read).unwrap_or_default()))
    };
    let (name, what, replicas) = (
        part(|row| row.name.clone()),
        part(|row| row.what.clone()),
        part(|row| row.replicas.clone()),
    );
    let chosen = move || bench.pool.get() == index;
    view! {
        <tr class:chosen=chosen>
            <td>
                <button
                    class="cls"
                    type="button"
                    id=id_of(&format!("fleet.pools[{index}]"))
                    data-testid=format!("pool-{index}")
                    aria-pressed=move || if chosen() { "true" } else { "false" }
                    on:click=move |_| bench.pool.set(index)
                >
                    {move || name.get()}
                    <span class="what">{move || what.get()}</span>
                </button>
            </td>
            <td class="num-col">{move || replicas.get()}</td>
        </tr>
    }
    .into_any()
}

/// Arrow keys choose the pool above or below.
fn press(event: &KeyboardEvent) {
    let bench = workbench();
    let (now, count) = (bench.pool.get_untracked(), bench.doc_untracked().fleet.pools.len());
    let to = match event.key().as_str() {
        "ArrowUp" => now.saturating_sub(1),
        "ArrowDown" => (now + 1).min(count.saturating_sub(1)),
        _ => return,
    };
    event.prevent_default();
    bench.pool.set(to);
    crate::browser::focus(&id_of(&format!("fleet.pools[{to}]")));
}

fn actions(several: Memo<bool>, said: RwSignal<String>) -> AnyView {
    let bench = workbench();
    let never = Memo::new(|_| false);
    let duplicate = move || {
        let from = bench.pool.get_untracked();
        bench.edit(&Edit::DuplicatePool(from));
        bench.pool.set(from + 1);
    };
    let remove = move || {
        said.set(remove(bench));
        if !several.get_untracked() {
            // The button goes with the table.
            crate::browser::focus("add-pool");
        }
    };
    let more = move || {
        view! {
            {action("Duplicate", "duplicate-pool", never, duplicate)}
            {action("Remove", "remove-pool", never, remove)}
        }
        .into_any()
    };
    view! {
        <div class="acts" role="group" aria-label="Change the pools">
            {action("Add a pool", "add-pool", never, add)}
            {when(several, more)}
        </div>
    }
    .into_any()
}

fn add() {
    let bench = workbench();
    bench.edit(&Edit::AddPool);
    bench.pool.set(bench.doc_untracked().fleet.pools.len().saturating_sub(1));
}

/// Removes the chosen pool, and says where its requests go.
fn remove(bench: Workbench) -> String {
    let (at, before) = (bench.pool.get_untracked(), bench.doc_untracked());
    bench.edit(&Edit::RemovePool(at));
    route::removed(&before, &bench.doc_untracked(), at)
}

/// What a pool is called, where there are several: a name that is another's is refused, since routes
/// would not know which is meant.
pub fn name_field(index: usize) -> AnyView {
    let bench = workbench();
    let several = bench.about(|doc| doc.fleet.pools.len() > 1);
    when(several, move || name_input(index))
}

fn name_input(index: usize) -> AnyView {
    let bench = workbench();
    let field = Field::Pool(index, PoolField::Name);
    let path = field.path();
    let (id, problem) = (id_of(&path), problem_at(path.clone()));
    let name = super::about_pool(index, |pool| pool.name.clone());
    // What was refused.
    let refused = RwSignal::new(None::<String>);
    let forget = move || {
        refused.set(None);
        if bench.unread.with_untracked(|unread| unread.contains_key(&field)) {
            bench.unread.update(|unread| {
                unread.remove(&field);
            });
        }
    };
    let take = move |typed: String| match pools::refusal(&bench.doc_untracked(), index, &typed) {
        None => {
            forget();
            bench.edit(&Edit::RenamePool(index, typed));
        }
        Some(why) => {
            refused.set(Some(typed));
            bench.unread.update(|unread| {
                unread.insert(field, why);
            });
        }
    };
    on_cleanup(move || {
        let _gone = bench.unread.try_update(|unread| unread.remove(&field));
    });
    let why =
        move || bench.unread.with(|unread| unread.get(&field).cloned()).or_else(|| problem.get());
    let note_id = format!("{id}-note");
    view! {
        <div class="field" class:wrong=move || why().is_some()>
            <label for=id.clone()>{field.kind().label}</label>
            <div class="num">
                <input
                    id=id
                    type="text"
                    autocomplete="off"
                    data-testid=path
                    aria-describedby=note_id.clone()
                    aria-invalid=move || why().is_some().then_some("true")
                    prop:value=move || refused.get().unwrap_or_else(|| name.get())
                    on:change:target=move |ev| take(ev.target().value())
                    on:keydown=move |ev| {
                        if ev.key() == "Escape" && refused.with_untracked(Option::is_some) {
                            forget();
                        }
                    }
                />
            </div>
            <p class="echo" id=note_id aria-live="polite">
                {why}
            </p>
        </div>
    }
    .into_any()
}
