//! Differentiable solvers for partial differential equations.
//!
//! - [`Grid`]: nodes of an interval or a rectangle, with walls or periodic.
//! - [`calculus`]: the operations solvers are made of, each with its adjoint.
//! - [`equation`]: one file per equation; each is a [`Stepper`].
//! - [`sampler`]: random fields to start from and to aim at.

pub mod calculus;
pub mod equation;
mod grid;
pub mod sampler;

pub use cinoc_tape::Real;
pub use equation::Stepper;
pub use grid::Grid;
