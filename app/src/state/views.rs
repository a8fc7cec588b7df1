//! Views that are worked out only while somebody looks: each asks the worker that has the run.

use std::cell::RefCell;
use std::sync::Arc;

use goodput_engine::scenario::doc::ScenarioDoc;
use leptos::prelude::*;

use super::jobs::{Event, Slot, same};
use super::limits::Drag;
use super::{Screen, Workbench};
use crate::worker::protocol::{Question, Viewed};

/// What was found for a view, and whether more is under way.
pub type Asked = RwSignal<Slot<Viewed>>;

/// A slot for each view that asks.
#[derive(Clone, Copy)]
pub struct Views {
    /// Outcomes by two dimensions crossed.
    pub crossed: Asked,
    /// What the limit that is being dragged makes of the run.
    pub recounted: Asked,
    /// Capacity over one thing that is varied.
    pub capacity: Asked,
    /// Where the time of answers goes.
    pub life_cycle: Asked,
    /// What settings cost, each lifted alone.
    pub lifted: Asked,
    /// What else would help.
    pub remedies: Asked,
    /// Which benchmark points can serve a fit.
    pub usable: Asked,
    /// The way from a benchmark to the plan.
    pub bridged: Asked,
    /// What to measure next.
    pub rerun: Asked,
    /// The limit that is being dragged.
    pub(super) drag: RwSignal<Option<Drag>>,
}

impl Views {
    pub(super) fn new() -> Self {
        let slot = || RwSignal::new(Slot::default());
        Self {
            crossed: slot(),
            recounted: slot(),
            capacity: slot(),
            life_cycle: slot(),
            lifted: slot(),
            remedies: slot(),
            usable: slot(),
            bridged: slot(),
            rerun: slot(),
            drag: RwSignal::new(None),
        }
    }

    /// Every slot.
    pub(super) fn all(self) -> [Asked; 9] {
        let Self {
            crossed,
            recounted,
            capacity,
            life_cycle,
            lifted,
            remedies,
            usable,
            bridged,
            rerun,
            drag: _,
        } = self;
        [crossed, recounted, capacity, life_cycle, lifted, remedies, usable, bridged, rerun]
    }

    /// Hands an event to the view whose job it is about.
    pub(super) fn reduce(self, event: Event<Viewed>) {
        let (Event::Finished { job, .. } | Event::Ended { job, .. }) = &event else { return };
        let waits = |slot: &Slot<Viewed>| slot.running.is_some_and(|running| running.job == *job);
        if let Some(view) = self.all().into_iter().find(|view| view.with_untracked(waits)) {
            view.update(|slot| slot.reduce(event));
        }
    }

    /// What was asked of a worker that is gone is not under way any more.
    pub(super) fn drop_running(self) {
        for view in self.all().into_iter().filter(|view| view.with_untracked(Slot::is_running)) {
            view.update(|slot| slot.reduce(Event::Dropped));
        }
    }
}

impl Workbench {
    /// Keeps asking what `question` says about the document on screen, for as long as whoever calls
    /// this is on the page: again for another document or question, and where a worker was ended.
    pub fn ask(self, view: Asked, question: impl Fn() -> Option<Question> + 'static) {
        let asked: RefCell<Option<(Arc<ScenarioDoc>, Question)>> = RefCell::new(None);
        // The worker is the outside world.
        Effect::new(move |_| {
            let Some(question) = question() else { return };
            let Some(doc) = self.current.get().then(|| self.doc_on_screen()).flatten() else {
                return;
            };
            let is_it = |doc_then: &Arc<ScenarioDoc>, then: &Question| {
                same(doc_then, &doc) && *then == question
            };
            // One at a time: what is asked meanwhile is asked when the answer is there.
            let wait = view.with(|slot| {
                let known = slot.last.as_ref().is_some_and(|l| is_it(&l.doc, &l.value.question));
                let tried = asked.borrow().as_ref().is_some_and(|(d, q)| is_it(d, q));
                slot.is_running() || known || slot.has_failed() && tried
            });
            if !wait {
                asked.replace(Some((doc.clone(), question.clone())));
                self.work.with_value(|work| work.ask(view, &doc, question));
            }
        });
    }

    /// The document that the answer on screen is for.
    fn doc_on_screen(self) -> Option<Arc<ScenarioDoc>> {
        self.screen.with(|screen| match screen {
            Screen::Simulated(shown) => Some(shown.doc.clone()),
            Screen::Arithmetic(_) => Some(self.draft.get()),
            Screen::DoesNotFit(_) | Screen::Soon(_) => None,
        })
    }
}
