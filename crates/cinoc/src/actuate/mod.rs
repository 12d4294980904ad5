//! Actuation: the force of agents on a field.

mod axis;
mod bumps1d;
#[cfg(feature = "files")]
mod channels;
mod flow2d;
mod force1d;
mod force2d;
#[cfg(feature = "files")]
mod force3d;
#[cfg(feature = "files")]
mod stamp;

pub use bumps1d::{Bumps1d, StillForce1d, SumBumps};
#[cfg(feature = "files")]
pub use channels::Channels;
pub use flow2d::Flow2d;
pub use force1d::Force1d;
pub use force2d::Force2d;
#[cfg(feature = "files")]
pub use stamp::{Stamp, StampShape};

use crate::{Real, words};
use cinoc_pde::Grid;
use cinoc_tape::{Op, Var};
use std::f64::consts::PI;
use std::sync::Arc;

/// Squared scaled distance beyond which a bump is zero: `exp(−REACH)` is a quarter of the relative precision of a
/// float.
const REACH: Real = if cfg!(double) { 38.0 } else { 18.0 };

/// Action of agents on a field.
pub trait Actuate: Send + Sync {
    /// Returns the joint effect of agents at `xi` (`[batch, agents, d]`) with actions `[batch, agents, k]`: the force,
    /// or another input of the equation.
    fn force<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t>;
}

/// Any operation on actions and positions.
impl<O: Op + 'static> Actuate for Arc<O> {
    fn force<'t>(&self, action: Var<'t>, xi: Var<'t>) -> Var<'t> {
        action.tape().record(self, [action, xi])
    }
}

words! {
    /// Meaning of the intensity `u` of a push.
    pub enum Kernel {
        /// the push is u where the agent is
        Peak = "peak",
        /// the integral of the push is u
        UnitMass = "unit-mass",
    }
}

/// Shape of an agent's push: a Gaussian bump.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// Width σ.
    pub sigma: f64,
    /// Normalisation of the height.
    pub kernel: Kernel,
}

impl Push {
    /// Factor on a bump of height 1: 1, or `(2πσ²)^(−d/2)`.
    #[doc(hidden)]
    pub fn scale(&self, dimensions: usize) -> f64 {
        match self.kernel {
            Kernel::Peak => 1.0,
            Kernel::UnitMass => 1.0 / (2.0 * PI * self.sigma * self.sigma).powf(0.5 * dimensions as f64),
        }
    }

    /// Creates the force of agents with this push on a line, in the plane or in a box. For immobile agents on a line the
    /// bumps are computed once.
    ///
    /// # Panics
    /// In more than three dimensions, and under the conditions of [`Force1d::new`] and [`Force2d::new`].
    pub fn on(&self, grid: &Grid, moving: bool) -> Box<dyn Actuate> {
        match (grid.dimensions(), moving) {
            (1, true) => Box::new(Arc::new(Force1d::new(grid, self))),
            (1, false) => Box::new(StillForce1d::new(grid, self)),
            (2, _) => Box::new(Arc::new(Force2d::new(grid, self))),
            #[cfg(feature = "files")]
            (3, _) => Box::new(Arc::new(force3d::Force3d::new(grid, self))),
            (d, _) => panic!("agents push on a line, in the plane or in a box; {d} dimensions are not supported"),
        }
    }
}

/// Checks the arguments of force constructors.
fn check(grid: &Grid, dimensions: usize, sigma: f64) {
    let axes = grid.dimensions();
    assert!(axes == dimensions, "this push needs a grid of {dimensions} dimensions, not {axes}");
    assert!((0..axes).all(|axis| grid.spacing(axis) > 0.0), "an axis needs a length above 0 and two nodes: {grid:?}");
    assert!(sigma > 0.0, "a push needs a width above 0, not {sigma}");
}
