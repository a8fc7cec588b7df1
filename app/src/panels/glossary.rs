//! What the words on the page mean: a dialog over everything, opened at the term that was asked
//! for.

use leptos::prelude::*;

use crate::browser;
use crate::view_model::glossary::{self, CHAPTERS, Chapter, Term};

const DIALOG: &str = "glossary-dialog";

/// What the dialog shows; `None` until it is opened first: most visits never do.
#[derive(Clone, Copy)]
pub struct Glossary(RwSignal<Option<Shown>>);

/// The term that was asked for, and the words that the others are searched for.
#[derive(Clone, Default)]
struct Shown {
    at: Option<&'static str>,
    search: String,
}

impl Glossary {
    /// Makes the glossary reachable from anywhere below. Call once, at the root.
    pub fn provide() {
        provide_context(Self(RwSignal::new(None)));
    }

    /// Opens it, at a term if one is given.
    fn open(self, at: Option<&'static str>) {
        self.0.set(Some(Shown { at, search: String::new() }));
        browser::show_dialog(DIALOG);
        if let Some(id) = at {
            // The terms are there once the signal has been followed.
            request_animation_frame(move || browser::go_to(&anchor(id)));
        }
    }
}

/// A word on the page that opens its definition.
#[component]
pub fn Defined(
    /// Its anchor in the glossary.
    id: &'static str,
    /// The word as it stands here.
    #[prop(into)]
    word: Signal<String>,
) -> impl IntoView {
    let glossary = expect_context::<Glossary>();
    view! {
        <button
            class="term"
            title="What this means"
            data-testid=format!("define-{id}")
            on:click=move |_| glossary.open(Some(id))
        >
            {move || word.get()}
        </button>
    }
    .into_any()
}

/// The button that opens it at its beginning.
#[component]
pub fn GlossaryButton() -> impl IntoView {
    let glossary = expect_context::<Glossary>();
    view! {
        <button
            data-testid="glossary"
            on:click=move |_| glossary.open(None)
        >
            "Terms…"
        </button>
    }
    .into_any()
}

/// All terms, with a search over them.
#[component]
pub fn GlossaryDialog() -> impl IntoView {
    let shown = expect_context::<Glossary>().0;
    let opened = Memo::new(move |_| shown.with(Option::is_some));
    view! {
        <dialog id=DIALOG class="dialog wide glossary" aria-labelledby="glossary-head">
            <div class="row">
                <h2 id="glossary-head">"Terms"</h2>
                <button data-testid="close-glossary" on:click=move |_| browser::close_dialog(DIALOG)>
                    "Close"
                </button>
            </div>
            {move || opened.get().then(|| view! { <Terms shown/> })}
        </dialog>
    }
    .into_any()
}

#[component]
fn Terms(shown: RwSignal<Option<Shown>>) -> impl IntoView {
    let search = Memo::new(move |_| {
        shown.with(|s| s.as_ref().map(|s| s.search.clone())).unwrap_or_default()
    });
    let at = Memo::new(move |_| shown.with(|s| s.as_ref().and_then(|s| s.at)));
    let none = Memo::new(move |_| {
        let mut all = CHAPTERS.iter().flat_map(|chapter| chapter.terms);
        search.with(|search| !all.any(|term| glossary::matches(term, search)))
    });
    let write = move |text: String| {
        shown.update(|shown| {
            if let Some(shown) = shown {
                shown.search = text;
            }
        });
    };
    view! {
        <label class="vh" for="glossary-search">
            "Search the terms, and the names that other tools give them"
        </label>
        <input
            id="glossary-search"
            class="search"
            type="search"
            autocomplete="off"
            spellcheck="false"
            placeholder="Search, also for names of other tools: e2el, request_latency …"
            data-testid="glossary-search"
            prop:value=move || search.get()
            on:input:target=move |ev| write(ev.target().value())
        />
        <p class="cap" role="status">{move || none.get().then_some("No term has these words")}</p>
        {CHAPTERS.iter().map(|chapter| view! { <OneChapter chapter search at/> }).collect_view()}
    }
    .into_any()
}

#[component]
fn OneChapter(
    chapter: &'static Chapter,
    search: Memo<String>,
    at: Memo<Option<&'static str>>,
) -> impl IntoView {
    let fits = move |term: &Term| search.with(|search| glossary::matches(term, search));
    let rows = chapter.terms.iter().map(|term| {
        view! {
            <div
                id=anchor(term.id)
                class="define"
                tabindex="-1"
                class:at=move || at.get() == Some(term.id)
                hidden=move || !fits(term)
            >
                <dt>{term.name}</dt>
                <dd>
                    <p>{term.meaning}</p>
                    {part("formula", term.formula)}
                    {part("elsewhere", term.elsewhere)}
                </dd>
            </div>
        }
    });
    view! {
        <section hidden=move || !chapter.terms.iter().any(fits)>
            <h3>{chapter.title}</h3>
            <dl>{rows.collect_view()}</dl>
        </section>
    }
    .into_any()
}

fn part(class: &'static str, text: &'static str) -> Option<impl IntoView> {
    let lead = (class == "elsewhere").then(|| view! { <b>"Elsewhere: "</b> });
    (!text.is_empty()).then(|| view! { <p class=class>{lead}{text}</p> })
}

fn anchor(id: &str) -> String {
    format!("term-{id}")
}
