//! The scenario: the document people edit, its check, its links and its presets.

pub mod doc;
mod refs;

pub use refs::{CatalogRef, GpuRef, ModelRef};
