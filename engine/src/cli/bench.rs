//! `goodput bench`: how fast the simulator is on this machine, beside its stepwise reference.

use std::fs;
use std::time::Instant;

use goodput_engine::sim::yardstick::{Measured, Meter, YARDSTICKS, Yardstick};
use serde::{Deserialize, Serialize};

use super::args::BenchArgs;
use super::output::{Answer, Failure};

#[derive(Debug, Serialize)]
struct Output {
    /// Checks are on, so the numbers say little.
    debug_build: bool,
    rows: Vec<Row>,
}

/// One yardstick here, and elsewhere if that was measured too.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    here: Measured,
    /// Seconds in the other run over those here.
    ratio_of_other: Option<f64>,
}

/// What the same yardsticks took in WebAssembly.
#[derive(Debug, Deserialize)]
struct Other {
    rows: Vec<Measured>,
}

pub fn run(args: &BenchArgs) -> Result<Answer, Failure> {
    let asked = |case: &&Yardstick| args.only.as_ref().is_none_or(|text| case.name.contains(text));
    let other = args.beside.as_deref().map(read_other).transpose()?;
    let mut meter = Process { start: Instant::now() };
    let rows = YARDSTICKS.iter().filter(asked).map(|case| {
        let here = case.measure(args.repeats, &mut meter);
        let rows = other.iter().flat_map(|other| &other.rows);
        let mut rows = rows.filter(|row| row.name == here.name);
        Row { ratio_of_other: rows.next().map(|row| row.seconds / here.seconds), here }
    });
    let rows: Vec<Row> = rows.collect();
    if rows.is_empty() {
        let names: Vec<&str> = YARDSTICKS.iter().map(|case| case.name).collect();
        let known = names.join("; ");
        return Err(Failure::Usage(format!("no workload of that name; there are: {known}")));
    }
    let mut text = table(&rows, other.is_some());
    let debug_build = cfg!(debug_assertions);
    if debug_build {
        text += "This is a debug build: build with --release for numbers that mean something.\n";
    }
    Answer::new(&Output { debug_build, rows }, text)
}

fn read_other(path: &str) -> Result<Other, Failure> {
    let unreadable = |why: String| Failure::Usage(format!("--beside {path}: {why}"));
    let json = fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    serde_json::from_str(&json).map_err(|error| unreadable(error.to_string()))
}

/// A table in Markdown, which a terminal shows as well.
fn table(rows: &[Row], beside_another: bool) -> String {
    let mut columns = vec![
        "workload",
        "requests",
        "seconds",
        "M req/s",
        "M steps/s",
        "ns/visit",
        "MB peak",
        "× ref.",
        "make s",
        "% time s",
    ];
    if beside_another {
        columns.push("× wasm");
    }
    let line = |cells: &mut dyn Iterator<Item = String>| {
        let first = format!("| {:<48} |", cells.next().unwrap_or_default());
        cells.fold(first, |line, cell| line + &format!(" {cell:>9} |")) + "\n"
    };
    let head = line(&mut columns.iter().map(|column| (*column).to_owned()));
    let rule = format!("|{:-<50}|", "") + &"----------:|".repeat(columns.len() - 1) + "\n";
    let body = rows.iter().map(|row| line(&mut row.cells().into_iter().take(columns.len())));
    head + &rule
        + &body.collect::<String>()
        + "\nns/visit: per moment at which a replica is looked at. MB peak: most memory of the whole \
           process while it simulates, requests included (VmHWM). × ref.: how many times as long \
           the stepwise reference takes. make s, % time s: making the requests and counting \
           percentiles of one run, which are not in the seconds.\n"
}

impl Row {
    /// In the order of the columns, the ratio to the other run last.
    fn cells(&self) -> [String; 11] {
        let here = &self.here;
        let known = |value: Option<f64>, digits: usize| {
            value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
        };
        [
            here.name.clone(),
            here.requests.to_string(),
            format!("{:.4}", here.seconds),
            format!("{:.2}", here.requests_per_s / 1e6),
            format!("{:.1}", here.steps as f64 / here.seconds / 1e6),
            format!("{:.0}", here.seconds * 1e9 / here.boundaries as f64),
            known(here.peak_bytes.map(|bytes| bytes as f64 / 1e6), 0),
            known(here.ratio_to_reference, 1),
            format!("{:.4}", here.generation_s),
            format!("{:.4}", here.percentiles_s),
            known(self.ratio_of_other, 2),
        ]
    }
}

/// The time and memory of this process.
struct Process {
    start: Instant,
}

impl Meter for Process {
    fn now_s(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    fn begin_peak(&mut self) {
        // Linux forgets the high-water mark for "5" (proc_pid_clear_refs(5)); elsewhere there is
        // none to read either.
        fs::write("/proc/self/clear_refs", "5").ok();
    }

    fn peak_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    }
}
