//! The page's workers: what is said, who says it on either side.

mod client;
pub mod protocol;
pub mod simulator;

pub use client::{Client, Word};
