//! The page's side of the reader: files out, what was read of them in.

use std::cell::RefCell;
use std::rc::Rc;

use goodput_engine::accounts::accounting::Dimension;
use goodput_engine::scenario::TraceForm;
use goodput_engine::scenario::doc::SloDoc;
use wasm_bindgen::JsValue;

use super::{FileId, Ledger};
use crate::worker::protocol::{FromReader, ToReader};
use crate::worker::{Client, Word};

const READER: &str = "./reader_loader.js";

/// What a file is read from.
#[derive(Debug, Clone)]
pub enum Source {
    /// A file that the user picked or dropped.
    File(web_sys::File),
    /// Text that the user pasted.
    Text(String),
}

/// What the reader tells the page.
#[derive(Debug)]
pub enum Heard {
    /// An answer.
    Message(FromReader),
    /// It died, over this file if one is to blame; the others are being read again.
    Died {
        /// The file it was reading.
        file: Option<FileId>,
        /// What it said.
        why: String,
    },
}

/// The reader; the worker is started by the first file. Cheap to clone.
#[derive(Clone)]
pub struct Reader {
    client: Client,
    ledger: Rc<RefCell<Ledger<(String, Source)>>>,
}

impl Reader {
    /// A reader whose answers go to `hear`.
    pub fn new(hear: impl Fn(Heard) + 'static) -> Self {
        let ledger = Rc::new(RefCell::new(Ledger::default()));
        let hear = Rc::new(hear);
        // The client is needed by what it calls: it is put here once it is there.
        let own: Rc<RefCell<Option<Self>>> = Rc::default();
        let client = Client::new(READER, {
            let own = own.clone();
            move |word| {
                let reader = own.borrow().clone();
                if let Some(reader) = reader {
                    hear(reader.take_in(word));
                }
            }
        });
        let reader = Self { client, ledger };
        *own.borrow_mut() = Some(reader.clone());
        reader
    }

    /// Reads a file.
    pub fn read(&self, id: FileId, name: &str, source: &Source) {
        self.ledger.borrow_mut().ask(id, (name.to_owned(), source.clone()));
        self.hand_over(id, name, source);
    }

    /// Asks for a trace as a workload.
    pub fn use_trace(&self, id: FileId, form: TraceForm) {
        self.ask(id, &ToReader::UseTrace { file: id, form });
    }

    /// Asks what a contract makes of the requests of a benchmark, outcomes crossed by `cross`.
    pub fn judge(&self, id: FileId, slo: SloDoc, cross: Vec<Dimension>) {
        self.ask(id, &ToReader::Judge { file: id, slo: Box::new(slo), cross });
    }

    /// Asks something about a file, which a reader that does not have it gets first.
    fn ask(&self, id: FileId, message: &ToReader) {
        let missing = self.ledger.borrow().missing(id);
        if let Some((name, source)) = missing {
            self.read(id, &name, &source);
        }
        self.post(message, None);
    }

    /// Forgets a file; a reader that may be busy with it is replaced.
    pub fn forget(&self, id: FileId) {
        let busy = self.ledger.borrow_mut().forget(id);
        if busy {
            self.client.restart();
            let again = self.ledger.borrow_mut().replaced();
            self.again(again);
        } else {
            self.post(&ToReader::Forget { file: id }, None);
        }
    }

    fn take_in(&self, word: Word) -> Heard {
        let why = match word {
            Word::Message(text) => match serde_json::from_str(&text) {
                Ok(FromReader::Panicked { message }) => message,
                Ok(message) => {
                    if let FromReader::Read { file, .. }
                    | FromReader::Scenario { file, .. }
                    | FromReader::Failed { file, .. } = &message
                    {
                        self.ledger.borrow_mut().answered(*file);
                    }
                    return Heard::Message(message);
                }
                Err(error) => format!("it said something unreadable: {error}"),
            },
            Word::Died(message) => message,
            Word::OtherBuild => "it is of another version: reload the page".to_owned(),
        };
        // Whatever it says after its last word is not heard.
        self.client.stop();
        let (file, again) = self.ledger.borrow_mut().died();
        self.again(again);
        Heard::Died { file, why }
    }

    fn again(&self, files: Vec<(FileId, (String, Source))>) {
        for (id, (name, source)) in files {
            self.hand_over(id, &name, &source);
        }
    }

    fn hand_over(&self, id: FileId, name: &str, source: &Source) {
        let name = name.to_owned();
        match source {
            Source::File(file) => self.post(&ToReader::Read { file: id, name }, Some(file)),
            Source::Text(text) => {
                self.post(&ToReader::ReadText { file: id, name, text: text.clone() }, None);
            }
        }
    }

    /// Text alone, or text and file side by side.
    fn post(&self, message: &ToReader, file: Option<&web_sys::File>) {
        // These messages hold strings and numbers: they can always be written.
        let Ok(text) = serde_json::to_string(message) else { return };
        match file {
            Some(file) => self.client.send(js_sys::Array::of2(&JsValue::from_str(&text), file)),
            None => self.client.send(text),
        }
    }
}
