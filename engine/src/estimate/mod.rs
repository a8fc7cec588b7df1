//! The instant answer by arithmetic: memory, supply, capacity and fluid debt.

pub mod report;
