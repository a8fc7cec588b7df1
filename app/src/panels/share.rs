//! Sharing: the link, its length, and the scenario as a file.

use goodput_engine::scenario::doc;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser;
use crate::format;
use crate::state::{Sharing, Workbench, share, workbench};

const DIALOG: &str = "share-dialog";

/// Copies the link and shows what was copied.
pub fn copy_link(bench: Workbench) {
    let sharing = share(&bench.doc_untracked());
    let url = sharing.url.clone();
    bench.shared.set(Some((sharing, None)));
    browser::show_dialog(DIALOG);
    if !url.is_empty() {
        spawn_local(async move {
            let copied = browser::copy(url).await;
            bench.shared.update(|shared| {
                if let Some((_, done)) = shared {
                    *done = Some(copied);
                }
            });
        });
    }
}

/// What was copied, how long it is, and the file as another way.
#[component]
pub fn ShareDialog() -> impl IntoView {
    let bench = workbench();
    let save = move |_| {
        let doc = bench.doc_untracked();
        browser::download("goodput-scenario.json", "application/json", &doc::to_json(&doc));
    };
    view! {
        <dialog id=DIALOG class="dialog" aria-labelledby="share-head">
            <h2 id="share-head">"Share this scenario"</h2>
            {move || bench.shared.get().map(|(sharing, copied)| view! { <Shared sharing copied/> })}
            <p class="cap">
                "The link holds the scenario itself, after the #: no server sees it. Uploaded files never travel with it; a fitted step time does."
            </p>
            <div class="row">
                <button data-testid="save-file" on:click=save>
                    "Save as a file"
                </button>
                <button data-testid="close-share" on:click=move |_| browser::close_dialog(DIALOG)>
                    "Close"
                </button>
            </div>
        </dialog>
    }
    .into_any()
}

#[component]
fn Shared(sharing: Sharing, copied: Option<bool>) -> impl IntoView {
    let length = sharing.url.chars().count() as u64;
    let said = match copied {
        _ if sharing.url.is_empty() => "There is no link".to_owned(),
        Some(true) => format!("Copied: {}", format::plural(length, "character", "characters")),
        Some(false) => {
            format!("Copy it from here: {}", format::plural(length, "character", "characters"))
        }
        None => "Copying".to_owned(),
    };
    let url = sharing.url.clone();
    view! {
        <p role="status" data-testid="share-status">
            <strong>{said}</strong>
        </p>
        {(!sharing.url.is_empty())
            .then(|| {
                view! {
                    <textarea class="code" readonly rows="4" aria-label="Link" data-testid="share-link" prop:value=url></textarea>
                }
            })}
        {sharing.remarks.into_iter().map(|remark| view! { <p class="worse">{remark}</p> }).collect_view()}
    }
    .into_any()
}
