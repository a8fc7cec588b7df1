//! Rows of two numbers, each with what adds one after it and what removes it.

use leptos::prelude::*;

use crate::controls::NumberField;
use crate::state::edit::Edit;
use crate::state::field::{Field, Place};
use crate::state::workbench;

/// Rows beyond these are for the text below them.
const MOST: usize = 30;

/// What rows are made of.
#[derive(Clone, Copy)]
pub struct RowEdits {
    /// Of which class or pool.
    pub index: usize,
    /// What a row is called.
    pub what: &'static str,
    /// Its two numbers.
    pub fields: fn(At) -> [Field; 2],
    /// Adds one after a row.
    pub add: fn(At) -> Edit,
    /// Removes a row.
    pub remove: fn(At) -> Edit,
    /// Of which lengths, if of any.
    pub place: Option<Place>,
}

/// Where a row is.
#[derive(Clone, Copy)]
pub struct At {
    /// Of which class or pool.
    pub index: usize,
    /// Which row, from 0.
    pub row: usize,
    /// Of which lengths, if of any.
    pub place: Option<Place>,
}

/// All rows; where they are many, none but how many they are.
pub fn rows(edits: RowEdits, count: Memo<usize>) -> AnyView {
    view! {
        {move || match count.get() {
            many if many > MOST => {
                view! { <p class="sum">{format!("{many} {}s, edited as a table", edits.what)}</p> }.into_any()
            }
            count => (0..count).map(|row| one(edits, row)).collect_view().into_any(),
        }}
    }
    .into_any()
}

fn one(edits: RowEdits, row: usize) -> AnyView {
    let bench = workbench();
    let (number, later) = (row + 1, row > 0);
    let RowEdits { index, what, place, add, remove, .. } = edits;
    let at = At { index, row, place };
    let [first, second] = (edits.fields)(at);
    let button = move |text, title, edit: fn(At) -> Edit| {
        view! {
            <button
                class="icon small"
                type="button"
                aria-label=format!("{title} {what} {number}")
                title=format!("{title} {what} {number}")
                on:click=move |_| bench.edit(&edit(at))
            >
                {text}
            </button>
        }
    };
    view! {
        <div class="pair" class:first=!later role="group" aria-label=format!("{what} {number}")>
            <NumberField field=first bare=later/>
            <NumberField field=second bare=later/>
            {button("+", "Add one after", add)}
            {button("−", "Remove", remove)}
        </div>
    }
    .into_any()
}
