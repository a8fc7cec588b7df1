//! What the page shows, as plain strings and rows made from reports: pure functions, tested
//! natively. No queueing, no percentiles: those are the engine's.

pub mod arithmetic;
pub mod arrivals;
pub mod books;
pub mod capacity;
pub mod counterfactual;
pub mod delta;
pub mod edits;
pub mod figures;
pub mod fleet;
pub mod glossary;
pub mod handles;
pub mod latencies;
pub mod length_kinds;
pub mod length_words;
pub mod lengths;
pub mod life;
pub mod life_cycle;
pub mod outcomes;
pub mod pasted;
pub mod people;
pub mod policies;
pub mod pools;
pub mod rate_picture;
pub mod route;
pub mod rules;
pub mod sharing;
pub mod spread;
pub mod status;
pub mod tiles;
pub mod timeline;
pub mod uploads;
pub mod uploads_fit;
pub mod verdict;
pub mod words;
pub mod workload;
