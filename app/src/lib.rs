//! The Goodput page: a workbench over the engine, compiled to WebAssembly.

mod app;
mod browser;
mod charts;
mod controls;
mod format;
mod panels;
mod parse;
mod state;
mod view_model;
pub mod worker;

pub use app::App;
