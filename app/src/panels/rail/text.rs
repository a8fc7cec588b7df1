//! Fields for several numbers at once: lists, tables, laws in words.
//!
//! As in a field for one number, what does not read stays as typed, with the reason below, and the
//! document has what it had before the typing.

use goodput_engine::scenario::doc::{ClassDoc, ScenarioDoc};
use leptos::prelude::*;

use crate::controls::id_of;
use crate::state::edit::{ClassEdit, Edit, Typed};
use crate::state::field::{ClassField, Field, Text};
use crate::state::{Workbench, workbench};

/// What a text means and how much that is, in words; or why it does not read.
pub type Reading = Result<(Typed, String), String>;

/// What a field says about itself, and how its text becomes an edit.
#[derive(Clone, Copy)]
pub struct Typing {
    /// Of which class.
    pub index: usize,
    /// Which text.
    pub text: Text,
    /// What the document has there; `None` where it has something else.
    pub now: fn(&ClassDoc, Text) -> Option<Typed>,
    /// That as text.
    pub say: fn(&Typed) -> String,
    /// What a text means, and how much that is, in words.
    pub read: fn(&str, Text) -> Reading,
    /// Label above it.
    pub label: &'static str,
    /// What is written in it while it is empty.
    pub example: &'static str,
    /// Lines; one is read when the field is left, since its first half means something else.
    pub rows: u8,
}

impl Typing {
    /// The field, closed below what is edited row by row.
    pub fn folded(self, title: &'static str) -> AnyView {
        view! {
            <details class="more">
                <summary>{title}</summary>
                {self.view()}
            </details>
        }
        .into_any()
    }

    /// The field on the page.
    pub fn view(self) -> AnyView {
        let state = State::new(self);
        let path = state.field.path();
        let problem = problem_of(self.text, path.clone());
        let id = id_of(&path);
        let note_id = format!("{id}-note");
        let wrong = move || state.error.with(Option::is_some) || problem.with(Option::is_some);
        let invalid = move || wrong().then_some("true");
        let described = note_id.clone();
        let one_line = self.rows < 2;
        let input = if one_line {
            view! {
                <div class="num">
                    <input
                        id=id.clone()
                        data-testid=path
                        type="text"
                        autocomplete="off"
                        spellcheck="false"
                        placeholder=self.example
                        aria-describedby=described
                        aria-invalid=invalid
                        prop:value=move || state.shown()
                        on:change:target=move |ev| {
                            state.take(ev.target().value());
                            state.leave();
                        }
                        on:keydown=move |ev| state.press(&ev.key())
                    />
                </div>
            }
            .into_any()
        } else {
            view! {
                <textarea
                    id=id.clone()
                    data-testid=path
                    rows=self.rows.to_string()
                    placeholder=self.example
                    spellcheck="false"
                    aria-describedby=described
                    aria-invalid=invalid
                    prop:value=move || state.shown()
                    on:input:target=move |ev| state.take(ev.target().value())
                    on:blur=move |_| state.leave()
                    on:keydown=move |ev| state.press(&ev.key())
                ></textarea>
            }
            .into_any()
        };
        view! {
            <div class="field" class:inline=one_line class:wrong=wrong>
                <label for=id>{self.label}</label>
                {input}
                <p class="echo" id=note_id aria-live="polite">
                    {move || state.error.get().or_else(|| problem.get()).unwrap_or_else(|| state.said.get())}
                </p>
            </div>
        }
        .into_any()
    }
}

#[derive(Clone, Copy)]
struct State {
    bench: Workbench,
    typing: Typing,
    field: Field,
    /// What the document has, as text.
    committed: Memo<String>,
    /// What is being typed; `None` shows what the document has.
    draft: RwSignal<Option<String>>,
    /// How much it is, in words.
    said: RwSignal<String>,
    /// Why it does not read.
    error: Memo<Option<String>>,
    /// What the document had when the typing began.
    before: StoredValue<Option<Typed>>,
    /// Whether the next change of the document is the field's own.
    own: StoredValue<bool>,
}

impl State {
    fn new(typing: Typing) -> Self {
        let bench = workbench();
        let field = Field::Class(typing.index, ClassField::Text(typing.text));
        let committed =
            bench.about(move |doc| typing.in_doc(doc).as_ref().map(typing.say).unwrap_or_default());
        let state = Self {
            bench,
            typing,
            field,
            committed,
            draft: RwSignal::new(None),
            said: RwSignal::new(String::new()),
            error: Memo::new(move |_| bench.unread.with(|unread| unread.get(&field).cloned())),
            before: StoredValue::new(None),
            own: StoredValue::new(false),
        };
        // What comes from outside replaces what was being typed: the two must not disagree.
        Effect::new(move |first: Option<()>| {
            committed.track();
            if first.is_some() && !state.own.get_value() {
                state.forget();
            }
            state.own.set_value(false);
        });
        on_cleanup(move || {
            let _gone = bench.unread.try_update(|unread| unread.remove(&field));
        });
        state
    }

    fn shown(self) -> String {
        self.draft.get().unwrap_or_else(|| self.committed.get())
    }

    fn take(self, typed: String) {
        if self.draft.with_untracked(Option::is_none) {
            self.before.set_value(self.typing.in_doc(&self.bench.doc_untracked()));
        }
        match (self.typing.read)(&typed, self.typing.text) {
            Ok((edit, meaning)) => {
                self.accept();
                self.said.set(meaning);
                self.commit(edit);
            }
            Err(why) => {
                if let Some(before) = self.before.get_value() {
                    self.commit(before);
                }
                self.bench.unread.update(|unread| {
                    unread.insert(self.field, why);
                });
            }
        }
        self.draft.set(Some(typed));
    }

    fn commit(self, typed: Typed) {
        let was = self.committed.get_untracked();
        self.bench.edit(&Edit::Class(self.typing.index, ClassEdit::Typed(typed)));
        self.own.set_value(self.committed.get_untracked() != was);
    }

    fn accept(self) {
        if self.bench.unread.with_untracked(|unread| unread.contains_key(&self.field)) {
            self.bench.unread.update(|unread| {
                unread.remove(&self.field);
            });
        }
    }

    fn forget(self) {
        self.draft.set(None);
        self.said.set(String::new());
        self.accept();
    }

    fn leave(self) {
        // A field that goes while it has the focus is left as well.
        let Some(error) = self.error.try_get_untracked() else { return };
        if error.is_none() {
            self.draft.set(None);
        }
        self.bench.seal();
    }

    fn press(self, key: &str) {
        if key == "Escape" && self.error.with_untracked(Option::is_some) {
            self.forget();
        }
    }
}

impl Typing {
    /// What a document has there.
    fn in_doc(self, doc: &ScenarioDoc) -> Option<Typed> {
        (self.now)(doc.workload.classes.get(self.index)?, self.text)
    }
}

/// What is wrong with a text. A law in words stands for its numbers: what is wrong with one of them
/// is wrong with it.
fn problem_of(text: Text, path: String) -> Memo<Option<String>> {
    match text {
        Text::Words(_) => problem_within(path),
        _ => problem_at(path),
    }
}

/// What is wrong at a place of the document.
pub fn problem_at(path: String) -> Memo<Option<String>> {
    problem_where(move |at| at == path)
}

/// What is wrong at a place of the document or at a number of it.
fn problem_within(path: String) -> Memo<Option<String>> {
    problem_where(move |at| {
        at.strip_prefix(&path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

fn problem_where(is_here: impl Fn(&str) -> bool + Send + Sync + 'static) -> Memo<Option<String>> {
    let bench = workbench();
    Memo::new(move |_| {
        bench.checked.with(|checked| {
            let here = checked.errors().find(|problem| is_here(&problem.path));
            here.map(|problem| format!("{}: {}", problem.message, problem.hint))
        })
    })
}

/// What is wrong at a place that has no field of its own; nothing while it is right.
pub fn problem_note(path: String) -> AnyView {
    let id = id_of(&path);
    let problem = problem_at(path);
    view! {
        {move || {
            let id = id.clone();
            problem.get().map(|what| view! { <p class="echo bad" id=id tabindex="-1">{what}</p> })
        }}
    }
    .into_any()
}
