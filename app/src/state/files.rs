//! Uploaded files: what was read, what the user added, what may be done with them.

use std::sync::Arc;

use goodput_engine::ingest::{MAX_FILE_BYTES, MissingFact};
use goodput_engine::review::{FileReport, Finding};
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::edit::TraceWorkload;
use super::{Edit, Notice, Workbench};
use crate::format;
use crate::worker::protocol::{FromReader, ToReader};
use crate::worker::{Client, Word};

const READER: &str = "./reader_loader.js";

/// Files, and what benchmarks say about the step time.
#[derive(Clone, Copy)]
pub struct Files {
    /// In the order added.
    pub entries: RwSignal<Vec<FileEntry>>,
}

/// One file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileEntry {
    /// Number by which the reader knows it.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// How far it is.
    pub state: FileState,
    /// What the user added to what it says.
    pub added: Added,
}

/// How far a file is.
#[derive(Debug, Clone, PartialEq)]
pub enum FileState {
    /// The reader has it.
    Reading,
    /// It was read, or refused with a reason.
    Read(Arc<ReadFile>),
    /// It could not be read at all.
    Failed(String),
}

/// What the reader said of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadFile {
    /// What it holds.
    pub report: FileReport,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

/// Facts that a benchmark file does not state and the user has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Added {
    /// Which GPU.
    pub gpu: Option<String>,
    /// How many.
    pub gpu_count: Option<u64>,
    /// Over how many a replica is split.
    pub tensor_parallel: Option<u64>,
    /// Which model.
    pub model: Option<String>,
    /// Which engine, which version.
    pub engine_version: Option<String>,
    /// Share of answers that passed a check, 0 to 1.
    pub quality_rate: Option<f64>,
}

impl Files {
    /// No files yet.
    pub fn new() -> Self {
        Self { entries: RwSignal::default() }
    }

    /// Changes one file.
    pub fn update(&self, id: u64, change: impl FnOnce(&mut FileEntry)) {
        self.entries.update(|entries| {
            if let Some(entry) = entries.iter_mut().find(|entry| entry.id == id) {
                change(entry);
            }
        });
    }
}

impl FileEntry {
    /// What was read of it.
    pub fn read(&self) -> Option<&Arc<ReadFile>> {
        match &self.state {
            FileState::Read(read) => Some(read),
            FileState::Reading | FileState::Failed(_) => None,
        }
    }

    /// What its points do not say, whether or not somebody has added it since.
    pub fn missing_in_file(&self) -> Vec<MissingFact> {
        let points = self.read().map_or(&[][..], |read| &read.report.points);
        let mut missing: Vec<MissingFact> =
            points.iter().flat_map(|point| point.missing.clone()).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }
}

/// The reader's client, started by the first file.
pub fn reader(bench: Workbench) -> Client {
    Client::new(READER, move |word| hear(bench, word))
}

/// Hands files to the reader.
pub fn add(bench: Workbench, reader: &Client, files: &web_sys::FileList) {
    for index in 0..files.length() {
        let Some(file) = files.get(index) else { continue };
        let id = bench.next_file.get_untracked();
        bench.next_file.set(id + 1);
        let name = file.name();
        let state = if file.size() > MAX_FILE_BYTES as f64 {
            FileState::Failed(format!(
                "The file has {} and at most {} are read; nothing was changed",
                format::bytes(file.size()),
                format::bytes(MAX_FILE_BYTES as f64)
            ))
        } else {
            post(reader, &ToReader::Read { file: id, name: name.clone() }, Some(&file));
            FileState::Reading
        };
        bench.files.entries.update(|entries| {
            entries.push(FileEntry { id, name, state, added: Added::default() });
        });
    }
}

/// Forgets a file on both sides.
pub fn remove(bench: Workbench, reader: &Client, id: u64) {
    bench.files.entries.update(|entries| entries.retain(|entry| entry.id != id));
    post(reader, &ToReader::Forget { file: id }, None);
}

/// Asks for a trace as a workload.
pub fn use_trace(reader: &Client, id: u64, exactly: bool) {
    post(reader, &ToReader::UseTrace { file: id, exactly }, None);
}

fn post(reader: &Client, message: &ToReader, file: Option<&web_sys::File>) {
    let Ok(text) = serde_json::to_string(message) else { return };
    let Some(file) = file else {
        reader.send(text);
        return;
    };
    let parcel = js_sys::Array::of2(&JsValue::from_str(&text), file);
    reader.send(parcel);
}

fn hear(bench: Workbench, word: Word) {
    match word {
        Word::Message(text) => match serde_json::from_str(&text) {
            Ok(message) => said(bench, message),
            Err(error) => lost(bench, &format!("it said something unreadable: {error}")),
        },
        Word::Died(message) => lost(bench, &message),
        Word::OtherBuild => lost(bench, "it is of another version: reload the page"),
    }
}

fn said(bench: Workbench, message: FromReader) {
    match message {
        FromReader::Read { file, review } => {
            let review = *review;
            let Some(report) = review.files.into_iter().next() else { return };
            let read = ReadFile { report, findings: review.findings };
            bench.files.update(file, |entry| entry.state = FileState::Read(Arc::new(read)));
        }
        FromReader::Scenario { file, doc } => {
            let entries = bench.files.entries.get_untracked();
            let name = entries.iter().find(|e| e.id == file).map(|e| e.name.clone());
            bench.files.entries.update(|entries| entries.retain(|entry| entry.id != file));
            bench.edit(&Edit::Open { from: name.unwrap_or_default(), doc });
        }
        FromReader::Trace { file, workload } => {
            let entries = bench.files.entries.get_untracked();
            let Some(entry) = entries.iter().find(|entry| entry.id == file) else { return };
            let workload = *workload;
            bench.edit(&Edit::UseTrace {
                class: bench.class.get_untracked(),
                trace: Box::new(TraceWorkload {
                    file: entry.name.clone(),
                    arrivals: workload.arrivals,
                    input_tokens: workload.input_tokens,
                    output_tokens: workload.output_tokens,
                    horizon_s: workload.horizon_s,
                }),
            });
        }
        FromReader::Failed { file, message } => {
            bench.files.update(file, |entry| entry.state = FileState::Failed(message));
        }
        FromReader::Panicked { message } => lost(bench, &message),
        FromReader::Hello(_) => {}
    }
}

/// The reader died: what it was reading is lost, what is on screen stays.
fn lost(bench: Workbench, why: &str) {
    bench.files.entries.update(|entries| {
        for entry in entries.iter_mut().filter(|entry| entry.state == FileState::Reading) {
            entry.state = FileState::Failed(format!("The reader stopped at this file: {why}"));
        }
    });
    bench.notice.set(Some(Notice {
        text: format!("The reader of files stopped and was started again: {why}"),
        hint: "Results and inputs are as they were; traces must be added again to be used".into(),
    }));
    bench.restart_reader();
}
