//! How agents push.

mod bumps1d;
mod flow2d;
mod force1d;
mod force2d;

pub use bumps1d::{Bumps1d, SumBumps};
pub use flow2d::Flow2d;
pub use force1d::Force1d;
pub use force2d::Force2d;
