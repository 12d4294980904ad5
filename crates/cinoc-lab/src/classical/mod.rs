//! Classical controllers: the linearised plant, the Riccati equation, and linear-quadratic regulators.
//!
//! Agents remain at their regular positions. [`Linearised`] is one tick of the field near zero,
//! z' = A·z + B·u; on a linear problem it is exact. [`Lqr`] minimises the mean over all ticks of the squared error plus
//! a weight times the squared pushes, without limits and without an end, for any target that does not change. Where
//! readings are noisy a Kalman [`Filter`] estimates the field, and where pushes act late the controller predicts it.
//! The regulator reads the whole field; agents that do not share their readings have a filter each ([`Local`]). The
//! result is a policy (`policy.kind = "state_feedback"`) that is scored as any other; [`tuned`] chooses one.
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

mod controller;
mod linearised;
mod local;
mod lqg;
mod lqr;
mod riccati;
mod tuned;

pub use controller::Controller;
pub use linearised::Linearised;
pub use local::{Local, windows};
pub use lqg::Filter;
pub use lqr::Lqr;
pub use riccati::riccati;
pub use tuned::{DISTURBANCES, OTHERS, Readings, Trials, Tuned, WEIGHTS, tuned};
