//! Equations as text: parsed, checked, divided into terms, and compiled to operations of a tape.
//!
//! - [`Scope`] declares names: fields, constants, maps, series, channels, actions, zones, each of a [`Kind`].
//! - [`parse`] reads a text and checks names, ranks and axes; an [`Error`] says what is wrong, shows the place and says
//!   what to do. Length and depth of texts are limited, so a text from elsewhere is harmless.
//! - [`terms`] divides a right-hand side into diffusion, decay, transport and other terms, with their coefficients, and
//!   says which of them can be implicit in time.
//! - [`Plan`] compiles expressions. Equal parts are computed once, pointwise parts in one pass over blocks of cells
//!   ([`Program`]), forwards and backwards without allocation. Operators on fields are calls that the caller supplies
//!   ([`Operators`]).
//!
//! The language: numbers; names; `+ - * / ^`; comparisons, also with `&&` and `||`, as in `where(u < 1, a, b)`; `exp log sqrt sin cos tan tanh
//! abs min max clamp where step smoothstep`; `grad lap div dot dx dy dz`; `mean sum max` over all cells, a zone or all
//! agents; `random(length)` in texts of start and target. `step(a)` is 1 where a > 0, else 0.
//!
//! The right-hand side of the Allen–Cahn equation, with its gradient, on a ring of cells of width 1:
//!
//! ```
//! use cinoc_tape::{Adjoints, Arena, Tape, Var};
//! use cinoc_text::{Axis, Call, Kind, Operator, Operators, Plan, Scope, parse, terms};
//! use std::sync::Arc;
//!
//! struct Ring;
//!
//! impl Operators for Ring {
//!     fn record<'t>(&self, _: &'t Tape<'t>, call: &Call, inputs: &[Var<'t>]) -> Var<'t> {
//!         assert_eq!((&call.operator, call.of.as_deref()), (&Operator::Laplacian, Some("z")));
//!         let (z, cells) = (inputs[0], inputs[0].shape().last() as u32);
//!         let shifted = |by: u32| z.gather(&(0..cells).map(|i| (i + by) % cells).collect::<Arc<[u32]>>());
//!         shifted(1) + shifted(cells - 1) - z * 2.0
//!     }
//! }
//!
//! let mut scope = Scope::new(1);
//! scope.add(&["z"], Kind::FIELD)?;
//! scope.add(&["epsilon"], Kind::CONSTANT)?;
//! scope.add(&["push"], Kind::CHANNEL)?;
//! let rhs = parse("epsilon*lap(z) + z - z^3 + push", &scope)?;
//!
//! let treated: Vec<_> = terms(&rhs, "z").iter().map(ToString::to_string).collect();
//! assert_eq!(treated[..2], ["epsilon*lap(z): implicit diffusion", "z: explicit growth"]);
//!
//! let plan = Plan::new(&scope, &[&rhs], Axis::Cells)?;
//! let tape = Tape::new(Arena::default(), &[]);
//! let z = tape.input([1, 4], &[0.0, 0.5, 1.0, 0.5]);
//! let epsilon = tape.constant([1, 1], &[2.0]);
//! let push = tape.input([1, 4], &[0.0, 0.0, 0.0, 0.125]);
//! let rate = plan.record(&[z, epsilon, push], &Ring);
//! assert_eq!(rate.value(), [2.0, 0.375, -2.0, 0.5]);
//!
//! let (z, loss) = (z.id(), rate.sum().id());
//! let arena = tape.into_arena();
//! let mut bars = Adjoints::default();
//! bars.start(&arena, 0);
//! bars.seed(&arena, loss, &[1.0]);
//! arena.backward(&[], &mut bars);
//! assert_eq!(bars.of(&arena, z), [1.0, 0.25, -2.0, 0.25]);
//! # Ok::<(), cinoc_text::Error>(())
//! ```

mod error;
mod expr;
mod graph;
mod kind;
mod lexer;
mod lower;
mod operator;
mod parse;
mod plan;
mod program;
mod rank;
mod scope;
mod terms;

pub use error::Error;
pub use expr::{Expr, Function, Infix, Node};
pub use kind::{Axis, Kind, Rank};
pub use operator::{Call, Operator, Operators, Reduction};
pub use parse::{MAX_HEIGHT, MAX_LENGTH, MAX_NODES, parse};
pub use plan::Plan;
pub use program::Program;
pub use scope::Scope;
pub use terms::{Form, Term, Treatment, Velocity, sum, terms};
