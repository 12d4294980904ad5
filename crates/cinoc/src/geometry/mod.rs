//! Where agents are to each other and to things: discs, rectangles, neighbours.

mod disc;
mod indices;
mod pairs;
mod places;
mod rectangle;
mod runs;
mod tiles;

pub use disc::{Bearing, Disc, Discs};
pub use pairs::near_pairs;
pub(crate) use places::places;
pub use rectangle::Rectangle;
pub(crate) use runs::Runs;
pub(crate) use tiles::{Tiles, cells_of_chunk};
