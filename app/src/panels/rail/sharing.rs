//! What prompts share and a prefix cache may have kept: prefixes in front, and the turns of a session.

use goodput_engine::scenario::doc::SessionDoc;
use leptos::prelude::*;

use super::clients::fields;
use super::realised::{by_law, drawn, mini_table};
use super::text::problem_note;
use super::{about_class, change, folded, lengths, when};
use crate::controls::{Choice, Select, SwitchBox, TextField};
use crate::state::edit::ClassEdit;
use crate::state::field::Side;
use crate::state::workbench;
use crate::view_model::arrivals::{THINK_TIMES, name_of_think_time, think_time_named};
use crate::view_model::sharing;

/// The editor, folded, with what came of it.
pub fn editor(index: usize) -> AnyView {
    folded(
        "sharing",
        "Prompts share",
        about_class(index, sharing::line),
        view! {
            {prefix(index)}
            {session(index)}
            {realised(index)}
        }
        .into_any(),
    )
}

fn prefix(index: usize) -> AnyView {
    let there = about_class(index, |class| class.shared_prefix.is_some());
    let name = about_class(index, |class| {
        class.shared_prefix.as_ref().map(|prefix| prefix.name.clone()).unwrap_or_default()
    });
    let switch = Callback::new(move |on: bool| {
        let doc = workbench().doc_untracked();
        let Some(class) = doc.workload.classes.get(index) else { return };
        let prefix = on.then(|| sharing::prefix_to_begin_with(class));
        change(index, ClassEdit::SharedPrefix(prefix));
    });
    let say = Callback::new(move |name| change(index, ClassEdit::PrefixName(name)));
    let more = move || {
        view! {
            <p class="echo after">"In front of each prompt, which is as long as it says above"</p>
            <TextField
                id=format!("prefix-name-{index}")
                label="name, where classes of a tenant share it"
                value=name
                path=format!("workload.classes[{index}].shared_prefix.name")
                on_input=say
            />
        }
        .into_any()
    };
    view! {
        <SwitchBox id="shared-prefix" label="Shared prefix (shared_prefix)" on=there on_change=switch/>
        {fields(index, "shared_prefix.")}
        {when(there, more)}
        {problem_note(format!("workload.classes[{index}].shared_prefix"))}
    }
    .into_any()
}

/// Changes the session of a class.
fn change_session(index: usize, edit: impl FnOnce(&mut SessionDoc) -> Option<()>) {
    let doc = workbench().doc_untracked();
    let session = doc.workload.classes.get(index).and_then(|class| class.session.clone());
    if let Some(mut session) = session
        && edit(&mut session).is_some()
    {
        change(index, ClassEdit::Session(Some(Box::new(session))));
    }
}

fn session(index: usize) -> AnyView {
    let there = about_class(index, |class| class.session.is_some());
    let switch = Callback::new(move |on: bool| {
        let session = on.then(|| Box::new(sharing::session_to_begin_with()));
        change(index, ClassEdit::Session(session));
    });
    view! {
        <SwitchBox id="session" label="Sessions of several turns (session)" on=there on_change=switch/>
        {problem_note(format!("workload.classes[{index}].session"))}
        {when(there, move || turns(index))}
    }
    .into_any()
}

fn turns(index: usize) -> AnyView {
    let think = about_class(index, |class| {
        let session = class.session.as_ref();
        session.map_or("", |session| name_of_think_time(session.think_time)).to_owned()
    });
    let choose_think = Callback::new(move |name: String| {
        change_session(index, |session| {
            session.think_time = think_time_named(session.think_time, &name)?;
            Some(())
        });
    });
    let own = about_class(index, |class| {
        class.session.as_ref().is_some_and(|session| session.new_tokens.is_some())
    });
    let choose_growth = Callback::new(move |name: String| {
        let doc = workbench().doc_untracked();
        let first = doc.workload.classes.get(index).map(|class| class.input_tokens.clone());
        change_session(index, |session| {
            session.new_tokens = first.filter(|_| name == "own");
            Some(())
        });
    });
    let growths = vec![
        Choice::new("", "as many as in a first prompt"),
        Choice::new("own", "a law of their own"),
    ];
    view! {
        <p class="echo after">
            "Each arrival begins a session: its turns are more requests, and each carries all that was said"
        </p>
        {lengths::editor(index, Side::Turns)}
        <Select
            id=format!("session-think-{index}")
            label="Think time"
            choices=THINK_TIMES.map(|(name, label)| Choice::new(name, label)).to_vec()
            value=think
            on_choose=choose_think
            quiet=true
        />
        {fields(index, "session.think_time.")}
        <Select
            id=format!("new-tokens-{index}")
            label="New tokens"
            choices=growths
            value=Signal::derive(move || if own.get() { "own" } else { "" }.to_owned())
            on_choose=choose_growth
            quiet=true
        />
        {when(own, move || lengths::editor(index, Side::NewTokens))}
    }
    .into_any()
}

/// Turns and hits, by the laws and as they came out.
fn realised(index: usize) -> AnyView {
    let law = by_law(index, sharing::by_law);
    let came_out = drawn(index, sharing::drawn);
    let otherwise =
        drawn(index, |class| class.sharing.as_ref().and_then(sharing::otherwise).map(|x| vec![x]));
    view! {
        {move || {
            mini_table(
                format!("realised-sharing-{index}"),
                "Turns of a session and prompt tokens found in the prefix cache",
                &sharing::HEADS,
                [("law", law.get()), ("drawn", came_out.get())],
            )
        }}
        <p class="echo">{move || otherwise.get().join("; ")}</p>
    }
    .into_any()
}
