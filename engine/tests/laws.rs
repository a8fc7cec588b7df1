//! What must always hold of the simulator, whatever it is asked: conservation, causality, work
//! conservation, determinism, Little's law, queueing theory and metamorphic relations.

#[path = "laws/again.rs"]
mod again;
#[path = "laws/always.rs"]
mod always;
#[path = "laws/clients.rs"]
mod clients;
#[path = "laws/closed_loop.rs"]
mod closed_loop;
#[path = "laws/common.rs"]
mod common;
#[path = "laws/life.rs"]
mod life;
#[path = "laws/prefix_cache.rs"]
mod prefix_cache;
#[path = "laws/priority.rs"]
mod priority;
#[path = "laws/scheduler.rs"]
mod scheduler;
#[path = "laws/stream.rs"]
mod stream;
#[path = "laws/theory.rs"]
mod theory;
