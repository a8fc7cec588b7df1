//! What the simulator worker does: a job in, messages out. It remembers its last run, so that views
//! can ask more about it than a report says.

use goodput_engine::accounts::report::SimReport;
use goodput_engine::accounts::{self, Answer, Unanswerable};
use goodput_engine::bridge;
use goodput_engine::calibration::{self, BenchmarkFile, CalibrationReport, LoadCurve};
use goodput_engine::compare;
use goodput_engine::estimate;
use goodput_engine::planner::{self, Scope, report::PlanReport};
use goodput_engine::problem::Problem;
use goodput_engine::remedies;
use goodput_engine::rerun;
use goodput_engine::scenario::doc::{ScenarioDoc, SloDoc};
use goodput_engine::scenario::{self, Pool, Scenario};
use goodput_engine::sim;
use goodput_engine::sim::SimRun;
use goodput_engine::workload::OfferedRequest;

use super::protocol::{Finding, FromSimulator, PointsOfFile, Question, ToSimulator, Viewed};

/// Boundaries between two words about progress: some tens of milliseconds.
const BUDGET: u64 = 300_000;

/// Windows in which the page simulates a fleet at most, to choose it and again to confirm it: a plan
/// follows every edit. The terminal takes as many as an answer needs, or `--windows`.
pub const WINDOWS_OF_A_PLAN: u32 = 5;

/// Carries out messages.
#[derive(Debug, Default)]
pub struct Simulator {
    last: Option<Served>,
}

/// A run with its rows.
#[derive(Debug)]
struct Served {
    doc: ScenarioDoc,
    scenario: Scenario,
    requests: Vec<OfferedRequest>,
    run: SimRun,
}

impl Simulator {
    /// Carries out one message; `say` hands each answer to the page at once.
    pub fn handle(&mut self, message: &str, say: &mut dyn FnMut(&FromSimulator)) {
        let answer = match serde_json::from_str(message) {
            Ok(asked) => self.answer(asked, say),
            Err(error) => FromSimulator::Panicked {
                message: format!("the page said something unreadable: {error}"),
            },
        };
        say(&answer);
    }

    fn answer(&mut self, asked: ToSimulator, say: &mut dyn FnMut(&FromSimulator)) -> FromSimulator {
        let (job, answer) = match asked {
            ToSimulator::Simulate { job, doc } => {
                let progress = &mut |share| say(&FromSimulator::Progress { job, share });
                let report = self.simulate(*doc, progress).map(Box::new);
                (job, report.map(|report| FromSimulator::Simulated { job, report }))
            }
            ToSimulator::Plan { job, doc } => {
                let progress = &mut |share| say(&FromSimulator::Progress { job, share });
                let plan = plan(&doc, progress).map(Box::new);
                (job, plan.map(|plan| FromSimulator::Planned { job, plan }))
            }
            ToSimulator::Calibrate { job, doc, pool, files } => {
                let calibrated = calibrate(&doc, pool, files).map(|(report, curves)| {
                    FromSimulator::Calibrated { job, report: Box::new(report), curves }
                });
                (job, calibrated)
            }
            ToSimulator::View { job, doc, question } => {
                let viewed = self.view(&doc, question).map(Box::new);
                (job, viewed.map(|viewed| FromSimulator::Viewed { job, viewed }))
            }
        };
        answer.unwrap_or_else(|problems| FromSimulator::Failed { job, problems })
    }

    fn simulate(
        &mut self,
        doc: ScenarioDoc,
        progress: &mut dyn FnMut(f64),
    ) -> Result<SimReport, Vec<Problem>> {
        // Before the next run, so that there is room for it.
        self.last = None;
        let scenario = checked(&doc)?;
        let answer = Answer::prepare(&scenario).map_err(unanswerable)?;
        let mut run = answer.start();
        while let sim::Progress::Running { decided } = run.advance(BUDGET) {
            progress(answer.share_done(&run, decided));
        }
        let simulated = answer.report(run.finish());
        let (requests, run) = (simulated.requests, simulated.run);
        self.last = Some(Served { doc, scenario, requests, run });
        Ok(simulated.report)
    }

    /// The run of a document: the last one, or simulated again where that is of another.
    fn served(&mut self, doc: &ScenarioDoc) -> Result<&Served, Vec<Problem>> {
        let is_it =
            |last: &Served| last.doc.workload == doc.workload && last.doc.fleet == doc.fleet;
        if !self.last.as_ref().is_some_and(is_it) {
            self.simulate(doc.clone(), &mut |_| {})?;
        }
        self.last.as_ref().ok_or_else(Vec::new)
    }

    fn view(&mut self, doc: &ScenarioDoc, question: Question) -> Result<Viewed, Vec<Problem>> {
        let finding = match &question {
            Question::Cross(by) => {
                let Served { scenario, requests, run, .. } = self.served(doc)?;
                let crossed = accounts::cross(scenario, (requests, run), by);
                Finding::Crossed(crossed.map_err(unanswerable)?)
            }
            Question::Recount(contracts) => {
                let Served { scenario, requests, run, .. } = self.served(doc)?;
                let contracts = checked(&under(doc, contracts))?.contracts;
                let found = accounts::recount(scenario, &contracts, (requests, &run.stamps));
                Finding::Recounted(found.map_err(|problem| vec![problem])?)
            }
            Question::LifeCycle => {
                let Served { scenario, requests, run, .. } = self.served(doc)?;
                Finding::LifeCycle(accounts::life_cycle(scenario, (requests, &run.stamps)))
            }
            Question::Remedies => {
                let found = remedies::remedies(doc, &checked(doc)?).map_err(unanswerable)?;
                Finding::Remedies(found.into())
            }
            Question::LiftSettings => {
                let Served { scenario, requests, run, .. } = self.served(doc)?;
                let found = compare::lift_settings(scenario, (requests, &run.stamps));
                Finding::SettingsLifted(found.map_err(unanswerable)?)
            }
            Question::Usable(pool, files) => {
                let scenario = checked(doc)?;
                let found = calibration::usable_points(
                    &of_files(files.clone()),
                    pool_of(&scenario, *pool)?,
                );
                let (used, excluded) = found.map_err(unanswerable)?;
                Finding::Usable(used, excluded)
            }
            Question::Bridge(of) => {
                Finding::Bridge(bridge::bridge(&of.file, None, &checked(doc)?)?)
            }
            Question::Rerun => {
                let found = rerun::rerun(&checked(doc)?);
                Finding::Rerun(found.map_err(|problem| vec![problem])?)
            }
            Question::Capacity(axis) => {
                let table = estimate::capacity(&checked(doc)?, *axis);
                Finding::Capacity(table.map_err(|problem| vec![problem])?)
            }
        };
        Ok(Viewed { question, finding })
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` hands on")]
fn unanswerable(why: Unanswerable) -> Vec<Problem> {
    vec![why.problem()]
}

/// The document with other contracts, one for each class.
fn under(doc: &ScenarioDoc, contracts: &[SloDoc]) -> ScenarioDoc {
    let mut doc = doc.clone();
    for (class, slo) in doc.workload.classes.iter_mut().zip(contracts) {
        class.slo.clone_from(slo);
    }
    doc
}

fn checked(doc: &ScenarioDoc) -> Result<Scenario, Vec<Problem>> {
    scenario::check(doc).map(|checked| checked.scenario)
}

fn plan(doc: &ScenarioDoc, progress: &mut dyn FnMut(f64)) -> Result<PlanReport, Vec<Problem>> {
    let scenario = checked(doc)?;
    let watch = |at: &planner::Progress| {
        if let planner::Progress::Working { done, .. } = at {
            // How many runs a search takes is not known before; most take two or three hundred.
            progress(f64::from(*done) / (f64::from(*done) + 100.0));
        }
        true
    };
    let scope = Scope { most_windows: WINDOWS_OF_A_PLAN, ..Scope::default() };
    planner::plan_with(&scenario, scope, watch).ok_or_else(|| {
        vec![Problem::error("fleet", "no fleet was tried", "change an input to try again")]
    })
}

fn calibrate(
    doc: &ScenarioDoc,
    pool: usize,
    files: Vec<PointsOfFile>,
) -> Result<(CalibrationReport, Vec<LoadCurve>), Vec<Problem>> {
    let scenario = checked(doc)?;
    calibration::calibrate_pool_with_curves(&of_files(files), pool_of(&scenario, pool)?)
        .map_err(|why| vec![why.problem()])
}

fn pool_of(scenario: &Scenario, pool: usize) -> Result<&Pool, Vec<Problem>> {
    scenario.pools().nth(pool).ok_or_else(|| {
        vec![Problem::error("fleet.pools", "there is no such pool", "choose one that there is")]
    })
}

fn of_files(files: Vec<PointsOfFile>) -> Vec<BenchmarkFile> {
    let file = |PointsOfFile { file, sha256 }| BenchmarkFile { file, sha256 };
    files.into_iter().map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodput_engine::accounts::accounting::Dimension;
    use goodput_engine::scenario::presets;

    fn said(simulator: &mut Simulator, message: &ToSimulator) -> FromSimulator {
        let text = serde_json::to_string(message).expect("a message");
        let mut last = None;
        simulator.handle(&text, &mut |answer| last = Some(answer.clone()));
        last.expect("an answer")
    }

    fn doc() -> ScenarioDoc {
        let mut doc = presets::presets()[0].doc.clone();
        doc.workload.horizon_s = 60.0;
        doc.workload.warmup_s = 0.0;
        doc
    }

    #[test]
    fn a_view_of_a_run_is_the_same_whether_the_run_is_remembered_or_not() {
        let doc = Box::new(doc());
        let by = vec![Dimension::Prompt, Dimension::Window];
        let ask = ToSimulator::View { job: 2, doc: doc.clone(), question: Question::Cross(by) };
        let mut one = Simulator::default();
        let FromSimulator::Simulated { report, .. } =
            said(&mut one, &ToSimulator::Simulate { job: 1, doc: doc.clone() })
        else {
            panic!("not simulated")
        };
        let remembered = said(&mut one, &ask);
        assert_eq!(remembered, said(&mut Simulator::default(), &ask));
        let FromSimulator::Viewed { viewed, .. } = remembered else { panic!("not viewed") };
        let Finding::Crossed(crossed) = viewed.finding else { panic!("not crossed") };
        assert!(crossed.cells.len() > 4);
        assert_eq!(crossed.cells.iter().map(|cell| cell.offered).sum::<u64>(), report.offered);
        let good = crossed.cells.iter().map(|cell| cell.good).sum::<u64>();
        assert_eq!(good, report.goodput.good);
    }

    #[test]
    fn points_that_cannot_serve_a_fit_are_known_before_it() {
        let rows = "model,gpu,tensor_parallel,max_concurrency,num_prompts,completed,failed,\
                    mean_input_tokens,mean_output_tokens,output_tps,ttft_mean_ms,tpot_mean_ms\n\
                    llama-3.1-8b,GPU,1,8,400,400,0,512,256,860,55,8.9\n";
        let usable = |gpu: &str| {
            let file =
                goodput_engine::ingest::read_file("a.csv", rows.replace("GPU", gpu).as_bytes());
            let files = vec![PointsOfFile { file, sha256: String::new() }];
            let question = Question::Usable(0, files);
            let ask = ToSimulator::View { job: 1, doc: Box::new(doc()), question };
            match said(&mut Simulator::default(), &ask) {
                FromSimulator::Viewed { viewed, .. } => viewed.finding,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(usable("H100-SXM"), Finding::Usable(1, Vec::new()));
        let Finding::Usable(0, excluded) = usable("A100-80GB") else { panic!("of another GPU") };
        assert!(excluded[0].reason.contains("A100"), "{excluded:?}");
    }

    #[test]
    fn a_view_of_another_document_is_of_that_document() {
        let mut other = doc();
        other.workload.seed += 1;
        let ask = |doc: ScenarioDoc| ToSimulator::View {
            job: 2,
            doc: Box::new(doc),
            question: Question::Cross(vec![Dimension::Prompt]),
        };
        let mut one = Simulator::default();
        said(&mut one, &ToSimulator::Simulate { job: 1, doc: Box::new(doc()) });
        let second = said(&mut one, &ask(other.clone()));
        assert_eq!(second, said(&mut Simulator::default(), &ask(other)));
        assert_ne!(second, said(&mut one, &ask(doc())));
    }
}
