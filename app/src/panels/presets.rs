//! Worked examples to begin with, each with its sources.

use std::sync::Arc;

use goodput_engine::scenario::presets;
use leptos::prelude::*;

use crate::browser;
use crate::state::{Edit, Workbench, workbench};
use crate::view_model::sources::{self, Piece};

const DIALOG: &str = "presets-dialog";

/// The list of presets; opening one is one undoable edit.
#[component]
pub fn PresetsDialog() -> impl IntoView {
    let bench = workbench();
    let rows = presets::presets().iter().map(|preset| {
        let sources = preset.sources.iter().map(|text| source(text)).collect_view();
        view! {
            <li class="preset">
                <div>
                    <h3>{preset.name.clone()}</h3>
                    <p>{preset.summary.clone()}</p>
                    <details>
                        <summary>"Sources"</summary>
                        <ul>{sources}</ul>
                    </details>
                </div>
                <button data-testid=format!("preset-{}", preset.id) on:click=move |_| open(bench, preset)>
                    "Open"
                </button>
            </li>
        }
    });
    view! {
        <dialog id=DIALOG class="dialog wide" aria-labelledby="presets-head">
            <h2 id="presets-head">"Presets"</h2>
            <p class="cap">"Worked examples. Opening one replaces the scenario; undo brings yours back."</p>
            <ul>{rows.collect_view()}</ul>
            <div class="row">
                <button data-testid="close-presets" on:click=move |_| browser::close_dialog(DIALOG)>
                    "Close"
                </button>
            </div>
        </dialog>
    }
    .into_any()
}

/// A source, with links to the repositories that it names: following one is up to the reader, the
/// page itself asks no other origin for anything.
fn source(text: &str) -> AnyView {
    let pieces = sources::pieces(text).into_iter().map(|piece| match piece {
        Piece::Text(text) => text.into_any(),
        Piece::Link(text, url) => {
            view! { <a href=url target="_blank" rel="noreferrer">{text}</a> }.into_any()
        }
    });
    view! { <li>{pieces.collect_view()}</li> }.into_any()
}

fn open(bench: Workbench, preset: &'static presets::Preset) {
    browser::close_dialog(DIALOG);
    let before = compared_with(preset.id).and_then(presets::preset);
    match before {
        Some(before) => bench.pin_document(&Arc::new(before.doc.clone()), None),
        None => bench.baseline.set(None),
    }
    bench.edit(&Edit::Open { from: preset.name.clone(), doc: Box::new(preset.doc.clone()) });
}

/// The preset that another is a change of: opened together, they show what the change does.
fn compared_with(id: &str) -> Option<&'static str> {
    (id == "outputs-double").then_some("chat-peak")
}
