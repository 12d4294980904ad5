//! The operations that solvers are made of.

mod diffuse;
mod displacement;
mod frame;
mod moments;
mod theta_step;
mod transport;
mod tridiagonal;

pub use diffuse::Diffuse;
pub use displacement::Displacement;
pub use moments::Moments;
pub use theta_step::ThetaStep;
pub use transport::{Scheme, Transport};
pub use tridiagonal::Tridiagonal;
