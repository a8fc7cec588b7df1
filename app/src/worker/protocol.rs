//! What the page and its workers say to each other: JSON text, one message a line of this file.
//!
//! Worker files carry no hash in their name, so an old one may meet a new page: the first message
//! of a worker is [`Hello`], and the page asks to be reloaded where it does not fit.

use goodput_engine::accounts::accounting::{BreakOut, Dimension};
use goodput_engine::accounts::report::SimReport;
use goodput_engine::accounts::{LifeCycle, Recount};
use goodput_engine::bridge::Bridge;
use goodput_engine::calibration::report::ExcludedPoint;
use goodput_engine::calibration::{CalibrationReport, LoadCurve};
use goodput_engine::compare::SettingLifted;
use goodput_engine::estimate::{Capacity, CapacityAxis};
use goodput_engine::ingest::ParsedFile;
use goodput_engine::planner::report::PlanReport;
use goodput_engine::problem::Problem;
use goodput_engine::rerun::Rerun;
use goodput_engine::scenario::doc::{ScenarioDoc, SloDoc};
use goodput_engine::scenario::{TraceForm, TraceWorkload};
use serde::{Deserialize, Serialize};

use super::reader::{FileId, Judged, ReadFile};
use super::remedies::Remedies;

/// Changes with every change of a message below.
pub const PROTOCOL: u32 = 5;

/// The build of a page or worker.
pub const BUILD: &str = env!("CARGO_PKG_VERSION");

/// The first message of a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Which worker.
    pub worker: String,
    /// Its [`PROTOCOL`].
    pub protocol: u32,
    /// Its [`BUILD`].
    pub build: String,
}

impl Hello {
    /// What a worker of this build says.
    pub fn of(worker: &str) -> Self {
        Self { worker: worker.to_owned(), protocol: PROTOCOL, build: BUILD.to_owned() }
    }

    /// Whether its messages will be understood.
    pub fn fits(&self) -> bool {
        self.protocol == PROTOCOL && self.build == BUILD
    }
}

/// To a simulator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToSimulator {
    /// Simulate a document.
    Simulate {
        /// Number that the answers carry.
        job: u64,
        /// What to simulate.
        doc: Box<ScenarioDoc>,
    },
    /// Find the fleet that holds the contract of a document.
    Plan {
        /// Number that the answers carry.
        job: u64,
        /// What to plan for.
        doc: Box<ScenarioDoc>,
    },
    /// Fit the step time of a document's pool to benchmark points.
    Calibrate {
        /// Number that the answers carry.
        job: u64,
        /// Whose pool.
        doc: Box<ScenarioDoc>,
        /// Its index.
        pool: usize,
        /// The points, by file.
        files: Vec<PointsOfFile>,
    },
    /// Answer a question about a document that somebody looks at. The run is remembered: only
    /// where it is not there any more is it simulated again.
    View {
        /// Number that the answers carry.
        job: u64,
        /// About which document.
        doc: Box<ScenarioDoc>,
        /// What is asked.
        question: Question,
    },
}

/// What a view asks about a run: not in its report, as most are never looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Outcomes by dimensions crossed.
    Cross(Vec<Dimension>),
    /// The same run under other contracts, one for each class.
    Recount(Vec<SloDoc>),
    /// Capacity over one thing that is varied.
    Capacity(CapacityAxis),
    /// Where the time of answers goes.
    LifeCycle,
    /// What every setting that cost requests cost, lifted alone and simulated.
    LiftSettings,
    /// What else would help, each edit simulated.
    Remedies,
    /// Which benchmark points can serve a fit of the pool at an index.
    Usable(usize, Vec<PointsOfFile>),
    /// The way from the only point of a file to what the plan may count on.
    Bridge(Box<PointsOfFile>),
    /// What to measure next.
    Rerun,
}

/// What the worker found for a [`Question`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Outcomes by dimensions crossed.
    Crossed(BreakOut),
    /// What other contracts make of the run.
    Recounted(Recount),
    /// Capacity over one thing that is varied.
    Capacity(Capacity),
    /// Where the time of answers goes.
    LifeCycle(LifeCycle),
    /// What settings cost, most good requests first.
    SettingsLifted(Vec<SettingLifted>),
    /// What else would help.
    Remedies(Remedies),
    /// How many points can serve a fit, and why the others cannot.
    Usable(u64, Vec<ExcludedPoint>),
    /// The way from a benchmark to the plan.
    Bridge(Bridge),
    /// What to measure next.
    Rerun(Rerun),
}

/// An answer and what was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Viewed {
    /// What was asked.
    pub question: Question,
    /// What was found.
    pub finding: Finding,
}

/// A benchmark file without its per-request records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointsOfFile {
    /// Its name and points, with what the user has told about them.
    pub file: ParsedFile,
    /// SHA-256 of its bytes.
    pub sha256: String,
}

/// From a simulator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromSimulator {
    /// It has started.
    Hello(Hello),
    /// A job is so far.
    Progress {
        /// Which.
        job: u64,
        /// 0 to 1.
        share: f64,
    },
    /// A simulation is done.
    Simulated {
        /// Which.
        job: u64,
        /// What would happen.
        report: Box<SimReport>,
    },
    /// A plan is done.
    Planned {
        /// Which.
        job: u64,
        /// What holds.
        plan: Box<PlanReport>,
    },
    /// A fit is done.
    Calibrated {
        /// Which.
        job: u64,
        /// What the points say.
        report: Box<CalibrationReport>,
        /// What is predicted between and around them.
        curves: Vec<LoadCurve>,
    },
    /// A question is answered.
    Viewed {
        /// Which.
        job: u64,
        /// The answer.
        viewed: Box<Viewed>,
    },
    /// A job cannot be done.
    Failed {
        /// Which.
        job: u64,
        /// Why.
        problems: Vec<Problem>,
    },
    /// It is about to die: a broken invariant.
    Panicked {
        /// What it said.
        message: String,
    },
}

/// To the reader; files travel beside the text, as the browser's own handles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToReader {
    /// Read the file beside this message and keep what it holds.
    Read {
        /// Number that the answers carry, and by which the file is known from then on.
        file: FileId,
        /// Its name.
        name: String,
    },
    /// Read text as if it were a file.
    ReadText {
        /// Number that the answers carry.
        file: FileId,
        /// What to call it.
        name: String,
        /// The text.
        text: String,
    },
    /// Give a trace that was read as a workload.
    UseTrace {
        /// Which file.
        file: FileId,
        /// Every request as recorded, or summed up.
        form: TraceForm,
    },
    /// Judge the requests of a benchmark that was read by a contract.
    Judge {
        /// Which file.
        file: FileId,
        /// The contract.
        slo: Box<SloDoc>,
        /// What outcomes are crossed by, if by anything.
        cross: Vec<Dimension>,
    },
    /// Forget a file.
    Forget {
        /// Which.
        file: FileId,
    },
}

/// From the reader.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromReader {
    /// It has started.
    Hello(Hello),
    /// A file was read, or refused with a reason.
    Read {
        /// Which.
        file: FileId,
        /// What it holds and what is wrong with it.
        read: Box<ReadFile>,
    },
    /// A file was a scenario document.
    Scenario {
        /// Which file.
        file: FileId,
        /// The document.
        doc: Box<ScenarioDoc>,
    },
    /// A trace as a workload.
    Trace {
        /// Of which file.
        file: FileId,
        /// In which form.
        form: TraceForm,
        /// The workload.
        workload: Box<TraceWorkload>,
    },
    /// The requests of a benchmark, judged.
    Judged {
        /// Of which file.
        file: FileId,
        /// What came of them.
        judged: Box<Judged>,
    },
    /// A message cannot be carried out.
    Failed {
        /// Which file it was about.
        file: FileId,
        /// Why.
        message: String,
    },
    /// It is about to die: a broken invariant.
    Panicked {
        /// What it said.
        message: String,
    },
}
