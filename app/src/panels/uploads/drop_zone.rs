//! Ways in for a file: dropped anywhere on the page, chosen, or pasted as text.

use goodput_engine::ingest::csv_points;
use leptos::ev::{self, DragEvent};
use leptos::prelude::*;
use web_sys::FileList;

use super::SECTION_ID;
use crate::browser;
use crate::state::uploads::{Desk, desk};
use crate::view_model::formats::FORMATS;

/// The dashed area, with everything that a keyboard needs inside it.
#[component]
pub fn DropZone() -> impl IntoView {
    let over = RwSignal::new(false);
    drop_anywhere(desk(), over);
    view! {
        <div class="drop" class:over=over>
            <p>
                "Drop a result file here, or "
                <button
                    type="button"
                    class="link big"
                    data-testid="choose-files"
                    on:click=move |_| browser::click("file-input")
                >
                    "choose one"
                </button>
                ". It stays in this tab. Up to 200\u{202f}MB"
            </p>
            <details class="formats">
                <summary>
                    "Reads vLLM, SGLang, GuideLLM, AIPerf, inference-perf and llm-d results, request \
                    traces, CSV, saved scenarios"
                </summary>
                <ul>{FORMATS.map(|format| view! { <li>{format.1}</li> })}</ul>
            </details>
            <p class="echo">
                "For anything else: "
                <button type="button" class="link" data-testid="template" on:click=|_| download_template()>
                    "CSV template with units"
                </button>
            </p>
            <FileInput/>
            <PasteBox/>
        </div>
    }
    .into_any()
}

fn download_template() {
    browser::download("goodput-benchmark-template.csv", "text/csv", csv_points::TEMPLATE);
}

/// The browser's own picker: hidden, because buttons press it.
#[component]
fn FileInput() -> impl IntoView {
    let desk = desk();
    view! {
        <input
            id="file-input"
            class="vh"
            type="file"
            multiple
            tabindex="-1"
            aria-label="Add files"
            data-testid="file-input"
            on:change:target=move |ev| {
                let input = ev.target();
                if let Some(files) = input.files() {
                    take(desk, &files);
                }
                // The same file may be chosen again.
                input.set_value("");
            }
        />
    }
    .into_any()
}

fn take(desk: Desk, files: &FileList) {
    if files.length() > 0 {
        desk.add_files(files);
        browser::go_to(SECTION_ID);
    }
}

/// A file that misses the dashed area would otherwise replace the page, and the work with it.
fn drop_anywhere(desk: Desk, over: RwSignal<bool>) {
    let drag = window_event_listener(ev::dragover, move |event: DragEvent| {
        if files_in(&event).is_some() {
            event.prevent_default();
            over.set(true);
        }
    });
    let leave = window_event_listener(ev::dragleave, move |event: DragEvent| {
        // Only at the edge of the window is there nothing that is entered instead.
        if event.related_target().is_none() {
            over.set(false);
        }
    });
    let drop = window_event_listener(ev::drop, move |event: DragEvent| {
        over.set(false);
        if let Some(files) = files_in(&event) {
            event.prevent_default();
            take(desk, &files);
        }
    });
    on_cleanup(move || {
        drag.remove();
        leave.remove();
        drop.remove();
    });
}

/// The files that are dragged; `None` for text, which fields may take. While they are still in
/// the air, the list is there and empty.
fn files_in(event: &DragEvent) -> Option<FileList> {
    let data = event.data_transfer()?;
    let has_files = data.types().iter().any(|kind| kind.as_string().as_deref() == Some("Files"));
    if has_files { data.files() } else { None }
}

/// Text in place of a file.
#[component]
fn PasteBox() -> impl IntoView {
    let desk = desk();
    let text = RwSignal::new(String::new());
    let empty = move || text.with(|text| text.trim().is_empty());
    let read = move |_| {
        if !text.with_untracked(|text| text.trim().is_empty()) {
            desk.add_text(text.get_untracked());
            text.set(String::new());
        }
    };
    view! {
        <details class="paste">
            <summary data-testid="paste">"Paste text instead"</summary>
            <label for="pasted">"Content of a result file"</label>
            <textarea
                id="pasted"
                rows="4"
                spellcheck="false"
                data-testid="pasted"
                prop:value=move || text.get()
                on:input:target=move |ev| text.set(ev.target().value())
            ></textarea>
            <button
                type="button"
                data-testid="read-pasted"
                aria-disabled=move || empty().then_some("true")
                title=move || if empty() { "There is no text yet" } else { "" }
                on:click=read
            >
                "Read the text"
            </button>
        </details>
    }
    .into_any()
}
