//! What the simulator worker does: a job in, messages out.

use goodput_engine::problem::Problem;
use goodput_engine::scenario::doc::ScenarioDoc;
use goodput_engine::scenario::{self, Scenario};
use goodput_engine::{accounts, planner};

use super::protocol::{FromSimulator, ToSimulator};

/// Carries out one message; `say` hands each answer to the page at once.
pub fn handle(message: &str, say: &mut dyn FnMut(&FromSimulator)) {
    match serde_json::from_str(message) {
        Ok(ToSimulator::Simulate { job, doc }) => {
            let answer = match simulate(&doc, &mut |share| {
                say(&FromSimulator::Progress { job, share });
            }) {
                Ok(report) => FromSimulator::Simulated { job, report: Box::new(report) },
                Err(problems) => FromSimulator::Failed { job, problems },
            };
            say(&answer);
        }
        Ok(ToSimulator::Plan { job, doc }) => {
            let answer = match plan(&doc, &mut |share| {
                say(&FromSimulator::Progress { job, share });
            }) {
                Ok(plan) => FromSimulator::Planned { job, plan: Box::new(plan) },
                Err(problems) => FromSimulator::Failed { job, problems },
            };
            say(&answer);
        }
        Err(error) => say(&FromSimulator::Panicked {
            message: format!("the page said something unreadable: {error}"),
        }),
    }
}

fn checked(doc: &ScenarioDoc) -> Result<Scenario, Vec<Problem>> {
    scenario::check(doc).map(|checked| checked.scenario)
}
