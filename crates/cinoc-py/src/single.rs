//! The engine in single precision.

pub use cinoc;

// The same source twice: once with each precision's engine.
#[allow(clippy::duplicate_mod)]
#[path = "engine/mod.rs"]
pub mod engine;
