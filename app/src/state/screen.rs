//! What is on screen: the last result with everything that it is read with.
//!
//! Jobs say how far they are many times a second, and every key changes the draft; a result changes
//! once in a while. View models therefore follow the memos below, which notify only when the result
//! is another one, and never the slots or the draft: an edit leaves what it outdates as it stands.

use std::collections::BTreeMap;
use std::sync::Arc;

use goodput_engine::accounts::report::SimReport;
use goodput_engine::estimate::report::EstimateReport;
use goodput_engine::planner::report::PlanReport;
use goodput_engine::scenario::doc::ScenarioDoc;
use leptos::prelude::*;

use super::field::Field;
use super::history::History;
use super::jobs::{Slot, same};
use super::{Baseline, Checked, Estimate};

/// A simulation and what belongs to the same document.
#[derive(Clone)]
pub struct Shown {
    /// What was simulated.
    pub doc: Arc<ScenarioDoc>,
    /// What would happen.
    pub report: Arc<SimReport>,
    /// Its estimate; `None` if the document was opened and left before there was one.
    pub estimate: Option<Arc<EstimateReport>>,
    /// Its plan, once there.
    pub plan: Option<Arc<PlanReport>>,
    /// The plan for the inputs before, until there is one for these.
    pub earlier_plan: Option<Arc<PlanReport>>,
    /// What it is compared with; `None` where that is the same document.
    pub before: Option<Baseline>,
    /// The answer before the edit that led to this one.
    pub earlier: Option<Baseline>,
}

impl Shown {
    fn as_baseline(&self) -> Baseline {
        Baseline {
            doc: self.doc.clone(),
            report: Some(self.report.clone()),
            estimate: self.estimate.clone(),
        }
    }

    /// The answer before the edit that led to `doc`: of the document with which the edit began, else
    /// the one on screen until now. Another scenario is no edit.
    fn earlier_than(&self, doc: &Arc<ScenarioDoc>, history: &History) -> Option<Baseline> {
        if same(&self.doc, doc) {
            return self.earlier.clone();
        }
        // What is undone is no edit: the answer is what it was.
        if history.is_undone(&self.doc) {
            return None;
        }
        let began = history.before(doc);
        let kept = self.earlier.as_ref().filter(|kept| began.is_some_and(|b| same(b, &kept.doc)));
        let is_it = began.is_some_and(|began| same(began, &self.doc));
        let earlier = kept.filter(|_| !is_it).cloned().unwrap_or_else(|| self.as_baseline());
        is_edit_of(&earlier.doc, doc).then_some(earlier)
    }
}

/// Whether two documents have the same classes and pools, by name.
fn is_edit_of(before: &ScenarioDoc, now: &ScenarioDoc) -> bool {
    let classes = |doc: &ScenarioDoc| -> Vec<String> {
        doc.workload.classes.iter().map(|class| class.name.clone()).collect()
    };
    let pools = |doc: &ScenarioDoc| -> Vec<String> {
        doc.fleet.pools.iter().map(|pool| pool.name.clone()).collect()
    };
    classes(before) == classes(now) && pools(before) == pools(now)
}

impl PartialEq for Shown {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.report, &other.report)
            && is_one(self.estimate.as_ref(), other.estimate.as_ref())
            && is_one(self.plan.as_ref(), other.plan.as_ref())
            && is_one(self.earlier_plan.as_ref(), other.earlier_plan.as_ref())
            && self.before == other.before
            && self.earlier == other.earlier
    }
}

/// What the answer is made of.
#[derive(Clone)]
pub enum Screen {
    /// A simulation.
    Simulated(Shown),
    /// Arithmetic alone: only token rates are declared.
    Arithmetic(Arc<EstimateReport>),
    /// The weights do not fit: nothing else can be said.
    DoesNotFit(Arc<EstimateReport>),
    /// The first simulation is not there yet.
    Soon(Option<Arc<EstimateReport>>),
}

impl PartialEq for Screen {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Simulated(a), Self::Simulated(b)) => a == b,
            (Self::Arithmetic(a), Self::Arithmetic(b))
            | (Self::DoesNotFit(a), Self::DoesNotFit(b)) => Arc::ptr_eq(a, b),
            (Self::Soon(a), Self::Soon(b)) => is_one(a.as_ref(), b.as_ref()),
            _ => false,
        }
    }
}

impl Screen {
    /// The plan on screen and whether it is for the inputs before.
    pub fn plan(&self) -> Option<(&Arc<PlanReport>, bool)> {
        let shown = self.simulated()?;
        let earlier = || shown.earlier_plan.as_ref().map(|plan| (plan, true));
        shown.plan.as_ref().map(|plan| (plan, false)).or_else(earlier)
    }

    /// The simulation, if that is what is on screen.
    pub fn simulated(&self) -> Option<&Shown> {
        match self {
            Self::Simulated(shown) => Some(shown),
            _ => None,
        }
    }
}

/// Whether two are the very same: compared by identity, since reports are long.
pub fn is_one<T>(a: Option<&Arc<T>>, b: Option<&Arc<T>>) -> bool {
    a.map(Arc::as_ptr) == b.map(Arc::as_ptr)
}

/// The result on screen.
pub fn shown(
    simulation: RwSignal<Slot<SimReport>>,
    plan: RwSignal<Slot<PlanReport>>,
    estimate: Memo<Option<Estimate>>,
    baseline: RwSignal<Option<Baseline>>,
    history: RwSignal<History>,
) -> Memo<Option<Shown>> {
    Memo::new(move |previous: Option<&Option<Shown>>| {
        let last = simulation.with(|slot| slot.last.clone())?;
        let earlier = previous.and_then(Option::as_ref).and_then(|on_screen| {
            history.with_untracked(|history| on_screen.earlier_than(&last.doc, history))
        });
        let estimate = estimate.with(|estimate| {
            let its_own = estimate.as_ref().filter(|e| same(&e.doc, &last.doc));
            its_own.map(|e| e.report.clone())
        });
        // The draft has another estimate by now, the result has still its own.
        let before = previous.and_then(Option::as_ref).filter(|p| same(&p.doc, &last.doc));
        let estimate = estimate.or_else(|| before.and_then(|p| p.estimate.clone()));
        let (plan, earlier_plan) = plan.with(|slot| slot.for_or_before(&last.doc));
        let before = baseline.get().filter(|b| !same(&b.doc, &last.doc));
        let (doc, report) = (last.doc, last.value);
        Some(Shown { doc, report, estimate, plan, earlier_plan, before, earlier })
    })
}

/// The answer on screen.
pub fn screen(estimate: Memo<Option<Estimate>>, shown: Memo<Option<Shown>>) -> Memo<Screen> {
    Memo::new(move |_| {
        let estimate = estimate.get();
        match &estimate {
            Some(e) if !e.fits() => return Screen::DoesNotFit(e.report.clone()),
            Some(e) if !e.can_be_simulated() => return Screen::Arithmetic(e.report.clone()),
            _ => {}
        }
        match shown.get() {
            Some(shown) => Screen::Simulated(shown),
            None => Screen::Soon(estimate.map(|e| e.report)),
        }
    })
}

/// Whether what is on screen is for the draft as it is typed.
pub fn current(
    screen: Memo<Screen>,
    draft: RwSignal<Arc<ScenarioDoc>>,
    unread: RwSignal<BTreeMap<Field, String>>,
) -> Memo<bool> {
    Memo::new(move |_| {
        let typed = unread.with(BTreeMap::is_empty);
        screen.with(|screen| {
            screen.simulated().is_none_or(|shown| typed && draft.with(|doc| same(&shown.doc, doc)))
        })
    })
}

/// `running`, `done` or `error`: what browser tests wait for.
pub fn phase(
    checked: Memo<Checked>,
    simulation: RwSignal<Slot<SimReport>>,
    plan: RwSignal<Slot<PlanReport>>,
) -> Memo<&'static str> {
    Memo::new(move |_| {
        if checked.with(|checked| checked.scenario.is_none()) {
            return "error";
        }
        if simulation.with(Slot::is_running) || plan.with(Slot::is_running) {
            "running"
        } else if simulation.with(Slot::has_failed) || plan.with(Slot::has_failed) {
            "error"
        } else {
            "done"
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::Edit;
    use super::super::edit::tests::{report_of, small_doc};
    use super::super::field::{ClassField, RATE};
    use super::*;

    fn rate(value: f64) -> Edit {
        let field = Field::Class(0, ClassField::Arrivals(RATE));
        Edit::Number { field, value: Some(value) }
    }

    /// The answer before an edit is that of the document it began with, however many keys it took;
    /// another scenario is no edit.
    #[test]
    fn the_answer_before_an_edit_is_that_of_the_document_it_began_with() {
        let start = Arc::new(small_doc());
        let report = Arc::new(report_of(&start));
        let on_screen = |doc: &Arc<ScenarioDoc>, earlier| Shown {
            doc: doc.clone(),
            report: report.clone(),
            estimate: None,
            plan: None,
            earlier_plan: None,
            before: None,
            earlier,
        };
        let mut history = History::default();
        let two = history.edit(&start, &rate(2.0)).expect("changes");
        let first = on_screen(&start, None).earlier_than(&two, &history).expect("an edit");
        assert!(same(&first.doc, &start));
        // The second key of the same number.
        let twenty = history.edit(&two, &rate(20.0)).expect("changes");
        let typed = on_screen(&two, Some(first)).earlier_than(&twenty, &history).expect("an edit");
        assert!(same(&typed.doc, &start));
        // Another edit begins with what the first came to.
        history.seal();
        let three = history.edit(&twenty, &rate(3.0)).expect("changes");
        let next = on_screen(&twenty, Some(typed)).earlier_than(&three, &history).expect("an edit");
        assert!(same(&next.doc, &twenty));
        let back = history.undo(&three).expect("a step");
        assert!(on_screen(&three, Some(next)).earlier_than(&back, &history).is_none());
        let again = history.redo(&back).expect("a step");
        assert!(on_screen(&back, None).earlier_than(&again, &history).is_some());
        let mut other = small_doc();
        other.workload.classes[0].name = "another".into();
        assert!(on_screen(&three, None).earlier_than(&Arc::new(other), &history).is_none());
    }
}
