//! Equations, one file each.

mod fisher_kpp;
mod heat;
mod transport2d;

pub use fisher_kpp::FisherKpp;
pub use heat::Heat1d;
pub use transport2d::Transport2d;

use crate::{Grid, Real};
use cinoc_tape::Var;

/// An equation with its time step: what a rollout needs to know about the physics.
pub trait Stepper: Send + Sync {
    /// Where the field lives.
    fn grid(&self) -> &Grid;

    /// Length of one step.
    fn dt(&self) -> Real;

    /// The field one step later under a force held constant.
    ///
    /// # Shapes
    /// `z` is `[batch, nodes...]`, and so is the result. `force` is what drives the equation: a force of the shape of `z`, or a flow with one
    /// plane per component, `[batch, d, nodes...]`, where the equation says so.
    fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t>;
}
