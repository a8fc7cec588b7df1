//! The `goodput` command line: the engine's answers in a terminal or in CI.
fn main() {}
