//! What the simulator worker does: a job in, messages out.

use goodput_engine::accounts::report::SimReport;
use goodput_engine::accounts::{Answer, Unanswerable};
use goodput_engine::calibration::{self, BenchmarkFile, CalibrationReport, LoadCurve};
use goodput_engine::planner::{self, report::PlanReport};
use goodput_engine::problem::Problem;
use goodput_engine::scenario::doc::ScenarioDoc;
use goodput_engine::scenario::{self, Scenario};
use goodput_engine::sim;

use super::protocol::{FromSimulator, PointsOfFile, ToSimulator};

/// Boundaries between two words about progress: some tens of milliseconds.
const BUDGET: u64 = 300_000;

/// Carries out one message; `say` hands each answer to the page at once.
pub fn handle(message: &str, say: &mut dyn FnMut(&FromSimulator)) {
    let answer = match serde_json::from_str(message) {
        Ok(ToSimulator::Simulate { job, doc }) => {
            let progress = &mut |share| say(&FromSimulator::Progress { job, share });
            match simulate(&doc, progress) {
                Ok(report) => FromSimulator::Simulated { job, report: Box::new(report) },
                Err(problems) => FromSimulator::Failed { job, problems },
            }
        }
        Ok(ToSimulator::Plan { job, doc }) => {
            let progress = &mut |share| say(&FromSimulator::Progress { job, share });
            match plan(&doc, progress) {
                Ok(plan) => FromSimulator::Planned { job, plan: Box::new(plan) },
                Err(problems) => FromSimulator::Failed { job, problems },
            }
        }
        Ok(ToSimulator::Calibrate { job, doc, files }) => match calibrate(&doc, files) {
            Ok((report, curves)) => {
                FromSimulator::Calibrated { job, report: Box::new(report), curves }
            }
            Err(problems) => FromSimulator::Failed { job, problems },
        },
        Err(error) => FromSimulator::Panicked {
            message: format!("the page said something unreadable: {error}"),
        },
    };
    say(&answer);
}

fn checked(doc: &ScenarioDoc) -> Result<Scenario, Vec<Problem>> {
    scenario::check(doc).map(|checked| checked.scenario)
}

fn simulate(doc: &ScenarioDoc, progress: &mut dyn FnMut(f64)) -> Result<SimReport, Vec<Problem>> {
    let scenario = checked(doc)?;
    let unanswerable = |why: Unanswerable| vec![why.problem()];
    let answer = Answer::prepare(&scenario).map_err(unanswerable)?;
    let mut run = answer.start();
    while let sim::Progress::Running { decided } = run.advance(BUDGET) {
        progress(answer.share_done(&run, decided));
    }
    Ok(answer.report(run.finish()).report)
}

fn plan(doc: &ScenarioDoc, progress: &mut dyn FnMut(f64)) -> Result<PlanReport, Vec<Problem>> {
    let scenario = checked(doc)?;
    let watch = |at: &planner::Progress| {
        if let planner::Progress::Working { done, .. } = at {
            // How many runs a search takes is not known before; most take some dozens.
            progress(f64::from(*done) / (f64::from(*done) + 20.0));
        }
        true
    };
    planner::plan(&scenario, watch).ok_or_else(|| {
        vec![Problem::error("fleet", "no fleet was tried", "change an input to try again")]
    })
}

fn calibrate(
    doc: &ScenarioDoc,
    files: Vec<PointsOfFile>,
) -> Result<(CalibrationReport, Vec<LoadCurve>), Vec<Problem>> {
    let scenario = checked(doc)?;
    let files: Vec<BenchmarkFile> = files
        .into_iter()
        .map(|PointsOfFile { file, sha256 }| BenchmarkFile { file, sha256 })
        .collect();
    calibration::calibrate_pool_with_curves(&files, &scenario.pool)
        .map_err(|why| vec![why.problem()])
}
