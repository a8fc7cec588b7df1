//! The page's workers: what is said, and who says it on either side.

mod client;
pub mod protocol;
pub mod reader;
pub mod remedies;
pub mod scope;
pub mod simulator;

pub use client::{Client, Word};
