//! `cargo xtask bench-page`: how many bytes the optimised page has and how fast it answers edits.
//! It measures and asserts nothing: times depend on the machine.
use crate::{
    Result, browser,
    page::{self, Build},
    process::{cargo, show},
    sizes, tools,
};

/// What the command line says.
pub struct Options {
    /// Whether to build the page first.
    pub build: bool,
}

/// Builds the page unless told not to, prints its sizes, and edits it in a browser.
pub fn run(options: &Options) -> Result {
    browser::install()?;
    if options.build {
        tools::install()?;
        page::build(Build::Optimized)?;
    }
    sizes::print()?;
    println!();
    show(cargo().args(["run", "--quiet", "-p", "goodput-tests", "--bin", "edit_speed"]))
}
