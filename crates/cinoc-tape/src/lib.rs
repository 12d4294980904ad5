//! Reverse-mode automatic differentiation for rollouts: one fixed graph of a few dozen operations, replayed for
//! hundreds of ticks.
//!
//! - [`Tape`] records operations as they are computed; [`Arena`] stores their values and is reused, so a warmed-up tape
//!   allocates nothing; [`Adjoints`] stores the cotangents of the backward sweep.
//! - [`Var`] is a handle to a value: `a + b`, `x.matmul(w)`, `h.tanh()` are recorded and differentiated.
//! - [`Op`] is the trait of operations, where derivatives are written by hand. Fused operations are tested against
//!   primitive ones.
//! - [`Arena::replay`] recomputes a recording with other values of its leaves.
//! - [`check`] compares derivatives with central differences and the adjoint identity.
//!
//! Gradient of a sum of squares:
//!
//! ```
//! use cinoc_tape::{Adjoints, Arena, Tape};
//!
//! let tape = Tape::new(Arena::default(), &[]);
//! let x = tape.input(&[3], &[1.0, 2.0, 3.0]);
//! let y = (x * x).sum();
//! let (x, y) = (x.id(), y.id());
//! let arena = tape.into_arena();
//!
//! let mut bars = Adjoints::default();
//! bars.start(&arena, 0);
//! bars.seed(&arena, y, &[1.0]);
//! arena.backward(&[], &mut bars);
//! assert_eq!(bars.of(&arena, x), &[2.0, 4.0, 6.0]);
//! ```
//!
//! Replay of a recording with another input:
//!
//! ```
//! use cinoc_tape::kernel::buffer::Buffer;
//! use cinoc_tape::{Arena, Tape};
//!
//! let tape = Tape::new(Arena::default(), &[]);
//! let x = tape.input(&[2], &[1.0, 2.0]);
//! let (x, y) = (x.id(), x.square().sum().id());
//! let recorded = tape.into_arena();
//!
//! let (mut tick, mut scratch) = (Arena::default(), Buffer::default());
//! tick.replay(&recorded, &[], [(x, &[3.0, 4.0][..])], &mut scratch);
//! assert_eq!((recorded.value(&[], y), tick.value(&[], y)), (&[5.0][..], &[25.0][..]));
//! ```

pub mod check;
pub mod kernel;
pub mod op;
pub mod profile;

mod arena;
mod backward;
mod definition;
mod node;
mod params;
mod pending_rows;
mod replay;
mod shape;
mod tape;
mod value_numbering;
mod var;

pub use arena::Arena;
pub use backward::Adjoints;
pub use definition::Definition;
pub use node::VarId;
pub use op::{Cotangents, Inputs, Op};
pub use params::{Layer, Leaves, Params};
pub use shape::Shape;
pub use tape::Tape;
pub use var::Var;

/// Floating-point type: `f32` here, `f64` in the crate `cinoc-tape-f64`.
#[cfg(not(double))]
pub type Real = f32;
/// Floating-point type: `f64` here, `f32` in the crate `cinoc-tape`.
#[cfg(double)]
pub type Real = f64;
