//! `cargo xtask shot`: screenshots of the built page, for looking at it.
use crate::{
    Result, browser,
    page::{self, Build},
    process::{cargo, show},
    tools,
};

/// Builds the page unless told not to, and passes the rest on to the program in `tests`.
pub fn run(args: &[String]) -> Result {
    let (own, rest): (Vec<&String>, Vec<&String>) =
        args.iter().partition(|arg| *arg == "--no-build");
    browser::install()?;
    if own.is_empty() {
        tools::install()?;
        page::build(Build::Plain)?;
    }
    // The program takes paths as its caller means them.
    let here = std::env::current_dir().map_err(|error| format!("the current folder: {error}"))?;
    let program = ["run", "--quiet", "-p", "goodput-tests", "--bin", "shot", "--"];
    show(cargo().args(program).args(rest).current_dir(here))
}
