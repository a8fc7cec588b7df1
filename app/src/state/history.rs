//! Undo and redo over whole documents; typing in one field is one step.

use std::sync::Arc;

use goodput_engine::scenario::doc::ScenarioDoc;

use super::edit::{Edit, EditKey};

/// Steps that are kept.
const MAX_STEPS: usize = 200;

/// What was before each edit, and what undo took back.
#[derive(Debug, Clone, Default)]
pub struct History {
    past: Vec<Step>,
    future: Vec<Step>,
    /// The field being typed in: its next edit belongs to the last step.
    open: Option<EditKey>,
}

#[derive(Debug, Clone)]
struct Step {
    /// The document on the other side of the step.
    doc: Arc<ScenarioDoc>,
    /// What the edit did, in words.
    label: String,
    /// It opened another scenario.
    opened: bool,
}

impl History {
    /// The document after `edit`; `None` if it changes nothing.
    pub fn edit(&mut self, doc: &Arc<ScenarioDoc>, edit: &Edit) -> Option<Arc<ScenarioDoc>> {
        let mut next = (**doc).clone();
        edit.apply(&mut next);
        if next == **doc {
            return None;
        }
        let key = edit.key();
        self.future.clear();
        if key.is_some() && key == self.open {
            // Typed back to where it began: as if nothing had been typed.
            if self.past.last().is_some_and(|step| *step.doc == next) {
                self.open = None;
                return self.past.pop().map(|step| step.doc);
            }
        } else {
            let opened = matches!(edit, Edit::Open { .. });
            self.past.push(Step { doc: doc.clone(), label: edit.label(), opened });
            if self.past.len() > MAX_STEPS {
                self.past.remove(0);
            }
        }
        self.open = key;
        Some(Arc::new(next))
    }

    /// Ends typing: the next edit of the same field is a step of its own.
    pub fn seal(&mut self) {
        self.open = None;
    }

    /// The document before the step that is still being typed or dragged, as if there had been none.
    pub fn take_back(&mut self) -> Option<Arc<ScenarioDoc>> {
        self.open.take().and_then(|_| self.past.pop()).map(|step| step.doc)
    }

    /// The document before the last step.
    pub fn undo(&mut self, doc: &Arc<ScenarioDoc>) -> Option<Arc<ScenarioDoc>> {
        let step = self.past.pop()?;
        self.open = None;
        self.future.push(Step { doc: doc.clone(), ..step.clone() });
        Some(step.doc)
    }

    /// The document after the step that undo took back last.
    pub fn redo(&mut self, doc: &Arc<ScenarioDoc>) -> Option<Arc<ScenarioDoc>> {
        let step = self.future.pop()?;
        self.open = None;
        self.past.push(Step { doc: doc.clone(), ..step.clone() });
        Some(step.doc)
    }

    /// What the document was before each edit of it, the last first, as far back as it was opened: one
    /// that is passed while typing is none of them, nor is one that was undone.
    pub fn past(&self) -> impl Iterator<Item = &Arc<ScenarioDoc>> {
        self.past.iter().rev().take_while(|step| !step.opened).map(|step| &step.doc)
    }

    /// What undo would take back, in words.
    pub fn undoes(&self) -> Option<&str> {
        self.past.last().map(|step| step.label.as_str())
    }

    /// What redo would do again, in words.
    pub fn redoes(&self) -> Option<&str> {
        self.future.last().map(|step| step.label.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::super::edit::tests::small_doc;
    use super::super::field::{ClassField, Field, RATE};
    use super::*;

    fn rate(value: f64) -> Edit {
        Edit::Number { field: Field::Class(0, ClassField::Arrivals(RATE)), value: Some(value) }
    }

    fn name(text: &str) -> Edit {
        Edit::Rename(text.to_owned())
    }

    #[test]
    fn typing_in_one_field_is_one_step() {
        let mut history = History::default();
        let start = Arc::new(small_doc());
        let mut doc = start.clone();
        for value in [2.0, 20.0, 205.0] {
            doc = history.edit(&doc, &rate(value)).expect("changes");
        }
        assert_eq!(history.undo(&doc), Some(start.clone()));
        assert_eq!(history.undo(&start), None);
        assert_eq!(history.redo(&start), Some(doc));
    }

    #[test]
    fn the_past_is_what_each_step_began_with() {
        let mut history = History::default();
        let start = Arc::new(small_doc());
        assert_eq!(history.past().next(), None);
        let two = history.edit(&start, &rate(2.0)).expect("changes");
        let twenty = history.edit(&two, &rate(20.0)).expect("changes");
        let named = history.edit(&twenty, &name("x")).expect("changes");
        assert_eq!(history.past().collect::<Vec<_>>(), [&twenty, &start]);
        history.undo(&named);
        assert_eq!(history.past().collect::<Vec<_>>(), [&start]);
        let open = Edit::Open { from: "a preset".into(), doc: Box::new((*named).clone()) };
        let opened = history.edit(&twenty, &open).expect("another");
        assert_eq!(history.past().next(), None, "another scenario is no edit");
        history.edit(&opened, &rate(7.0)).expect("changes");
        assert_eq!(history.past().collect::<Vec<_>>(), [&opened]);
    }

    #[test]
    fn typing_back_to_the_start_is_no_step() {
        let mut history = History::default();
        let start = Arc::new(small_doc());
        let rate_now = Field::Class(0, ClassField::Arrivals(RATE)).get(&start).expect("a rate");
        let typed = history.edit(&start, &rate(205.0)).expect("changes");
        let back = history.edit(&typed, &rate(rate_now)).expect("changes back");
        assert_eq!((&back, history.undoes()), (&start, None));
        let again = history.edit(&back, &rate(7.0)).expect("changes");
        assert_eq!(history.undo(&again), Some(start));
    }

    #[test]
    fn leaving_the_field_or_another_edit_starts_a_step() {
        let mut history = History::default();
        let start = Arc::new(small_doc());
        let a = history.edit(&start, &rate(2.0)).expect("changes");
        history.seal();
        let b = history.edit(&a, &rate(3.0)).expect("changes");
        let c = history.edit(&b, &name("x")).expect("changes");
        let d = history.edit(&c, &rate(4.0)).expect("changes");
        assert_eq!(history.undo(&d), Some(c.clone()));
        assert_eq!(history.undo(&c), Some(b.clone()));
        assert_eq!(history.undo(&b), Some(a.clone()));
        assert_eq!(history.undo(&a), Some(start));
    }

    #[test]
    fn what_is_taken_back_leaves_no_trace_and_takes_nothing_else_along() {
        let mut history = History::default();
        let start = Arc::new(small_doc());
        let a = history.edit(&start, &rate(2.0)).expect("changes");
        history.seal();
        assert_eq!(history.take_back(), None, "nothing is being dragged");
        let b = history.edit(&a, &rate(3.0)).expect("changes");
        let _ = history.edit(&b, &rate(4.0)).expect("changes");
        assert_eq!(history.take_back(), Some(a.clone()));
        assert_eq!(history.redoes(), None);
        assert_eq!(history.undo(&a), Some(start));
    }

    #[test]
    fn an_edit_that_changes_nothing_is_no_step_and_an_edit_ends_redo() {
        let mut history = History::default();
        let start = Arc::new(small_doc());
        let rate_now = Field::Class(0, ClassField::Arrivals(RATE)).get(&start).expect("a rate");
        assert_eq!(history.edit(&start, &rate(rate_now)), None);
        let a = history.edit(&start, &rate(2.0)).expect("changes");
        let back = history.undo(&a).expect("undone");
        assert_eq!(history.redoes(), Some("Rate"));
        let _ = history.edit(&back, &name("y")).expect("changes");
        assert_eq!(history.redoes(), None);
        assert!(history.undoes().is_some());
    }

    #[test]
    fn old_steps_are_dropped_not_new_ones() {
        let mut history = History::default();
        let mut doc = Arc::new(small_doc());
        for i in 0..300_u32 {
            doc = history.edit(&doc, &name(&i.to_string())).expect("changes");
            history.seal();
        }
        let mut undone = 0;
        while let Some(before) = history.undo(&doc) {
            doc = before;
            undone += 1;
        }
        assert_eq!((undone, doc.name.as_str()), (MAX_STEPS, "99"));
    }
}
