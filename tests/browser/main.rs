//! Journeys through the built page, one file each. `cargo xtask test` builds the page and runs them;
//! one alone: `cargo test -p goodput-tests --test browser NAME`.

mod benchmark;
mod broken_link;
mod contract;
mod draws;
mod edit;
mod editors;
mod expected;
mod files;
mod glossary;
mod handles;
mod keyboard;
mod opening;
mod outcomes;
mod over_time;
mod pools;
mod presets;
mod reload;
mod remedies;
mod scheduler;
mod share;
mod sharing;
mod uploaded_run;
mod views;
mod what_if;
