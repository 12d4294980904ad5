//! Classical controllers: the linearised plant, the Riccati equation, and linear-quadratic regulators.
//!
//! Agents stand at their regular positions and read the whole field. [`Linearised`] is one tick of the field near zero,
//! z' = A·z + B·u; on a linear problem it is exact. [`Lqr`] minimises the mean over all ticks of the squared error plus
//! a weight times the squared pushes, without limits and without an end, for any target that does not change. Its gains
//! are a policy (`policy.kind = "state_feedback"`) that is scored as any other.
//!
//! ```
//! use cinoc_lab::classical::{Linearised, Lqr};
//!
//! let heat = cinoc::problem("heat1d")?;
//! let plant = Linearised::of(heat.problem(), 4)?;
//! let lqr = Lqr::design(&plant, 1e-6).expect("heat can be regulated");
//! assert_eq!(lqr.feedback.shape(), (4, 100));
//! # Ok::<(), cinoc::Error>(())
//! ```

mod linearised;
mod lqr;
mod riccati;

pub use linearised::Linearised;
pub use lqr::{Lqr, Tuned, WEIGHTS, tuned};
pub use riccati::riccati;
