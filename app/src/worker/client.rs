//! The page's side of a worker: starts it, waits until it is ready, restarts it.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{ErrorEvent, MessageEvent, Worker, WorkerOptions, WorkerType};

use super::protocol::Hello;

/// What a worker tells the page.
#[derive(Debug, Clone, PartialEq)]
pub enum Word {
    /// A message, as JSON text.
    Message(String),
    /// It died, or never started.
    Died(String),
    /// It is of another build: nothing it says would be understood.
    OtherBuild,
}

/// A worker that can be replaced at any time. Cheap to clone: all clones are one worker.
#[derive(Clone)]
pub struct Client {
    inner: Rc<RefCell<Inner>>,
}

struct Inner {
    script: &'static str,
    hear: Rc<dyn Fn(Word)>,
    live: Option<Live>,
    /// Grows with each start; words of earlier workers are not passed on.
    generation: u32,
}

/// A running worker and the closures that it calls.
struct Live {
    worker: Worker,
    /// Messages sent before it was ready.
    queue: Vec<JsValue>,
    ready: bool,
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(ErrorEvent)>,
}

impl Client {
    /// A client of the worker at `script`; it is started by the first message.
    pub fn new(script: &'static str, hear: impl Fn(Word) + 'static) -> Self {
        let inner = Inner { script, hear: Rc::new(hear), live: None, generation: 0 };
        Self { inner: Rc::new(RefCell::new(inner)) }
    }

    /// Starts the worker unless it runs.
    fn warm_up(&self) {
        if self.inner.borrow().live.is_none()
            && let Err(error) = self.start()
        {
            self.hear(Word::Died(text_of(&error)));
        }
    }

    /// Sends a message, once the worker is ready.
    pub fn send(&self, message: impl Into<JsValue>) {
        self.warm_up();
        let message = message.into();
        let mut inner = self.inner.borrow_mut();
        let Some(live) = &mut inner.live else { return };
        if live.ready {
            let sent = live.worker.post_message(&message);
            drop(inner);
            if let Err(error) = sent {
                self.hear(Word::Died(text_of(&error)));
            }
        } else {
            live.queue.push(message);
        }
    }

    /// Ends the worker at once, whatever it is doing, and starts another.
    pub fn restart(&self) {
        self.stop();
        self.warm_up();
    }

    /// Ends the worker.
    pub fn stop(&self) {
        let live = {
            let mut inner = self.inner.borrow_mut();
            inner.generation += 1;
            inner.live.take()
        };
        if let Some(live) = live {
            live.worker.set_onmessage(None);
            live.worker.set_onerror(None);
            live.worker.terminate();
            // The closures may be what is running now: they are dropped after this turn.
            gloo::timers::callback::Timeout::new(0, move || drop(live)).forget();
        }
    }

    fn hear(&self, word: Word) {
        let hear = self.inner.borrow().hear.clone();
        hear(word);
    }

    fn start(&self) -> Result<(), JsValue> {
        let (script, generation) = {
            let inner = self.inner.borrow();
            (inner.script, inner.generation)
        };
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let worker = Worker::new_with_options(script, &options)?;
        let client = self.clone();
        let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            client.on_message(generation, &event);
        });
        let client = self.clone();
        let on_error = Closure::<dyn FnMut(ErrorEvent)>::new(move |event: ErrorEvent| {
            client.on_death(generation, event.message());
        });
        worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        self.inner.borrow_mut().live = Some(Live {
            worker,
            queue: Vec::new(),
            ready: false,
            _on_message: on_message,
            _on_error: on_error,
        });
        Ok(())
    }

    fn on_message(&self, generation: u32, event: &MessageEvent) {
        if self.inner.borrow().generation != generation {
            return;
        }
        let Some(text) = event.data().as_string() else { return };
        match hello_in(&text) {
            Some(hello) if hello.fits() => self.on_ready(),
            Some(_) => self.hear(Word::OtherBuild),
            None => self.hear(Word::Message(text)),
        }
    }

    fn on_ready(&self) {
        let mut failed = None;
        if let Some(live) = &mut self.inner.borrow_mut().live {
            live.ready = true;
            for message in live.queue.drain(..) {
                failed = live.worker.post_message(&message).err().or(failed);
            }
        }
        if let Some(error) = failed {
            self.hear(Word::Died(text_of(&error)));
        }
    }

    fn on_death(&self, generation: u32, message: String) {
        if self.inner.borrow().generation == generation {
            self.stop();
            self.hear(Word::Died(message));
        }
    }
}

/// The hello in a message, if it is one.
fn hello_in(text: &str) -> Option<Hello> {
    #[derive(serde::Deserialize)]
    struct Wrapped {
        hello: Hello,
    }
    // Only a hello starts like this; long reports are not parsed twice.
    text.starts_with("{\"hello\"")
        .then(|| serde_json::from_str::<Wrapped>(text).ok())?
        .map(|w| w.hello)
}

fn text_of(error: &JsValue) -> String {
    error
        .dyn_ref::<js_sys::Error>()
        .map_or_else(|| format!("{error:?}"), |error| String::from(error.message()))
}
