//! A small reverse-mode tape, made for rollouts: one fixed graph of a few dozen operations, repeated for hundreds of ticks.
//!
//! - [`Tape`] records operations as they are computed; [`Memory`] holds their values and is reused from tick to tick,
//!   so a warmed-up tape allocates nothing; [`Adjoints`] holds the cotangents of the backward sweep.
//! - [`Var`] is a handle: `a + b`, `x.matmul(w)`, `h.tanh()` read as mathematics and are differentiated without further work.
//! - [`Op`] is the only place where a derivative is written by hand. A fused operation is an optimisation of something that
//!   can also be written with plain ones, and a test says that they agree.
//! - [`check`] compares derivatives with central differences and with the adjoint identity.
//!
//! ```
//! use cinoc_tape::{Adjoints, Memory, Tape};
//!
//! let tape = Tape::new(Memory::default(), &[]);
//! let x = tape.input(&[3], &[1.0, 2.0, 3.0]);
//! let y = (x * x).sum();
//! let (x, y) = (x.id(), y.id());
//! let memory = tape.into_memory();
//!
//! let mut bars = Adjoints::default();
//! bars.start(&memory, 0);
//! bars.seed(&memory, y, &[1.0]);
//! memory.backward(&[], &mut bars);
//! assert_eq!(bars.of(&memory, x), &[2.0, 4.0, 6.0]);
//! ```

pub mod check;
pub mod kernel;
pub mod op;
pub mod profile;

mod backward;
mod gathered;
mod memory;
mod node;
mod origin;
mod params;
mod replay;
mod shape;
mod tape;
mod value_numbering;
mod var;

pub use backward::Adjoints;
pub use memory::Memory;
pub use node::VarId;
pub use op::{Cotangents, Inputs, Op};
pub use origin::Origin;
pub use params::{Layer, Leaves, Params};
pub use shape::Shape;
pub use tape::Tape;
pub use var::Var;

/// The number type: `f32`, or `f64` with the feature of that name.
#[cfg(not(feature = "f64"))]
pub type Real = f32;
/// The number type: `f32`, or `f64` with the feature of that name.
#[cfg(feature = "f64")]
pub type Real = f64;
