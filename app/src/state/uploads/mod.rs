//! Uploaded files: a pure reducer over what was read of them and what the user told about them.
//!
//! [`Desk`] is the one place where it meets workers and signals.

mod desk;
mod facts;
mod fit;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use goodput_engine::ingest::BenchmarkPoint;
use goodput_engine::review::Finding;
use goodput_engine::scenario::TraceForm;

pub use desk::{Desk, desk};
pub use facts::{Fact, Facts, Told, asked};
pub use fit::{FitRequest, Fitted, NotReady, applies, fit_request};

use crate::worker::reader::{FileId, ReadFile};

/// The files of the page, in the order added.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Uploads {
    files: Vec<Arc<Upload>>,
    next: FileId,
    /// The last thing that happened, for a reader who does not see it.
    pub said: String,
}

/// One file.
#[derive(Debug, Clone, PartialEq)]
pub struct Upload {
    /// Number by which the reader knows it.
    pub id: FileId,
    /// Its name; unique among those here.
    pub name: String,
    /// How far it is.
    pub status: Status,
    /// What the user told about it.
    pub facts: Facts,
    /// Points that the user left out of the fit, by index.
    pub left_out: BTreeSet<usize>,
    /// What came of using it as workload.
    pub used: Option<Used>,
}

/// How far a file is.
#[derive(Debug, Clone, PartialEq)]
pub enum Status {
    /// The reader has it.
    Reading,
    /// It was read, or refused with a reason.
    Read(Arc<ReadFile>),
    /// It could not be read: why, and what now.
    Failed(String),
}

/// A trace as workload.
#[derive(Debug, Clone, PartialEq)]
pub enum Used {
    /// The reader is asked.
    Waiting(TraceForm),
    /// It became the workload of a class.
    Done {
        /// In which form.
        form: TraceForm,
        /// Of which class.
        class: String,
        /// What is not as in the trace, and what it means for links.
        remarks: Vec<String>,
    },
    /// It did not.
    Failed(String),
}

/// What happens to files.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The reader has dealt with one.
    Read(FileId, Arc<ReadFile>),
    /// It cannot be read, or what was asked of it cannot be done.
    Failed(FileId, String),
    /// It was a scenario, which was opened.
    Opened(FileId),
    /// The user removed it.
    Removed(FileId),
    /// The user told something about it.
    Told(FileId, Fact, Told),
    /// The user left a point out of the fit, or took it back in.
    LeftOut(FileId, usize, bool),
    /// It is to become a workload.
    Using(FileId, TraceForm),
    /// It did: form, class, remarks.
    Used(FileId, TraceForm, String, Vec<String>),
    /// The reader died, perhaps over one of them.
    Died(Option<FileId>, String),
}

impl Uploads {
    /// Takes a new file in; its number.
    pub fn add(&mut self, name: &str) -> FileId {
        let id = self.next;
        self.next += 1;
        let name = self.free_name(name);
        self.said = format!("Reading {name}");
        self.files.push(Arc::new(Upload {
            id,
            name,
            status: Status::Reading,
            facts: Facts::default(),
            left_out: BTreeSet::new(),
            used: None,
        }));
        id
    }

    /// The name, or with a number where another file has it: findings and fits name files.
    fn free_name(&self, name: &str) -> String {
        let taken = |name: &str| self.files.iter().any(|file| file.name == name);
        if !taken(name) {
            return name.to_owned();
        }
        let numbered = (2_u32..).map(|n| format!("{name} ({n})"));
        numbered.into_iter().find(|name| !taken(name)).unwrap_or_default()
    }

    /// All files.
    pub fn files(&self) -> &[Arc<Upload>] {
        &self.files
    }

    /// One of them.
    pub fn file(&self, id: FileId) -> Option<&Arc<Upload>> {
        self.files.iter().find(|file| file.id == id)
    }

    /// Whether the reader still has any.
    pub fn is_reading(&self) -> bool {
        self.files.iter().any(|file| {
            file.status == Status::Reading || matches!(file.used, Some(Used::Waiting(_)))
        })
    }

    /// Takes an event in; one about a file that is gone changes nothing.
    pub fn reduce(&mut self, event: Event) {
        match event {
            Event::Read(id, read) => self.read(id, read),
            Event::Failed(id, why) => self.failed(id, why),
            Event::Opened(id) | Event::Removed(id) => {
                if let Some(place) = self.files.iter().position(|file| file.id == id) {
                    let file = self.files.remove(place);
                    self.said = match event {
                        Event::Opened(_) => format!("{} was opened as the scenario", file.name),
                        _ => format!("{} was removed", file.name),
                    };
                }
            }
            Event::Told(id, fact, told) => self.change(id, |file| file.facts.tell(fact, told)),
            Event::LeftOut(id, point, out) => self.change(id, |file| {
                if out {
                    file.left_out.insert(point);
                } else {
                    file.left_out.remove(&point);
                }
            }),
            Event::Using(id, form) => self.change(id, |file| file.used = Some(Used::Waiting(form))),
            Event::Used(id, form, class, remarks) => {
                let said = format!("is now the workload of {class}; undo takes it back");
                self.say(id, &said);
                self.change(id, |file| file.used = Some(Used::Done { form, class, remarks }));
            }
            Event::Died(id, why) => self.died(id, &why),
        }
    }

    fn read(&mut self, id: FileId, read: Arc<ReadFile>) {
        match read.refused() {
            Some(refusal) => self.say(id, &format!("was not read: {}", refusal.message)),
            None => self.say(id, "was read"),
        }
        self.change(id, |file| file.status = Status::Read(read));
    }

    fn failed(&mut self, id: FileId, why: String) {
        self.say(id, &format!("failed: {why}"));
        self.change(id, |file| match file.used {
            Some(Used::Waiting(_)) => file.used = Some(Used::Failed(why)),
            _ => file.status = Status::Failed(why),
        });
    }

    /// The file that the reader died over is lost; uses that were under way have to be asked for
    /// again; everything that was read stays.
    fn died(&mut self, culprit: Option<FileId>, why: &str) {
        self.said = format!("The reader of files stopped and was started again: {why}");
        if let Some(id) = culprit {
            self.say(id, "could not be read: the reader stopped at it");
            self.change(id, |file| {
                if file.status == Status::Reading {
                    file.status = Status::Failed(format!(
                        "The reader stopped at this file and was started again: {why}"
                    ));
                }
            });
        }
        for file in &mut self.files {
            if matches!(file.used, Some(Used::Waiting(_))) {
                let why = "The reader stopped and was started again: ask once more".to_owned();
                Arc::make_mut(file).used = Some(Used::Failed(why));
            }
        }
    }

    fn say(&mut self, id: FileId, what: &str) {
        if let Some(file) = self.file(id) {
            self.said = format!("{} {what}", file.name);
        }
    }

    fn change(&mut self, id: FileId, change: impl FnOnce(&mut Upload)) {
        if let Some(file) = self.files.iter_mut().find(|file| file.id == id) {
            change(Arc::make_mut(file));
        }
    }
}

impl Upload {
    /// What the reader said of it.
    pub fn read(&self) -> Option<&Arc<ReadFile>> {
        match &self.status {
            Status::Read(read) => Some(read),
            Status::Reading | Status::Failed(_) => None,
        }
    }

    /// Its benchmark points, as the file has them.
    pub fn points(&self) -> &[BenchmarkPoint] {
        self.read().map(|read| read.points()).unwrap_or_default()
    }

    /// Findings that make a point's numbers unusable, by index of the point.
    pub fn disproved(&self) -> BTreeMap<usize, String> {
        let findings = self.read().map_or(&[][..], |read| &read.findings);
        // Every finding of a file that was read is about that file, whatever it is called here.
        let of = |(index, point): (usize, &BenchmarkPoint)| {
            let disproves = |finding: &&Finding| finding.disproves(&finding.file, point.row);
            Some((index, findings.iter().find(disproves)?.message.clone()))
        };
        self.points().iter().enumerate().filter_map(of).collect()
    }
}

#[cfg(test)]
mod tests;
