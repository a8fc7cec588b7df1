//! The project's tasks: serving and testing the page, and the set-up both need. The only place that
//! knows about tools outside cargo. `tests` uses [`server`] and [`project`] too, so that the page is
//! tested behind the very server and policy that `cargo xtask serve` has.

pub mod bench;
pub mod bench_page;
pub mod browser;
pub mod checks;
pub mod npm;
pub mod page;
pub mod process;
pub mod project;
pub mod serve;
pub mod server;
pub mod shot;
pub mod sizes;
pub mod suite;
pub mod tools;
pub mod validate;

/// What a task ends with; the message is for the person at the terminal.
pub type Result<T = ()> = std::result::Result<T, String>;
