//! The engine in double precision.

pub use cinoc_f64 as cinoc;

// The same source twice: once with each precision's engine.
#[allow(clippy::duplicate_mod)]
#[path = "engine/mod.rs"]
pub mod engine;
