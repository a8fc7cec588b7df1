//! Name, baseline, undo and redo, files, theme, link.

use leptos::prelude::*;

use crate::browser;
use crate::state::{Edit, workbench};

/// The top of the page.
#[component]
pub fn Header() -> impl IntoView {
    view! {
        <header class="top">
            <div class="brand">
                <svg viewBox="0 0 18 18" aria-hidden="true">
                    <path d="M1 13h16" class="b1"></path>
                    <path d="M1 16V9l4-3 4 2 4-6 4 3v11z" class="b2"></path>
                </svg>
                <span>"Goodput"</span>
            </div>
            <ScenarioName/>
            <Tools/>
        </header>
    }
    .into_any()
}

/// The name, to edit in place, and what results are compared with.
#[component]
fn ScenarioName() -> impl IntoView {
    let bench = workbench();
    let name = bench.about(|doc| doc.name.clone());
    Effect::new(move |_| {
        // The tab is the outside world.
        browser::set_title(&format!("{} – Goodput", shown(&name.get())));
    });
    view! {
        <div class="name">
            <h1 class="vh">{move || shown(&name.get())}</h1>
            <input
                class="title"
                type="text"
                aria-label="Name of the scenario"
                autocomplete="off"
                spellcheck="false"
                placeholder="Unnamed scenario"
                data-testid="scenario-name"
                size=move || name.with(|n| n.chars().count()).clamp(12, 48)
                prop:value=move || name.get()
                on:input:target=move |ev| bench.edit(&Edit::Rename(ev.target().value()))
                on:blur=move |_| bench.seal()
            />
            <BaselineLine/>
        </div>
    }
    .into_any()
}

fn shown(name: &str) -> String {
    if name.trim().is_empty() { "Unnamed scenario".into() } else { name.to_owned() }
}

#[component]
fn BaselineLine() -> impl IntoView {
    let bench = workbench();
    let pinned =
        Memo::new(move |_| bench.baseline.with(|b| b.as_ref().map(|b| shown(&b.doc.name))));
    let open = move |_| {
        if let Some(baseline) = bench.baseline.get_untracked() {
            let from = shown(&baseline.doc.name);
            bench.edit(&Edit::Open { from, doc: Box::new((*baseline.doc).clone()) });
        }
    };
    view! {
        <span class="base" data-testid="baseline">
            {move || match pinned.get() {
                Some(name) => {
                    view! {
                        "compared with "
                        <button class="link" title="Open the baseline; undo comes back" on:click=open>
                            {name}
                        </button>
                        <button
                            class="link"
                            data-testid="unpin"
                            on:click=move |_| bench.baseline.set(None)
                        >
                            "Unpin"
                        </button>
                    }
                        .into_any()
                }
                None => {
                    view! {
                        <button
                            class="link"
                            data-testid="pin"
                            title="Compare what follows with the results as they are now"
                            on:click=move |_| bench.pin()
                        >
                            "Pin as baseline"
                        </button>
                    }
                        .into_any()
                }
            }}
        </span>
    }
    .into_any()
}

#[component]
fn Tools() -> impl IntoView {
    let bench = workbench();
    let undo = move || bench.undoes();
    let redo = move || bench.redoes();
    let titled = |verb: &str, key: &str, what: Option<String>| match what {
        Some(what) => format!("{verb} {what} ({key})"),
        None => format!("Nothing to {} ({key})", verb.to_lowercase()),
    };
    view! {
        <div class="tools">
            <button
                class="icon"
                data-testid="undo"
                aria-label="Undo"
                aria-disabled=move || undo().is_none().then_some("true")
                title=move || titled("Undo", "Ctrl Z", undo())
                on:click=move |_| bench.undo()
            >
                "↶"
            </button>
            <button
                class="icon"
                data-testid="redo"
                aria-label="Redo"
                aria-disabled=move || redo().is_none().then_some("true")
                title=move || titled("Redo", "Ctrl Shift Z", redo())
                on:click=move |_| bench.redo()
            >
                "↷"
            </button>
            <ThemeButton/>
            <super::GlossaryButton/>
            <button data-testid="presets" on:click=move |_| browser::show_dialog("presets-dialog")>
                "Presets…"
            </button>
            <button data-testid="add-files" on:click=move |_| browser::click("file-input")>
                <span class="wide">"Add\u{a0}"</span>
                "files…"
            </button>
            <button class="primary" data-testid="share" on:click=move |_| super::share::copy_link(bench)>
                <span class="wide">"Copy\u{a0}"</span>
                "link"
            </button>
        </div>
    }
    .into_any()
}

#[component]
fn ThemeButton() -> impl IntoView {
    let bench = workbench();
    let theme = bench.theme;
    let mark = move || match theme.get().name() {
        "light" => "☀",
        "dark" => "☾",
        _ => "◐",
    };
    let label = move || {
        let (now, next) = (theme.get().name(), theme.get().next().name());
        format!("Theme {now}, change to {next}; this browser remembers it")
    };
    view! {
        <button
            class="icon"
            data-testid="theme"
            aria-label=label
            title=label
            on:click=move |_| theme.update(|theme| *theme = theme.next())
        >
            {mark}
        </button>
    }
    .into_any()
}
