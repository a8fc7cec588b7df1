//! How fast the built page answers an edit: see `cargo xtask bench-page`.
//!
//! Headless Chromium, a desktop window, the worked example that the page opens on, and 100 edits of
//! four kinds in turn. Each edit is what typing one key causes, the field's text and an `input`
//! event, and comes 250 ms after the answer to the one before, so that the search for a fleet,
//! which every answer starts, is running when the next edit comes. Measured:
//!
//! - **script + layout + drawing**: processor time of the main thread from the edit until its
//!   simulated answer is on screen, from Chromium's trace (what is nested counts once): the page's
//!   code, style and layout, painting. Pixels are filled on other threads. The parts before and
//!   after the next paint stand below it, then the parts by kind.
//! - **next paint**: from the edit to the end of the first frame after it.
//! - **simulated answer**: from the edit to the end of the frame that shows the answer to it.
//!
//! The last two are of the clock on the wall: nothing else should run beside it.
use goodput_tests::{
    Journey, Page, Result,
    trace::{Span, Trace, Work},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

const EDITS: usize = 100;

/// A field of the worked example and what is typed into it, to and fro.
#[derive(Serialize)]
struct Kind {
    name: &'static str,
    field: &'static str,
    typed: [&'static str; 2],
}

const KINDS: [Kind; 4] = [
    Kind {
        name: "rate",
        field: "workload.classes[0].arrivals.points[2].rate_rps",
        typed: ["51", "50"],
    },
    Kind {
        name: "lengths",
        field: "workload.classes[0].output_tokens.mean",
        typed: ["260", "256"],
    },
    Kind { name: "SLO", field: "workload.classes[0].slo.ttft_ms", typed: ["1.1", "1"] },
    Kind { name: "replicas", field: "fleet.pools[0].replicas", typed: ["3", "2"] },
];

const EDIT: &str = "
const [kinds, edits] = KINDS_AND_EDITS, done = arguments[arguments.length - 1];
const verdict = document.querySelector('[data-testid=verdict]');
// After a frame: what is posted while it is being made is handled once it is done.
const frame = () => new Promise((then) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = then;
  port2.postMessage(null);
}));
const outdated = (is) => new Promise((then) => {
  const look = () => verdict.classList.contains('stale') === is && (watch.disconnect(), then());
  const watch = new MutationObserver(look);
  watch.observe(verdict, { attributes: true });
  look();
});
const pause = () => new Promise((then) => setTimeout(then, 250));
const times = [];
(async () => {
  for (let i = 0; i < edits; i += 1) {
    const { field: id, typed } = kinds[i % kinds.length];
    const field = document.querySelector(`[data-testid='${id}']`);
    await pause();
    performance.mark('edit');
    const start = performance.now();
    field.value = typed[Math.floor(i / kinds.length) % 2];
    field.dispatchEvent(new Event('input', { bubbles: true }));
    const shown = outdated(true).then(() => outdated(false)).then(frame);
    await frame();
    performance.mark('painted');
    const painted = performance.now();
    await shown;
    performance.mark('answered');
    times.push({ painted_ms: painted - start, answered_ms: performance.now() - start });
  }
  done(times);
})();";

/// From an edit, by the page's clock.
#[derive(Clone, Copy, Deserialize)]
struct Times {
    painted_ms: f64,
    answered_ms: f64,
}

/// All that is measured of one edit.
struct Edit {
    times: Times,
    /// Until the simulated answer is on screen.
    whole: Work,
    /// Until the next paint.
    first: Work,
}

type Measure = (&'static str, fn(&Edit) -> f64);

const MEASURES: [Measure; 8] = [
    ("script + layout + drawing, until answered", |edit| edit.whole.all_ms),
    ("  until the next paint", |edit| edit.first.all_ms),
    ("  after it, for the answer", |edit| edit.whole.all_ms - edit.first.all_ms),
    ("  script", |edit| edit.whole.script_ms),
    ("  style and layout", |edit| edit.whole.layout_ms),
    ("  drawing", |edit| edit.whole.drawing_ms),
    ("edit to next paint", |edit| edit.times.painted_ms),
    ("edit to simulated answer on screen", |edit| edit.times.answered_ms),
];

fn main() {
    Journey::default().traced().run(|page| async move {
        let edits = measure(&page).await?;
        print(&edits);
        Ok(())
    });
}

async fn measure(page: &Page) -> Result<Vec<Edit>> {
    page.open("").await?;
    page.driver.set_script_timeout(Duration::from_mins(10)).await?;
    let script = EDIT.replace("KINDS_AND_EDITS", &serde_json::to_string(&(KINDS, EDITS))?);
    let times: Vec<Times> = serde_json::from_value(page.script_async(&script).await?)?;
    let trace = page.trace().await?;
    let (whole, first) = (works(&trace, "answered")?, works(&trace, "painted")?);
    let edits = times.into_iter().zip(whole).zip(first);
    Ok(edits.map(|((times, whole), first)| Edit { times, whole, first }).collect())
}

/// The work of every edit, from its mark to the next mark of that name.
fn works(trace: &Trace, end: &str) -> Result<Vec<Work>> {
    let marks = |name: &str| trace.marks.get(name).map_or(&[][..], Vec::as_slice);
    let (starts, ends) = (marks("edit"), marks(end));
    if (starts.len(), ends.len()) != (EDITS, EDITS) {
        return Err(format!("{} starts and {} ends are marked", starts.len(), ends.len()).into());
    }
    let spans = starts.iter().zip(ends).map(|(from, to)| Span { from: *from, to: *to });
    Ok(spans.map(|span| trace.work(span)).collect())
}

/// A row per measure; all edits, then each kind alone.
fn print(edits: &[Edit]) {
    println!("{EDITS} edits, milliseconds: median / 95th percentile");
    print!("{:<42}{:>14}", "", "all");
    for kind in &KINDS {
        print!("{:>14}", kind.name);
    }
    println!();
    for (name, measure) in MEASURES {
        print!("{name:<42}{:>14}", summary(edits.iter().map(measure)));
        for kind in 0..KINDS.len() {
            let alone = edits.iter().skip(kind).step_by(KINDS.len());
            print!("{:>14}", summary(alone.map(measure)));
        }
        println!();
    }
}

fn summary(values: impl Iterator<Item = f64>) -> String {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    // Nearest rank, as everywhere in Goodput.
    let at = |percent: usize| values[(values.len() * percent).div_ceil(100).max(1) - 1];
    format!("{:.1} / {:.1}", at(50), at(95))
}
