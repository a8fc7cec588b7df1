//! How near predictions come to published measurements: `cargo xtask validate` runs this and keeps
//! what it prints in `docs/accuracy.md`.
//!
//! Nothing is tuned per experiment. What is fitted is one number for all runs of a kind, and named as
//! such, or is the very thing that is checked: a fit on some runs, read on others.

mod attainment;
mod benchmark;
mod check;
mod data;
mod experiment;
mod findings;
mod inferencex;
mod memory;
mod offline;
mod page;
mod runs;
mod stages;
mod sweeps;
mod truth;

use std::path::PathBuf;
use std::process::ExitCode;

use check::Check;
use data::Published;

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: accuracy FOLDER (of published measurements)");
        return ExitCode::from(2);
    };
    match checks(&Published(PathBuf::from(folder))) {
        Ok(checks) => {
            print!("{}", page::page(&checks));
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("accuracy: {why}");
            ExitCode::FAILURE
        }
    }
}

fn checks(published: &Published) -> Result<Vec<Check>, String> {
    let (tpot, step_ms) = stages::tpot(published)?;
    let ttft = stages::ttft(published, step_ms)?;
    let inferencex = inferencex::check(published)?;
    let [halves, aggregates] = runs::checks(published)?;
    let (sweeps, truth) = (sweeps::check(published)?, truth::check()?);
    let (offline, attainment) = (offline::check(published)?, attainment::check()?);
    let memory = memory::check()?;
    Ok(vec![tpot, ttft, inferencex, memory, halves, aggregates, sweeps, truth, offline, attainment])
}
