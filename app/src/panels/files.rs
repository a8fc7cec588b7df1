//! Uploads: add, review, use as workload, calibrate.

mod benchmark;
mod review;

use leptos::ev::DragEvent;
use leptos::prelude::*;

use crate::browser;
use crate::state::files::{FileEntry, FileState};
use crate::state::workbench;
use review::FileCard;

/// The panel of files.
#[component]
pub fn Files() -> impl IntoView {
    let bench = workbench();
    let entries = bench.files.entries;
    let over = RwSignal::new(false);
    let drop = move |ev: DragEvent| {
        ev.prevent_default();
        over.set(false);
        if let Some(files) = ev.data_transfer().and_then(|data| data.files()) {
            bench.add_files(&files);
        }
    };
    let drag = move |ev: DragEvent| {
        ev.prevent_default();
        over.set(true);
    };
    view! {
        <section class="panel files" id="files" tabindex="-1" aria-labelledby="files-head" data-testid="files">
            <div class="rh">
                <h3 id="files-head">"Files"</h3>
                <p class="cap">"A trace becomes the workload; a benchmark is reviewed"</p>
            </div>
            <div class="drop" class:over=over on:drop=drop on:dragover=drag on:dragleave=move |_| over.set(false)>
                <p>
                    "Drop a result file or a trace here, or "
                    <button class="link big" data-testid="choose-files" on:click=move |_| browser::click("file-input")>
                        "choose one"
                    </button>
                </p>
                <p class="echo">
                    "It stays in this tab. Up to 200 MB: vllm bench serve JSON, Azure LLM trace CSV, benchmark rows CSV, a saved scenario. "
                    <button class="link" data-testid="template" on:click=move |_| benchmark::download_template()>
                        "CSV template"
                    </button>
                </p>
                <FileInput/>
            </div>
            <For each=move || ids(&entries.read()) key=|id| *id let:id>
                <Entry id/>
            </For>
        </section>
    }
    .into_any()
}

fn ids(entries: &[FileEntry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.id).collect()
}

/// The browser's own file picker; hidden, as buttons press it.
#[component]
fn FileInput() -> impl IntoView {
    let bench = workbench();
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
                    bench.add_files(&files);
                }
                // The same file may be chosen again.
                input.set_value("");
                browser::go_to("files");
            }
        />
    }
    .into_any()
}

#[component]
fn Entry(id: u64) -> impl IntoView {
    let bench = workbench();
    let entry = Memo::new(move |_| {
        bench.files.entries.with(|entries| entries.iter().find(|entry| entry.id == id).cloned())
    });
    let state = Memo::new(move |_| entry.with(|e| e.as_ref().map(|e| e.state.clone())));
    let name = move || entry.with(|e| e.as_ref().map(|e| e.name.clone()).unwrap_or_default());
    view! {
        <article class="file" data-testid="file">
            <div class="fhead">
                <h4>{name}</h4>
                <button class="link" data-testid="remove-file" on:click=move |_| bench.remove_file(id)>
                    "Remove"
                    <span class="vh">" " {name}</span>
                </button>
            </div>
            {move || match state.get() {
                None => ().into_any(),
                Some(FileState::Reading) => view! { <p role="status">"Reading …"</p> }.into_any(),
                Some(FileState::Failed(why)) => {
                    view! { <p class="dn" role="status" data-testid="refused">{why}</p> }.into_any()
                }
                Some(FileState::Read(read)) => view! { <FileCard id read/> }.into_any(),
            }}
        </article>
    }
    .into_any()
}
