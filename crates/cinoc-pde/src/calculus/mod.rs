//! The operations that solvers are made of.

mod theta_step;
mod tridiagonal;

pub use theta_step::ThetaStep;
pub use tridiagonal::Tridiagonal;
