//! A limit of the contract while it is being dragged: it is tried on the run on screen, and becomes
//! an edit when it is let go.

use std::sync::Arc;

use goodput_engine::accounts::Recount;
use goodput_engine::scenario::doc::{ScenarioDoc, SloDoc};
use goodput_engine::slo::Limit;
use leptos::prelude::*;

use super::field::ClassField;
use super::jobs::same;
use super::{Edit, Workbench};
use crate::worker::protocol::{Finding, Question};

/// A limit under somebody's finger.
#[derive(Debug, Clone, PartialEq)]
pub struct Drag {
    /// Which.
    pub limit: Limit,
    /// Of which class; of all of them where they have the same.
    pub class: Option<usize>,
    /// Where it is now, milliseconds.
    pub ms: f64,
    /// Not let go yet.
    held: bool,
    /// What was on screen when it was taken.
    doc: Arc<ScenarioDoc>,
}

/// The field of a limit.
pub fn field_of(limit: Limit) -> ClassField {
    match limit {
        Limit::Ttft => ClassField::Ttft,
        Limit::Ttfvt => ClassField::Ttfvt,
        Limit::Itl => ClassField::Itl,
        Limit::Tpot => ClassField::Tpot,
        Limit::Stall => ClassField::LongestStall,
        Limit::E2e => ClassField::E2e,
    }
}

impl Drag {
    fn edit(&self) -> Edit {
        Edit::Limit { field: field_of(self.limit), class: self.class, ms: self.ms }
    }

    /// The contracts of all classes as they would be.
    fn contracts(&self) -> Vec<SloDoc> {
        let mut doc = (*self.doc).clone();
        self.edit().apply(&mut doc);
        doc.workload.classes.into_iter().map(|class| class.slo).collect()
    }

    fn question(&self) -> Question {
        Question::Recount(self.contracts())
    }

    /// Whether a document has it where it was let go.
    fn is_in(&self, doc: &ScenarioDoc) -> bool {
        let mut with = doc.clone();
        self.edit().apply(&mut with);
        with == *doc
    }
}

impl Workbench {
    /// What is being dragged, or was let go and is not simulated yet, as the charts on screen have
    /// to show it.
    pub fn dragged(self) -> Memo<Option<Drag>> {
        Memo::new(move |_| {
            let drag = self.views.drag.get()?;
            let on_screen = self
                .screen
                .with(|screen| screen.simulated().is_some_and(|shown| same(&shown.doc, &drag.doc)));
            let there = drag.held || self.draft.with(|doc| drag.is_in(doc));
            (on_screen && there).then_some(drag)
        })
    }

    /// Counts the run on screen again wherever a limit is dragged to, for as long as whoever calls
    /// this is on the page.
    pub fn recount_while_dragging(self) {
        self.ask(self.views.recounted, move || {
            self.views.drag.with(|drag| drag.as_ref().filter(|d| d.held).map(Drag::question))
        });
    }

    /// What a dragged limit makes of the run, once it has been counted.
    pub fn recounted(self, drag: &Drag) -> Option<Recount> {
        self.views.recounted.with(|slot| {
            let last = slot.last.as_ref().filter(|last| same(&last.doc, &drag.doc))?;
            match &last.value.finding {
                Finding::Recounted(found) if last.value.question == drag.question() => {
                    Some(found.clone())
                }
                _ => None,
            }
        })
    }

    /// Moves a limit of the run on screen.
    pub fn drag(self, limit: Limit, class: Option<usize>, ms: f64) {
        let on_screen =
            self.screen.with_untracked(|screen| screen.simulated().map(|shown| shown.doc.clone()));
        if let Some(doc) = on_screen {
            self.views.drag.set(Some(Drag { limit, class, ms, held: true, doc }));
        }
    }

    /// Lets it go: one edit of the contract.
    pub fn let_go(self) {
        let Some(drag) = self.views.drag.get_untracked().filter(|drag| drag.held) else { return };
        self.edit(&drag.edit());
        self.views.drag.set(Some(Drag { held: false, ..drag }));
    }

    /// Puts it back to where it was taken.
    pub fn put_back(self) -> bool {
        let held = self.views.drag.with_untracked(|drag| drag.as_ref().is_some_and(|d| d.held));
        if held {
            self.views.drag.set(None);
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use super::super::edit::tests::small_doc;
    use super::*;

    fn drag(class: Option<usize>, doc: ScenarioDoc) -> Drag {
        Drag { limit: Limit::Ttft, class, ms: 1_300.0, held: true, doc: Arc::new(doc) }
    }

    fn two_classes(second_ms: Option<f64>) -> ScenarioDoc {
        let mut doc = small_doc();
        Edit::DuplicateClass(0).apply(&mut doc);
        doc.workload.classes[1].slo.ttft_ms = second_ms;
        doc
    }

    #[test]
    fn a_dragged_limit_is_that_of_its_classes_and_of_nobody_else() {
        let ttft = |drag: &Drag| drag.contracts().iter().map(|slo| slo.ttft_ms).collect::<Vec<_>>();
        let both = two_classes(Some(2_000.0));
        assert_eq!(ttft(&drag(None, both.clone())), [Some(1_300.0); 2]);
        assert_eq!(ttft(&drag(Some(1), both)), [Some(2_000.0), Some(1_300.0)]);
        // Dragging gives nobody a limit who has none.
        assert_eq!(ttft(&drag(None, two_classes(None))), [Some(1_300.0), None]);
    }

    #[test]
    fn a_document_has_it_once_it_was_let_go_there() {
        let drag = drag(None, two_classes(Some(2_000.0)));
        let mut doc = (*drag.doc).clone();
        assert!(!drag.is_in(&doc));
        drag.edit().apply(&mut doc);
        assert!(drag.is_in(&doc));
    }
}
