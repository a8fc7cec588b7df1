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
}

impl PartialEq for Shown {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.report, &other.report)
            && is_one(self.estimate.as_ref(), other.estimate.as_ref())
            && is_one(self.plan.as_ref(), other.plan.as_ref())
            && is_one(self.earlier_plan.as_ref(), other.earlier_plan.as_ref())
            && self.before == other.before
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
) -> Memo<Option<Shown>> {
    Memo::new(move |previous: Option<&Option<Shown>>| {
        let last = simulation.with(|slot| slot.last.clone())?;
        let estimate = estimate.with(|estimate| {
            let its_own = estimate.as_ref().filter(|e| same(&e.doc, &last.doc));
            its_own.map(|e| e.report.clone())
        });
        // The draft has another estimate by now, the result has still its own.
        let before = previous.and_then(Option::as_ref).filter(|p| same(&p.doc, &last.doc));
        let estimate = estimate.or_else(|| before.and_then(|p| p.estimate.clone()));
        let (plan, earlier_plan) = plan.with(|slot| slot.for_or_before(&last.doc));
        let before = baseline.get().filter(|b| !same(&b.doc, &last.doc));
        Some(Shown { doc: last.doc, report: last.value, estimate, plan, earlier_plan, before })
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
