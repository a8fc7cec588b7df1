//! Files in: add them, see what they say and what is wrong with that, and let them change the
//! answer.

mod bridge;
mod drop_zone;
mod facts;
mod file;
mod findings;
mod fit;
mod fit_result;
mod judged;
mod lengths;
mod points;
mod rerun;
mod trace;

use leptos::prelude::*;

use crate::state::uploads::{Uploads as Files, desk};
use crate::worker::reader::FileId;
use drop_zone::DropZone;
use file::FileCard;
use fit::Fit;

/// Where a press of "Add files…" leads.
pub const SECTION_ID: &str = "files";

/// The panel of files.
#[component]
pub fn Uploads() -> impl IntoView {
    let desk = desk();
    let said = move || desk.uploads.with(|uploads| uploads.said.clone());
    let state = move || {
        if desk.uploads.with(Files::is_reading) { "reading" } else { "done" }
    };
    let ids = move || -> Vec<FileId> {
        desk.uploads.with(|uploads| uploads.files().iter().map(|file| file.id).collect())
    };
    view! {
        <section
            class="panel uploads"
            id=SECTION_ID
            tabindex="-1"
            aria-labelledby="files-head"
            data-testid="uploads"
            data-reader=state
        >
            <h3 id="files-head">"Files"</h3>
            <p class="cap">
                "A trace becomes the workload. A benchmark is reviewed, drawn over what is simulated under its own conditions, and can correct the step time"
            </p>
            <DropZone/>
            <p class="vh" role="status" data-testid="uploads-said">
                {said}
            </p>
            <For each=ids key=|id| *id let:id>
                <FileCard id/>
            </For>
            <judged::Judged/>
            <Fit/>
            <bridge::Bridge/>
            <rerun::Rerun/>
        </section>
    }
    .into_any()
}
