//! Where files meet workers and signals: the reader, the fit, and the edits that come of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use goodput_engine::accounts::accounting::Dimension;
use goodput_engine::problem::Problem;
use goodput_engine::scenario::doc::{ScenarioDoc, SloDoc};
use goodput_engine::scenario::{TraceForm, TraceWorkload, link};
use leptos::prelude::*;
use web_sys::FileList;

use super::{Event, Fact, FitRequest, Fitted, NotReady, Told, Uploads, fit_request};
use crate::state::Workbench;
use crate::state::edit::{self, Edit, PoolEdit};
use crate::state::jobs::{self, Ending, JobId, Slot};
use crate::worker::protocol::{FromReader, FromSimulator, ToSimulator};
use crate::worker::reader::{FileId, Heard, Judged, Reader, Source};
use crate::worker::{Client, Word};

const SIMULATOR: &str = "./simulator_loader.js";

/// What a fit is made from, or what is still to be told; `None` without a benchmark.
pub type Ready = Option<Result<Arc<FitRequest>, Vec<NotReady>>>;

/// A file and what a contract makes of its requests, or why nobody can say.
pub type JudgedFile = (FileId, Result<Arc<Judged>, String>);

/// Files and what comes of them. Cheap to copy.
#[derive(Clone, Copy)]
pub struct Desk {
    /// The page's state.
    pub bench: Workbench,
    /// The files.
    pub uploads: RwSignal<Uploads>,
    /// The fit of the pool to the benchmarks among them.
    pub fit: RwSignal<Slot<Fitted>>,
    /// What the next fit would be made from.
    pub ready: Memo<Ready>,
    /// The requests of a benchmark under a contract that was asked for last.
    pub judged: RwSignal<Option<JudgedFile>>,
    workers: StoredValue<Option<Workers>, LocalStorage>,
}

#[derive(Clone)]
struct Workers {
    reader: Reader,
    fitter: Client,
    next_job: Rc<Cell<JobId>>,
    /// What the fit under way is made from.
    pending: Rc<RefCell<Option<Arc<FitRequest>>>>,
}

/// The desk, from anywhere below the root.
pub fn desk() -> Desk {
    expect_context()
}

impl Desk {
    /// The desk of the page. Call once, at the root.
    pub fn new(bench: Workbench) -> Self {
        let uploads = RwSignal::new(Uploads::default());
        let ready = Memo::new(move |_| {
            let pool = bench.pool.get();
            uploads.with(|uploads| fit_request(uploads, pool).map(|result| result.map(Arc::new)))
        });
        let fit = RwSignal::new(Slot::default());
        let workers = StoredValue::new_local(None);
        let judged = RwSignal::new(None);
        let desk = Self { bench, uploads, fit, ready, judged, workers };
        workers.set_value(Some(Workers {
            reader: Reader::new(move |heard| desk.hear(heard)),
            fitter: Client::new(SIMULATOR, move |word| desk.hear_fit(word)),
            next_job: Rc::new(Cell::new(1)),
            pending: Rc::default(),
        }));
        desk
    }

    /// Reads the files that were picked or dropped.
    pub fn add_files(self, files: &FileList) {
        for file in (0..files.length()).filter_map(|index| files.get(index)) {
            self.add(&file.name(), &Source::File(file));
        }
    }

    /// Reads text that was pasted.
    pub fn add_text(self, text: String) {
        self.add("pasted text", &Source::Text(text));
    }

    fn add(self, name: &str, source: &Source) {
        let Some(workers) = self.workers() else { return };
        let added = self.uploads.try_update(|uploads| {
            let id = uploads.add(name);
            uploads.file(id).map(|file| (id, file.name.clone()))
        });
        if let Some((id, name)) = added.flatten() {
            workers.reader.read(id, &name, source);
        }
    }

    /// Forgets a file.
    pub fn remove(self, id: FileId) {
        self.reduce(Event::Removed(id));
        if let Some(workers) = self.workers() {
            workers.reader.forget(id);
        }
    }

    /// Takes in what the user told about a file.
    pub fn tell(self, id: FileId, fact: Fact, told: Told) {
        self.reduce(Event::Told(id, fact, told));
    }

    /// Leaves a point out of the fit, or takes it back in.
    pub fn leave_out(self, id: FileId, point: usize, out: bool) {
        self.reduce(Event::LeftOut(id, point, out));
    }

    /// Makes a trace the workload of the class being edited, once the reader has given it.
    pub fn use_trace(self, id: FileId, form: TraceForm) {
        let Some(workers) = self.workers() else { return };
        self.reduce(Event::Using(id, form));
        workers.reader.use_trace(id, form);
    }

    /// Asks the reader what a contract makes of the requests of a benchmark.
    pub fn judge(self, id: FileId, slo: SloDoc, cross: Vec<Dimension>) {
        if let Some(workers) = self.workers() {
            workers.reader.judge(id, slo, cross);
        }
    }

    /// Fits the step time of the pool to the points that are ready.
    pub fn start_fit(self) {
        let Some(Some(Ok(request))) = self.ready.try_get_untracked() else { return };
        let Some(workers) = self.workers() else { return };
        let doc = self.bench.doc_untracked();
        let job = workers.next_job.replace(workers.next_job.get() + 1);
        if self.fit.with_untracked(Slot::is_running) {
            workers.fitter.restart();
        }
        workers.pending.replace(Some(request.clone()));
        self.fit.update(|slot| slot.reduce(jobs::Event::Started { job, doc: doc.clone() }));
        let (pool, files) = (request.pool, request.files.clone());
        let message = ToSimulator::Calibrate { job, doc: Box::new((*doc).clone()), pool, files };
        // Documents and points were read from text: they can be written as text.
        if let Ok(text) = serde_json::to_string(&message) {
            workers.fitter.send(text);
        }
    }

    /// Ends a fit under way; an earlier one stays.
    pub fn cancel_fit(self) {
        if let Some(workers) = self.workers() {
            workers.fitter.stop();
        }
        self.end_fit(Ending::Cancelled);
    }

    /// Puts the fitted factor into the scenario, as one edit.
    pub fn apply_fit(self) {
        let fitted = self.fit.with_untracked(|slot| {
            let fit = &slot.last.as_ref()?.value;
            Some((fit.request.pool, fit.report.fitted.clone()?))
        });
        if let Some((pool, fitted)) = fitted {
            self.bench.seal();
            self.bench.edit(&Edit::Pool(pool, PoolEdit::Fitted(Some(fitted))));
        }
    }

    fn workers(self) -> Option<Workers> {
        self.workers.try_get_value().flatten()
    }

    fn reduce(self, event: Event) {
        self.uploads.update(|uploads| uploads.reduce(event));
    }

    fn hear(self, heard: Heard) {
        match heard {
            Heard::Died { file, why } => {
                // What it was asked is not answered any more; it is asked again with another choice.
                self.judged.update(|judged| {
                    if let Some((_, judged)) = judged {
                        *judged = Err(why.clone());
                    }
                });
                self.reduce(Event::Died(file, why));
            }
            Heard::Message(FromReader::Read { file, read }) => {
                self.reduce(Event::Read(file, Arc::new(*read)));
            }
            Heard::Message(FromReader::Failed { file, message }) => {
                self.reduce(Event::Failed(file, message));
            }
            Heard::Message(FromReader::Scenario { file, doc }) => {
                let name = self.name(file);
                self.reduce(Event::Opened(file));
                if let Some(from) = name {
                    self.bench.edit(&Edit::Open { from, doc });
                }
            }
            Heard::Message(FromReader::Trace { file, form, workload }) => {
                self.take_workload(file, form, *workload);
            }
            Heard::Message(FromReader::Judged { file, judged }) => {
                self.judged.set(Some((file, Ok(Arc::new(*judged)))));
            }
            // Handled by the client.
            Heard::Message(FromReader::Hello(_) | FromReader::Panicked { .. }) => {}
        }
    }

    fn name(self, id: FileId) -> Option<String> {
        self.uploads.with_untracked(|uploads| uploads.file(id).map(|file| file.name.clone()))
    }

    fn take_workload(self, id: FileId, form: TraceForm, workload: TraceWorkload) {
        // A file that was removed meanwhile is not wanted any more.
        let Some(file) = self.name(id) else { return };
        let class = self.bench.class.get_untracked();
        let TraceWorkload { arrivals, input_tokens, output_tokens, horizon_s, remarks, .. } =
            workload;
        let trace = edit::TraceWorkload { file, arrivals, input_tokens, output_tokens, horizon_s };
        self.bench.seal();
        self.bench.edit(&Edit::UseTrace { class, trace: Box::new(trace) });
        let doc = self.bench.doc_untracked();
        let class = doc.workload.classes.get(class).map_or_else(String::new, |c| c.name.clone());
        let remarks = remarks.into_iter().chain(about_link(&doc)).collect();
        self.reduce(Event::Used(id, form, class, remarks));
    }

    fn hear_fit(self, word: Word) {
        let Some(workers) = self.workers() else { return };
        let message = match word {
            Word::Message(text) => serde_json::from_str(&text)
                .map_err(|error| format!("it said something unreadable: {error}")),
            Word::Died(why) => Err(why),
            Word::OtherBuild => Err("it is of another version: reload the page".to_owned()),
        };
        match message {
            Ok(FromSimulator::Progress { job, share }) => {
                self.fit.update(|slot| slot.reduce(jobs::Event::Progressed { job, share }));
                return;
            }
            Ok(FromSimulator::Calibrated { job, report, curves }) => {
                if let Some(request) = workers.pending.take() {
                    let value = Arc::new(Fitted { request, report: *report, curves });
                    self.fit.update(|slot| slot.reduce(jobs::Event::Finished { job, value }));
                }
            }
            Ok(FromSimulator::Failed { problems, .. }) => {
                self.end_fit(Ending::Failed(in_words(&problems)));
            }
            Ok(FromSimulator::Panicked { message }) | Err(message) => {
                self.end_fit(Ending::Crashed(message));
            }
            Ok(_) => return,
        }
        // The next fit, if there is one, is minutes away.
        workers.fitter.stop();
    }

    fn end_fit(self, ending: Ending) {
        if let Some(running) = self.fit.with_untracked(|slot| slot.running) {
            let ended = jobs::Event::Ended { job: running.job, ending };
            self.fit.update(|slot| slot.reduce(ended));
        }
    }
}

/// What a scenario with a trace means for whoever wants to share it.
fn about_link(doc: &ScenarioDoc) -> Option<String> {
    match link::encode(doc) {
        Err(_) => Some("too long for a link: share the scenario as a file".to_owned()),
        Ok(link) => link.warnings.first().map(|warning| warning.message.clone()),
    }
}

fn in_words(problems: &[Problem]) -> String {
    let texts: Vec<String> =
        problems.iter().map(|problem| format!("{} ({})", problem.message, problem.hint)).collect();
    texts.join("; ")
}
