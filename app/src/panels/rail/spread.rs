//! How far apart mean and p99 are, and the edit that keeps the shape of the baseline.

use leptos::prelude::*;

use super::lengths::lengths_in;
use crate::format;
use crate::state::edit::Edit;
use crate::state::field::{ClassField, Field, LengthField, Place, of_lengths};
use crate::state::workbench;
use crate::view_model::spread;

/// The line below mean and p99; nothing for lengths that are known by other numbers.
pub fn spread_line(index: usize, place: Place) -> AnyView {
    let bench = workbench();
    let shape = Memo::new(move |_| {
        let doc = bench.doc();
        let before = bench.baseline.with(|b| lengths_in(&b.as_ref()?.doc, index, place).cloned());
        spread::spread(lengths_in(&doc, index, place)?, before.as_ref())
    });
    let keep = move |p99: f64| {
        let doc = bench.doc_untracked();
        let numbers = lengths_in(&doc, index, place).map(of_lengths).unwrap_or_default();
        let Some(named) = numbers.into_iter().find(|named| named.name == "p99") else { return };
        let field = Field::Class(index, ClassField::Length(place, LengthField::Number(named)));
        bench.edit(&Edit::Number { field, value: Some(p99) });
        bench.seal();
    };
    let back = move |p99: f64| {
        view! {
            " "
            <button type="button" class="link" on:click=move |_| keep(p99)>
                {format!("Keep the shape: p99 {}", format::fixed(p99, 0))}
            </button>
        }
    };
    view! {
        {move || {
            shape
                .get()
                .map(|shape| {
                    view! { <p class="echo">{shape.line} {shape.p99_as_before.map(back)}</p> }
                })
        }}
    }
    .into_any()
}
