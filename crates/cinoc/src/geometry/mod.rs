//! Discs, and agents that are near each other.

mod disc;
pub(crate) mod neighbours;

pub use disc::{Bearing, Disc};
