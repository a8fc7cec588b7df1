//! `cargo xtask test`: set-up, checks and every test, in the order that finds cheap faults first.
use crate::{
    Result, browser, checks,
    page::{self, Build},
    process::{cargo, show},
    sizes, tools,
};
use std::time::Instant;

/// What the command line says.
pub struct Options {
    /// Whether to run the tests that need a browser.
    pub browser: bool,
}

/// Runs every step, also after a failed one, and names the failed ones at the end.
pub fn run(options: &Options) -> Result {
    let started = Instant::now();
    if options.browser {
        let without = "or leave the browser tests out: cargo xtask test --no-browser";
        browser::install().map_err(|message| format!("{message}\n{without}"))?;
    }
    tools::install()?;
    let mut report = Report::default();
    report.step("format", || show(cargo().args(["fmt", "--all", "--check"])));
    report.step("no num-traits/std beside the engine", checks::engine_floats);
    report.step("lint", lint);
    report.step("documentation", documentation);
    // On its own: built together with the page, features unify and samples change.
    report.step("engine", || test("goodput-engine", &[]));
    report.step("tasks and tidiness", || test("xtask", &[]));
    report.step("page logic", || test("goodput-app", &[]));
    let build = Build::smallest();
    let built = report.step("page", || page::build(build));
    if built {
        report.step("sizes", || sizes::check(build));
    }
    if options.browser && built {
        report.step("command line for the browser tests", || {
            show(cargo().args(["build", "--quiet", "-p", "goodput-engine", "--bin", "goodput"]))
        });
        report.step("browser", || test("goodput-tests", &[]));
    }
    report.end(options, started)
}

fn lint() -> Result {
    let clippy = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
    show(cargo().args(clippy))
}

/// Broken links between documented items.
fn documentation() -> Result {
    let doc = ["doc", "--quiet", "--workspace", "--lib", "--no-deps"];
    show(cargo().args(doc).env("RUSTDOCFLAGS", "-D warnings"))
}

fn test(package: &str, more: &[&str]) -> Result {
    show(cargo().args(["test", "--quiet", "--no-fail-fast", "-p", package]).args(more))
}

#[derive(Default)]
struct Report {
    steps: usize,
    failed: Vec<(&'static str, String)>,
}

impl Report {
    /// Runs a step under a heading; whether it passed.
    fn step(&mut self, name: &'static str, run: impl FnOnce() -> Result) -> bool {
        println!("\n== {name}");
        let started = Instant::now();
        let result = run();
        println!("== {name}: {} s", started.elapsed().as_secs());
        self.steps += 1;
        match result {
            Ok(()) => true,
            Err(message) => {
                println!("FAILED {message}");
                self.failed.push((name, message));
                false
            }
        }
    }

    fn end(self, options: &Options, started: Instant) -> Result {
        println!("\n{} steps in {} s", self.steps, started.elapsed().as_secs());
        if !options.browser {
            println!("the browser tests were left out (--no-browser)");
        }
        if self.failed.is_empty() {
            println!("all passed");
            return Ok(());
        }
        for (name, message) in &self.failed {
            println!("failed: {name}: {}", message.lines().next().unwrap_or_default());
        }
        Err(format!("{} of {} steps failed", self.failed.len(), self.steps))
    }
}
