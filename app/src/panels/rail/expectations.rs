//! What a reviewer expects of headline numbers, and whether they are so.

use goodput_engine::scenario::HEADLINES;
use goodput_engine::scenario::doc::ExpectationDoc;
use leptos::prelude::*;

use super::folded;
use super::text::problem_note;
use crate::controls::{Choice, NumberField, Select};
use crate::state::field::{Bound, Field};
use crate::state::{Edit, workbench};

/// The expectations, closed while there are none.
#[component]
pub fn Expectations() -> impl IntoView {
    let count = workbench().about(|doc| doc.targets.expectations.len());
    let line = Memo::new(move |_| match count.get() {
        0 => "none".to_owned(),
        n => crate::format::plural(n as u64, "number", "numbers"),
    });
    let add = move |_| {
        change(|expectations| {
            let of = "ttft_ms.p99".to_owned();
            let first = ExpectationDoc { of, at_most: Some(1_000.0), at_least: None };
            expectations.push(expectations.last().cloned().unwrap_or(first));
        });
    };
    let body = view! {
        <p class="echo">
            "They travel with the link; goodput simulate ends with 3 where one is not met"
        </p>
        {move || (0..count.get()).map(expectation).collect_view()}
        <button class="link" type="button" on:click=add>"Expect something of a number"</button>
    };
    folded("expectations-edit", "Expectations", line, body.into_any())
}

fn change(edit: impl FnOnce(&mut Vec<ExpectationDoc>)) {
    let mut expectations = workbench().doc_untracked().targets.expectations.clone();
    edit(&mut expectations);
    workbench().edit(&Edit::Expectations(expectations));
}

fn expectation(at: usize) -> AnyView {
    let of = workbench().about(move |doc| {
        doc.targets.expectations.get(at).map(|expected| expected.of.clone()).unwrap_or_default()
    });
    let choices = HEADLINES.map(|name| Choice::new(name, name)).to_vec();
    let choose = Callback::new(move |name: String| {
        change(|expectations| {
            if let Some(expected) = expectations.get_mut(at) {
                expected.of = name;
            }
        });
    });
    let remove = move |_| {
        change(|expectations| {
            if at < expectations.len() {
                expectations.remove(at);
            }
        });
    };
    let path = format!("targets.expectations[{at}]");
    view! {
        <div class="part" role="group" aria-label=format!("Expectation {}", at + 1)>
            <Select id=format!("expected-{at}") label="Number" choices value=of on_choose=choose quiet=true/>
            {problem_note(format!("{path}.of"))}
            <div class="two">
                <NumberField field=Field::Expected(at, Bound::AtLeast)/>
                <NumberField field=Field::Expected(at, Bound::AtMost)/>
            </div>
            {problem_note(path)}
            <button class="link" type="button" on:click=remove>
                "Remove" <span class="vh">{format!(" expectation {}", at + 1)}</span>
            </button>
        </div>
    }
    .into_any()
}
