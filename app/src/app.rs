//! The page: one frame around its panels.

use goodput_engine::scenario::doc::ScenarioDoc;
use goodput_engine::scenario::presets;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::browser;
use crate::panels::{
    Answer, Causes, Figures, Glossary, GlossaryDialog, Header, Outcomes, Patterns, Pools,
    PresetsDialog, Rail, RemedyPanel, ShareDialog, StatusLine, Uploads,
};
use crate::state::uploads::Desk;
use crate::state::{Screen, Workbench};

/// The whole page.
#[component]
pub fn App() -> impl IntoView {
    let bench = Workbench::new(first_document);
    provide_context(bench);
    provide_context(Desk::new(bench));
    Glossary::provide();
    browser::on_key(move |event| press(bench, &event));
    // What the worker drew, for whoever compares it with the program's.
    let requests = Memo::new(move |_| {
        let digest = |screen: &Screen| Some(screen.simulated()?.report.requests_digest.clone());
        bench.screen.with(digest)
    });
    view! {
        <Patterns/>
        <a class="skip" href="#results" on:click=move |event| skip(&event)>
            "Skip to results"
        </a>
        <Header/>
        <main class="frame" data-state=bench.phase data-requests=requests>
            <Answer/>
            <Rail/>
            <div class="body">
                <StatusLine/>
                <Pools/>
                <Figures/>
                <Causes/>
                <RemedyPanel/>
                <Outcomes/>
                <Uploads/>
            </div>
        </main>
        <Dock/>
        <PresetsDialog/>
        <ShareDialog/>
        <GlossaryDialog/>
    }
    .into_any()
}

/// A worked example, never an empty form.
fn first_document() -> ScenarioDoc {
    let first = presets::presets().first();
    first.map_or_else(|| unreachable!("there are presets"), |preset| preset.doc.clone())
}

/// Links within the page must not replace the scenario in the address.
fn skip(event: &leptos::ev::MouseEvent) {
    event.prevent_default();
    browser::go_to("results");
}

/// Undo and redo from anywhere but a text area, which has its own; Escape cancels.
fn press(bench: Workbench, event: &KeyboardEvent) {
    let tag = event
        .target()
        .and_then(|target| target.dyn_into::<HtmlElement>().ok())
        .map(|element| element.tag_name())
        .unwrap_or_default();
    if event.key() == "Escape"
        && !event.default_prevented()
        && bench.phase.get_untracked() == "running"
    {
        bench.cancel();
        return;
    }
    let chord = (event.ctrl_key() || event.meta_key()) && !event.alt_key();
    if !chord || tag == "TEXTAREA" {
        return;
    }
    match (event.key().to_lowercase().as_str(), event.shift_key()) {
        ("z", false) => bench.undo(),
        ("z", true) | ("y", false) => bench.redo(),
        _ => return,
    }
    event.prevent_default();
}

/// Four anchors at the bottom of a phone.
#[component]
fn Dock() -> impl IntoView {
    let anchors =
        [("results", "Answer"), ("inputs", "Inputs"), ("charts", "Charts"), ("causes", "Causes")];
    let anchors = anchors.map(|(id, name)| {
        view! {
            <button type="button" on:click=move |_| browser::go_to(id)>
                {name}
            </button>
        }
    });
    view! {
        <nav class="dock" aria-label="Sections">
            {anchors.into_iter().collect_view()}
        </nav>
    }
    .into_any()
}
