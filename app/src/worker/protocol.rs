//! What the page and its workers say to each other: JSON text, one message a line of this file.
//!
//! Worker files carry no hash in their name, so an old one may meet a new page: the first message
//! of a worker is [`Hello`], and the page asks to be reloaded where it does not fit.

use goodput_engine::accounts::report::SimReport;
use goodput_engine::ingest::TraceWorkload;
use goodput_engine::planner::report::PlanReport;
use goodput_engine::problem::Problem;
use goodput_engine::review::ReviewReport;
use goodput_engine::scenario::doc::ScenarioDoc;
use serde::{Deserialize, Serialize};

/// Changes with every change of a message below.
pub const PROTOCOL: u32 = 1;

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
    /// Read a file and keep what it holds.
    Read {
        /// Number that the answers carry, and by which the file is known from then on.
        file: u64,
        /// Its name.
        name: String,
    },
    /// Give a trace that was read as a workload.
    UseTrace {
        /// Which file.
        file: u64,
        /// Every request as recorded, or told in a few numbers.
        exactly: bool,
    },
    /// Forget a file.
    Forget {
        /// Which.
        file: u64,
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
        file: u64,
        /// What it holds and what is wrong with it.
        review: Box<ReviewReport>,
    },
    /// A file was a scenario document.
    Scenario {
        /// Which file.
        file: u64,
        /// The document.
        doc: Box<ScenarioDoc>,
    },
    /// A trace as a workload.
    Trace {
        /// Of which file.
        file: u64,
        /// The workload.
        workload: Box<TraceWorkload>,
    },
    /// A job cannot be done.
    Failed {
        /// Which file.
        file: u64,
        /// Why.
        message: String,
    },
    /// It is about to die: a broken invariant.
    Panicked {
        /// What it said.
        message: String,
    },
}
