//! Geometry of agents and obstacles: discs, rectangles, neighbour search.

mod disc;
mod indices;
mod pairs;
mod rectangle;
mod runs;
mod shared_positions;
mod tiles;

pub use disc::{Bearing, Disc, Discs};
pub use pairs::near_pairs;
pub use rectangle::Rectangle;
pub(crate) use runs::Runs;
pub(crate) use shared_positions::shared_positions;
pub(crate) use tiles::{Tiles, cells_of_chunk};
