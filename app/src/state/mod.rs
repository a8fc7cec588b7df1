//! The page's state: one draft document; every write is an [`Edit`]; everything else follows.

pub mod edit;
pub mod field;
mod history;
pub mod jobs;
pub mod limits;
mod link;
mod screen;
mod theme;
pub mod uploads;
mod views;
mod work;

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use goodput_engine::accounts::report::SimReport;
use goodput_engine::estimate;
use goodput_engine::estimate::report::{EstimateReport, EstimateVerdict};
use goodput_engine::planner::report::PlanReport;
use goodput_engine::problem::{Problem, Severity};
use goodput_engine::scenario::doc::ScenarioDoc;
use goodput_engine::scenario::{self, Scenario};
use leptos::prelude::*;

pub use edit::Edit;
use field::Field;
use history::History;
pub use jobs::{Ending, Slot, same};
pub use link::{Sharing, share};
pub use screen::{Screen, Shown, judged};
pub use theme::Theme;
use views::Views;
use work::Work;

use crate::charts::Scheme;

/// The signals of the whole page, from anywhere in it. They live as long as it does.
#[derive(Clone, Copy)]
pub struct Workbench(&'static Signals);

impl Deref for Workbench {
    type Target = Signals;

    fn deref(&self) -> &Signals {
        self.0
    }
}

/// See [`Workbench`].
pub struct Signals {
    draft: RwSignal<Arc<ScenarioDoc>>,
    history: RwSignal<History>,
    /// Fields whose text is no number, and why: what is shown is for the inputs before.
    pub unread: RwSignal<BTreeMap<Field, String>>,
    /// The draft, checked.
    pub checked: Memo<Checked>,
    /// The instant answer to the draft; `None` where it has problems.
    pub estimate: Memo<Option<Estimate>>,
    /// Simulation of the draft.
    pub simulation: RwSignal<Slot<SimReport>>,
    /// Plan for the draft.
    pub plan: RwSignal<Slot<PlanReport>>,
    /// What is worked out while somebody looks.
    pub views: Views,
    /// What results are compared with.
    pub baseline: RwSignal<Option<Baseline>>,
    /// What the answer on screen is made of.
    pub screen: Memo<Screen>,
    /// Whether that is for the draft as it is typed.
    pub current: Memo<bool>,
    /// `running`, `done` or `error`: what browser tests wait for.
    pub phase: Memo<&'static str>,
    /// Something to say over the whole page.
    pub notice: RwSignal<Option<Notice>>,
    /// Light or dark.
    pub theme: RwSignal<Theme>,
    /// Colours that follow.
    pub scheme: Memo<Scheme>,
    /// The moment that time charts read out, seconds.
    pub cursor_s: RwSignal<Option<f64>>,
    /// The class being edited.
    pub class: RwSignal<usize>,
    /// The pool being edited.
    pub pool: RwSignal<usize>,
    /// Whether a handle is being dragged: what takes long waits until it is let go.
    held: RwSignal<bool>,
    /// The link that was asked for, and whether it was copied.
    pub shared: RwSignal<Option<(Sharing, Option<bool>)>>,
    /// A document that the user wants simulated although it is large.
    allowed: RwSignal<Option<Arc<ScenarioDoc>>>,
    work: StoredValue<Work, LocalStorage>,
}

/// Requests beyond which a simulation in a tab is asked for, not started by itself.
const MANY_REQUESTS: f64 = 500_000.0;

/// A document and what its check said.
#[derive(Clone)]
pub struct Checked {
    /// The document.
    pub doc: Arc<ScenarioDoc>,
    /// The scenario; `None` where there are errors.
    pub scenario: Option<Arc<Scenario>>,
    /// Errors and warnings.
    pub problems: Arc<Vec<Problem>>,
}

impl PartialEq for Checked {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.doc, &other.doc)
    }
}

impl Checked {
    fn of(doc: Arc<ScenarioDoc>) -> Self {
        let (scenario, problems) = match scenario::check(&doc) {
            Ok(checked) => (Some(Arc::new(checked.scenario)), checked.warnings),
            Err(problems) => (None, problems),
        };
        Self { doc, scenario, problems: Arc::new(problems) }
    }

    /// Problems without whose repair there is no answer.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| problem.severity == Severity::Error)
    }
}

/// The instant answer and the document it is for.
#[derive(Clone)]
pub struct Estimate {
    /// The document.
    pub doc: Arc<ScenarioDoc>,
    /// The answer.
    pub report: Arc<EstimateReport>,
}

impl PartialEq for Estimate {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.report, &other.report)
    }
}

impl Estimate {
    fn of(checked: &Checked) -> Option<Self> {
        let scenario = checked.scenario.as_ref()?;
        let report = Arc::new(estimate::estimate(scenario));
        Some(Self { doc: checked.doc.clone(), report })
    }

    /// Whether the weights fit.
    pub fn fits(&self) -> bool {
        self.report.verdict != EstimateVerdict::DoesNotFit
    }

    /// Whether there are steps to simulate: not where nothing fits, nor from bare token rates.
    pub fn can_be_simulated(&self) -> bool {
        self.fits() && self.report.supply.as_ref().is_some_and(|supply| !supply.simplified)
    }
}

/// What results are compared with.
#[derive(Clone)]
pub struct Baseline {
    /// The document.
    pub doc: Arc<ScenarioDoc>,
    /// Its simulation, once there.
    pub report: Option<Arc<SimReport>>,
    /// Its estimate.
    pub estimate: Option<Arc<EstimateReport>>,
}

impl PartialEq for Baseline {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.doc, &other.doc)
            && screen::is_one(self.report.as_ref(), other.report.as_ref())
            && screen::is_one(self.estimate.as_ref(), other.estimate.as_ref())
    }
}

/// Something to say over the whole page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// What happened.
    pub text: String,
    /// What is still valid, what to do.
    pub hint: String,
}

impl Workbench {
    /// The workbench of the page; it begins with `example` unless its address or its tab hold
    /// another document. Call once, at the root.
    pub fn new(example: impl FnOnce() -> ScenarioDoc) -> Self {
        let first = link::first(example);
        let draft = RwSignal::new(Arc::new(first.doc));
        let checked = Memo::new(move |_| Checked::of(draft.get()));
        let estimate = Memo::new(move |_| checked.with(Estimate::of));
        let (simulation, plan) = (RwSignal::new(Slot::default()), RwSignal::new(Slot::default()));
        let (baseline, unread) = (RwSignal::new(None), RwSignal::default());
        let history = RwSignal::default();
        let shown = screen::shown(simulation, plan, estimate, baseline, history);
        let screen = screen::screen(estimate, shown);
        let (theme, scheme) = theme::signals();
        let bench = Self(Box::leak(Box::new(Signals {
            draft,
            history,
            unread,
            checked,
            estimate,
            simulation,
            plan,
            views: Views::new(),
            baseline,
            screen,
            current: screen::current(screen, draft, unread),
            phase: screen::phase(checked, simulation, plan),
            notice: RwSignal::new(first.notice),
            theme,
            scheme,
            cursor_s: RwSignal::new(None),
            class: RwSignal::new(0),
            pool: RwSignal::new(0),
            held: RwSignal::new(false),
            shared: RwSignal::new(None),
            allowed: RwSignal::new(None),
            work: StoredValue::new_local(Work::default()),
        })));
        bench.work.update_value(|work| work.connect(bench));
        bench.simulate_every_edit();
        link::follow(bench, first.in_address);
        bench
    }

    /// The document.
    pub fn doc(self) -> Arc<ScenarioDoc> {
        self.draft.get()
    }

    /// The document, for an event handler.
    pub fn doc_untracked(self) -> Arc<ScenarioDoc> {
        self.draft.get_untracked()
    }

    /// Something about the document; notifies only when that changes.
    pub fn about<T: Send + Sync + PartialEq + 'static>(
        self,
        read: impl Fn(&ScenarioDoc) -> T + Send + Sync + 'static,
    ) -> Memo<T> {
        let draft = self.draft;
        Memo::new(move |_| draft.with(|doc| read(doc)))
    }

    /// Changes the document.
    pub fn edit(self, edit: &Edit) {
        let doc = self.draft.get_untracked();
        let next = self.history.try_update(|history| history.edit(&doc, edit)).flatten();
        self.install(next);
    }

    /// Ends typing in a field: its next edit is an undo step of its own.
    pub fn seal(self) {
        self.history.update_untracked(History::seal);
    }

    /// A handle is taken: the estimate follows it, a simulation does when it is let go.
    pub fn hold(self) {
        self.seal();
        self.held.set(true);
    }

    /// It is let go where it is, or put back to where it was taken.
    pub fn release(self, back: bool) {
        if !self.held.get_untracked() {
            return;
        }
        if back {
            let before = self.history.try_update(History::take_back).flatten();
            self.install(before);
        }
        self.seal();
        self.held.set(false);
    }

    /// Takes the last edit back.
    pub fn undo(self) {
        let doc = self.draft.get_untracked();
        let next = self.history.try_update(|history| history.undo(&doc)).flatten();
        self.install(next);
    }

    /// Does the last edit that was taken back again.
    pub fn redo(self) {
        let doc = self.draft.get_untracked();
        let next = self.history.try_update(|history| history.redo(&doc)).flatten();
        self.install(next);
    }

    /// What undo would take back.
    pub fn undoes(self) -> Option<String> {
        self.history.with(|history| history.undoes().map(str::to_owned))
    }

    /// What redo would do again.
    pub fn redoes(self) -> Option<String> {
        self.history.with(|history| history.redoes().map(str::to_owned))
    }

    fn install(self, doc: Option<Arc<ScenarioDoc>>) {
        let Some(doc) = doc else { return };
        for (chosen, count) in
            [(self.class, doc.workload.classes.len()), (self.pool, doc.fleet.pools.len())]
        {
            let last = count.saturating_sub(1);
            // Setting it at every edit would build its fields anew under the fingers of whoever
            // types.
            if chosen.get_untracked() > last {
                chosen.set(last);
            }
        }
        self.draft.set(doc);
    }

    /// Pins the draft, with its results, as what later results are compared with.
    pub fn pin(self) {
        let doc = self.draft.get_untracked();
        let report = self.simulation.with_untracked(|slot| slot.current(&doc).cloned());
        self.pin_document(&doc, report);
    }

    /// Pins a document; where its results are not known, they are simulated.
    pub fn pin_document(self, doc: &Arc<ScenarioDoc>, report: Option<Arc<SimReport>>) {
        let checked = Checked::of(doc.clone());
        let estimate = Estimate::of(&checked).map(|estimate| estimate.report);
        let missing = report.is_none() && checked.scenario.is_some();
        self.baseline.set(Some(Baseline { doc: doc.clone(), report, estimate }));
        if missing {
            self.work.with_value(|work| work.simulate_baseline(doc));
        }
    }

    /// Cancels what is being computed; results stay.
    pub fn cancel(self) {
        self.work.with_value(Work::cancel);
    }

    /// Requests that a simulation would have, where they are too many to start it unasked.
    pub fn too_many(self) -> Option<f64> {
        let estimate = self.estimate.get()?;
        let supply = estimate.report.supply.as_ref()?;
        let requests = supply.required_rps * estimate.doc.workload.horizon_s;
        let allowed = self.allowed.with(|d| d.as_ref().is_some_and(|d| same(d, &estimate.doc)));
        (requests > MANY_REQUESTS && !allowed).then_some(requests)
    }

    /// Simulates the draft however large it is.
    pub fn simulate_anyway(self) {
        self.allowed.set(Some(self.draft.get_untracked()));
    }

    fn simulate_every_edit(self) {
        let too_many = Memo::new(move |_| self.too_many().is_some());
        // Workers are the outside world.
        Effect::new(move |_| {
            if self.held.get() {
                return;
            }
            let checked = self.checked.get();
            let steps = self.estimate.with(|e| e.as_ref().is_some_and(Estimate::can_be_simulated));
            let wanted = steps && !too_many.get();
            self.work.with_value(|work| {
                if wanted {
                    work.simulate(&checked.doc);
                } else {
                    work.drop_all();
                }
            });
        });
    }
}

/// The workbench, from anywhere below the root.
pub fn workbench() -> Workbench {
    expect_context()
}
