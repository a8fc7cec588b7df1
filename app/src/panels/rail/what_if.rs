//! What people ask of every plan, one choice away: the scenario as it was becomes the baseline, so that
//! the answer says what is different.

use goodput_engine::what_if::WhatIf;
use leptos::prelude::*;

use crate::controls::{Choice, Select};
use crate::state::{Edit, Notice, workbench};

/// A choice of questions; each is an edit, which undo takes back.
#[component]
pub fn WhatIfChoice() -> impl IntoView {
    let question = |asked: &WhatIf| Choice::new(asked.id(), asked.title());
    let nothing = std::iter::once(Choice::new("", "choose…"));
    let choices = nothing.chain(WhatIf::ALL.iter().map(question)).collect();
    // It is asked, not set: the choice is free again at once.
    let chosen = RwSignal::new(String::new());
    let choose = Callback::new(move |id: String| {
        chosen.set(id.clone());
        if let Some(asked) = WhatIf::ALL.into_iter().find(|asked| asked.id() == id) {
            ask(asked);
        }
        chosen.set(String::new());
    });
    view! { <Select id="what-if" label="What if" choices value=chosen on_choose=choose quiet=true/> }
        .into_any()
}

fn ask(asked: WhatIf) {
    let bench = workbench();
    let checked = bench.checked.get_untracked();
    // With problems in the scenario, those are what is to be looked at first.
    let Some(scenario) = &checked.scenario else { return };
    match asked.variant(&checked.doc, scenario) {
        Ok(variant) => {
            if bench.baseline.with_untracked(Option::is_none) {
                bench.pin();
            }
            let title = asked.title().to_owned();
            bench.edit(&Edit::Variant { title, doc: Box::new(variant.doc) });
            bench.seal();
            bench.notice.set((!variant.notes.is_empty()).then(|| Notice {
                text: format!("What if {}: {}", asked.title(), variant.notes.join("; ")),
                hint: "Undo takes it back".to_owned(),
            }));
        }
        Err(why) => bench.notice.set(Some(Notice {
            text: format!("“{}” does not apply: {why}", asked.title()),
            hint: "Nothing has changed".to_owned(),
        })),
    }
}
