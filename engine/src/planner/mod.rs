//! How many replicas hold the contract, and what binds.

pub mod report;
