//! Whom the fleet lets in: limits at the door and in the queue.

use goodput_engine::scenario::doc::AdmissionDoc;
use leptos::prelude::*;

use super::{folded, listed};
use crate::controls::SwitchBox;
use crate::state::edit::Edit;
use crate::state::field::{Field, of_admission};
use crate::state::workbench;
use crate::view_model::policies;

/// The editor, folded.
pub fn editor() -> AnyView {
    let line = about(policies::admission_line);
    folded(
        "admission",
        "Admission",
        line,
        view! {
            {fields(|name| !name.contains('.'))}
            {switch(
                "token-bucket",
                "token_bucket",
                |admission| admission.token_bucket.is_some(),
                |admission, on| {
                    let doc = workbench().doc_untracked();
                    admission.token_bucket = on.then(|| policies::bucket_to_begin_with(&doc));
                },
            )}
            {fields(|name| name.starts_with("token_bucket."))}
            {switch(
                "shedding",
                "shedding",
                |admission| admission.shedding.is_some(),
                |admission, on| {
                    let doc = workbench().doc_untracked();
                    admission.shedding = on.then(|| policies::shedding_to_begin_with(&doc));
                },
            )}
            {fields(|name| name.starts_with("shedding."))}
        }
        .into_any(),
    )
}

fn about<T: PartialEq + Send + Sync + 'static>(read: fn(&AdmissionDoc) -> T) -> Memo<T> {
    workbench().about(move |doc| read(&doc.fleet.admission))
}

/// The numbers with such names.
fn fields(such: fn(&str) -> bool) -> AnyView {
    let named = about(of_admission);
    let some = Memo::new(move |_| {
        let named = named.get().into_iter().filter(|named| such(named.name));
        named.map(Field::Admission).collect::<Vec<_>>()
    });
    listed(some)
}

/// A limit of several numbers, there or not.
fn switch(
    id: &'static str,
    label: &'static str,
    is_on: fn(&AdmissionDoc) -> bool,
    set: fn(&mut AdmissionDoc, bool),
) -> AnyView {
    let bench = workbench();
    let change = Callback::new(move |on: bool| {
        let mut admission = bench.doc_untracked().fleet.admission;
        set(&mut admission, on);
        bench.edit(&Edit::Admission(admission));
    });
    view! { <SwitchBox id label on=about(is_on) on_change=change/> }.into_any()
}
