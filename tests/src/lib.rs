//! The built page in a real browser, behind the policy it is served with, for journeys and
//! screenshots; and the `goodput` program, to compare numbers with.
//!
//! A journey opens the page, acts as a user does, and waits for what the page says about itself
//! (`data-state`), never for time to pass. Whatever the browser logs as a warning or an error, a
//! violation of the policy among them, fails it.

pub mod answer;
pub mod axe;
pub mod chromedriver;
pub mod goodput;
pub mod journey;
pub mod page;
pub mod trace;
pub mod view;

pub use answer::Answer;
pub use journey::{Journey, journey};
pub use page::{Page, testid};

/// How an action in the browser ends.
pub type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
