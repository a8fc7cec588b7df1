//! Who got what: outcomes, attainment, debt and cost, counted from what happened.

pub mod report;
