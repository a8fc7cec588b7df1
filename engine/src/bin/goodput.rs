//! The `goodput` command line: the engine's answers in a terminal or in CI.

#[path = "../cli/mod.rs"]
mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
