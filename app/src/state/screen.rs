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
    /// The last answer on the way here that was judged otherwise; `None` where there was none.
    pub turned: Option<Baseline>,
    /// The answers before this one, oldest first.
    answered: Vec<Baseline>,
}

/// Answers that are kept to say since when a fleet is enough, or is not.
const ANSWERS: usize = 50;

impl Shown {
    fn as_baseline(&self) -> Baseline {
        Baseline {
            doc: self.doc.clone(),
            report: Some(self.report.clone()),
            estimate: self.estimate.clone(),
        }
    }

    /// The answers before that to `doc`, when this one is on screen.
    fn answered_before(&self, doc: &Arc<ScenarioDoc>) -> Vec<Baseline> {
        let mut answered = self.answered.clone();
        if !same(&self.doc, doc) {
            answered.retain(|old| !same(&old.doc, &self.doc));
            answered.push(self.as_baseline());
            answered.drain(..answered.len().saturating_sub(ANSWERS));
        }
        answered
    }
}

/// Whether the contract holds, and whether the sustainable supply is what is asked for at the peak.
pub fn judged(report: &SimReport) -> (bool, bool) {
    let (required, sustainable) = report.supply.at_tightest();
    (report.contract_holds, sustainable.rps >= required.rps)
}

/// The last document before the edits that led to `doc` whose answer was judged other than `report`
/// is. What is undone is no edit, nor is another scenario.
fn turned_since(
    (doc, report): (&Arc<ScenarioDoc>, &SimReport),
    history: &History,
    answered: &[Baseline],
) -> Option<Baseline> {
    let judged_otherwise = |old: &&Baseline| {
        old.report.as_ref().is_some_and(|before| judged(before) != judged(report))
    };
    let others = history.past().filter(|past| !same(past, doc));
    let mut answers = others.filter_map(|past| answered.iter().find(|old| same(&old.doc, past)));
    answers.find(judged_otherwise).cloned()
}

impl PartialEq for Shown {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.report, &other.report)
            && is_one(self.estimate.as_ref(), other.estimate.as_ref())
            && is_one(self.plan.as_ref(), other.plan.as_ref())
            && is_one(self.earlier_plan.as_ref(), other.earlier_plan.as_ref())
            && self.before == other.before
            && self.turned == other.turned
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
        let on_screen = previous.and_then(Option::as_ref);
        let answered = on_screen.map_or_else(Vec::new, |shown| shown.answered_before(&last.doc));
        let turned = history
            .with_untracked(|history| turned_since((&last.doc, &last.value), history, &answered));
        let estimate = estimate.with(|estimate| {
            let its_own = estimate.as_ref().filter(|e| same(&e.doc, &last.doc));
            its_own.map(|e| e.report.clone())
        });
        // The draft has another estimate by now, the result has still its own.
        let before = on_screen.filter(|p| same(&p.doc, &last.doc));
        let estimate = estimate.or_else(|| before.and_then(|p| p.estimate.clone()));
        let (plan, earlier_plan) = plan.with(|slot| slot.for_or_before(&last.doc));
        let before = baseline.get().filter(|b| !same(&b.doc, &last.doc));
        let (doc, report) = (last.doc, last.value);
        Some(Shown { doc, report, estimate, plan, earlier_plan, before, turned, answered })
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

    /// The fleet held, and does not since outputs grew: that is said until it holds again, whatever
    /// else is edited meanwhile and however many keys it takes.
    #[test]
    fn an_answer_is_told_from_the_last_one_that_was_judged_otherwise() {
        let start = Arc::new(small_doc());
        let report = report_of(&start);
        let answer = |doc: &Arc<ScenarioDoc>, holds| Baseline {
            doc: doc.clone(),
            report: Some(Arc::new(SimReport { contract_holds: holds, ..report.clone() })),
            estimate: None,
        };
        let told = |now: &Baseline, history: &History, answered: &[Baseline]| {
            let report = now.report.as_deref().expect("a report");
            turned_since((&now.doc, report), history, answered).map(|old| old.doc)
        };
        let mut history = History::default();
        let (mut answered, mut doc) = (vec![answer(&start, true)], start.clone());
        // Two keys of one number, then other edits; which of them holds.
        for (value, sealed, holds) in
            [(2.0, false, false), (20.0, true, true), (30.0, true, false), (31.0, true, false)]
        {
            doc = history.edit(&doc, &rate(value)).expect("changes");
            answered.push(answer(&doc, holds));
            if sealed {
                history.seal();
            }
        }
        let of = |n: usize| &answered[n];
        assert_eq!(told(of(4), &history, &answered), Some(of(2).doc.clone()));
        doc = history.undo(&doc).expect("a step");
        assert_eq!(told(of(3), &history, &answered), Some(of(2).doc.clone()));
        doc = history.undo(&doc).expect("a step");
        // A number that was passed while typing is not where an edit began.
        assert_eq!(told(of(2), &history, &answered), None);
        history.undo(&doc).expect("a step");
        assert_eq!(told(of(0), &history, &answered), None);
    }

    #[test]
    fn answers_are_kept_once_and_not_without_end() {
        let report = Arc::new(report_of(&small_doc()));
        let seeded = |seed| {
            let mut doc = small_doc();
            doc.workload.seed = seed;
            Arc::new(doc)
        };
        let mut answered = Vec::new();
        for seed in (0..2 * ANSWERS as u64).chain([3, 4]) {
            let (doc, report) = (seeded(seed), report.clone());
            let (estimate, plan, earlier_plan, before, turned) = (None, None, None, None, None);
            let shown =
                Shown { doc, report, estimate, plan, earlier_plan, before, turned, answered };
            answered = shown.answered_before(&seeded(u64::MAX));
        }
        assert_eq!(answered.len(), ANSWERS);
        let last: Vec<u64> = answered.iter().map(|old| old.doc.workload.seed).collect();
        assert_eq!(last[ANSWERS - 3..], [2 * ANSWERS as u64 - 1, 3, 4]);
    }
}
