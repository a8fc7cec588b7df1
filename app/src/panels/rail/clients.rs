//! What the clients of a class do beside asking: they leave, they are cut off, they try again.

use goodput_engine::scenario::doc::{ClassDoc, PatienceDoc, RetriesDoc};
use leptos::prelude::*;

use super::text::problem_note;
use super::{about_class, change, folded, listed, when};
use crate::controls::{Choice, Select, SwitchBox};
use crate::state::edit::ClassEdit;
use crate::state::field::{ClassField, Field, of_clients};
use crate::state::workbench;
use crate::view_model::policies;

/// Who waits how long for what.
struct Waiting {
    id: &'static str,
    label: &'static str,
    /// Whose numbers are below it.
    under: &'static str,
    now: fn(&ClassDoc) -> Option<PatienceDoc>,
    edit: fn(Option<PatienceDoc>) -> ClassEdit,
    /// How long when it is switched on, seconds.
    begins_s: f64,
}

const WAITING: [Waiting; 2] = [
    Waiting {
        id: "patience",
        label: "Patience before the first token",
        under: "patience.",
        now: |class| class.patience,
        edit: ClassEdit::Patience,
        begins_s: 60.0,
    },
    Waiting {
        id: "stall-patience",
        label: "Patience with a stall (stall_patience)",
        under: "stall_patience.",
        now: |class| class.stall_patience,
        edit: ClassEdit::StallPatience,
        begins_s: 10.0,
    },
];

/// The editor, folded.
pub fn editor(index: usize) -> AnyView {
    let line = about_class(index, policies::clients_line);
    folded(
        "clients",
        "Clients",
        line,
        view! {
            {WAITING.iter().map(|waiting| patience(index, waiting)).collect_view()}
            {fields(index, "timeout_s")}
            {retries(index)}
            {fields(index, "priority")}
        }
        .into_any(),
    )
}

/// The numbers whose names begin so.
pub(super) fn fields(index: usize, under: &'static str) -> AnyView {
    let named = about_class(index, of_clients);
    let field = move |named| Field::Class(index, ClassField::Clients(named));
    let some = Memo::new(move |_| {
        let named = named.get().into_iter().filter(|named| named.name.starts_with(under));
        named.map(field).collect::<Vec<_>>()
    });
    listed(some)
}

fn patience(index: usize, waiting: &'static Waiting) -> AnyView {
    let now = waiting.now;
    let kind = workbench().about(move |doc| {
        match doc.workload.classes.get(index).and_then(now) {
            None => "none",
            Some(PatienceDoc::Fixed { .. }) => "fixed",
            Some(PatienceDoc::Lognormal { .. }) => "lognormal",
        }
        .to_owned()
    });
    let choices = vec![
        Choice::new("none", "wait for ever"),
        Choice::new("fixed", "all alike"),
        Choice::new("lognormal", "lognormal"),
    ];
    let choose = Callback::new(move |name: String| {
        change(index, (waiting.edit)(policies::patience(&name, waiting.begins_s)));
    });
    view! {
        <Select
            id=format!("{}-{index}", waiting.id)
            label=waiting.label
            choices
            value=kind
            on_choose=choose
            quiet=true
        />
        {fields(index, waiting.under)}
    }
    .into_any()
}

fn retries(index: usize) -> AnyView {
    let retries = about_class(index, |class| class.retries.clone());
    let there = Memo::new(move |_| retries.with(Option::is_some));
    let switch = Callback::new(move |on: bool| {
        change(index, ClassEdit::Retries(on.then(policies::retries_to_begin_with)));
    });
    let outcomes = move || {
        let boxes = policies::RETRY_ON.map(|(what, id, label)| {
            let on = Memo::new(move |_| {
                retries.with(|retries| retries.as_ref().is_some_and(|r| r.on.contains(&what)))
            });
            let toggle = Callback::new(move |on: bool| {
                let now: Option<RetriesDoc> = retries.get_untracked();
                let new = now.map(|now| policies::with_retry_on(&now, what, on));
                change(index, ClassEdit::Retries(new));
            });
            view! { <SwitchBox id label on on_change=toggle/> }
        });
        view! {
            <div class="part" role="group" aria-label="Tried again after">
                <p class="echo">"Tried again after (on)"</p>
                {boxes.into_iter().collect_view()}
                {problem_note(format!("workload.classes[{index}].retries.on"))}
            </div>
        }
        .into_any()
    };
    view! {
        <SwitchBox id="retries" label="Try again (retries)" on=there on_change=switch/>
        {fields(index, "retries.")}
        {when(there, outcomes)}
    }
    .into_any()
}
