//! The scenario in the address: opening links, following edits, sharing.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use goodput_engine::problem::Problem;
use goodput_engine::scenario::doc::{self, ScenarioDoc};
use goodput_engine::scenario::link::{self, LinkError};
use leptos::prelude::*;

use super::{Edit, Notice, Workbench};
use crate::browser::{self, Debounce};

/// Browsers refuse to change the address too often.
const ADDRESS_WAIT_MS: u32 = 600;

/// Where a tab keeps a scenario that no link can hold.
const KEPT: &str = "goodput-scenario";

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

/// What the page begins with: after a reload what this tab kept; else the link in its address, or
/// `example` without one.
pub fn first(example: impl FnOnce() -> ScenarioDoc) -> First {
    if browser::is_revisit() {
        let kept = browser::kept(KEPT).and_then(|text| doc::parse(&text).ok());
        if let Some(doc) = kept {
            return First { doc, notice: None, in_address: false };
        }
    }
    browser::keep(KEPT, None);
    let fragment = browser::fragment();
    if fragment.len() <= 1 {
        return First { doc: example(), notice: None, in_address: true };
    }
    let (doc, notice) = match link::decode(&fragment) {
        Ok(opened) => (opened.doc, opened.warnings.first().map(notice)),
        // A bad link stays in the address until something is edited: it may be mended there.
        Err(error) => (example(), Some(refusal(&error))),
    };
    First { doc, notice, in_address: true }
}

/// The document that the page begins with.
pub struct First {
    /// The document.
    pub doc: ScenarioDoc,
    /// What is to be said of the link it came from.
    pub notice: Option<Notice>,
    /// The address needs no change for it.
    pub in_address: bool,
}

/// Opens links that are followed within the page, lets the address follow the document, and keeps
/// what it does not hold yet when the page goes.
pub fn follow(bench: Workbench, in_address: bool) {
    let written = Rc::new(RefCell::new(Written {
        fragment: String::new(),
        doc: in_address.then(|| bench.draft.get_untracked()),
        safe: true,
    }));
    browser::on_fragment_change({
        let written = written.clone();
        move || {
            let fragment = browser::fragment();
            let ours = written.borrow().fragment == fragment;
            if !ours {
                open(bench, &fragment);
            }
        }
    });
    browser::on_leaving({
        let written = written.clone();
        move || {
            let doc = bench.draft.get_untracked();
            if !written.borrow().is_of(&doc) {
                browser::keep(KEPT, Some(&doc::to_json(&doc)));
            }
        }
    });
    browser::ask_before_leaving({
        let written = written.clone();
        move || !written.borrow().safe
    });
    let wait = StoredValue::new_local((Debounce::new(ADDRESS_WAIT_MS), written));
    // The address is the outside world.
    Effect::new(move |_| {
        bench.draft.track();
        wait.with_value(|(wait, written)| {
            let written = written.clone();
            wait.call(move || {
                let doc = bench.draft.get_untracked();
                if !written.borrow().is_of(&doc) {
                    written.replace(write(doc));
                }
            });
        });
    });
}

/// What the address says.
struct Written {
    /// Its fragment.
    fragment: String,
    /// The document that it is for.
    doc: Option<Arc<ScenarioDoc>>,
    /// The document would outlive a reload.
    safe: bool,
}

impl Written {
    fn is_of(&self, doc: &Arc<ScenarioDoc>) -> bool {
        self.doc.as_ref().is_some_and(|written| Arc::ptr_eq(written, doc))
    }
}

/// Writes a document into the address; what is too long for one, this tab keeps.
fn write(document: Arc<ScenarioDoc>) -> Written {
    let (fragment, safe) = match link::encode(&document) {
        Ok(link) => {
            browser::keep(KEPT, None);
            (link.fragment, true)
        }
        Err(_) => (String::new(), browser::keep(KEPT, Some(&doc::to_json(&document)))),
    };
    browser::replace_fragment(&fragment);
    Written { fragment, doc: Some(document), safe }
}

/// Opens a link as one undoable edit; a bad one says why and changes nothing.
fn open(bench: Workbench, fragment: &str) {
    if fragment.len() <= 1 {
        return;
    }
    match link::decode(fragment) {
        Ok(opened) => {
            let from = if opened.doc.name.is_empty() { "a link" } else { &opened.doc.name };
            bench.edit(&Edit::Open { from: from.to_owned(), doc: Box::new(opened.doc.clone()) });
            if let Some(warning) = opened.warnings.first() {
                bench.notice.set(Some(notice(warning)));
            }
        }
        Err(error) => bench.notice.set(Some(refusal(&error))),
    }
}

fn notice(warning: &Problem) -> Notice {
    Notice { text: warning.message.clone(), hint: warning.hint.clone() }
}

fn refusal(error: &LinkError) -> Notice {
    let problems = error.problems();
    let hints: Vec<&str> = problems.iter().map(|p| p.hint.as_str()).collect();
    Notice { text: format!("{error}; nothing was changed"), hint: hints.join("; ") }
}
