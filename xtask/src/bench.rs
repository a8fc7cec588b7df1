//! `cargo xtask bench`: how fast the simulator is, natively and in WebAssembly, kept in
//! `docs/bench.md`. It measures and asserts nothing: times depend on the machine.
use crate::{
    Result, npm,
    process::{cargo, on_path, quietly, read, show},
    project, tools,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// What the command line says.
pub struct Options {
    /// Runs of each yardstick, of which the fastest counts.
    pub repeats: u32,
}

/// Measures both, prints the table and writes it down.
pub fn run(options: &Options) -> Result {
    let node = on_path(&["node"]).ok_or("the WebAssembly half runs in Node: no `node` on PATH")?;
    tools::install()?;
    let script = build()?;
    let repeats = options.repeats.to_string();
    eprintln!("measuring in WebAssembly …");
    let json = read(Command::new(&node).arg(&script).arg(&repeats))?;
    let beside = script.with_file_name("measured.json");
    write(&beside, &json)?;
    eprintln!("measuring natively …");
    let bench = ["run", "--quiet", "--release", "-p", "goodput-engine", "--bin", "goodput", "--"];
    let mut native = cargo();
    native.args(bench).args(["bench", "--text", "--repeats", &repeats, "--beside"]).arg(&beside);
    let table = read(&mut native)?;
    let page = page(&table, &machine(&node)?, &judged(&table));
    print!("{page}");
    write(&project::root().join("docs").join("bench.md"), &page)
}

/// Compiles the yardsticks as the page's workers are. Returns the script that runs them in Node.
fn build() -> Result<PathBuf> {
    let name = "yardsticks";
    let profile = ["--profile", "worker", "--target", tools::WASM];
    show(cargo().args(["build", "-p", "goodput-engine", "--example", name]).args(profile))?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| project::root().join("target"), |folder| project::root().join(folder));
    let compiled =
        target.join(tools::WASM).join("worker").join("examples").join(name).with_extension("wasm");
    let folder = target.join("bench");
    let mut bind = Command::new("wasm-bindgen");
    bind.args(["--target", "nodejs", "--no-typescript", "--out-dir"]);
    bind.arg(&folder).arg(compiled).env("PATH", tools::path()?);
    quietly("binding the yardsticks", &mut bind, &tools::log("bench-bindgen"))?;
    if npm::present() {
        npm::install()?;
        let bound = folder.join("yardsticks_bg.wasm");
        let mut shrink = Command::new("wasm-opt");
        shrink.args(["-Oz", "--all-features"]).arg(&bound).arg("-o").arg(&bound);
        shrink.env("PATH", tools::path()?);
        quietly("shrinking them as the page's are", &mut shrink, &tools::log("bench-wasm-opt"))?;
    }
    Ok(folder.join(name).with_extension("js"))
}

/// What the numbers are of.
fn machine(node: &Path) -> Result<String> {
    let first = |file: &str, key: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.split_once(':'));
        line.map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let rustc = read(Command::new("rustc").arg("--version"))?;
    let versions =
        read(Command::new(node).args(["-p", "process.version + ', V8 ' + process.versions.v8"]))?;
    Ok(format!(
        "- processor: {} ({cores} cores; one thread is used)\n- memory: {}\n- compiler: {}\n\
         - WebAssembly: Node {}, compiled as the page's workers\n",
        first("/proc/cpuinfo", "model name"),
        first("/proc/meminfo", "MemTotal"),
        rustc.trim(),
        versions.trim(),
    ))
}

fn page(table: &str, machine: &str, judged: &str) -> String {
    format!(
        "# How fast the simulator is\n\nThe last run of `cargo xtask bench`, which writes this \
         file.\n\n{machine}\n{table}\n× wasm: seconds in WebAssembly over seconds here.\n\n\
         ## What is asked of it\n\n{judged}"
    )
}

/// A cell of the table and the most that may stand in it.
struct Asked {
    workload: &'static str,
    column: &'static str,
    most: f64,
}

const fn asked(workload: &'static str, column: &'static str, most: f64) -> Asked {
    Asked { workload, column, most }
}

const EIGHT_REPLICAS: &str = "8 replicas, 96 req/s";
/// 4 M requests per second with one replica, and so on.
const ASKED: [Asked; 6] = [
    asked("1 replica, 12 req/s", "seconds", 0.025),
    asked(EIGHT_REPLICAS, "seconds", 0.3),
    asked(EIGHT_REPLICAS, "× wasm", 1.3),
    asked(EIGHT_REPLICAS, "MB peak", 150.0),
    asked("overload with preemption, 2,588 blocks, 30 req/s", "seconds", 0.025),
    asked("1,000 runs of 1,000 requests", "seconds", 0.2),
];
/// Ten times the requests in at most so many times the time.
const TEN_TIMES: (&str, f64) = ("8 replicas, 96 req/s, 10 M requests", 12.0);

/// What was asked beside what was measured, whether or not it is reached.
fn judged(table: &str) -> String {
    let of_cell = |asked: &Asked| {
        let Asked { workload, column, most } = *asked;
        verdict(workload, column, most, cell(table, workload, column))
    };
    let seconds = |workload| cell(table, workload, "seconds");
    let (longer, most) = TEN_TIMES;
    let ratio = seconds(longer).zip(seconds(EIGHT_REPLICAS)).map(|(ten, one)| ten / one);
    let ratio = ratio.map(|ratio| (ratio * 100.0).round() / 100.0);
    let of_ratio = verdict(longer, "seconds over those of 1 M", most, ratio);
    let head = "| workload | of | asked at most | measured | |\n|---|---|--:|--:|---|\n";
    let lines = ASKED.iter().map(of_cell).chain([of_ratio]);
    std::iter::once(head.to_owned()).chain(lines).collect()
}

fn verdict(workload: &str, of: &str, most: f64, measured: Option<f64>) -> String {
    let (measured, verdict) = match measured {
        None => ("not measured".to_owned(), "unknown"),
        Some(value) if value <= most => (value.to_string(), "reached"),
        Some(value) => (format!("{value} ({:.2} × too much)", value / most), "**missed**"),
    };
    format!("| {workload} | {of} | {most} | {measured} | {verdict} |\n")
}

/// A number of the table.
fn cell(table: &str, workload: &str, column: &str) -> Option<f64> {
    let cells =
        |line: &'_ str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let rows = || table.lines().map(cells);
    let head = rows().find(|row| row.iter().any(|cell| cell == "workload"))?;
    let place = head.iter().position(|cell| cell == column)?;
    let row = rows().find(|row| row.iter().any(|cell| cell == workload))?;
    row.get(place)?.parse().ok()
}

fn write(path: &Path, text: &str) -> Result {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_says_what_was_measured_on_what() {
        let page = page("| workload |\n", "- processor: one\n", "missed\n");
        assert!(
            page.starts_with("# How fast") && page.contains("- processor: one\n\n| workload |")
        );
        assert!(page.ends_with("missed\n"));
    }

    #[test]
    fn what_is_missed_is_said_and_so_is_what_was_not_measured() {
        let table = "| workload | seconds | × wasm |\n|--|--:|--:|\n\
                     | 8 replicas, 96 req/s | 0.2500 | 1.95 |\n\
                     | 8 replicas, 96 req/s, 10 M requests | 2.6000 | – |\n";
        let judged = judged(table);
        for line in [
            "| 8 replicas, 96 req/s | seconds | 0.3 | 0.25 | reached |",
            "| 8 replicas, 96 req/s | × wasm | 1.3 | 1.95 (1.50 × too much) | **missed** |",
            "| 8 replicas, 96 req/s | MB peak | 150 | not measured | unknown |",
            "| 8 replicas, 96 req/s, 10 M requests | seconds over those of 1 M | 12 | 10.4 | reached |",
        ] {
            assert!(judged.contains(line), "{line} in\n{judged}");
        }
    }
}
