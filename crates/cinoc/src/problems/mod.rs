//! The shipped problems, one file each. Shared parts are in `common`; the settings of agents are public for other
//! problems.

mod common;
mod density2d;
mod fkpp1d;
mod heat1d;
mod heat2d;
mod heat2d_obstacles;
mod ks1d;
mod ks2d;
mod turbulence2d;

pub use common::{Mobile, Static, window_fits};
pub use density2d::Density2d;
pub use fkpp1d::Fkpp1d;
pub use heat1d::Heat1d;
pub use heat2d::Heat2d;
pub use heat2d_obstacles::Heat2dObstacles;
pub use ks1d::Ks1d;
pub use ks2d::Ks2d;
pub use turbulence2d::Turbulence2d;
