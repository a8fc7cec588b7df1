//! The scenario in the address: opening links, following edits, sharing.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use goodput_engine::scenario::doc::ScenarioDoc;
use goodput_engine::scenario::link;
use leptos::prelude::*;

use super::{Edit, Notice, Workbench};
use crate::browser::{self, Debounce};

/// Browsers refuse to change the address too often.
const ADDRESS_WAIT_MS: u32 = 600;

/// A link to a scenario, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sharing {
    /// The full address; empty where the scenario does not fit in a link.
    pub url: String,
    /// That it is long, or why there is none.
    pub remarks: Vec<String>,
}

/// The link to a document.
pub fn share(doc: &ScenarioDoc) -> Sharing {
    match link::encode(doc) {
        Ok(link) => Sharing {
            url: browser::address() + &link.fragment,
            remarks: link.warnings.iter().map(|w| format!("{}; {}", w.message, w.hint)).collect(),
        },
        Err(problem) => Sharing {
            url: String::new(),
            remarks: vec![format!("{}; {}", problem.message, problem.hint)],
        },
    }
}

/// Opens the link in the address, and lets the address follow the document from then on.
pub fn follow(bench: Workbench) {
    let opened = open(bench, &browser::fragment());
    let written = Rc::new(RefCell::new(String::new()));
    browser::on_fragment_change({
        let written = written.clone();
        move || {
            let fragment = browser::fragment();
            let ours = *written.borrow() == fragment;
            if !ours {
                open(bench, &fragment);
            }
        }
    });
    let wait = StoredValue::new_local(Debounce::new(ADDRESS_WAIT_MS));
    // A bad link stays in the address until something is edited: it may be mended there.
    let start = (!opened).then(|| bench.draft.get_untracked());
    // The address is the outside world.
    Effect::new(move |_| {
        let doc = bench.draft.get();
        if start.as_ref().is_some_and(|start| Arc::ptr_eq(start, &doc)) {
            return;
        }
        let written = written.clone();
        wait.with_value(|wait| {
            wait.call(move || {
                let fragment = link::encode(&doc).map_or_else(|_| String::new(), |l| l.fragment);
                written.borrow_mut().clone_from(&fragment);
                browser::replace_fragment(&fragment);
            });
        });
    });
}

/// Opens a link as one undoable edit; a bad one says why and changes nothing. True if the
/// document is now that of the link.
fn open(bench: Workbench, fragment: &str) -> bool {
    if fragment.len() <= 1 {
        return false;
    }
    match link::decode(fragment) {
        Ok(opened) => {
            let from = if opened.doc.name.is_empty() { "a link" } else { &opened.doc.name };
            bench.edit(&Edit::Open { from: from.to_owned(), doc: Box::new(opened.doc.clone()) });
            if let Some(warning) = opened.warnings.first() {
                let (text, hint) = (warning.message.clone(), warning.hint.clone());
                bench.notice.set(Some(Notice { text, hint }));
            }
            true
        }
        Err(error) => {
            let problems = error.problems();
            let hints: Vec<&str> = problems.iter().map(|p| p.hint.as_str()).collect();
            bench.notice.set(Some(Notice {
                text: format!("{error}; nothing was changed"),
                hint: hints.join("; "),
            }));
            false
        }
    }
}
