//! Differentiable solvers for partial differential equations.
//!
//! - [`Grid`]: nodes of an interval or a rectangle, periodic or with walls.
//! - [`equation`]: heat, Fisher–KPP, Kuramoto–Sivashinsky, vorticity and transport equations; each is a [`Stepper`].
//! - [`stepper`]: pseudo-spectral time stepping of periodic equations; custom ones implement [`stepper::Spectral`].
//! - [`calculus`]: the operations of the solvers, each with its adjoint.
//! - [`volume`]: finite volumes in one to three dimensions, with maps, sides of every kind and solid cells.
//! - [`sampler`]: random fields for initial conditions and targets.
//!
//! Gradient of the final energy of the heat equation with respect to its initial field:
//!
//! ```
//! use cinoc_pde::equation::Heat1d;
//! use cinoc_pde::{Grid, Stepper};
//! use cinoc_tape::{Adjoints, Arena, Tape};
//!
//! let heat = Heat1d::new(Grid::walls(33, 1.0), 0.2, 1e-3);
//! let start: Vec<_> = heat.grid().positions(0).iter().map(|x| (std::f64::consts::PI * x).sin() as _).collect();
//!
//! let tape = Tape::new(Arena::default(), &[]);
//! let z0 = tape.input([1, 33], &start);
//! let mut z = z0;
//! for _ in 0..10 {
//!     z = heat.step(z, tape.zeros([1, 33]));
//! }
//! let (z0, energy) = (z0.id(), z.square().mean().id());
//! let arena = tape.into_arena();
//!
//! let mut bars = Adjoints::default();
//! bars.start(&arena, 0);
//! bars.seed(&arena, energy, &[1.0]);
//! arena.backward(&[], &mut bars);
//! assert!(bars.of(&arena, z0)[16] > 0.0);
//! ```

pub mod calculus;
pub mod equation;
mod grid;
pub mod sampler;
pub mod stepper;
pub mod volume;

pub use cinoc_tape::Real;
pub use equation::Stepper;
pub use grid::Grid;
