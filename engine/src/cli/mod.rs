//! The command line: one module per verb, and what they share.
//!
//! A verb is a function from its arguments to an [`Answer`] (a JSON value, a text and the
//! severities found) or a [`Failure`]. Only `output` prints and only `input` reads.

mod accounting;
mod args;
mod bench;
mod bridge;
mod calibrate;
mod calibrate_law;
mod catalog;
mod csv;
mod diff;
mod estimate;
mod input;
mod json;
mod lengths;
mod link;
mod output;
mod plan;
mod replay;
mod rerun;
mod review;
mod simulate;
mod sweep;
mod text;
mod what_if;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Verb};
use output::{Answer, Failure};

/// Parses the arguments, does what they ask and prints the answer.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let result = answer(&cli);
    output::finish(&cli, result)
}

fn answer(cli: &Cli) -> Result<Answer, Failure> {
    match &cli.verb {
        Verb::Estimate(args) => estimate::run(args),
        Verb::Simulate(args) => simulate::run(args),
        Verb::Plan(args) => plan::run(args),
        Verb::Diff(args) => diff::run(args),
        Verb::WhatIf(args) => what_if::run(args),
        Verb::Sweep(args) => sweep::run(args),
        Verb::Review(args) => review::run(args),
        Verb::Calibrate(args) => calibrate::run(args),
        Verb::Replay(args) => replay::run(args),
        Verb::Bridge(args) => bridge::run(args),
        Verb::Rerun(args) => rerun::run(args),
        Verb::Lengths(args) => lengths::run(args),
        Verb::Link { direction } => link::run(direction),
        Verb::Catalog { list } => catalog::run(*list),
        Verb::Bench(args) => bench::run(args),
    }
}
