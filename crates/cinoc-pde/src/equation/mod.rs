//! Equations, one file each.

mod fisher_kpp;
mod heat;
mod heat2d;
mod kuramoto_sivashinsky1d;
mod kuramoto_sivashinsky2d;
mod transport2d;
mod vorticity2d;

pub use fisher_kpp::FisherKpp;
pub use heat::Heat1d;
pub use heat2d::Heat2d;
pub use kuramoto_sivashinsky1d::KuramotoSivashinsky1d;
pub use kuramoto_sivashinsky2d::KuramotoSivashinsky2d;
pub use transport2d::Transport2d;
pub use vorticity2d::Vorticity2d;

use crate::{Grid, Real};
use cinoc_tape::Var;

/// An equation with its time step: what a rollout needs to know about the physics.
pub trait Stepper: Send + Sync {
    /// Where the field lives.
    fn grid(&self) -> &Grid;

    /// Time that one [`step`](Self::step) takes, all its substeps together.
    fn dt(&self) -> Real;

    /// Substeps that one [`step`](Self::step) makes, for counting work; 1 where it makes none or their number varies.
    fn substeps(&self) -> usize {
        1
    }

    /// Numbers that a recorded step takes, roughly: for each field, and once for all fields of a batch. For estimates of memory.
    fn room(&self) -> [usize; 2] {
        [4 * self.grid().count(), 8 * self.grid().count()]
    }

    /// The field one step later under a force held constant.
    ///
    /// # Shapes
    /// `z` is `[batch, nodes...]`, and so is the result. `force` is what drives the equation: a force of the shape of `z`, or a flow with one
    /// plane per component, `[batch, d, nodes...]`, where the equation says so.
    fn step<'t>(&self, z: Var<'t>, force: Var<'t>) -> Var<'t>;
}
