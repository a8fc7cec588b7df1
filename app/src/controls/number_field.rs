//! A field for one number of the document.
//!
//! It keeps its own text while it is edited and writes only what reads as one number; a committed
//! value replaces the text when it changes from outside (undo, a preset, a link). What does not
//! read stays as typed, with the reason below, and the document has the value from before the
//! typing: on the way to `1.234,5` stood 1, 1.2 and 1.234, and nobody meant them.

use goodput_engine::math;
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use crate::format;
use crate::parse::Quantity;
use crate::state::field::{Field, FieldKind};
use crate::state::{Edit, Workbench, workbench};

/// A labelled number with its unit; `label` and `unit` replace those of the field.
#[component]
pub fn NumberField(
    field: Field,
    #[prop(optional, into)] label: Option<String>,
    #[prop(optional, into)] unit: Option<String>,
    /// The label is for screen readers only: the row above shows it.
    #[prop(optional)]
    bare: bool,
) -> impl IntoView {
    let bench = workbench();
    let kind = field.kind();
    let state = FieldState::new(bench, field, kind);
    let id = id_of(&field.path());
    let note_id = format!("{id}-note");
    let test_id = field.path();
    let described = note_id.clone();
    view! {
        <div
            class="field"
            class:edited=move || state.edited.get()
            class:wrong=move || state.is_wrong()
        >
            <label for=id.clone() class:vh=bare>{label.unwrap_or_else(|| kind.label.to_owned())}</label>
            <div class="num">
                <input
                    id=id
                    type="text"
                    inputmode="decimal"
                    autocomplete="off"
                    spellcheck="false"
                    role="spinbutton"
                    data-testid=test_id
                    placeholder=kind.when_empty.map(|_| "none")
                    aria-describedby=described
                    aria-invalid=move || state.is_wrong().then_some("true")
                    aria-valuenow=move || state.committed.get().map(|v| v.to_string())
                    aria-valuetext=move || state.spoken()
                    prop:value=move || state.shown.get()
                    on:input:target=move |ev| state.type_in(&ev.target().value())
                    on:blur=move |_| state.leave()
                    on:keydown=move |ev| state.press(&ev)
                />
                <span class="unit">{unit.unwrap_or_else(|| kind.unit.to_owned())}</span>
            </div>
            <p class="echo" id=note_id aria-live="polite">
                {move || state.note()}
            </p>
        </div>
    }
    .into_any()
}

/// An element id from a path of the document.
pub fn id_of(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[derive(Clone, Copy)]
struct FieldState {
    bench: Workbench,
    field: Field,
    kind: FieldKind,
    /// The document's value.
    committed: Memo<Option<f64>>,
    /// The text being edited; `None` shows the committed value.
    text: RwSignal<Option<String>>,
    /// Why the text is no number.
    error: RwSignal<Option<String>>,
    /// The document's value when the typing began.
    before: StoredValue<Option<f64>>,
    /// Whether the next change of the document is the field's own.
    own: StoredValue<bool>,
    shown: Memo<String>,
    edited: Memo<bool>,
    /// The error of the document at this place.
    problem: Memo<Option<String>>,
}

impl FieldState {
    fn new(bench: Workbench, field: Field, kind: FieldKind) -> Self {
        let committed = bench.about(move |doc| field.get(doc));
        let text: RwSignal<Option<String>> = RwSignal::new(None);
        let shown = Memo::new(move |_| text.get().unwrap_or_else(|| kind.text(committed.get())));
        let edited = Memo::new(move |_| {
            let now = committed.get();
            bench.baseline.with(|b| b.as_ref().is_some_and(|b| field.get(&b.doc) != now))
        });
        let path = field.path();
        let problem = Memo::new(move |_| {
            bench.checked.with(|checked| {
                let here = checked.errors().find(|problem| problem.path == path);
                here.map(|problem| format!("{}: {}", problem.message, problem.hint))
            })
        });
        let (before, own) = (StoredValue::new(None), StoredValue::new(false));
        let error = RwSignal::new(None);
        let state = Self {
            bench,
            field,
            kind,
            committed,
            text,
            error,
            before,
            own,
            shown,
            edited,
            problem,
        };
        // A value from outside replaces what was being typed: the two must not disagree.
        Effect::new(move |first: Option<()>| {
            committed.track();
            if first.is_some() && !own.get_value() {
                state.forget_text();
            }
            own.set_value(false);
        });
        on_cleanup(move || {
            let _gone = bench.unread.try_update(|unread| unread.remove(&field));
        });
        state
    }

    fn type_in(self, typed: &str) {
        if self.text.get_untracked().is_none() {
            self.before.set_value(self.committed.get_untracked());
        }
        self.text.set(Some(typed.to_owned()));
        match self.kind.read(typed) {
            Ok(value) => {
                self.accept();
                self.commit(value);
            }
            Err(why) => {
                self.commit(self.before.get_value());
                let quoted = typed.trim();
                let text =
                    if quoted.is_empty() { "this".into() } else { format!("“{quoted}”") };
                let error = format!("{text} {why}");
                self.error.set(Some(error.clone()));
                self.bench.unread.update(|unread| {
                    unread.insert(self.field, error);
                });
            }
        }
    }

    fn commit(self, value: Option<f64>) {
        if value != self.committed.get_untracked() {
            self.own.set_value(true);
            self.bench.edit(&Edit::Number { field: self.field, value });
        }
    }

    fn accept(self) {
        if self.error.get_untracked().is_some() {
            self.error.set(None);
        }
        if self.bench.unread.with_untracked(|unread| unread.contains_key(&self.field)) {
            self.bench.unread.update(|unread| {
                unread.remove(&self.field);
            });
        }
    }

    fn forget_text(self) {
        self.text.set(None);
        self.accept();
    }

    fn leave(self) {
        // A field that goes while it has the focus (undo took its point back) is left as well.
        let Some(error) = self.error.try_get_untracked() else { return };
        if error.is_none() {
            self.text.set(None);
        }
        self.bench.seal();
    }

    fn press(self, event: &KeyboardEvent) {
        let steps = match event.key().as_str() {
            "ArrowUp" => 1.0,
            "ArrowDown" => -1.0,
            "PageUp" => 10.0,
            "PageDown" => -10.0,
            "Enter" => {
                self.leave();
                return;
            }
            "Escape" if self.error.get_untracked().is_some() => {
                self.forget_text();
                return;
            }
            _ => return,
        };
        if event.ctrl_key() || event.meta_key() || event.alt_key() {
            return;
        }
        event.prevent_default();
        let Some(value) = self.committed.get_untracked() else { return };
        self.forget_text();
        self.commit(Some(stepped(value, steps, self.kind)));
    }

    fn is_wrong(self) -> bool {
        self.error.with(Option::is_some) || self.problem.with(Option::is_some)
    }

    /// What stands below: the error, or what the text means where that is more than it says.
    fn note(self) -> String {
        if let Some(error) = self.error.get().or_else(|| self.problem.get()) {
            return error;
        }
        let now = self.committed.get();
        let plain = self.kind.text(now);
        let mut parts = Vec::new();
        if self.text.with(|text| text.as_ref().is_some_and(|text| text.trim() != plain)) {
            parts.push(match now {
                Some(_) => format!("= {plain}"),
                None => self.kind.when_empty.unwrap_or_default().to_owned(),
            });
        }
        if self.edited.get() {
            let before = self
                .bench
                .baseline
                .with(|b| b.as_ref().map(|b| self.kind.text(self.field.get(&b.doc))));
            match before.as_deref() {
                Some("") => parts.push("was none".into()),
                Some(before) => parts.push(format!("was {before}")),
                None => {}
            }
        }
        parts.join(", ")
    }

    fn spoken(self) -> String {
        self.committed.get().map_or_else(
            || self.kind.when_empty.unwrap_or_default().to_owned(),
            |v| format::with_unit(&self.kind.text(Some(v)), self.kind.unit),
        )
    }
}

/// A value some steps on: one for counts, else one in the second digit; never below zero.
fn stepped(value: f64, steps: f64, kind: FieldKind) -> f64 {
    let step = if kind.quantity == Quantity::Count && value < 100.0 {
        1.0
    } else if value > 0.0 {
        math::pow(10.0, math::log10(value).floor() - 1.0)
    } else {
        1.0
    };
    let step = if kind.whole { step.max(1.0) } else { step };
    // Whole multiples of the step keep 0.30000000000000004 away.
    let next = ((value / step).round() + steps) * step;
    let tidy: f64 = format!("{next:.9e}").parse().unwrap_or(next);
    tidy.max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::field::{ClassField, PoolField, RATE};

    #[test]
    fn steps_are_ones_for_counts_and_second_digits_else() {
        let replicas = Field::Pool(0, PoolField::Replicas).kind();
        assert!((stepped(8.0, 1.0, replicas) - 9.0).abs() < 1e-12);
        assert!((stepped(8.0, -10.0, replicas)).abs() < 1e-12, "never below zero");
        let rate = Field::Class(0, ClassField::Arrivals(RATE)).kind();
        assert!((stepped(2.4, 1.0, rate) - 2.5).abs() < 1e-12);
        assert!((stepped(0.3, 1.0, rate) - 0.31).abs() < 1e-15);
        assert!((stepped(512.0, -1.0, rate) - 500.0).abs() < 1e-9);
    }

    #[test]
    fn ids_are_made_of_letters_and_digits() {
        assert_eq!(id_of("workload.classes[0].slo.ttft_ms"), "workload-classes-0--slo-ttft-ms");
    }
}
