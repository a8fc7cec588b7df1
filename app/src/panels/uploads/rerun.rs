//! What to measure next: command lines of benchmark tools, asked of the worker while the panel is open.

use goodput_engine::rerun::{Rerun as Commands, Tool};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser;
use crate::controls::{Choice, Select};
use crate::panels::folded::folded;
use crate::panels::outcomes::in_words;
use crate::state::{Slot, workbench};
use crate::worker::protocol::{Finding, Question, Viewed};

/// The panel.
#[component]
pub fn Rerun() -> impl IntoView {
    let said = "Command lines that measure this scenario with the tool you have";
    folded("rerun", "What to measure next", said, commands)
}

fn commands() -> AnyView {
    let bench = workbench();
    let asked = bench.views.rerun;
    let chosen = RwSignal::new(0_usize);
    bench.ask(asked, || Some(Question::Rerun));
    let state = move || {
        let done = bench.current.get() && !asked.with(Slot::is_running);
        if done { "done" } else { "running" }
    };
    let names = Memo::new(move |_| {
        let names = |found: &Commands| found.tools.iter().map(|tool| tool.name.clone()).collect();
        asked.with(|slot| found(slot).map(names)).unwrap_or_else(Vec::<String>::new)
    });
    let choice = move || {
        let choices =
            names.get().into_iter().enumerate().map(|(i, name)| Choice::new(i.to_string(), &name));
        view! {
            <Select
                id="rerun-tool"
                label="With"
                choices=choices.collect()
                value=Signal::derive(move || chosen.get().to_string())
                on_choose=Callback::new(move |i: String| chosen.set(i.parse().unwrap_or(0)))
                quiet=true
            />
        }
    };
    let shown = move || {
        asked.with(|slot| {
            let tools = &found(slot)?.tools;
            tools.get(chosen.get()).or(tools.first()).map(tool)
        })
    };
    let why_not = move || asked.with(|slot| slot.ending.as_ref().map(in_words));
    view! {
        <div class="row">{choice}</div>
        <div data-testid="rerun-commands" data-state=state>{shown}</div>
        <p role="status">{why_not}</p>
    }
    .into_any()
}

fn found(slot: &Slot<Viewed>) -> Option<&Commands> {
    match &slot.last.as_ref()?.value.finding {
        Finding::Rerun(found) => Some(found),
        _ => None,
    }
}

fn tool(tool: &Tool) -> AnyView {
    let cannot =
        tool.cannot.iter().map(|cannot| view! { <li>{cannot.clone()}</li> }).collect_view();
    let all = tool.commands.join("\n\n");
    let copied = RwSignal::new("");
    let copy = {
        let all = all.clone();
        move |_| {
            let text = all.clone();
            spawn_local(async move {
                copied.set(if browser::copy(text).await { "Copied" } else { "Select and copy it" });
            });
        }
    };
    let complete = tool.cannot.is_empty();
    view! {
        <p class="cap">
            "Against one replica: one request alone, the batch of the present load, all seats, and the present rate. Options as in the "
            {tool.documented.clone()}
        </p>
        <pre class="commands" tabindex="0" role="region" aria-label="Command lines">{all}</pre>
        <p>
            <button type="button" class="link" data-testid="copy-commands" on:click=copy>
                "Copy"
                <span class="vh">" the command lines"</span>
            </button>
            " "
            <span role="status">{copied}</span>
        </p>
        <p hidden=complete>"It cannot be asked for"</p>
        <ul class="lines" data-testid="rerun-cannot">{cannot}</ul>
    }
    .into_any()
}
