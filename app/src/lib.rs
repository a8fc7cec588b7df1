//! The Goodput page.
