//! What a benchmark file does not say: fields to fill in, each with a guess where there is one.

use goodput_engine::catalog;
use goodput_engine::ingest::BenchmarkPoint;
use leptos::prelude::*;

use crate::controls::TagMark;
use crate::state::uploads::{Desk, Fact, Told, asked, desk};
use crate::view_model::uploads::{fact_unit, question, when_unanswered};
use crate::view_model::words::{Tag, TagShape};
use crate::worker::reader::FileId;

/// What the points of a file leave open.
pub fn open_facts(points: &[BenchmarkPoint]) -> Vec<Fact> {
    Fact::ALL.into_iter().filter(|fact| asked(points, *fact)).collect()
}

/// The questions about a file; nothing where it says everything.
#[component]
pub fn Facts(id: FileId, open: Vec<Fact>) -> impl IntoView {
    if open.is_empty() {
        return ().into_any();
    }
    let desk = desk();
    let guesses = open.clone();
    let take_all = move |_| {
        for fact in &guesses {
            let told = told(desk, id, *fact);
            if told.is_none_or(|told| told.text.trim().is_empty()) {
                take_guess(desk, id, *fact);
            }
        }
    };
    let can_guess = open.iter().any(|fact| fact.guess(&desk.bench.doc_untracked()).is_some());
    let fields = open.into_iter().map(|fact| view! { <Question id fact/> });
    view! {
        <fieldset class="asked" data-testid="asked">
            <legend>"What the file does not say"</legend>
            <p class="cap">
                "Nothing is assumed: tell what you know. A guess is what the pool of this scenario would be, and stays marked as one"
            </p>
            <div class="questions">{fields.collect_view()}</div>
            {can_guess
                .then(|| {
                    view! {
                        <button type="button" data-testid="take-guesses" on:click=take_all>
                            "Fill the gaps with guesses"
                        </button>
                    }
                })}
        </fieldset>
    }
    .into_any()
}

fn told(desk: Desk, id: FileId, fact: Fact) -> Option<Told> {
    desk.uploads.with_untracked(|uploads| uploads.file(id)?.facts.get(fact).cloned())
}

fn take_guess(desk: Desk, id: FileId, fact: Fact) {
    if let Some(text) = fact.guess(&desk.bench.doc_untracked()) {
        desk.tell(id, fact, Told { text, guessed: true });
    }
}

#[component]
fn Question(id: FileId, fact: Fact) -> impl IntoView {
    let desk = desk();
    let file = move || desk.uploads.with(|uploads| uploads.file(id).cloned());
    let told = Memo::new(move |_| file().and_then(|file| file.facts.get(fact).cloned()));
    let problem = Memo::new(move |_| file().and_then(|file| file.facts.problem(fact)));
    let text = move || told.get().map(|told| told.text).unwrap_or_default();
    let name = format!("{fact:?}").to_lowercase();
    // Classes have fields of the same names.
    let field_id = format!("tell-{name}-{id}");
    let note_id = format!("{field_id}-note");
    let described = note_id.clone();
    let known = Known::of(fact);
    let list = known.is_some().then(|| format!("{field_id}-list"));
    let options = known.map(|known| view! { <Options id=format!("{field_id}-list") known/> });
    view! {
        <div class="field" class:wrong=move || problem.with(Option::is_some)>
            <label for=field_id.clone()>{question(fact)}</label>
            <div class="num">
                <input
                    id=field_id
                    type="text"
                    inputmode=fact.quantity().map(|_| "decimal")
                    list=list
                    autocomplete="off"
                    spellcheck="false"
                    data-testid=format!("tell-{name}")
                    aria-describedby=described
                    aria-invalid=move || problem.with(Option::is_some).then_some("true")
                    prop:value=text
                    on:input:target=move |ev| {
                        desk.tell(id, fact, Told { text: ev.target().value(), guessed: false });
                    }
                />
                <span class="unit">{fact_unit(fact)}</span>
            </div>
            <div class="echo" id=note_id>
                {move || note(desk, id, fact, told.get(), problem.get())}
            </div>
            {options}
        </div>
    }
    .into_any()
}

/// What stands below a field: why it cannot be used, that it is a guess, or the offer of one.
fn note(
    desk: Desk,
    id: FileId,
    fact: Fact,
    told: Option<Told>,
    problem: Option<String>,
) -> AnyView {
    match (problem, told) {
        (Some(problem), _) => problem.into_any(),
        (None, Some(told)) if told.guessed => {
            let tag =
                Tag { shape: TagShape::Ring, text: "guess: the pool of this scenario".into() };
            view! { <TagMark tag/> }.into_any()
        }
        (None, Some(_)) => ().into_any(),
        (None, None) => {
            let guess = desk.bench.about(move |doc| fact.guess(doc));
            view! {
                {when_unanswered(fact)}
                {move || {
                    guess
                        .get()
                        .map(|guess| {
                            view! {
                                ". "
                                <button
                                    type="button"
                                    class="link"
                                    on:click=move |_| take_guess(desk, id, fact)
                                >
                                    "Guess " {guess}
                                    <span class="vh">" for " {question(fact)}</span>
                                </button>
                            }
                        })
                }}
            }
            .into_any()
        }
    }
}

/// What the catalogue could call it.
#[derive(Clone, Copy)]
enum Known {
    Gpus,
    Models,
}

impl Known {
    fn of(fact: Fact) -> Option<Self> {
        match fact {
            Fact::Gpu => Some(Self::Gpus),
            Fact::Model => Some(Self::Models),
            _ => None,
        }
    }

    fn ids(self) -> Vec<String> {
        match self {
            Self::Gpus => catalog::gpus().iter().map(|gpu| gpu.id.to_string()).collect(),
            Self::Models => catalog::models().iter().map(|model| model.id.clone()).collect(),
        }
    }
}

#[component]
fn Options(id: String, known: Known) -> impl IntoView {
    let options = known.ids().into_iter().map(|id| view! { <option value=id></option> });
    view! { <datalist id=id>{options.collect_view()}</datalist> }.into_any()
}
