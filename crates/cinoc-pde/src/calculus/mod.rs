//! The operations that solvers are made of.

mod peaceman_rachford;
mod theta_step;
mod tridiagonal;

pub use peaceman_rachford::PeacemanRachford;
pub use theta_step::ThetaStep;
pub use tridiagonal::Tridiagonal;
