//! What the page and its workers say to each other: JSON text, one message a line of this file.
//!
//! Worker files carry no hash in their name, so an old one may meet a new page: the first message
//! of a worker is [`Hello`], and the page asks to be reloaded where it does not fit.

use goodput_engine::accounts::report::SimReport;
use goodput_engine::planner::report::PlanReport;
use goodput_engine::problem::Problem;
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
