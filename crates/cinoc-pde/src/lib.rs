//! Differentiable solvers for partial differential equations.
//!
//! - [`Grid`]: nodes of an interval or a rectangle, with walls or periodic.
//! - [`calculus`]: the operations solvers are made of, each with its adjoint.
//! - [`equation`]: one file per equation; each is a [`Stepper`].
//! - [`stepper`]: schemes for periodic equations in Fourier space, and the trait of such equations.
//! - [`sampler`]: random fields to start from and to aim at.

pub mod calculus;
pub mod equation;
mod grid;
pub mod sampler;
pub mod stepper;

pub use cinoc_tape::Real;
pub use equation::Stepper;
pub use grid::Grid;
