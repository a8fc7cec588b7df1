//! What the workers are doing and what they have said: a pure reducer.
//!
//! Each kind of work has a slot. A newer job replaces an older one; what the older one still says
//! is ignored. The last result stays, marked with the document it is for, until a newer one comes.

use std::sync::Arc;

use goodput_engine::scenario::doc::ScenarioDoc;

/// Number of a job; never reused.
pub type JobId = u64;

/// A job under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Running {
    /// Which.
    pub job: JobId,
    /// Share that is done, 0 to 1; `None` before the first word of it.
    pub share: Option<f64>,
}

/// A result and the document it is for.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome<T> {
    /// The document.
    pub doc: Arc<ScenarioDoc>,
    /// What was found.
    pub value: Arc<T>,
}

/// How the last job ended, if it gave no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The user cancelled it.
    Cancelled,
    /// It said why it cannot be done.
    Failed(String),
    /// The worker died.
    Crashed(String),
}

/// One kind of work.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot<T> {
    /// The job under way.
    pub running: Option<Running>,
    /// The last result.
    pub last: Option<Outcome<T>>,
    /// How the last job ended without one.
    pub ending: Option<Ending>,
    for_doc: Option<Arc<ScenarioDoc>>,
}

/// What happens to a job.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<T> {
    /// It was handed to a worker.
    Started {
        /// Which.
        job: JobId,
        /// For which document.
        doc: Arc<ScenarioDoc>,
    },
    /// It is so far.
    Progressed {
        /// Which.
        job: JobId,
        /// 0 to 1.
        share: f64,
    },
    /// It has a result.
    Finished {
        /// Which.
        job: JobId,
        /// The result.
        value: Arc<T>,
    },
    /// It ended without one.
    Ended {
        /// Which.
        job: JobId,
        /// How.
        ending: Ending,
    },
    /// Nothing is wanted any more: the document has problems.
    Dropped,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { running: None, last: None, ending: None, for_doc: None }
    }
}

impl<T> Slot<T> {
    /// Takes in an event; those of other than the running job are late and ignored.
    pub fn reduce(&mut self, event: Event<T>) {
        match event {
            Event::Started { job, doc } => {
                self.running = Some(Running { job, share: None });
                self.for_doc = Some(doc);
                self.ending = None;
            }
            Event::Progressed { job, share } if self.runs(job) => {
                self.running = Some(Running { job, share: Some(share.clamp(0.0, 1.0)) });
            }
            Event::Finished { job, value } if self.runs(job) => {
                self.running = None;
                self.last = self.for_doc.take().map(|doc| Outcome { doc, value });
            }
            Event::Ended { job, ending } if self.runs(job) => {
                self.running = None;
                self.for_doc = None;
                self.ending = Some(ending);
            }
            Event::Dropped => {
                self.running = None;
                self.for_doc = None;
                self.ending = None;
            }
            Event::Progressed { .. } | Event::Finished { .. } | Event::Ended { .. } => {}
        }
    }

    /// The result, if it is for this document.
    pub fn current(&self, doc: &Arc<ScenarioDoc>) -> Option<&Arc<T>> {
        self.last.as_ref().filter(|last| same(&last.doc, doc)).map(|last| &last.value)
    }

    /// The result for this document, or else the one before it: never both.
    pub fn for_or_before(&self, doc: &Arc<ScenarioDoc>) -> (Option<Arc<T>>, Option<Arc<T>>) {
        match (self.current(doc), &self.last) {
            (Some(current), _) => (Some(current.clone()), None),
            (None, last) => (None, last.as_ref().map(|last| last.value.clone())),
        }
    }

    /// Whether the last job ended without a result.
    pub fn has_failed(&self) -> bool {
        self.ending.is_some()
    }

    /// Whether a job is under way.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    fn runs(&self, job: JobId) -> bool {
        self.running.is_some_and(|running| running.job == job)
    }
}

/// Whether two documents ask for the same numbers: the name does not count.
pub fn same(a: &Arc<ScenarioDoc>, b: &Arc<ScenarioDoc>) -> bool {
    Arc::ptr_eq(a, b)
        || (a.workload == b.workload
            && a.fleet == b.fleet
            && a.targets == b.targets
            && a.version == b.version)
}

#[cfg(test)]
mod tests {
    use super::super::edit::tests::small_doc;
    use super::*;

    fn doc(name: &str, seed: u64) -> Arc<ScenarioDoc> {
        let mut doc = small_doc();
        doc.name = name.to_owned();
        doc.workload.seed = seed;
        Arc::new(doc)
    }

    #[test]
    fn the_latest_job_wins_and_late_words_are_ignored() {
        let mut slot = Slot::default();
        let (old, new) = (doc("a", 1), doc("a", 2));
        slot.reduce(Event::Started { job: 1, doc: old.clone() });
        slot.reduce(Event::Started { job: 2, doc: new.clone() });
        slot.reduce(Event::Finished { job: 1, value: Arc::new("old") });
        assert!(slot.is_running() && slot.last.is_none());
        slot.reduce(Event::Progressed { job: 1, share: 0.9 });
        assert_eq!(slot.running, Some(Running { job: 2, share: None }));
        slot.reduce(Event::Finished { job: 2, value: Arc::new("new") });
        assert_eq!(slot.current(&new).map(|v| **v), Some("new"));
        assert_eq!(slot.current(&old), None);
    }

    #[test]
    fn the_last_result_survives_cancelling_failing_and_crashing() {
        let first = doc("a", 1);
        for ending in
            [Ending::Cancelled, Ending::Failed("no".into()), Ending::Crashed("gone".into())]
        {
            let mut slot = Slot::default();
            slot.reduce(Event::Started { job: 1, doc: first.clone() });
            slot.reduce(Event::Finished { job: 1, value: Arc::new(7) });
            slot.reduce(Event::Started { job: 2, doc: doc("a", 2) });
            slot.reduce(Event::Ended { job: 2, ending: ending.clone() });
            assert_eq!(slot.current(&first).map(|v| **v), Some(7));
            assert_eq!((slot.is_running(), slot.ending), (false, Some(ending)));
        }
    }

    #[test]
    fn the_result_before_stays_until_there_is_another() {
        let (old, new) = (doc("a", 1), doc("a", 2));
        let mut slot = Slot::default();
        assert_eq!(slot.for_or_before(&old), (None, None));
        slot.reduce(Event::Started { job: 1, doc: old.clone() });
        slot.reduce(Event::Finished { job: 1, value: Arc::new(7) });
        assert_eq!(slot.for_or_before(&old), (Some(Arc::new(7)), None));
        // An edit drops what runs, a new job starts: the old result stays, as one of before.
        slot.reduce(Event::Dropped);
        assert_eq!(slot.for_or_before(&new), (None, Some(Arc::new(7))));
        slot.reduce(Event::Started { job: 2, doc: new.clone() });
        assert_eq!(slot.for_or_before(&new), (None, Some(Arc::new(7))));
        slot.reduce(Event::Finished { job: 2, value: Arc::new(8) });
        assert_eq!(slot.for_or_before(&new), (Some(Arc::new(8)), None));
    }

    #[test]
    fn renaming_does_not_outdate_a_result() {
        let mut slot = Slot::default();
        slot.reduce(Event::Started { job: 1, doc: doc("a", 1) });
        slot.reduce(Event::Finished { job: 1, value: Arc::new(7) });
        assert!(slot.current(&doc("b", 1)).is_some());
        assert!(slot.current(&doc("a", 3)).is_none());
    }
}
