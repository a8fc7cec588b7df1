//! Hands jobs to workers and takes in what they say.
//!
//! Three workers of one kind: one follows every edit and answers what views ask about its run, one
//! plans, one simulates baselines. A newer job ends the older one's worker; a new one is ready in
//! about ten milliseconds.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use goodput_engine::problem::Problem;
use goodput_engine::scenario::doc::ScenarioDoc;
use leptos::prelude::*;

use super::jobs::{Ending, Event, JobId, Slot};
use super::views::Asked;
use super::{Notice, Workbench};
use crate::worker::protocol::{FromSimulator, Question, ToSimulator};
use crate::worker::{Client, Word};

const SIMULATOR: &str = "./simulator_loader.js";

/// The workers of the page.
#[derive(Default)]
pub struct Work {
    lanes: Option<Lanes>,
}

struct Lanes {
    bench: Workbench,
    simulate: Client,
    plan: Client,
    baseline: Client,
    next_job: Rc<Cell<JobId>>,
}

impl Work {
    /// Connects workers to the signals of `bench`.
    pub fn connect(&mut self, bench: Workbench) {
        let lane =
            |hear: fn(Workbench, Word)| Client::new(SIMULATOR, move |word| hear(bench, word));
        let lanes = Lanes {
            bench,
            simulate: lane(hear_simulation),
            plan: lane(hear_plan),
            baseline: lane(hear_baseline),
            next_job: Rc::new(Cell::new(1)),
        };
        self.lanes = Some(lanes);
    }

    /// Simulates a document, unless that is done or under way.
    pub fn simulate(&self, doc: &Arc<ScenarioDoc>) {
        let Some(lanes) = &self.lanes else { return };
        let bench = lanes.bench;
        let (known, busy) = bench
            .simulation
            .with_untracked(|slot| (slot.current(doc).is_some(), slot.is_running()));
        if busy {
            lanes.start_over();
        }
        if bench.plan.with_untracked(Slot::is_running) {
            // The next plan starts another: starting it now would slow the simulation down.
            lanes.plan.stop();
            bench.plan.update(|slot| slot.reduce(Event::Dropped));
        }
        if known {
            bench.simulation.update(|slot| slot.reduce(Event::Dropped));
            self.plan(doc);
            return;
        }
        let job = lanes.number();
        bench.simulation.update(|slot| slot.reduce(Event::Started { job, doc: doc.clone() }));
        send(&lanes.simulate, &ToSimulator::Simulate { job, doc: Box::new((**doc).clone()) });
    }

    /// Plans for a document, unless that is done.
    pub fn plan(&self, doc: &Arc<ScenarioDoc>) {
        let Some(lanes) = &self.lanes else { return };
        let bench = lanes.bench;
        if bench.plan.with_untracked(|slot| slot.current(doc).is_some()) {
            return;
        }
        let job = lanes.number();
        bench.plan.update(|slot| slot.reduce(Event::Started { job, doc: doc.clone() }));
        send(&lanes.plan, &ToSimulator::Plan { job, doc: Box::new((**doc).clone()) });
    }

    /// Simulates the document of the baseline.
    pub fn simulate_baseline(&self, doc: &Arc<ScenarioDoc>) {
        let Some(lanes) = &self.lanes else { return };
        lanes.baseline.restart();
        let job = lanes.number();
        send(&lanes.baseline, &ToSimulator::Simulate { job, doc: Box::new((**doc).clone()) });
    }

    /// Cancels simulation and plan at the user's wish.
    pub fn cancel(&self) {
        let Some(lanes) = &self.lanes else { return };
        let bench = lanes.bench;
        if let Some(running) = bench.simulation.with_untracked(|slot| slot.running) {
            lanes.start_over();
            let ended = Event::Ended { job: running.job, ending: Ending::Cancelled };
            bench.simulation.update(|slot| slot.reduce(ended));
        }
        if let Some(running) = bench.plan.with_untracked(|slot| slot.running) {
            lanes.plan.stop();
            let ended = Event::Ended { job: running.job, ending: Ending::Cancelled };
            bench.plan.update(|slot| slot.reduce(ended));
        }
    }

    /// Asks something about a document for a view.
    pub fn ask(&self, view: Asked, doc: &Arc<ScenarioDoc>, question: Question) {
        let Some(lanes) = &self.lanes else { return };
        let job = lanes.number();
        view.update(|slot| slot.reduce(Event::Started { job, doc: doc.clone() }));
        let doc = Box::new((**doc).clone());
        send(&lanes.simulate, &ToSimulator::View { job, doc, question });
    }

    /// Stops a worker; the next job starts another.
    fn stop(&self, lane: impl FnOnce(&Lanes) -> &Client) {
        if let Some(lanes) = &self.lanes {
            lane(lanes).stop();
        }
    }

    /// Stops everything: the document has no answer.
    pub fn drop_all(&self) {
        let Some(lanes) = &self.lanes else { return };
        let bench = lanes.bench;
        if bench.simulation.with_untracked(Slot::is_running) {
            lanes.start_over();
        }
        if bench.plan.with_untracked(Slot::is_running) {
            lanes.plan.stop();
        }
        bench.simulation.update(|slot| slot.reduce(Event::Dropped));
        bench.plan.update(|slot| slot.reduce(Event::Dropped));
    }
}

impl Lanes {
    fn number(&self) -> JobId {
        self.next_job.replace(self.next_job.get() + 1)
    }

    /// Ends what the worker that follows edits is doing; views ask again.
    fn start_over(&self) {
        self.simulate.restart();
        self.bench.views.drop_running();
    }
}

fn send(client: &Client, message: &ToSimulator) {
    if let Ok(text) = serde_json::to_string(message) {
        client.send(text);
    }
}

fn hear_simulation(bench: Workbench, word: Word) {
    match heard(bench, word) {
        Some(Heard::Message(FromSimulator::Simulated { job, report })) => {
            let finished = Event::Finished { job, value: Arc::new(*report) };
            bench.simulation.update(|slot| slot.reduce(finished));
            let doc = bench.draft.get_untracked();
            let current = bench.simulation.with_untracked(|slot| slot.current(&doc).is_some());
            if current {
                bench.work.with_value(|work| work.plan(&doc));
            }
        }
        Some(Heard::Message(FromSimulator::Progress { job, share })) => {
            bench.simulation.update(|slot| slot.reduce(Event::Progressed { job, share }));
        }
        Some(Heard::Message(FromSimulator::Viewed { job, viewed })) => {
            bench.views.reduce(Event::Finished { job, value: Arc::new(*viewed) });
        }
        Some(Heard::Message(FromSimulator::Failed { job, problems })) => {
            let ending = Ending::Failed(in_words(&problems));
            bench.views.reduce(Event::Ended { job, ending: ending.clone() });
            bench.simulation.update(|slot| slot.reduce(Event::Ended { job, ending }));
        }
        Some(Heard::Death(message)) => {
            bench.work.with_value(|work| work.stop(|lanes| &lanes.simulate));
            bench.views.all().into_iter().for_each(|view| end(view, message.clone()));
            end(bench.simulation, message);
        }
        Some(Heard::Message(_)) | None => {}
    }
}

fn hear_plan(bench: Workbench, word: Word) {
    match heard(bench, word) {
        Some(Heard::Message(FromSimulator::Planned { job, plan })) => {
            let finished = Event::Finished { job, value: Arc::new(*plan) };
            bench.plan.update(|slot| slot.reduce(finished));
        }
        Some(Heard::Message(FromSimulator::Progress { job, share })) => {
            bench.plan.update(|slot| slot.reduce(Event::Progressed { job, share }));
        }
        Some(Heard::Message(FromSimulator::Failed { job, problems })) => {
            let ending = Ending::Failed(in_words(&problems));
            bench.plan.update(|slot| slot.reduce(Event::Ended { job, ending }));
        }
        Some(Heard::Death(message)) => {
            bench.work.with_value(|work| work.stop(|lanes| &lanes.plan));
            end(bench.plan, message);
        }
        Some(Heard::Message(_)) | None => {}
    }
}

/// The running job of a slot died with its worker.
fn end<T: Send + Sync + 'static>(slot: RwSignal<Slot<T>>, message: String) {
    if let Some(running) = slot.with_untracked(|slot| slot.running) {
        let ended = Event::Ended { job: running.job, ending: Ending::Crashed(message) };
        slot.update(|slot| slot.reduce(ended));
    }
}

fn hear_baseline(bench: Workbench, word: Word) {
    let Some(Heard::Message(FromSimulator::Simulated { report, .. })) = heard(bench, word) else {
        return;
    };
    bench.baseline.update(|baseline| {
        if let Some(baseline) = baseline {
            baseline.report = Some(Arc::new(*report));
        }
    });
    bench.work.with_value(|work| work.stop(|lanes| &lanes.baseline));
}

enum Heard {
    Message(FromSimulator),
    Death(String),
}

/// A word of any lane; what concerns the whole page is said here.
fn heard(bench: Workbench, word: Word) -> Option<Heard> {
    match word {
        Word::Message(text) => match serde_json::from_str(&text) {
            Ok(FromSimulator::Panicked { message }) => Some(crashed(bench, message)),
            Ok(message) => Some(Heard::Message(message)),
            Err(error) => Some(crashed(bench, format!("it said something unreadable: {error}"))),
        },
        Word::Died(message) => Some(crashed(bench, message)),
        Word::OtherBuild => {
            bench.notice.set(Some(Notice {
                text: "A part of the page in this browser's memory is of another version".into(),
                hint: "Reload the page; your scenario is in its address".into(),
            }));
            None
        }
    }
}

fn crashed(bench: Workbench, message: String) -> Heard {
    bench.notice.set(Some(Notice {
        text: format!("The simulator stopped and was started again: {message}"),
        hint: "The last result is still shown; change an input or undo to try again".into(),
    }));
    Heard::Death(message)
}

fn in_words(problems: &[Problem]) -> String {
    let texts: Vec<String> =
        problems.iter().map(|problem| format!("{} ({})", problem.message, problem.hint)).collect();
    texts.join("; ")
}
