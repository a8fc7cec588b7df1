//! What the browser did on the page's main thread, from the trace that chromedriver records.
//!
//! Works on a [`crate::Journey::traced`] journey. Times are those of the thread's own clock, which
//! stands still while the thread waits for a processor.
use crate::{Page, Result};
use serde_json::Value;
use std::collections::BTreeMap;

/// What chromedriver is asked to record: work by kind, and the marks of `performance.mark`. More
/// would fill the browser's buffer before the last edit.
pub const CATEGORIES: &str = "devtools.timeline,v8.execute,blink.user_timing";

/// Events in which the page's own code runs.
const SCRIPT: [&str; 8] = [
    "EventDispatch",
    "FireAnimationFrame",
    "FunctionCall",
    "HandlePostMessage",
    "MajorGC",
    "MinorGC",
    "RunMicrotasks",
    "TimerFire",
];
/// Events that find out how things look and where they are.
const LAYOUT: [&str; 2] = ["Layout", "UpdateLayoutTree"];
/// Events that draw; pixels are filled on other threads.
const DRAWING: [&str; 3] = ["Layerize", "Paint", "PrePaint"];

/// A stretch of the main thread's time, microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Its start.
    pub from: f64,
    /// Its end.
    pub to: f64,
}

/// Work on the main thread, and moments that the page marked.
#[derive(Debug, Default)]
pub struct Trace {
    script: Vec<Span>,
    layout: Vec<Span>,
    drawing: Vec<Span>,
    /// Marks by name, in the order of time.
    pub marks: BTreeMap<String, Vec<f64>>,
}

/// Main-thread time in a stretch, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// The page's code.
    pub script_ms: f64,
    /// Style and layout, also where a script asked for it.
    pub layout_ms: f64,
    /// Painting and handing over.
    pub drawing_ms: f64,
    /// All three, what is nested counted once.
    pub all_ms: f64,
}

impl Page {
    /// What was recorded. Ask once, at the end: chromedriver does not record on after that.
    pub async fn trace(&self) -> Result<Trace> {
        let mut events = Vec::new();
        for entry in self.driver.get_log("performance").await? {
            let mut message: Value = serde_json::from_str(&entry.message)?;
            if message["message"]["method"] == "Tracing.dataCollected" {
                events.push(message["message"]["params"].take());
            }
        }
        Trace::of(&events)
    }
}

impl Trace {
    fn of(events: &[Value]) -> Result<Self> {
        let marked = events.iter().find(|event| is_mark(event));
        let main = marked.map(thread).ok_or("nothing was marked in the trace")?;
        let mut trace = Self::default();
        for event in events.iter().filter(|event| thread(event) == main) {
            let name = event["name"].as_str().unwrap_or_default();
            let Some(from) = event["tts"].as_f64() else { continue };
            if is_mark(event) {
                trace.marks.entry(name.to_owned()).or_default().push(from);
            }
            let Some(length) = event["tdur"].as_f64() else { continue };
            let span = Span { from, to: from + length };
            let kind = match name {
                _ if SCRIPT.contains(&name) => &mut trace.script,
                _ if LAYOUT.contains(&name) => &mut trace.layout,
                _ if DRAWING.contains(&name) => &mut trace.drawing,
                _ => continue,
            };
            kind.push(span);
        }
        for marks in trace.marks.values_mut() {
            marks.sort_by(f64::total_cmp);
        }
        Ok(trace)
    }

    /// The work in a stretch of time.
    pub fn work(&self, within: Span) -> Work {
        let all: Vec<Span> =
            self.script.iter().chain(&self.layout).chain(&self.drawing).copied().collect();
        Work {
            script_ms: covered_ms(&self.script, within),
            layout_ms: covered_ms(&self.layout, within),
            drawing_ms: covered_ms(&self.drawing, within),
            all_ms: covered_ms(&all, within),
        }
    }
}

/// How much of a stretch the spans cover together, milliseconds.
fn covered_ms(spans: &[Span], within: Span) -> f64 {
    let inside =
        |span: &Span| Span { from: span.from.max(within.from), to: span.to.min(within.to) };
    let mut spans: Vec<Span> = spans.iter().map(inside).filter(|s| s.from < s.to).collect();
    spans.sort_by(|a, b| a.from.total_cmp(&b.from));
    let mut covered_us = 0.0;
    let mut until = f64::NEG_INFINITY;
    for span in spans {
        covered_us += (span.to - span.from.max(until)).max(0.0);
        until = until.max(span.to);
    }
    covered_us / 1e3
}

/// By `performance.mark`; the browser's own marks of a load have another phase.
fn is_mark(event: &Value) -> bool {
    event["cat"] == "blink.user_timing" && event["ph"] == "I"
}

fn thread(event: &Value) -> (Option<u64>, Option<u64>) {
    (event["pid"].as_u64(), event["tid"].as_u64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(name: &str, tts: u64, tdur: u64, tid: u64) -> Value {
        json!({ "name": name, "cat": "devtools.timeline", "ph": "X", "tts": tts, "tdur": tdur,
            "pid": 1, "tid": tid })
    }

    #[test]
    fn nested_work_counts_once_and_other_threads_and_times_not_at_all() {
        let mark = |name, tts| {
            json!({ "name": name, "cat": "blink.user_timing", "ph": "I", "tts": tts, "pid": 1,
                "tid": 7 })
        };
        let trace = Trace::of(&[
            mark("edit", 10_000),
            event("EventDispatch", 10_000, 4_000, 7),
            event("FunctionCall", 11_000, 2_000, 7),
            event("Layout", 13_000, 2_000, 7),
            event("Paint", 16_000, 3_000, 7),
            event("FunctionCall", 12_000, 9_000, 8),
            event("FunctionCall", 30_000, 1_000, 7),
            mark("end", 18_000),
        ])
        .unwrap();
        assert_eq!(trace.marks["edit"], [10_000.0]);
        let within = Span { from: 10_000.0, to: 18_000.0 };
        let expected = Work { script_ms: 4.0, layout_ms: 2.0, drawing_ms: 2.0, all_ms: 7.0 };
        assert_eq!(trace.work(within), expected);
    }
}
