//! `goodput sweep`: many scenarios, one line each.
//!
//! Scenarios are answered in blocks, a block on all threads, and a block is written when it is
//! whole: so memory is bounded, lines are in order, and their bytes do not depend on the threads.

mod grid;
mod output;

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use goodput_engine::accounts::answer;
use goodput_engine::accounts::report::{SimReport, Verdict};
use goodput_engine::compare::headline;
use goodput_engine::problem::{Problem, Severity};
use goodput_engine::scenario::check;
use serde::Serialize;
use serde_json::Value;

use super::args::SweepArgs;
use super::json;
use super::output::{Answer, Failure};
use grid::{Entry, Plan};
use output::Lines;

/// Scenarios in a block, for each thread: long enough that threads seldom wait for the last one.
const BLOCK_PER_THREAD: usize = 64;

/// What is printed of one scenario.
#[derive(Debug, Serialize)]
struct Line<'a> {
    /// Its number in the sweep, from zero.
    index: usize,
    /// What the grid set.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    set: &'a BTreeMap<String, Value>,
    #[serde(flatten)]
    outcome: Outcome,
}

/// What became of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// The headline numbers, by name.
    Results {
        /// Name of the scenario.
        name: String,
        /// Its seed.
        seed: u64,
        /// Does the contract hold?
        verdict: Verdict,
        /// Requests counted.
        offered: u64,
        /// False of a run that was cut off.
        complete: bool,
        /// The numbers.
        numbers: BTreeMap<&'static str, Option<f64>>,
    },
    /// The whole report.
    Report(Box<SimReport>),
    /// It is sound and cannot be simulated.
    Unanswered(String),
    /// The document has problems.
    Problems(Vec<Problem>),
}

/// What a sweep did, for people and programs.
#[derive(Debug, Default, Serialize)]
struct Summary {
    /// Scenarios of this shard.
    scenarios: usize,
    /// Found in the file already.
    kept: usize,
    /// Answered now.
    answered: usize,
    /// Of those, not simulated: the document has problems or does not fit.
    without_results: usize,
}

pub fn run(args: &SweepArgs) -> Result<Answer, Failure> {
    let plan = Plan::read(&args.grid)?;
    let numbers: Vec<usize> = (args.shard.index..plan.len()).step_by(args.shard.count).collect();
    let mut lines = Lines::open(args.out.as_deref(), &numbers)?;
    let mut summary =
        Summary { scenarios: numbers.len(), kept: lines.kept(), ..Summary::default() };
    let threads = args.threads.map_or_else(cores, usize::from);
    for block in numbers[lines.kept()..].chunks(threads * BLOCK_PER_THREAD) {
        for (text, has_results) in answer_block(&plan, block, threads, args.full) {
            if !lines.write(&text)? {
                return Ok(Answer::printed(None)); // nobody reads on
            }
            summary.answered += 1;
            summary.without_results += usize::from(!has_results);
        }
        lines.flush()?;
    }
    let worst = (summary.without_results > 0).then_some(Severity::Error);
    lines.close(&summary)?;
    Ok(Answer::printed(worst))
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The lines of a block in order, each with whether it has results.
fn answer_block(plan: &Plan, block: &[usize], threads: usize, full: bool) -> Vec<(String, bool)> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<(String, bool)>>> = Mutex::new(vec![None; block.len()]);
    thread::scope(|scope| {
        for _ in 0..threads.min(block.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(number) = block.get(at) else { return };
                    let line = line(*number, &plan.entry(*number), full);
                    done.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(line);
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.into_iter().flatten().collect()
}

fn line(index: usize, entry: &Entry, full: bool) -> (String, bool) {
    let outcome = outcome(entry, full);
    let has_results = matches!(outcome, Outcome::Results { .. } | Outcome::Report(_));
    let line = Line { index, set: &entry.set, outcome };
    // Maps with text for keys, and numbers that are finite: it always has a text.
    (json::compact(&line).unwrap_or_default(), has_results)
}

fn outcome(entry: &Entry, full: bool) -> Outcome {
    let doc = match &entry.doc {
        Ok(doc) => doc,
        Err(problems) => return Outcome::Problems(problems.clone()),
    };
    let scenario = match check(doc) {
        Ok(checked) => checked.scenario,
        Err(problems) => return Outcome::Problems(problems),
    };
    match answer(&scenario) {
        Ok(simulated) if full => Outcome::Report(Box::new(simulated.report)),
        Ok(simulated) => {
            let report = simulated.report;
            Outcome::Results {
                numbers: headline(&report),
                name: report.name,
                seed: report.seed,
                verdict: report.verdict,
                offered: report.offered,
                complete: report.complete,
            }
        }
        Err(why) => Outcome::Unanswered(why.to_string()),
    }
}
